"""Each reason why a commit isn't let through without Python, and that it then isn't.

The negative control of all: `quick` is a repository where the same commit needs none.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from guard_hooks.quick import ODD
from tests.hooks.installed import GOOD_TALK, TALK
from tests.hooks.quick_repo import (
    BOTH,
    QuickRepo,
    replace_in_list,
    replace_in_program,
    stage_more,
    write_program,
)

ROOT = Path(__file__).parent.parent.parent
LATER = 4_000_000_000


def test_control(staged: QuickRepo) -> None:
    assert staged.starts() == []


# The list ----------------------------------------------------------------------------------


def test_no_list(staged: QuickRepo) -> None:
    staged.listed.unlink()
    assert staged.starts() == ["pre-commit"]
    assert staged.listed.exists()


@pytest.mark.parametrize("share", [0.0, 0.01, 0.1, 0.2, 0.35, 0.5, 0.75, 0.9, 0.97, 0.999])
def test_list_cut_short(staged: QuickRepo, share: float) -> None:
    text = staged.listed.read_bytes()
    staged.listed.write_bytes(text[: int(share * (len(text) - 1))])
    os.utime(staged.listed, (LATER, LATER))
    assert staged.starts() == ["pre-commit"]


@pytest.mark.parametrize("text", [b"", b"\0\xff\n" * 50, b"((\n", b"whole=\n"])
def test_list_of_something_else(staged: QuickRepo, text: bytes) -> None:
    staged.listed.write_bytes(text)
    os.utime(staged.listed, (LATER, LATER))
    assert staged.starts() == ["pre-commit"]


def test_list_that_is_a_folder_or_cannot_be_read(staged: QuickRepo) -> None:
    staged.listed.unlink()
    staged.listed.mkdir()
    assert staged.starts() == BOTH


@pytest.mark.parametrize(
    ("old", "new"),
    [("for_shim=2", "for_shim=3"), ("for_python='", "for_python='/other"), ("tree=", "tree=0")],
)
def test_list_for_others(staged: QuickRepo, old: str, new: str) -> None:
    replace_in_list(staged, old, new)
    assert staged.starts() == ["pre-commit"]


def test_variables_of_the_users_are_no_list(staged: QuickRepo) -> None:
    staged.listed.write_text("")
    env = {"for_shim": "2", "for_python": str(staged.python), "whole": "x", "list": "x"}
    assert staged.starts("-m", "docs: x", env=env) == ["pre-commit"]


def test_store_that_cannot_be_written(staged: QuickRepo) -> None:
    """What pre-commit saw can't be kept, so commit-msg looks for itself."""
    record = staged.listed.with_name("judged")
    record.unlink()
    record.mkdir()
    assert staged.starts() == ["commit-msg"]


# What is installed ---------------------------------------------------------------------------


def test_something_was_installed(staged: QuickRepo) -> None:
    (staged.site / "other.dist-info").mkdir()
    assert staged.starts() == BOTH
    # Just now: what else is being installed may still follow.
    stage_more(staged)
    assert staged.starts() == BOTH


def test_list_is_written_anew_for_what_was_installed(staged: QuickRepo) -> None:
    hour = 3600 * 10**9
    written = staged.listed.stat().st_mtime_ns
    os.utime(staged.listed, ns=(written - 2 * hour, written - 2 * hour))
    os.utime(staged.root / ".git" / "config", ns=(written - 3 * hour, written - 3 * hour))
    assert staged.starts() == []
    os.utime(staged.site, ns=(written - hour, written - hour))
    for expected in (["pre-commit"], []):
        stage_more(staged)
        assert staged.starts() == expected


def test_what_was_installed_is_gone(staged: QuickRepo) -> None:
    staged.site.rename(staged.folder / "away")
    assert staged.starts()[:1] == ["pre-commit"]


def test_interpreter_is_gone(staged: QuickRepo) -> None:
    staged.python.rename(staged.folder / "away")
    done = staged.try_commit("-m", "docs: x", env={"PATH": "/usr/bin:/bin"})
    assert done.returncode != 0
    assert "can't be judged" in done.stderr


def test_hook_for_another_interpreter(staged: QuickRepo) -> None:
    other = staged.folder / "other"
    write_program(other, staged.python.read_text())
    staged.python = other
    staged.install()
    assert staged.starts() == ["pre-commit"]


# The environment ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in ODD if not n.startswith("GIT_")])
def test_variables_of_guard_and_frameworks(staged: QuickRepo, name: str) -> None:
    assert staged.starts("-m", "docs: x", env={name: "/elsewhere"}) == BOTH


#: They say how a trial is set up; nothing that is unguarded starts one.
TRIALS_ALONE = {"GUARD_POSTGRES_URL"}


def test_every_variable_of_guard_is_known_to_the_hook() -> None:
    found: set[str] = set()
    for folder in ("guard", "hooks", "plugins"):
        for path in (ROOT / folder).rglob("*.py"):
            found.update(re.findall(r'"(GUARD_[A-Z_]+)"', path.read_text(encoding="utf-8")))
    assert found > TRIALS_ALONE
    assert found - TRIALS_ALONE <= set(ODD)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GIT_LITERAL_PATHSPECS", "1"),
        ("GIT_GLOB_PATHSPECS", "1"),
        ("GIT_NOGLOB_PATHSPECS", "1"),
        ("GIT_ICASE_PATHSPECS", "1"),
        ("GIT_WORK_TREE", "."),
        ("GIT_NAMESPACE", "x"),
        ("GIT_CONFIG_COUNT", "0"),
    ],
)
def test_odd_variables_of_git(staged: QuickRepo, name: str, value: str) -> None:
    assert staged.starts("-m", "docs: x", env={name: value}) == BOTH


def test_folders_given_by_variables(staged: QuickRepo) -> None:
    objects = str(staged.root / ".git" / "objects")
    assert staged.starts("-m", "docs: x", env={"GIT_OBJECT_DIRECTORY": objects}) == BOTH
    stage_more(staged)
    common = {"GIT_DIR": ".git", "GIT_COMMON_DIR": str(staged.root / ".git")}
    assert staged.starts("-m", "docs: x", env=common) == BOTH
    stage_more(staged)
    # A folder alone is no doubt: it is where the hook looks, too.
    assert staged.starts("-m", "docs: x", env={"GIT_DIR": str(staged.root / ".git")}) == []


def test_settings_for_one_command(staged: QuickRepo) -> None:
    done = staged.run("git", "-c", "core.ignorecase=true", "commit", "-q", "-m", "docs: x")
    assert done.returncode == 0
    assert staged.started() == BOTH


@pytest.mark.parametrize("setting", ["core.ignorecase", "index.sparse"])
def test_paths_or_an_index_that_mean_something_else(staged: QuickRepo, setting: str) -> None:
    staged.git("config", setting, "true")
    for _ in range(2):
        assert staged.starts() == BOTH
        stage_more(staged)
    staged.git("config", setting, "false")
    assert staged.starts() == ["pre-commit"]


def test_sparse_index(staged: QuickRepo) -> None:
    staged.git("sparse-checkout", "set", "--cone", "--sparse-index", "docs")
    assert staged.starts() == BOTH


# The process that calls it -------------------------------------------------------------------


def test_called_by_hand(staged: QuickRepo) -> None:
    for stage in BOTH:
        hook = str(staged.root / ".git" / "hooks" / stage)
        staged.write({".git/COMMIT_EDITMSG": "docs: x\n"})
        assert staged.run(hook, ".git/COMMIT_EDITMSG").returncode == 0
    assert staged.started() == BOTH


def test_called_by_a_program_of_another_name(staged: QuickRepo) -> None:
    """A client that brings its own git; commit-msg finds no record of it either."""
    hook = str(staged.root / ".git" / "hooks" / "pre-commit")
    client = staged.folder / "gitcommit-client"
    write_program(client, f"#!/bin/sh\n'{hook}'; exit $?\n")
    assert staged.run(str(client), "commit", "-m", "docs: x").returncode == 0
    assert staged.started() == ["pre-commit"]


def test_called_below_another_hook_manager(staged: QuickRepo) -> None:
    for stage in BOTH:
        hook = staged.root / ".git" / "hooks" / stage
        hook.rename(hook.with_suffix(".real"))
        write_program(hook, f'#!/bin/sh\n.git/hooks/{stage}.real "$@"; exit $?\n')
    assert staged.starts() == BOTH


def test_where_processes_cannot_be_read(staged: QuickRepo) -> None:
    for stage in BOTH:
        replace_in_program(staged.root / ".git" / "hooks" / stage, "/proc/", "/no-proc/")
    assert staged.starts() == BOTH


@pytest.mark.parametrize("option", ["--amend", "--am", "--amen", "--allow-empty"])
def test_commits_that_may_not_stand_on_head(staged: QuickRepo, option: str) -> None:
    assert staged.starts(option, "-m", "docs: x") == BOTH


@pytest.mark.parametrize("option", ["--fixup=HEAD", "--fix=HEAD"])
def test_commits_that_will_be_folded_into_another(staged: QuickRepo, option: str) -> None:
    assert staged.starts(option) == BOTH


def test_amended_fix_is_judged_as_a_whole(quick: QuickRepo) -> None:
    """The other end of it: here something guarded is committed, and nothing is staged."""
    quick.bypass("feat(talk): more", {TALK: GOOD_TALK + "Again.\n"})
    quick.stage({"README.md": "more\n"})
    quick.try_commit("-m", "docs: x")
    quick.git("reset", "-q", "--soft", "HEAD^")
    done = quick.try_commit("--amend", "-m", "fix(talk): say it again")
    assert done.returncode == 1
    assert "fix-needs-case" in done.stderr


# What git is in the middle of -----------------------------------------------------------------


def conflict(quick: QuickRepo) -> None:
    quick.git("checkout", "-q", "-b", "topic")
    quick.bypass("docs: theirs", {"README.md": "theirs\n"})
    quick.git("checkout", "-q", "main")
    quick.bypass("docs: ours", {"README.md": "ours\n"})


@pytest.mark.parametrize("command", ["merge", "cherry-pick"])
def test_conflict_that_was_resolved(quick: QuickRepo, command: str) -> None:
    conflict(quick)
    assert quick.run("git", command, "topic").returncode != 0
    quick.stage({"README.md": "both\n"})
    assert quick.starts("-m", "docs: both") == BOTH


def test_revert_that_was_resolved(quick: QuickRepo) -> None:
    quick.bypass("docs: a", {"README.md": "a\n"})
    quick.bypass("docs: b", {"README.md": "b\n"})
    assert quick.run("git", "revert", "HEAD^").returncode != 0
    quick.stage({"README.md": "c\n"})
    assert quick.starts("-m", "docs: undo") == BOTH


def test_merge(quick: QuickRepo) -> None:
    """Its own hook always starts Python; commit-msg finds it is a merge."""
    quick.git("checkout", "-q", "-b", "topic")
    quick.bypass("docs: theirs", {"docs/a.md": "theirs\n"})
    quick.git("checkout", "-q", "main")
    quick.bypass("docs: ours", {"README.md": "ours\n"})
    assert quick.run("git", "merge", "-q", "-m", "commit", "topic").returncode == 0
    assert quick.started() == ["commit-msg"]


def test_pre_commit_called_by_a_merge(quick: QuickRepo) -> None:
    """As git's own sample of a pre-merge-commit hook does."""
    conflict(quick)
    quick.bypass("docs: theirs", {"README.md": "theirs\n", "docs/a.md": "1\n"})
    hook = quick.root / ".git" / "hooks" / "pre-merge-commit"
    write_program(hook, "#!/bin/sh\nexec .git/hooks/pre-commit\n")
    done = quick.run("git", "-C", ".", "merge", "-q", "-m", "commit", "topic")
    assert done.returncode == 0, done.stderr
    assert quick.started() == BOTH


def test_rebase_that_commits(quick: QuickRepo) -> None:
    quick.bypass("docs: a", {"README.md": "a\n"})
    call = "echo b >README.md; git commit -q -a -m 'docs: b'"
    assert quick.run("git", "rebase", "-q", "-x", call, "HEAD^").returncode == 0
    assert quick.started() == BOTH


def test_no_commit_yet(staged: QuickRepo) -> None:
    staged.git("checkout", "-q", "--orphan", "fresh")
    staged.git("rm", "-r", "-q", "--cached", "skills", "evals")
    assert staged.starts()[:1] == ["pre-commit"]
