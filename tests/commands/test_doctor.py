"""``guard doctor``: one line a check, and an exit code that says how bad it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from guard.setup.framework import FILE
from tests.commands.calling import call_guard, start_guard
from tests.conftest import ScratchRepo

CONFIG = """\
version: 1
agents:
  echo ü:
    paths: [my agent/echo.py]
    target: command
    options: {argv: [python3, echo.py]}
    cases: [evals/*.md]
"""
FILES = {
    "guard.yaml": CONFIG,
    "my agent/echo.py": "print(1)\n",
    "evals/x.md": "---\nid: x\nexpected: {exit_code: 0}\n---\nWhy.\n",
}


@pytest.fixture
def ready(repo: ScratchRepo) -> ScratchRepo:
    repo.commit("feat: begin", FILES)
    assert call_guard(repo.root, "install").code == 0
    assert call_guard(repo.root, "run").code == 0
    return repo


def test_all_that_guard_needs(ready: ScratchRepo) -> None:
    code, out, err = call_guard(ready.root, "doctor")
    assert (code, err) == (0, ""), out
    lines = out.splitlines()
    assert lines[-1] == "all that guard needs is here"
    assert all(re.match("[✓!] ", line) for line in lines[:-1])
    for word in ("guard 0.", "git 2.", "trials: ", "store: ", "guard.yaml: ", "hooks: ",
                 "plugins: ", "targets", "last run: "):  # fmt: skip
        assert any(line[2:].startswith(word) for line in lines), word


def test_something_broken(ready: ScratchRepo) -> None:
    (ready.root / ".git/hooks/commit-msg").unlink()
    code, out, _ = call_guard(ready.root, "doctor")
    assert code == 1
    assert "✗ no hook calls guard at commit-msg    do  " in out
    assert out.splitlines()[-1] == "1 to mend"


def test_something_that_is_not_known_here(ready: ScratchRepo) -> None:
    ready.write({"guard.yaml": CONFIG + "    prerequisites: [program:no-such-program]\n"})
    code, out, _ = call_guard(ready.root, "doctor")
    assert code == 3
    assert "? agent echo ü is SKIP on this machine" in out
    assert out.splitlines()[-1] == "1 not known here"


def test_what_is_broken_outranks_what_is_not_known(ready: ScratchRepo) -> None:
    ready.write({"guard.yaml": CONFIG + "    prerequisites: [program:no-such-program]\n"})
    (ready.root / ".git/hooks/commit-msg").unlink()
    assert call_guard(ready.root, "doctor").code == 1


def test_a_configuration_that_is_wrong_stops_no_other_check(ready: ScratchRepo) -> None:
    ready.write({"guard.yaml": "version: 1\nagent: {}\n"})
    code, out, _ = call_guard(ready.root, "doctor")
    assert code == 1
    assert "✗ guard.yaml:2: agent: unknown key; did you mean `agents`?" in out
    assert "✓ hooks: " in out


def test_an_empty_repository(repo: ScratchRepo) -> None:
    code, out, _ = call_guard(repo.root, "doctor")
    assert code == 1
    assert "✗ there is no guard.yaml: nothing is guarded" in out


def test_no_repository_a_bare_one_and_no_git(repo: ScratchRepo, tmp_path: Path) -> None:
    outside = tmp_path / "out ü"
    outside.mkdir()
    code, out, _ = call_guard(outside, "doctor")
    assert code == 1
    assert "is not in a git repository" in out
    repo.git("init", "-q", "--bare", str(tmp_path / "bare"))
    code, out, _ = call_guard(tmp_path / "bare", "doctor")
    assert code == 1
    assert "✗ no hook calls guard at pre-receive" in out
    outcome = start_guard(repo, "doctor", env={"PATH": "/nonexistent"})
    assert outcome.code == 1
    assert outcome.out.count("git is not on PATH") == 1


def test_a_torn_plugin_is_one_line(ready: ScratchRepo) -> None:
    ready.write({"guard.yaml": CONFIG + "plugins: [p.py]\n", "p.py": "import no_such_thing\n"})
    code, out, err = call_guard(ready.root, "doctor")
    assert code == 1
    assert err == ""
    assert sum("p.py does not load" in line for line in out.splitlines()) == 1


def test_after_init_and_install_nothing_is_broken(repo: ScratchRepo) -> None:
    repo.commit("feat: begin", {"skills/ü a/SKILL.md": "x\n"})
    assert call_guard(repo.root, "init").code == 0
    assert call_guard(repo.root, "install").code == 0
    (repo.root / FILE).unlink()
    code, out, _ = call_guard(repo.root, "doctor")
    assert "✗" not in out
    assert code in (0, 3), out
