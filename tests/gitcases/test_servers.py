"""Servers and CI: what a runner checks out, and what it can tell of the commits it got."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from guard.ci.services import BY_EVENT, SERVICES
from tests.commands.calling import Outcome, start_guard
from tests.conftest import ScratchRepo
from tests.guarded_repo import (
    BASE,
    CASE,
    CASE_TEXT,
    FIXED_SKILL,
    GUARD_YAML,
    RECORDS,
    SKILL,
    record,
    records,
)
from tests.invariants import unchanged

ZEROS = "0" * 40
#: The program of the agent does as its skill says, so that a case can fail before its fix.
BRING = {
    CASE: CASE_TEXT.replace("no_changes: true\n  reply_contains: [euro]", "reply_contains: [Ask]"),
    RECORDS: records(eur_taxi=record(fails_on=["reply_contains"])),
}


# 84: CI ranges ----------------------------------------------------------------------------


@pytest.fixture
def forge(repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch) -> ScratchRepo:
    """A pull request pr with a fix that brings no case; main went on meanwhile."""
    for name in ("CI", "TRAVIS", *BY_EVENT, *(service.marker for service in SERVICES)):
        monkeypatch.delenv(name, raising=False)
    repo.commit("feat: base", BASE)
    repo.git("checkout", "-q", "-b", "pr")
    repo.commit("fix: a", {SKILL: FIXED_SKILL})
    repo.git("checkout", "-q", "main")
    repo.commit("docs: m", {"m": "m\n"})
    return repo


def judge(repo: ScratchRepo, *options: str, **event: Mapping[str, Any] | str) -> Outcome:
    """Call ``guard ci`` as a runner does, with an event where one is given; nothing may change."""
    environment: dict[str, str] = {}
    if event:
        path = repo.root.parent / "event.json"
        path.write_text(json.dumps(event["payload"]))
        environment = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_NAME": str(event["name"]),
            "GITHUB_EVENT_PATH": str(path),
        }
    with unchanged(repo):
        return start_guard(repo, "ci", *options, env=environment)


def merge_for_job(repo: ScratchRepo, message: str = "Merge 1111 into 2222") -> None:
    repo.git("checkout", "-q", "--detach", "main")
    repo.git("merge", "-q", "--no-ff", "-m", message, "pr")


def test_084_merge_ref_of_a_pull_request(forge: ScratchRepo) -> None:
    """HEAD is a merge that the service made of a pull request: the pull request's own commits
    are judged, and what main has is not judged again."""
    merge_for_job(forge)
    outcome = judge(forge)
    assert outcome.code == 1
    assert "2 commits since" in outcome.err
    assert "the merge base with main" in outcome.err
    assert "fix-needs-case" in outcome.out
    assert "docs: m" not in outcome.out + outcome.err
    forge.git("checkout", "-q", "pr")
    forge.commit("fix: a", BRING, "--amend")
    merge_for_job(forge)
    assert judge(forge).code == 0


def test_084_event_of_a_pull_request(forge: ScratchRepo) -> None:
    """The event names the base: the same range, whether the merge or the pull request's own
    commit is checked out; another commit is refused rather than judged as nothing."""
    head, base = (forge.git("rev-parse", name).strip() for name in ("pr", "main"))
    request = {"base": {"ref": "main", "sha": base}, "head": {"sha": head}, "title": "fix: a"}
    event: dict[str, Any] = {"name": "pull_request", "payload": {"pull_request": request}}
    merge_for_job(forge, "Merge pull request #7")
    assert judge(forge, **event).code == 1
    forge.git("checkout", "-q", "--detach", "pr")
    assert judge(forge, **event).code == 1
    forge.git("checkout", "-q", "--detach", "main")
    outcome = judge(forge, **event)
    assert outcome.code == 2
    assert "doesn't hold the pull request's own commit" in outcome.err


@pytest.mark.parametrize("before", [ZEROS, "d" * 40])
def test_084_zeros_and_what_a_forced_push_left_behind(forge: ScratchRepo, before: str) -> None:
    """A push event's `before` is zeros, or a commit that is gone: the range starts at the merge
    base with the default branch, and that is said."""
    forge.git("checkout", "-q", "--detach", "pr")
    payload = {"before": before, "ref": "refs/heads/pr", "repository": {"default_branch": "main"}}
    for outcome in (
        judge(forge, "--base", before),
        judge(forge, name="push", payload=payload),
    ):
        assert outcome.code == 1, outcome
        assert "the merge base with main" in outcome.err
        assert "fix-needs-case" in outcome.out
    forge.git("checkout", "-q", "pr")
    forge.commit("fix: a", BRING, "--amend")
    assert judge(forge, "--base", before).code == 0


def test_084_squash_merge_is_judged_by_the_title(forge: ScratchRepo) -> None:
    """With `unit: range` a pull request whose title is a fix is judged as the squash commit."""
    forge.commit("chore: by range", {"guard.yaml": GUARD_YAML + "fix: {unit: range}\n"})
    forge.git("checkout", "-q", "pr")
    forge.git("rebase", "-q", "main")
    forge.git("commit", "-q", "--amend", "-m", "wip")
    base = forge.git("rev-parse", "main").strip()

    def request(title: str) -> dict[str, Any]:
        head = forge.git("rev-parse", "HEAD").strip()
        told = {"base": {"ref": "main", "sha": base}, "head": {"sha": head}, "title": title}
        return {"name": "pull_request", "payload": {"pull_request": told}}

    assert judge(forge, **request("feat: a")).code == 0
    outcome = judge(forge, **request("fix: a"))
    assert outcome.code == 1
    assert "[pull request title fix: a]" in outcome.out
    forge.commit("test: a", BRING)
    assert judge(forge, **request("fix: a")).code == 0


def test_084_shallow_checkout(forge: ScratchRepo, tmp_path: Path) -> None:
    """A runner that fetched one commit can't tell the range: never a pass."""
    root = tmp_path / "shallow"
    url = f"file://{forge.root}"
    forge.git("clone", "-q", "--depth=1", "--branch=pr", url, str(root))
    outcome = judge(ScratchRepo(root), "--base", forge.git("rev-parse", "pr^").strip())
    assert outcome.code == 3
    assert "git fetch --unshallow" in outcome.err
    ScratchRepo(root).git("fetch", "-q", "--unshallow")
    assert judge(ScratchRepo(root), "--base", "HEAD^").code == 1
