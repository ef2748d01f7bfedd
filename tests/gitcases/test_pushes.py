"""docs/git.md F: pushes."""

from __future__ import annotations

import os
import pty
import subprocess
import time
from pathlib import Path

import pytest

from tests.conftest import ScratchRepo
from tests.gitcases.stories import (
    BETTER_TALK,
    WITHOUT_CASE,
    ZERO,
    accept_push,
    add_remote,
    commit_in,
    refuse_push,
)
from tests.hooks.installed import BAD_TALK, FILES, TALK, Installed

UNGUARDED_FIX = "fix(talk): mean it"


@pytest.fixture
def shared(watched: Installed, tmp_path: Path) -> Installed:
    """A repository with a remote `up`, which has main."""
    add_remote(watched, tmp_path)
    return watched


@pytest.fixture
def published(shared: Installed) -> Installed:
    """The remote has a fix without its case, as branch `old`; a harmless commit follows it."""
    shared.bypass(UNGUARDED_FIX, {TALK: BETTER_TALK})
    shared.git("push", "-q", "--no-verify", "up", "main:old")
    shared.bypass("docs: more", {"more.txt": "1\n"})
    return shared


def commit_quietly(repo: ScratchRepo, message: str, parent: str = "HEAD") -> str:
    """Make a commit of HEAD's tree; return its id."""
    return repo.git("commit-tree", "HEAD^{tree}", "-p", parent, "-m", message).strip()


# 66: what the remote has ------------------------------------------------------------------


def test_066_new_branch(shared: Installed) -> None:
    """A new branch is judged by its own commits: all of them, and none the remote has."""
    shared.git("checkout", "-qb", "new")
    shared.bypass("docs: more", {"more.txt": "1\n"})
    assert "new at " in (said := accept_push(shared, "up", "new"))
    assert ": 1 commit, 2 cases" in said
    wrong = shared.bypass(UNGUARDED_FIX, {TALK: BETTER_TALK})
    shared.bypass("docs: again", {"more.txt": "2\n"})
    said = refuse_push(shared, "up", "new", "new:other")
    assert WITHOUT_CASE in said
    assert f"commit   {wrong[:10]} {UNGUARDED_FIX}" in said
    assert wrong[:10] not in accept_push(shared, "up", "main:another")


def test_066_what_is_published_is_not_judged_again(published: Installed, tmp_path: Path) -> None:
    """By name or URL, however that is written; what another remote alone has is not published."""
    up = tmp_path / "up"
    published.git("config", "url.file:///.insteadOf", "root:")
    for remote in ("up", "../up", f"{up}/", f"file://{up}", f"root:{str(up)[1:]}"):
        assert "1 commit, 2 cases" in accept_push(published, "--dry-run", remote, "main:new")
    add_remote(published, tmp_path, "two")
    published.git("push", "-qf", "--no-verify", "two", "main~2:main")
    assert WITHOUT_CASE in refuse_push(published, "two", "main")
    # A folder that no remote names: nothing is known of it, what any remote has is published.
    published.git("init", "-q", "--bare", str(tmp_path / "three"))
    said = accept_push(published, "../three", "main")
    assert "no remote here has this URL" in said
    # This repository itself has it all.
    assert "nothing new, 2 cases" in accept_push(published, ".", "main:refs/heads/here")
    published.git("update-ref", "-d", "refs/remotes/up/old")
    assert WITHOUT_CASE in refuse_push(published, "../three", "main:other")


@pytest.mark.parametrize("force", ["--force", "--force-with-lease", "+main:main"])
def test_066_forced_push(shared: Installed, force: str) -> None:
    """What a forced push takes away is no part of it; what it brings is judged."""
    shared.bypass("docs: there", {"there.txt": "1\n"})
    shared.git("push", "-q", "--no-verify", "up", "main")
    shared.git("reset", "-q", "--hard", "HEAD~")
    shared.bypass("docs: here", {"here.txt": "1\n"})
    words = [force, "main"] if force.startswith("--") else [force]
    assert "1 commit, 2 cases" in accept_push(shared, "--dry-run", "up", *words)
    shared.bypass(UNGUARDED_FIX, {TALK: BETTER_TALK})
    assert WITHOUT_CASE in refuse_push(shared, "up", *words)


def test_066_tracking_refs_out_of_date(published: Installed) -> None:
    """What was pushed without our knowing is judged again: too much, never too little."""
    published.git("update-ref", "-d", "refs/remotes/up/old")
    assert WITHOUT_CASE in refuse_push(published, "up", "main:new")
    published.git("fetch", "-q", "up")
    accept_push(published, "up", "main:new")


def test_066_ids_of_64_digits(watched: Installed, tmp_path: Path) -> None:
    """In a SHA-256 repository zero ids, ranges and names of commits are as long as they are."""
    place = tmp_path / "long"
    place.mkdir()
    long = ScratchRepo(place)
    long.git("init", "-q", "--object-format=sha256")
    long.git("init", "-q", "--bare", "--object-format=sha256", "../up256")
    long.git("config", "core.hooksPath", str(watched.root / ".git" / "hooks"))
    long.git("remote", "add", "up", "../up256")
    long.commit("feat: all", FILES, "--no-verify")
    assert "1 commit, 2 cases" in accept_push(long, "up", "main")
    wrong = long.commit(UNGUARDED_FIX, {TALK: BETTER_TALK}, "--no-verify")
    said = refuse_push(long, "up", ":main", "main:new")
    assert f"commit   {wrong[:10]} " in said
    accept_push(long, "--dry-run", "up", ":main")


# 67: deletions, and refs of all kinds -----------------------------------------------------------


def test_067_deletions(shared: Installed) -> None:
    """A deletion brings nothing; beside it the rest is judged."""
    shared.git("push", "-q", "--no-verify", "up", "main:old", "main:older")
    assert "guard:" not in accept_push(shared, "up", "--delete", "old")
    shared.bypass(UNGUARDED_FIX, {TALK: BETTER_TALK})
    assert WITHOUT_CASE in refuse_push(shared, "up", ":older", "main")
    assert "refs/heads/older" in shared.git("ls-remote", "up")
    assert "guard:" not in accept_push(shared, "up", ":older")


def test_067_tags_and_other_refs(shared: Installed) -> None:
    """A tag is judged by the commit it names at last; one of a tree or a file brings no commit."""
    tip = shared.bypass(UNGUARDED_FIX, {TALK: BETTER_TALK})
    shared.git("tag", "light")
    shared.git("tag", "-a", "-m", "1", "annotated")
    shared.git("tag", "-a", "-m", "2", "nested", "annotated")
    shared.git("tag", "-a", "-m", "3", "tree", "HEAD^{tree}")
    shared.git("tag", "file", "HEAD:README.md")
    for ref in ("light", "annotated", "nested", "HEAD:refs/for/main", f"{tip}:refs/heads/x"):
        said = refuse_push(shared, "up", ref)
        assert f"commit   {tip[:10]} " in said, ref
    for several in (["--tags"], ["--follow-tags", "main"], ["--mirror"], ["--all"]):
        assert WITHOUT_CASE in refuse_push(shared, *several[:1], "up", *several[1:])
    for ref in ("tree", "file"):
        assert "guard:" not in accept_push(shared, "up", ref)
    shared.git("notes", "add", "-m", "seen")
    said = accept_push(shared, "up", "refs/notes/commits")
    assert "no guard.yaml" in said


# 70: not what is on disk ---------------------------------------------------------------------


def test_070_another_branch_than_the_one_checked_out(shared: Installed, tmp_path: Path) -> None:
    """The suite runs on the pushed tree, from whatever worktree, whatever lies on disk."""
    shared.git("checkout", "-qb", "bad")
    shared.bypass("feat(talk): say less", {TALK: BAD_TALK})
    shared.git("checkout", "-q", "--detach", "main")
    shared.git("worktree", "add", "-q", str(tmp_path / "linked"), "main")
    for place in (shared.root, tmp_path / "linked", tmp_path / "linked" / "skills"):
        said = refuse_push(ScratchRepo(place), "up", "bad")
        assert "greets fails in bad at " in said
    shared.write({TALK: BAD_TALK})
    shared.git("add", TALK)
    (tmp_path / "linked" / "guard.yaml").write_text("broken: [")
    assert "nothing new, 2 cases" in accept_push(shared, "up", "HEAD:refs/heads/detached")
    linked = ScratchRepo(tmp_path / "linked")
    assert "nothing new" in accept_push(linked, "up", "bad~:refs/heads/before")


# 71: nothing to push ---------------------------------------------------------------------------


def test_071_nothing_to_push(shared: Installed, tmp_path: Path) -> None:
    """Without news nothing is judged, and nothing is waited for; a dry run is judged."""
    shared.bypass(UNGUARDED_FIX, {TALK: BETTER_TALK})
    assert WITHOUT_CASE in refuse_push(shared, "--dry-run", "up", "main")
    shared.git("push", "-q", "--no-verify", "up", "main")
    assert "guard:" not in accept_push(shared, "up", "main")
    hook = str(shared.root / ".git" / "hooks" / "pre-push")
    for given in ("</dev/null", "<&-"):
        done = shared.run("sh", "-c", f'exec "$1" up url {given}', "-", hook)
        assert (done.returncode, done.stderr) == (0, "")
    terminal, ours = pty.openpty()
    try:
        done = subprocess.run(
            [hook, "up", "url"],
            stdin=ours,
            cwd=shared.root,
            timeout=60,
            capture_output=True,
            text=True,
        )
    finally:
        os.close(terminal)
        os.close(ours)
    assert (done.returncode, done.stderr) == (0, "")
    # No hook is called at all.
    for words in (["nowhere", "main"], [str(tmp_path / "nowhere"), "main"]):
        assert commit_in(shared.root, "push", *words).returncode == 128
    shared.git("config", "push.default", "nothing")
    assert "push.default" in commit_in(shared.root, "push", "up").stderr


# 76: many refs -----------------------------------------------------------------------------------


def test_076_two_thousand_refs(shared: Installed) -> None:
    """Two thousand refs of one tree are read, judged and run once, in a bounded time."""
    commits = [commit_quietly(shared, f"docs: {number}") for number in range(40)]
    names = [f"refs/heads/a-rather-long-name-for-a-branch-{number}" for number in range(2000)]
    made = "".join(
        f"create {name} {commits[number % len(commits)]}\n" for number, name in enumerate(names)
    )
    shared.git("update-ref", "--stdin", input=made)
    began = time.monotonic()
    said = accept_push(shared, "--dry-run", "up", "refs/heads/a-rather*")
    assert time.monotonic() - began < 60
    assert said.count(", 2 cases, ") == 1
    assert shared.trials("greets") == 2
    wrong = shared.bypass(UNGUARDED_FIX, {TALK: BETTER_TALK})
    shared.git("update-ref", names[1234], wrong)
    assert wrong[:10] in refuse_push(shared, "--dry-run", "up", "refs/heads/a-rather*")


def test_076_hook_that_leaves_early(shared: Installed) -> None:
    """Everything git says is read, though nothing of it is to be judged."""
    line = f"(delete) {ZERO} refs/heads/a-rather-long-name-for-a-branch {'a' * 40}\n"
    done = shared.call_hook("pre-push", "up", "url", said=line * 20_000)
    assert (done.returncode, done.stderr) == (0, "")


def test_076_two_pushes_at_once(shared: Installed) -> None:
    """Pushes that run at the same time share a store, and disturb each other in nothing."""
    shared.bypass("docs: more", {"more.txt": "1\n"})
    pushes = [
        subprocess.Popen(
            ["git", "push", "-q", "--dry-run", "up", f"main:copy{number}"],
            cwd=shared.root,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(3)
    ]
    for push in pushes:
        _, said = push.communicate(timeout=120)
        assert push.returncode == 0, said
        assert "held" in said or "answered by receipts" in said


# 77: nothing new ------------------------------------------------------------------------------


def test_077_old_commit_under_a_new_name(published: Installed) -> None:
    """Nothing new, a new ref: no commit is judged again, the suite is answered by receipts."""
    published.git("push", "-q", "--no-verify", "up", "main")
    assert "nothing new, 2 cases" in accept_push(published, "up", "main:release")
    ran = published.trials("greets")
    assert "answered by receipts" in (said := accept_push(published, "up", "main:again"))
    assert "nothing new, 2 cases" in said
    assert published.trials("greets") == ran
    assert "nothing new" in accept_push(published, "up", "main~1:refs/heads/older")
