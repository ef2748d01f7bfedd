"""docs/git.md G: repositories that git refuses, and clones that lack objects."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import ScratchRepo
from tests.gitcases.stories import BETTER_TALK, WITHOUT_CASE
from tests.hooks.installed import (
    BAD_TALK,
    GOOD_WALK,
    TALK,
    TALK_CASE,
    WALK,
    Installed,
    make_installed,
    skill,
)
from tests.invariants import unchanged

#: Git takes everything for someone else's then, even where nobody may call chown.
OTHERS = ("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
COMMANDS = [
    "run",
    "check",
    "status",
    "affected",
    "verify",
    "ci",
    "install",
    "agents",
    "prove greets",
]


# 81 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_081_a_repository_of_someone_else_is_refused_as_git_says_it(
    repo: ScratchRepo, command: str, isolated_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git refuses the repository for its owner: its own words, exit 3, and no way around them."""
    installed = make_installed(repo)
    settings = (isolated_home / ".gitconfig").read_text()
    monkeypatch.setenv(*OTHERS)
    done = installed.guard(*command.split())
    assert done.returncode == 3, done.stdout + done.stderr
    said = "guard: git refuses this repository: fatal: detected dubious ownership in repository at"
    assert done.stderr.splitlines() == [
        f"{said} '{installed.root}'",
        f"  do  git config --global --add safe.directory {installed.root}",
    ]
    assert (isolated_home / ".gitconfig").read_text() == settings
    # Whoever does as git says is served.
    installed.git("config", "--global", "--add", "safe.directory", str(installed.root))
    assert installed.guard("run", "greets").returncode == 0


@pytest.mark.parametrize("stage", ["pre-commit", "pre-push", "commit-msg"])
def test_081_a_hook_refuses_it_too(
    repo: ScratchRepo, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook that can't look at the repository refuses, in one line and git's command."""
    installed = make_installed(repo)
    message = installed.root.parent / "message"
    message.write_text("feat: x\n")
    words = {"commit-msg": [str(message)], "pre-push": ["up", "url"]}.get(stage, [])
    with unchanged(installed), monkeypatch.context() as patch:
        patch.setenv(*OTHERS)
        done = installed.run(f".git/hooks/{stage}", *words)
    assert (done.returncode, len(done.stderr.splitlines())) == (3, 2), done.stderr
    assert "refused: git refuses this repository: fatal: detected dubious" in done.stderr


@pytest.mark.skipif(os.getuid() != 0, reason="chown takes root")
def test_081_a_checkout_that_another_user_owns(repo: ScratchRepo) -> None:
    """A CI container's user isn't the owner of the checkout."""
    installed = make_installed(repo)
    os.chown(installed.root, 65534, 65534)
    done = installed.guard("run")
    assert (done.returncode, "dubious ownership" in done.stderr) == (3, True)
    os.chown(installed.root, 0, 0)
    assert installed.guard("run").returncode == 0


# 83 ---------------------------------------------------------------------------------------


class Partial(Installed):
    """A clone that has the trees and the blobs of its checkout alone."""

    def __init__(self, root: Path, asked: Path, origin: Path) -> None:
        super().__init__(root)
        self.asked = asked
        self.origin = origin

    def lose_origin(self) -> None:
        """Take the remote away."""
        self.origin.rename(self.origin.with_name("gone"))

    def asked_nothing(self) -> bool:
        """Tell whether nothing was fetched since."""
        return not self.asked.exists()


@pytest.fixture
def partial(repo: ScratchRepo, tmp_path: Path) -> Partial:
    """A blobless, sparse clone; each fetch leaves a mark."""
    make_installed(repo)
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.git("config", "uploadpack.allowAnySHA1InWant", "true")
    options = ("--quiet", "--filter=blob:none", "--sparse", f"file://{repo.root}")
    repo.git("clone", *options, str(tmp_path / "clone"))
    found = Partial(tmp_path / "clone", tmp_path / "asked", repo.root)
    found.git("sparse-checkout", "set", "skills/walk", "evals/walk")
    helper = tmp_path / "upload-pack"
    helper.write_text(f'#!/bin/sh\ntouch {found.asked}\nexec git-upload-pack "$@"\n')
    helper.chmod(0o755)
    found.git("config", "remote.origin.uploadpack", str(helper))
    found.install()
    return found


@pytest.mark.parametrize("away", [False, True])
def test_083_what_a_partial_clone_lacks_is_named_and_never_fetched(
    partial: Partial, away: bool
) -> None:
    """A blobless clone: what is there is judged, what isn't is named; nothing is fetched for it."""
    if away:
        partial.lose_origin()
    assert not (partial.root / TALK).exists()
    done = partial.guard("run", "--at", "HEAD", "--no-cache")
    assert done.returncode == 3
    assert f"{TALK_CASE} can't be read: object " in done.stderr
    assert "(a partial or shallow clone?)" in done.stderr
    assert len(done.stderr.splitlines()) == 2
    assert partial.asked_nothing()


def test_083_the_rules_need_no_blob_that_is_not_here(partial: Partial) -> None:
    """A fix of a skill whose old text isn't here still owes its case."""
    partial.lose_origin()
    partial.git("config", "core.sparseCheckout", "false")
    oid = partial.git("hash-object", "-w", "--stdin", input=BETTER_TALK).strip()
    partial.git("update-index", "--no-skip-worktree", "--cacheinfo", f"100644,{oid},{TALK}")
    message = partial.root.parent / "message"
    message.write_text("fix(talk): mean it\n")
    done = partial.call_hook("commit-msg", str(message))
    assert (done.returncode, WITHOUT_CASE in done.stderr) == (1, True), done.stderr
    message.write_text("feat(talk): mean it\n")
    assert partial.call_hook("commit-msg", str(message)).returncode == 0
    # What a trial would need isn't here: the commit isn't waved through.
    done = partial.call_hook("pre-commit")
    assert (done.returncode, TALK_CASE in done.stderr) == (3, True), done.stderr
    assert partial.asked_nothing()


def test_083_an_agent_that_is_all_there_is_run(partial: Partial) -> None:
    """What else is missing of the clone is nobody's concern."""
    config = (partial.root / "guard.yaml").read_text()
    partial.write(
        {"guard.yaml": config.partition("  talk:")[0] + "  walk:" + config.split("walk:")[1]}
    )
    partial.git("add", "guard.yaml")
    partial.git("commit", "-q", "--no-verify", "-m", "chore: walk alone")
    partial.lose_origin()
    partial.write({WALK: skill("walk", "stop at red, always")})
    partial.git("add", WALK)
    assert "stops 2 of 2" in partial.accept("feat(walk): always")
    partial.write({WALK: BAD_TALK})
    assert partial.guard("run").returncode == 1
    partial.write({WALK: GOOD_WALK})
    assert partial.guard("run").returncode == 0
    assert partial.asked_nothing()


def test_083_a_file_of_a_workspace_that_is_not_here_is_named(partial: Partial) -> None:
    """The case is here and a file of its workspace isn't: no trial, and the file is named."""
    partial.git("sparse-checkout", "add", "evals/talk")
    partial.asked.unlink()
    partial.lose_origin()
    done = partial.guard("run", "--at", "HEAD")
    assert done.returncode == 3
    assert f"{TALK} can't be read: object" in done.stdout
    assert "✓ stops PASS" in done.stdout
    assert partial.asked_nothing()
