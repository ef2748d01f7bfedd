from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

PROGRAM = """
import sys
from guard.wording.progress import progress
with progress(2, sys.stderr.isatty()) as shown:
    for name in ("a#1 PASS", "[bold]b#1\\x1b[2J FAIL", "c#1 PASS"):
        shown.advance(name)
print("rich" in sys.modules)
"""


def test_nothing_is_shown_and_rich_is_not_loaded_where_there_is_no_terminal() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=True)
    assert done.stdout == b"False\n"
    assert done.stderr == b""


def run_on_a_terminal() -> tuple[bytes, bytes]:
    master, slave = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdout=subprocess.PIPE,
        stderr=slave,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(slave)
    shown = b""
    try:
        while part := os.read(master, 4096):
            shown += part
    except OSError:  # Linux says EIO once the other end is closed
        pass
    os.close(master)
    return child.communicate()[0], shown


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_terminal_gets_a_bar_that_may_outgrow_its_total() -> None:
    out, shown = run_on_a_terminal()
    assert out == b"True\n"
    assert b"3/3" in shown
    assert b"[bold]" in shown or b"c#1 PASS" in shown
    assert b"\x1b[2J" not in shown
