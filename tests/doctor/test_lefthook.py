"""What in lefthook's configuration would keep guard's hooks from judging."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from guard.doctor import Finding
from guard.doctor.lefthook import check_lefthook
from guard.git import find_repo
from guard.setup.lefthook import read_lefthook
from tests.conftest import ScratchRepo

LEFTHOOK = Path(sys.executable).with_name("lefthook")
RUN = "pre-push:\n  jobs:\n    - run: guard hook pre-push {1} {2}\n      use_stdin: true\n"
GOOD = "pre-push:\n  jobs:\n    - script: guard\n      runner: sh\n      use_stdin: true\n"
SCRIPT = ".lefthook/pre-push/guard"


@pytest.fixture(autouse=True)
def script(repo: ScratchRepo) -> None:
    repo.write({SCRIPT: 'guard hook pre-push "$@"\n'})


def check(repo: ScratchRepo, *hooks: bytes) -> list[Finding]:
    with find_repo(str(repo.root)) as found:
        return list(check_lefthook(found, list(hooks)))


def test_nothing_is_said_of_a_good_one(repo: ScratchRepo) -> None:
    repo.write({"lefthook.yml": GOOD})
    assert check(repo) == []


@pytest.mark.parametrize(
    ("line", "mark", "told"),
    [
        ("glob: '*.md'", "✗", "`glob` makes lefthook skip guard"),
        ("exclude: [docs/*]", "✗", "`exclude` makes lefthook skip guard"),
        ("skip: [merge]", "!", "by `skip` guard is not always asked"),
        ("skip: false", "", ""),
    ],
)
def test_what_leaves_guard_out(repo: ScratchRepo, line: str, mark: str, told: str) -> None:
    repo.write({"lefthook.yml": f"{GOOD}      {line}\n"})
    found = check(repo)
    assert "".join(finding.mark for finding in found) == mark
    assert all(told in finding.text for finding in found)


def test_a_push_that_is_not_shown(repo: ScratchRepo) -> None:
    repo.write({"lefthook.yml": GOOD.replace("true", "false")})
    (found,) = check(repo)
    assert (found.mark, found.hint) == ("✗", "add `use_stdin: true` to that job")


def test_a_refusal_that_is_lost(repo: ScratchRepo) -> None:
    repo.write({SCRIPT: "guard hook pre-push || true\n", "lefthook.yml": GOOD})
    (found,) = check(repo)
    assert "`guard hook pre-push || true` loses a refusal" in found.text


def test_a_run_isnt_asked_of_every_push(repo: ScratchRepo) -> None:
    repo.write({"lefthook.yml": RUN})
    (found,) = check(repo)
    assert found.mark == "✗"
    assert "lefthook skips a `run` where HEAD has nothing to push" in found.text
    with find_repo(str(repo.root)) as opened:
        assert list(check_lefthook(opened, [], beside_ours=True)) == []


def test_a_script_by_name_elsewhere(repo: ScratchRepo) -> None:
    text = "source_dir: ci\npre-push: {scripts: {g: {runner: sh, use_stdin: true}}}\n"
    repo.write({"lefthook.yml": text, "ci/pre-push/g": "guard hook pre-push\n"})
    assert check(repo) == []
    repo.write({"ci/pre-push/g": "make\n"})
    with find_repo(str(repo.root)) as opened:
        assert read_lefthook(opened.root).jobs == ()


def test_switches_in_the_environment(repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.write({"lefthook.yml": GOOD})
    monkeypatch.setenv("LEFTHOOK", "0")
    monkeypatch.setenv("LEFTHOOK_EXCLUDE", "x")
    assert [finding.mark for finding in check(repo, b"lefthook")] == ["✗", "?"]


def test_a_lefthook_that_is_gone(repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.write({"lefthook.yml": GOOD})
    assert repo.run(str(LEFTHOOK), "install").returncode == 0
    path = repo.root / ".git/hooks/pre-push"
    assert check(repo, path.read_bytes()) == []
    git = os.path.dirname(subprocess.check_output(["which", "git"], text=True).strip())
    monkeypatch.setenv("PATH", git)
    assert check(repo, path.read_bytes()) == []  # it is recorded in the hook
    (found,) = check(repo, b"#!/bin/sh\ncall_lefthook\n")
    assert found.text == "lefthook is gone: its hooks let everything through"
