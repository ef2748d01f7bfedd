from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Generator, Mapping
from pathlib import Path

import pytest

from guard import process
from guard.errors import TargetError
from guard.plugin.api import Finished
from guard.process import CheckerPlace, Ended, Starter, checkers_run_in, run, run_checker
from guard.trials import stopping
from guard.trials.children import DirectStarter
from guard.trials.environment import TAG
from guard.trials.sandbox import Launcher
from tests.staging import is_alive

STARTERS = ["direct", "launcher"] if sys.platform.startswith("linux") else ["direct"]


@pytest.fixture(params=STARTERS)
def starter(request: pytest.FixtureRequest) -> Generator[DirectStarter | Launcher]:
    """Each of the two that start programs; they must not differ in anything seen here."""
    made = Launcher(None) if request.param == "launcher" else DirectStarter()
    yield made
    made.close()


def run_sh(
    starter: Starter,
    script: str,
    folder: Path,
    timeout: float = 20.0,
    input: str | bytes | None = None,
    env: Mapping[str, str] | None = None,
) -> Ended:
    variables = {"PATH": os.environ["PATH"], **(env or {})}
    return run(starter, ["sh", "-c", script], str(folder), variables, timeout, input)


def test_both_streams_the_folder_and_the_environment(starter: Starter, tmp_path: Path) -> None:
    ended = run_sh(starter, "pwd; echo $A >&2; exit 3", tmp_path, env={"A": "ü"})
    assert ended == Ended(Finished(3, f"{tmp_path}\n", "ü\n"), timed_out=False)


def test_twenty_megabytes_on_each_stream(starter: Starter, tmp_path: Path) -> None:
    script = "head -c 20000000 /dev/zero | tee /dev/fd/2"
    finished = run_sh(starter, script, tmp_path).finished
    assert len(finished.stdout) == len(finished.stderr) == 20_000_000


def test_what_is_no_utf8_is_replaced(starter: Starter, tmp_path: Path) -> None:
    assert run_sh(starter, r"printf 'a\377b'", tmp_path).finished.stdout == "a\ufffdb"


def test_writing_to_dev_stderr_loses_nothing(starter: Starter, tmp_path: Path) -> None:
    script = "echo one >&2; echo two >/dev/stderr; echo three >&2"
    assert run_sh(starter, script, tmp_path).finished.stderr == "one\ntwo\nthree\n"


@pytest.mark.parametrize("given", ["text ü\n" * 100_000, b"\xff\0bytes"])
def test_input_is_read_to_its_end(starter: Starter, tmp_path: Path, given: str | bytes) -> None:
    data = given if isinstance(given, bytes) else given.encode()
    finished = run_sh(starter, "cat >copy; cat", tmp_path, input=given).finished
    assert (tmp_path / "copy").read_bytes() == data
    assert finished.stdout == ""


def test_without_input_there_is_none(starter: Starter, tmp_path: Path) -> None:
    assert run_sh(starter, "cat; echo done", tmp_path).finished.stdout == "done\n"


def test_a_signal_is_told_from_an_exit_status(starter: Starter, tmp_path: Path) -> None:
    killed = run_sh(starter, "kill -KILL $$", tmp_path).finished
    assert (killed.exit_status, killed.signal) == (None, signal.SIGKILL)
    assert run_sh(starter, "exit 137", tmp_path).finished == Finished(137, "", "")


def test_signals_that_python_ignores_are_not_ignored(starter: Starter, tmp_path: Path) -> None:
    assert run_sh(starter, "kill -PIPE $$", tmp_path).finished.signal == signal.SIGPIPE
    assert run_sh(starter, "kill -TERM $$", tmp_path).finished.signal == signal.SIGTERM


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["no-such-program-of-ours"], "No such file or directory"),
        (["./plain"], "Permission denied"),
        (["./nonsense"], "Exec format error"),
        (["sh", "a\0b"], "a NUL byte"),
        ([], "an empty command"),
    ],
)
def test_what_cannot_be_started(
    starter: Starter, tmp_path: Path, argv: list[str], said: str
) -> None:
    (tmp_path / "plain").write_text("#!/bin/sh\n")
    (tmp_path / "nonsense").write_bytes(b"\0\1\2")
    (tmp_path / "nonsense").chmod(0o755)
    with pytest.raises(TargetError, match=said):
        run(starter, argv, str(tmp_path), {"PATH": os.environ["PATH"]}, 5)


def test_the_path_is_the_programs_own(starter: Starter, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/mine").write_text("#!/bin/sh\necho mine\n")
    (tmp_path / "bin/mine").chmod(0o755)
    for path in (str(tmp_path / "bin"), f"/none:{tmp_path}/bin:/bin"):
        ended = run(starter, ["mine"], str(tmp_path), {"PATH": path}, 5)
        assert ended.finished.stdout == "mine\n"


def test_a_time_out_keeps_what_was_said(starter: Starter, tmp_path: Path) -> None:
    began = time.monotonic()
    ended = run_sh(starter, "echo $$; sleep 60", tmp_path, 0.3)
    assert ended.timed_out
    assert (ended.finished.exit_status, ended.finished.signal) == (None, None)
    assert not is_alive(int(ended.finished.stdout))
    assert 0.3 <= time.monotonic() - began < 5


def test_sigterm_comes_first(starter: Starter, tmp_path: Path) -> None:
    script = "trap 'echo saved; exit 0' TERM; sleep 60 & wait"
    ended = run_sh(starter, script, tmp_path, 0.3)
    assert (ended.timed_out, ended.finished.stdout) == (True, "saved\n")


def test_sigkill_comes_after(starter: Starter, tmp_path: Path) -> None:
    ended = run_sh(starter, "trap '' TERM; echo $$; while :; do sleep 1; done", tmp_path, 0.3)
    assert ended.timed_out
    assert not is_alive(int(ended.finished.stdout))


def test_a_pipe_held_open_hangs_nobody(starter: Starter, tmp_path: Path) -> None:
    began = time.monotonic()
    finished = run_sh(starter, "sleep 60 & echo $!", tmp_path).finished
    assert time.monotonic() - began < 5
    assert starter.clean(0) == (int(finished.stdout),)


def test_a_flood_from_a_daemon_ends_with_the_program(starter: Starter, tmp_path: Path) -> None:
    began = time.monotonic()
    # Its own loop, since `yes` may reach what a stream may hold before the shell is done.
    flood = "while :; do echo flood; done & sleep 0.1; echo $! >&2"
    finished = run_sh(starter, flood, tmp_path).finished
    assert time.monotonic() - began < 10
    assert starter.clean(0) in ((int(finished.stderr),), ())


def test_output_without_end_is_the_targets_error(
    starter: Starter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "STREAM_CAP", 1 << 20)
    with pytest.raises(TargetError, match="sh wrote more than 1 MiB of output"):
        run_sh(starter, "exec yes", tmp_path)
    assert starter.clean(0.5) == ()
    enough = run_sh(starter, "head -c 1000000 /dev/zero", tmp_path)
    assert len(enough.finished.stdout) == 1_000_000


def test_leftovers_are_found_by_session_and_by_tag(starter: Starter, tmp_path: Path) -> None:
    script = "sleep 60 & echo $!; setsid sleep 60 & echo $!"
    finished = run_sh(starter, script, tmp_path, env={TAG: "tag-of-this-test"}).finished
    pids = {int(word) for word in finished.stdout.split()}
    assert set(starter.clean(0.05)) == pids
    assert not any(map(is_alive, pids))
    assert starter.clean(0) == ()


def test_what_ends_within_the_grace_is_no_leftover(starter: Starter, tmp_path: Path) -> None:
    run_sh(starter, "sleep 0.1 &", tmp_path)
    assert starter.clean(5) == ()


def test_a_stop_ends_programs_and_lets_no_further_one_start(
    starter: Starter, tmp_path: Path
) -> None:
    import threading

    began = time.monotonic()
    timer = threading.Timer(0.3, stopping.stop_everything)
    with stopping.stopped_by_signals():
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            run_sh(starter, "sleep 60", tmp_path)
        with pytest.raises(KeyboardInterrupt):
            run_sh(starter, "true", tmp_path)
    timer.join()
    assert time.monotonic() - began < 10


def test_a_checker_outside_of_a_trial_has_a_home_of_its_own(tmp_path: Path) -> None:
    finished = run_checker(
        ["sh", "-c", 'pwd; echo x >~/x; test "$HOME" != "$0"', "x"], str(tmp_path)
    )
    assert finished == Finished(0, f"{tmp_path}\n", "")


def test_a_checker_runs_where_the_engine_says(starter: Starter, tmp_path: Path) -> None:
    place = CheckerPlace(starter, {"PATH": os.environ["PATH"], "MARK": "here"})
    with checkers_run_in(place):
        assert run_checker(["sh", "-c", "echo $MARK"], str(tmp_path)).stdout == "here\n"
    assert run_checker(["sh", "-c", "echo $MARK"], str(tmp_path)).stdout == "\n"


def test_a_checker_that_hangs_has_neither_status_nor_signal(tmp_path: Path) -> None:
    script = "echo $$; setsid sleep 60 & echo $!; sleep 60"
    finished = run_checker(["sh", "-c", script], str(tmp_path), 0.3)
    assert (finished.exit_status, finished.signal) == (None, None)
    assert not any(is_alive(int(pid)) for pid in finished.stdout.split())
