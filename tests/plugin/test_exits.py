"""Foreign code doesn't end guard's process; a child that it forked ends as ever."""

from __future__ import annotations

import subprocess
import sys

import pytest

START = "import os, sys, threading, atexit\nfrom guard.plugin.exits import *\n"


def end_of(code: str, *, kept: bool = True) -> tuple[int, str, str]:
    """Run code in a process of its own, which ends in 5 where nothing else ends it."""
    keep = "keep_guard_running()\n" if kept else ""
    argv = [sys.executable, "-P", "-c", f"{START}{keep}{code}\nsys.exit(5)"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "call", ["os._exit(0)", "os.execv('/bin/true', ['true'])", "os.execlp('true', 'true')"]
)
def test_what_ends_a_process_raises(call: str) -> None:
    code = f"try:\n    {call}\nexcept SystemExit as error:\n    print(error)"
    status, out, err = end_of(code)
    assert (status, err) == (5, "")
    assert out.startswith("it tried to end guard (os.")
    assert end_of(code, kept=False)[:2] == (0, "")


def test_a_thread_ends_nothing_and_is_counted() -> None:
    code = """
def end():
    {}
    os._exit(0)
thread = threading.Thread(target=end)
thread.start()
thread.join()
print(count_unheard())
"""
    status, out, err = end_of(code.format(""))
    assert (status, out) == (5, "1\n")
    assert err == "guard: code that it called: it tried to end guard (os._exit)\n"
    assert end_of(code.format("note_heard()"))[:2] == (5, "0\n")


def test_at_exit_no_code_is_changed() -> None:
    status, _, err = end_of("atexit.register(os._exit, 0)")
    assert (status, err) == (5, "guard: code that it called: it tried to end guard (os._exit)\n")
    assert end_of("atexit.register(os._exit, 0)", kept=False)[0] == 0


def test_a_forked_child_ends_and_runs_programs_as_ever() -> None:
    code = """
pid = os.fork()
if not pid:
    {}
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    assert end_of(code.format("os._exit(7)"))[:2] == (5, "7\n")
    assert end_of(code.format("os.execv('/bin/sh', ['sh', '-c', 'exit 9'])"))[:2] == (5, "9\n")


def test_a_child_that_loads_such_code_itself_is_kept_running_too() -> None:
    code = """
pid = os.fork()
if not pid:
    keep_guard_running()
    try:
        os._exit(0)
    except EndsGuard:
        real_exit(8)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    assert end_of(code)[:2] == (5, "8\n")


def test_other_threads_and_other_errors_are_told_as_before() -> None:
    code = "thread = threading.Thread(target=lambda: 1 / 0)\nthread.start()\nthread.join()"
    assert "ZeroDivisionError" in end_of(code)[2]
