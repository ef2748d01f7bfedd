"""A kept hook that looks at the name it is called by finds its own."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from guard_hooks.shim import STAGES, asks_its_name
from tests.conftest import ScratchRepo
from tests.hooks.installed import FILES, TALK, Installed, make_installed, skill

#: As overcommit does: one program, a link to it for each hook.
MANAGER = f"""\
#!{sys.executable}
import os, sys
stage = os.path.basename(sys.argv[0])
print("manager:", stage, sys.argv[1:2], file=sys.stderr)
sys.exit(0 if stage in {STAGES!r} else 65)
"""


@pytest.fixture
def managed(repo: ScratchRepo) -> Installed:
    folder = repo.root / ".git/hooks"
    folder.mkdir(exist_ok=True)
    (folder / "manager-hook").write_text(MANAGER)
    (folder / "manager-hook").chmod(0o755)
    for stage in STAGES:
        (folder / stage).symlink_to("manager-hook")
    return make_installed(repo)


def state(repo: ScratchRepo) -> dict[str, str]:
    return {str(p): str(p.readlink()) if p.is_symlink() else "" for p in folder_of(repo).iterdir()}


def folder_of(repo: ScratchRepo) -> Path:
    return repo.root / ".git/hooks"


def test_a_manager_of_many_names_is_called_by_them(managed: Installed, tmp_path: Path) -> None:
    managed.stage({TALK: skill("talk", "say hello, and mean it")})
    said = managed.accept("feat(talk): mean it")
    assert "manager: pre-commit []" in said
    assert "manager: commit-msg ['.git/COMMIT_EDITMSG']" in said
    managed.git("init", "-q", "--bare", str(tmp_path / "up"))
    done = managed.run("git", "push", str(tmp_path / "up"), "main")
    assert (done.returncode, f"manager: pre-push ['{tmp_path}/up']" in done.stderr) == (0, True)


def test_without_the_link_it_is_called_all_the_same(managed: Installed) -> None:
    """Never left out: its refusal of a name it doesn't know is a refusal."""
    shutil.rmtree(folder_of(managed) / "guard-kept")
    managed.stage({"README.md": "more\n"})
    assert "manager: pre-commit.guard-kept" in managed.refuse("docs: more")


def test_uninstall_and_install_leave_nothing_behind(repo: ScratchRepo) -> None:
    folder_of(repo).mkdir(exist_ok=True)
    path = folder_of(repo) / "pre-push"
    path.write_text(MANAGER)
    path.chmod(0o755)
    before = state(repo)
    found = Installed(repo.root)
    found.bypass("feat: all", FILES)
    for _ in range(2):
        found.install()
    assert (folder_of(repo) / "guard-kept/pre-push").samefile(
        folder_of(repo) / "pre-push.guard-kept"
    )
    assert found.guard("uninstall").returncode == 0
    assert state(repo) == before
    path.write_text("#!/bin/sh\nexit 0\n")
    found.install()
    assert not (folder_of(repo) / "guard-kept").exists()


@pytest.mark.parametrize(
    ("script", "asks"),
    [
        (b"#!/usr/bin/env ruby\nhook_type = File.basename($0)\n", True),
        (b"#!/usr/bin/env python3\nprint(1)\n", False),
        (b'#!/bin/sh\nn=$(basename "$0")\n', False),
    ],
)
def test_who_asks(script: bytes, asks: bool) -> None:
    assert asks_its_name(script) == asks
