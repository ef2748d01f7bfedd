"""`guard doctor` in a bare repository."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.hooks.installed import FILES
from tests.hooks.served import Clone, make_served

PROGRAM = f"exec {sys.executable} -m guard hook pre-receive"


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return make_served(tmp_path)


def lines(clone: Clone) -> list[str]:
    """Return what the doctor says of the hook and the policy."""
    done = clone.server.guard("doctor")
    assert "bug in guard" not in done.stdout + done.stderr
    found = done.stdout.splitlines()
    start = next(number for number, line in enumerate(found) if "store: " in line)
    return found[start + 1 :]


def test_all_is_well(clone: Clone) -> None:
    assert lines(clone) == [
        f"✓ hook: {clone.server.root}/hooks/pre-receive",
        "✓ pushes are judged by guard.yaml of main: 2 agents",
        "all that guard needs is here",
    ]


def test_no_hook(clone: Clone) -> None:
    clone.server.guard("uninstall")
    assert lines(clone)[0] == "✗ no hook calls guard at pre-receive    do  guard install"


@pytest.mark.parametrize("place", ["hooks/pre-receive.d", "custom_hooks/pre-receive.d"])
def test_script_where_a_host_keeps_them(clone: Clone, place: str) -> None:
    clone.server.guard("uninstall")
    script = clone.server.root / place / "guard"
    script.parent.mkdir(parents=True)
    script.write_text(f"#!/bin/sh\n{PROGRAM}\n")
    told = lines(clone)
    assert told[0] == f"✓ hook: {script}"
    assert "isn't executable" in told[1]
    script.chmod(0o755)
    assert "executable" not in "".join(lines(clone))


def test_interpreter_that_is_gone(clone: Clone) -> None:
    hook = clone.server.root / "hooks" / "pre-receive"
    hook.write_text(hook.read_text().replace(sys.executable, "/gone/python"))
    assert "✗ /gone/python, which the hook calls, is gone: it refuses all" in lines(clone)[1]


def test_policy_that_is_not_in_force(clone: Clone, tmp_path: Path) -> None:
    clone.server.git("symbolic-ref", "HEAD", "refs/heads/master")
    said = "! nothing is enforced yet: HEAD names master, and there is no such branch"
    assert f"{said}    do  git symbolic-ref HEAD refs/heads/main" in lines(clone)
    broken = make_served(tmp_path / "broken", {**FILES, "guard.yaml": "version: 1\nagent: {}\n"})
    assert "✗ guard.yaml of main can't be used: guard.yaml:2: agent" in lines(broken)[1]
