from __future__ import annotations

import os
import sys

import pytest

from guard.errors import ConfigError, UnreadableError
from guard.hookruns.main import run_hook
from tests.conftest import ScratchRepo


def raising(error: BaseException) -> int:
    raise error


def test_a_code_is_passed_on() -> None:
    assert run_hook(lambda: 0) == 0
    assert run_hook(lambda: 1) == 1


def test_an_error_of_ours_is_a_line_and_its_code(capfd: pytest.CaptureFixture[str]) -> None:
    assert (
        run_hook(lambda: raising(ConfigError("guard.yaml", 3, "agents", "is wrong", "mend"))) == 2
    )
    assert (
        capfd.readouterr().err
        == "guard: refused: guard.yaml:3: agents: is wrong\n  do       mend\n"
    )
    assert run_hook(lambda: raising(UnreadableError("history is missing"))) == 3
    assert capfd.readouterr().err == "guard: refused: history is missing\n"


def test_code_that_quits_is_no_pass(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_hook(lambda: raising(SystemExit(0))) == 2
    said = capfd.readouterr().err.splitlines()
    assert said[0].startswith("guard: refused: code that guard called ended it (sys.exit(0))")
    assert said[1].endswith("guard plugins")


def test_an_interrupt_is_130(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_hook(lambda: raising(KeyboardInterrupt())) == 130
    assert capfd.readouterr().err == "guard: interrupted\n"


def test_anything_else_is_a_bug(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_hook(lambda: raising(ZeroDivisionError("by zero"))) == 4
    said = capfd.readouterr().err
    assert said.startswith("guard: a bug in guard: ZeroDivisionError: by zero")
    assert "Traceback" not in said


@pytest.mark.parametrize("stream", ["closed", "full"])
def test_output_that_can_not_be_written_changes_no_code(repo: ScratchRepo, stream: str) -> None:
    program = "from guard.hookruns.main import run_hook; from guard.output import say\n"
    program += "raise SystemExit(run_hook(lambda: say('x') or 1))"
    redirect = "2>&-" if stream == "closed" else "2>/dev/full"
    done = repo.run("sh", "-c", f'"$1" -P -c "$2" {redirect}', "-", sys.executable, program)
    assert done.returncode == 1


def test_a_terminal_without_unicode_is_no_error(repo: ScratchRepo) -> None:
    program = "from guard.hookruns.main import run_hook\nimport sys\n"
    program += "raise SystemExit(run_hook(lambda: print('\\u2713 \\udcff', file=sys.stderr) or 1))"
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PATH": os.defpath}
    done = repo.run(sys.executable, "-P", "-c", program, env=env)
    assert done.returncode == 1
    assert done.stderr == "\\u2713 \\udcff\n"
