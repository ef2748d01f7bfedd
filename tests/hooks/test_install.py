"""`guard install` and `guard uninstall`, as users call them."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from guard_hooks.shim import shim_text
from tests.conftest import ScratchRepo

STAGES = ["commit-msg", "pre-commit", "pre-merge-commit", "pre-push"]
MARK = "# regression-guard hook "


def guard(repo: ScratchRepo, *args: str, cwd: Path | None = None) -> str:
    """Run guard, which must end in 0; return what it reported."""
    done = call(repo, *args, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def call(
    repo: ScratchRepo, *args: str, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-P", "-m", "guard", *args]
    return subprocess.run(
        argv, cwd=cwd or repo.root, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )


def hooks_of(repo: ScratchRepo) -> Path:
    return repo.root / ".git" / "hooks"


def state_of(folder: Path) -> dict[str, tuple[int, int, bytes | str]]:
    """Return name → mode, time, content of everything in a folder."""
    return {
        path.name: (
            path.lstat().st_mode,
            path.lstat().st_mtime_ns,
            os.readlink(path) if path.is_symlink() else path.read_bytes(),
        )
        for path in sorted(folder.iterdir())
    }


def add_hook(folder: Path, stage: str, text: str, mode: int = 0o755) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / stage
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


def test_writes_four_executable_hooks(repo: ScratchRepo) -> None:
    said = guard(repo, "install")
    assert said == f"guard: installed in .git/hooks: {', '.join(STAGES)}\n"
    for stage in STAGES:
        path = hooks_of(repo) / stage
        assert MARK in path.read_text(encoding="utf-8")
        assert stat.S_IMODE(path.stat().st_mode) == 0o755
        assert f"python={sys.executable}" in path.read_text(encoding="utf-8")


def test_installing_twice_changes_nothing(repo: ScratchRepo) -> None:
    add_hook(hooks_of(repo), "pre-commit", "#!/bin/sh\n")
    guard(repo, "install")
    before = state_of(hooks_of(repo))
    assert "as it was" in guard(repo, "install")
    assert state_of(hooks_of(repo)) == before


@pytest.mark.parametrize("damage", ["chmod", "older"])
def test_installing_again_mends_what_was_damaged(repo: ScratchRepo, damage: str) -> None:
    guard(repo, "install")
    path = hooks_of(repo) / "commit-msg"
    if damage == "chmod":
        path.chmod(0o644)
    else:
        path.write_text(f"#!/bin/sh\n{MARK}1: older\n", encoding="utf-8")
    assert guard(repo, "install") == "guard: installed in .git/hooks: commit-msg\n"
    assert os.access(path, os.X_OK)
    assert "python=" in path.read_text(encoding="utf-8")


def test_uninstall_restores_what_was_there_byte_for_byte(repo: ScratchRepo) -> None:
    folder = hooks_of(repo)
    add_hook(folder, "pre-commit", "#!/bin/sh\r\nexit 0\r\n", 0o750)
    add_hook(folder, "pre-push", "#!/usr/bin/env python3\nprint(1)", 0o644)
    add_hook(repo.root / "scripts", "message", "#!/bin/sh\n")
    (folder / "commit-msg").symlink_to("../../scripts/message")
    add_hook(folder, "post-commit", "#!/bin/sh\n")
    before = state_of(folder)
    said = guard(repo, "install")
    assert "called first, as before: your own commit-msg, pre-commit, pre-push" in said
    assert MARK in (folder / "pre-commit").read_text(encoding="utf-8")
    assert f"taken out of {folder}: {', '.join(STAGES)}" in guard(repo, "uninstall")
    assert state_of(folder) == before


def test_uninstall_leaves_others_hooks_alone(repo: ScratchRepo) -> None:
    add_hook(hooks_of(repo), "pre-commit", "#!/bin/sh\nexit 0\n")
    before = state_of(hooks_of(repo))
    assert "there is no hook of guard's" in guard(repo, "uninstall")
    assert state_of(hooks_of(repo)) == before


def test_hook_that_replaced_ours_is_never_lost(repo: ScratchRepo) -> None:
    folder = hooks_of(repo)
    add_hook(folder, "pre-commit", "#!/bin/sh\n# first\n")
    guard(repo, "install")
    add_hook(folder, "pre-commit", "#!/bin/sh\n# second\n")
    before = state_of(folder)
    refused = call(repo, "install")
    assert refused.returncode == 2
    assert "was replaced since guard kept" in refused.stderr
    assert "guard install --force" in refused.stderr
    assert state_of(folder) == before

    guard(repo, "install", "--force")
    assert MARK in (folder / "pre-commit").read_text(encoding="utf-8")
    assert "# second" in (folder / "pre-commit.guard-kept").read_text(encoding="utf-8")
    assert "# first" in (folder / "pre-commit.guard-kept-1").read_text(encoding="utf-8")


def test_the_same_hook_written_again_is_chained_again(repo: ScratchRepo) -> None:
    """Husky writes its scripts at each `npm install`."""
    add_hook(hooks_of(repo), "pre-commit", "#!/bin/sh\n# husky\n")
    guard(repo, "install")
    add_hook(hooks_of(repo), "pre-commit", "#!/bin/sh\n# husky\n")
    guard(repo, "install")
    assert MARK in (hooks_of(repo) / "pre-commit").read_text(encoding="utf-8")


def test_uninstall_says_what_it_leaves_behind(repo: ScratchRepo) -> None:
    add_hook(hooks_of(repo), "pre-commit", "#!/bin/sh\n# first\n")
    guard(repo, "install")
    add_hook(hooks_of(repo), "pre-commit", "#!/bin/sh\n# second\n")
    said = guard(repo, "uninstall")
    assert "still kept there: pre-commit.guard-kept" in said
    assert "# second" in (hooks_of(repo) / "pre-commit").read_text(encoding="utf-8")


def test_hooks_path_is_respected(repo: ScratchRepo) -> None:
    """Another tool set it: git reads no hook from .git/hooks then."""
    repo.git("config", "core.hooksPath", ".husky/_")
    add_hook(repo.root / ".husky" / "_", "commit-msg", "#!/bin/sh\nexit 7\n")
    said = guard(repo, "install")
    assert "installed in .husky/_" in said
    assert "a linked worktree has no .husky/_" in said
    assert not hooks_of(repo).exists() or not list(hooks_of(repo).iterdir())
    assert repo.run("git", "commit", "-q", "--allow-empty", "-m", "x").returncode != 0


def test_hooks_path_of_all_repositories_is_named(repo: ScratchRepo, tmp_path: Path) -> None:
    repo.git("config", "--global", "core.hooksPath", str(tmp_path / "everywhere"))
    said = guard(repo, "install")
    assert "core.hooksPath is global: these hooks run in all your repositories" in said
    assert (tmp_path / "everywhere" / "pre-push").exists()


def test_tracked_hooks_path_is_named(repo: ScratchRepo) -> None:
    repo.commit("chore: hooks", {".githooks/post-commit": "#!/bin/sh\n"})
    repo.git("config", "core.hooksPath", ".githooks")
    assert ".githooks is tracked" in guard(repo, "install")


def test_linked_worktree_shares_its_hooks(repo: ScratchRepo, tmp_path: Path) -> None:
    repo.commit("feat: first", {"a": "1"})
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"))
    said = guard(repo, "install", cwd=tmp_path / "linked")
    assert f"installed in {hooks_of(repo)}" in said
    assert "as it was" in guard(repo, "install")


def test_from_a_subfolder(repo: ScratchRepo) -> None:
    (repo.root / "sub").mkdir()
    assert "installed in .git/hooks" in guard(repo, "install", cwd=repo.root / "sub")


def test_bare_repository_gets_the_hook_of_a_server(repo: ScratchRepo, tmp_path: Path) -> None:
    bare = ScratchRepo(tmp_path / "bare")
    repo.git("init", "-q", "--bare", str(bare.root))
    said = guard(bare, "install").splitlines()
    assert said == [
        "guard: installed in hooks: pre-receive",
        "! nothing is enforced yet: HEAD names main, and there is no such branch",
    ]
    assert [path.name for path in (bare.root / "hooks").iterdir()] == ["pre-receive"]
    assert "as it was" in guard(bare, "install")
    assert "taken out of" in guard(bare, "uninstall")
    assert list((bare.root / "hooks").iterdir()) == []


def test_clone_that_others_push_to_gets_it_where_asked(repo: ScratchRepo) -> None:
    assert guard(repo, "install", "--server").endswith(f": {', '.join(STAGES)}, pre-receive\n")
    assert "pre-push, pre-receive" in guard(repo, "uninstall")


def test_unwritable_folder_is_told_in_one_line(repo: ScratchRepo) -> None:
    hooks_of(repo).mkdir()
    (hooks_of(repo) / "pre-commit").mkdir()
    refused = call(repo, "install")
    assert refused.returncode in (2, 3)
    assert refused.stderr.startswith("guard: ")
    assert "Traceback" not in refused.stderr


def test_changes_nothing_but_the_hooks(repo: ScratchRepo) -> None:
    repo.commit("feat: first", {"a": "1"})
    before = (repo.git("status", "--porcelain"), (repo.root / ".git" / "config").read_bytes())
    guard(repo, "install")
    assert before == (
        repo.git("status", "--porcelain"),
        (repo.root / ".git" / "config").read_bytes(),
    )


# What somebody wrote into ours -------------------------------------------------------------


def change(hook: Path, line: str = "echo mine") -> bytes:
    """Add a line to an installed hook, as a user would; return the whole text."""
    hook.write_text(hook.read_text().replace("#!/bin/sh\n", f"#!/bin/sh\n{line}\n", 1))
    return hook.read_bytes()


@pytest.mark.parametrize("command", ["uninstall", "install"])
def test_a_changed_hook_of_ours_is_kept_beside(repo: ScratchRepo, command: str) -> None:
    add_hook(hooks_of(repo), "pre-commit", "#!/bin/sh\necho theirs\n")
    guard(repo, "install")
    texts = {stage: change(hooks_of(repo) / stage) for stage in ("pre-commit", "pre-push")}
    said = guard(repo, command)
    assert (
        "! somebody changed what guard wrote: kept beside it as "
        "pre-commit.guard-changed, pre-push.guard-changed\n"
    ) in said
    for stage, text in texts.items():
        assert (hooks_of(repo) / f"{stage}.guard-changed").read_bytes() == text
    guard(repo, "install")
    again = change(hooks_of(repo) / "pre-push", "echo again")
    assert "pre-push.guard-changed-1\n" in guard(repo, command)
    assert (hooks_of(repo) / "pre-push.guard-changed-1").read_bytes() == again
    assert (hooks_of(repo) / "pre-push.guard-changed").read_bytes() == texts["pre-push"]


def test_a_changed_hook_that_a_framework_calls_is_kept_too(repo: ScratchRepo) -> None:
    guard(repo, "install")
    framework = "#!/bin/sh\n# File generated by pre-commit: x\n"
    (hooks_of(repo) / "pre-commit").rename(hooks_of(repo) / "pre-commit.legacy")
    add_hook(hooks_of(repo), "pre-commit", framework)
    text = change(hooks_of(repo) / "pre-commit.legacy")
    assert "pre-commit.guard-changed\n" in guard(repo, "uninstall")
    assert (hooks_of(repo) / "pre-commit.guard-changed").read_bytes() == text
    assert (hooks_of(repo) / "pre-commit").read_text() == framework


def test_a_hook_as_it_was_written_is_not_kept(repo: ScratchRepo) -> None:
    """Another interpreter, another hook called first: both are guard's own writing."""
    guard(repo, "install")
    hook = hooks_of(repo) / "pre-commit"
    hook.write_bytes(shim_text("pre-commit", "/another/python", b"#!/bin/sh\necho theirs\n"))
    assert "changed" not in guard(repo, "install")
    assert "changed" not in guard(repo, "uninstall")
    assert not [path for path in hooks_of(repo).iterdir() if "guard" in path.name]


# No folder ---------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["install", "uninstall"])
@pytest.mark.parametrize("path", ["/dev/null", "", "README.md"])
def test_hooks_path_that_is_no_folder_says_what_to_do(
    repo: ScratchRepo, path: str, command: str
) -> None:
    repo.commit("docs: base", {"README.md": "x\n"})
    repo.git("config", "core.hooksPath", path)
    done = call(repo, command)
    assert done.returncode == 2
    first, second = done.stderr.splitlines()
    assert first.startswith("guard: core.hooksPath (local) is ")
    assert second == "  do  git config --local --unset core.hooksPath"
    repo.git(*second.removeprefix("  do  git ").split())
    assert call(repo, command).returncode == 0


def test_hooks_folder_that_is_a_file(repo: ScratchRepo) -> None:
    hooks_of(repo).write_text("")
    done = call(repo, "install")
    assert (done.returncode, "is no folder" in done.stderr) == (2, True)
    hooks_of(repo).unlink()
    guard(repo, "install")
