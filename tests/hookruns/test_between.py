"""What stands between git and a hook of guard's, seen in real processes."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from guard.git import find_repo
from guard.hookruns.between import framework_name
from guard.hookruns.pushes import has_all
from tests.conftest import ScratchRepo
from tests.hooks.installed import BAD_TALK, TALK, Installed, make_installed, skill

SHOW = """\
import sys
from guard.hookruns.between import is_followed, program_between
print(f"followed={is_followed('pre-push')} program={program_between()!r}", file=sys.stderr)
"""


@pytest.fixture
def shown(repo: ScratchRepo, tmp_path: Path) -> Installed:
    """A repository whose pre-push hook shows what stands between git and it."""
    found = Installed(repo.root)
    found.bypass("feat: begin", {"a": "1\n"})
    found.git("init", "-q", "--bare", str(tmp_path / "up"))
    found.git("remote", "add", "up", str(tmp_path / "up"))
    return found


def push_by(repo: Installed, hook: str, **env: str) -> str:
    """Push with this hook, `$SHOW` being the call; return what it said."""
    path = repo.root / ".git/hooks/pre-push"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{hook}\n")
    path.chmod(0o755)
    (repo.root.parent / "show.py").write_text(SHOW)
    call = f"exec '{sys.executable}' -P '{repo.root.parent}/show.py'"
    (repo.root.parent / "show").write_text(f"#!/bin/sh\n{call}\n")
    (repo.root.parent / "show").chmod(0o755)
    done = repo.run("git", "push", "-q", "--dry-run", "up", "HEAD:main", env=env)
    assert done.returncode == 0, done
    return done.stderr.strip()


def manager(repo: Installed, name: str) -> str:
    """Return a program of this name that runs what it is told in a shell of its own."""
    path = repo.root.parent / name
    shutil.copy(os.path.realpath(shutil.which("sh") or ""), path)
    return f"../{name} -c '../show; :'"


# The program between --------------------------------------------------------------------


@pytest.mark.parametrize(
    "hook", ["../show", "sh -c '../show; :'", "env sh -c '../show; :'", "exec ../show"]
)
def test_shells_are_no_program_between(shown: Installed, hook: str) -> None:
    assert push_by(shown, hook) == "followed=False program=''"


@pytest.mark.parametrize(
    ("name", "seen"), [("lefthook", "lefthook"), ("hk", "hk"), ("npm", ""), ("make", "")]
)
def test_a_manager_is_named_and_a_launcher_is_not(shown: Installed, name: str, seen: str) -> None:
    assert push_by(shown, manager(shown, name)) == f"followed=False program={seen!r}"


def test_by_hand_there_is_no_git_and_no_program(shown: Installed) -> None:
    push_by(shown, "exit 0")
    assert "program=''" in shown.run("sh", "-c", manager(shown, "lefthook")).stderr


# Guard's own hook to follow -------------------------------------------------------------


def test_what_guards_own_hook_starts_is_followed(shown: Installed) -> None:
    assert "followed=True" in push_by(shown, 'GUARD_FOLLOWS="pre-push $$" ../show')
    lefthook = manager(shown, "lefthook")
    assert "followed=True" in push_by(shown, f'GUARD_FOLLOWS="pre-push $$" {lefthook}')


@pytest.mark.parametrize(
    "said", ["pre-commit $$", "pre-push 1", "pre-push", "$$", "pre-push $$ x", "pre-push $$0"]
)
def test_what_does_not_name_a_process_above_is_not(shown: Installed, said: str) -> None:
    assert "followed=False" in push_by(shown, f'GUARD_FOLLOWS="{said}" ../show')


def test_never_across_a_git(shown: Installed) -> None:
    """A variable that was set before git started says nothing, whoever set it."""
    told = push_by(shown, "../show", GUARD_FOLLOWS=f"pre-push {os.getpid()}")
    assert "followed=False" in told
    inner = 'GUARD_FOLLOWS="pre-push $$" git -c alias.x=!../show x'
    assert "followed=False" in push_by(shown, inner)


def test_a_variable_from_outside_lets_nothing_through(repo: ScratchRepo) -> None:
    installed = make_installed(repo)
    installed.stage({TALK: BAD_TALK})
    for stage in ("pre-commit", "commit-msg"):
        done = installed.try_commit("-m", "feat: x", GUARD_FOLLOWS=f"{stage} {os.getpid()}")
        assert (done.returncode, "guard: refused: " in done.stderr) == (1, True), done
    installed.stage({TALK: skill("talk", "say hello")})


# What a push could bring ----------------------------------------------------------------


def test_a_remote_that_has_all(shown: Installed) -> None:
    with find_repo(str(shown.root)) as repo:
        assert not has_all(repo, "up")
        shown.git("push", "-q", "up", "main")
        assert has_all(repo, "up")
        assert not has_all(repo, "other")
        shown.git("checkout", "-q", "-b", "side")
        shown.bypass("feat: more", {"a": "2\n"})
        assert not has_all(repo, "up")
        shown.git("push", "-q", "up", "side")
        assert has_all(repo, "up")
        shown.git(
            "tag", "-a", "-m", "x", "v1", shown.git("commit-tree", "-m", "y", "HEAD^{tree}").strip()
        )
        assert not has_all(repo, "up")


def test_the_framework_by_its_variables() -> None:
    assert framework_name({"PRE_COMMIT": "1"}) == "pre-commit"
    assert framework_name({"PRE_COMMIT": "1", "PREK_HOOK_STAGE": "pre-push"}) == "prek"
