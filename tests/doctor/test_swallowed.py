"""Which scripts lose a refusal of guard's: told by their text, and by running them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from guard.doctor.swallowed import command_before, swallowing_line

#: Script → whether it ends in success though guard refuses, with `sh`, and with `sh -e`.
SCRIPTS = {
    "guard hook pre-push": (False, False),
    'guard hook pre-push "$@"\n# done\n': (False, False),
    "guard hook pre-push || true": (True, True),
    "guard hook pre-push || :": (True, True),
    "guard hook pre-push; exit 0": (True, False),
    "guard hook pre-push\nexit 0": (True, False),
    "guard hook pre-push\necho done": (True, False),
    "guard hook pre-push || echo refused": (True, True),
    "guard hook pre-push | cat": (True, True),
    "guard hook pre-push &": (True, True),
    "guard hook pre-push || exit 1\necho done": (False, False),
    "guard hook pre-push || exit\necho done": (False, False),
    "guard hook pre-push && echo done": (False, False),
    "exec guard hook pre-push\necho done": (False, False),
    "if ! guard hook pre-push; then exit 1; fi\necho done": (False, False),
    "if true; then\n  guard hook pre-push\nfi": (False, False),
    "set -e\nguard hook pre-push\necho done": (False, False),
    "set -eu\nguard hook pre-push\necho done": (False, False),
    "echo guard\ntrue": (False, False),
}
#: Ends in success only by `set -e` being off, which one line alone doesn't say.
CAUTIOUS = {"guard hook pre-push; exit 0"}


@pytest.mark.parametrize("script", SCRIPTS)
def test_what_loses_a_refusal(script: str) -> None:
    plain, errexit = SCRIPTS[script]
    assert bool(swallowing_line(script)) == plain
    assert bool(swallowing_line(script, errexit=True)) == (errexit or script in CAUTIOUS)


@pytest.mark.parametrize("script", [text for text in SCRIPTS if text.count("hook")])
def test_what_a_shell_makes_of_it(script: str, tmp_path: Path) -> None:
    """The table above is no opinion: here a guard refuses, and the script ends so."""
    (tmp_path / "guard").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "guard").chmod(0o755)
    env = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    for options, lost in zip(([], ["-e"]), SCRIPTS[script], strict=True):
        done = subprocess.run(["sh", *options, "-c", script], env=env, capture_output=True)
        assert (done.returncode == 0) == lost, options


def test_the_line_is_named() -> None:
    assert swallowing_line("#!/bin/sh\n\n  guard-suite || true  # later\n") == (
        "guard-suite || true  # later"
    )
    assert swallowing_line("#!/bin/sh -e\nguard-suite\nmake\n") == ""


@pytest.mark.parametrize(
    ("script", "command"),
    [
        ('guard hook pre-push "$@"\nmake test\n', ""),
        ('#!/bin/sh\nset -e\n. "$(dirname "$0")/_/husky.sh"\n\nguard hook pre-push\n', ""),
        ("make test\nguard hook pre-push\n", "make test"),
        ("# why\nnpm test  # all\nguard-suite\n", "npm test"),
    ],
)
def test_what_comes_before(script: str, command: str) -> None:
    assert command_before(script) == command
