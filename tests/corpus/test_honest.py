"""Honest regressions, each in a situation of its own: all are proven, and nothing is touched."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from guard.git import find_repo, text_of
from guard.project import Project
from guard.proofs.broken_state import BrokenStates
from guard.proofs.origin import History, commits_before
from guard.proofs.scratch import Scratch
from guard.snapshot import worktree_tree
from guard.store import Store
from tests.commands.calling import call_guard
from tests.conftest import ScratchRepo
from tests.corpus.honest_agents import AGENTS
from tests.corpus.honest_histories import HISTORIES
from tests.corpus.honest_records import KEPT
from tests.corpus.honest_repos import Story
from tests.corpus.honest_situations import SITUATIONS
from tests.invariants import unchanged

STORIES = {**HISTORIES, **AGENTS, **KEPT, **SITUATIONS}


def verified(folder: Path) -> dict[str, dict[str, Any]]:
    """Return what `guard verify` says of each record: all must hold, and nothing be touched."""
    with unchanged(ScratchRepo(folder)):
        outcome = call_guard(folder, "verify", "--strict", "--json", "-")
    found = {proof["id"]: proof for proof in json.loads(outcome.out)["regressions"]}
    assert outcome.code == 0, [(p["verdict"], p["state"], p["reason"]) for p in found.values()]
    return found


def differing(folder: Path, states: dict[str, str]) -> Iterator[str]:
    """Yield the paths in which git sees a record's two states differ."""
    with find_repo(str(folder)) as opened:
        store = Store.open(opened.common_dir)
        project = Project(opened, worktree_tree(opened), store)
        revs = commits_before(opened, ("HEAD",))
        with Scratch(opened) as scratch:
            built = BrokenStates(project, [History(opened, store, rev) for rev in revs], scratch)
            for name, state in states.items():
                rungs = built.rungs(project.records[name])
                broken = next(r.tree for r in rungs if r.state == state and r.tree)
                call = ("diff-tree", "-r", "-z", "--name-only", project.tree.oid, broken.oid)
                paths = [text_of(path) for path in opened.out(*call).split(b"\0") if path]
                assert paths
                yield from paths
        store.close()


def check(story: Story, folder: Path) -> None:
    found = verified(folder)
    said = {name: (proof["verdict"], proof["state"]) for name, proof in found.items()}
    assert said == {name: ("PROVEN", state) for name, state in story.states.items()}
    for proof in found.values():
        assert proof["before"]["passed"] == 0 < proof["before"]["trials"]
        assert proof["after"]["passed"] == proof["after"]["trials"] > 0
    rebuilt = {name: state for name, state in story.states.items() if state != "command"}
    assert all(path.startswith(story.own) for path in differing(folder, rebuilt))


@pytest.mark.parametrize("name", STORIES)
def test_honest_regression_is_proven(name: str, repo: ScratchRepo) -> None:
    story = STORIES[name]
    check(story, story.build(repo) or repo.root)
