"""The rungs of a record in a scratch repository, and what they hold."""

from __future__ import annotations

from guard.change import diff_trees
from guard.git import Repo
from guard.project import Project
from guard.proofs.broken_state import BrokenStates
from guard.proofs.origin import History, commits_before
from guard.proofs.rung import Rung
from guard.proofs.scratch import Scratch
from guard.snapshot import worktree_tree
from guard.store import Store
from tests.clerk import (
    SKILL_PATH,
)


def rungs_of(opened: Repo, name: str = "taxi", *before: str) -> list[Rung]:
    store = Store.open(opened.common_dir)
    project = Project(opened, worktree_tree(opened), store)
    revs = commits_before(opened, before or ("HEAD",))
    with Scratch(opened) as scratch:
        states = BrokenStates(project, [History(opened, store, rev) for rev in revs], scratch)
        found = list(states.rungs(project.records[name]))
        for rung in found:
            if rung.tree is not None:
                own = project.own_paths(project.agents[project.records[name].agent])
                changed = [entry.path for entry in diff_trees(opened, project.tree, rung.tree)]
                assert changed, "a rung that differs in nothing proves nothing"
                assert all(own(path) for path in changed)
    store.close()
    return found


def told(rungs: list[Rung]) -> list[str]:
    return [f"{r.state} {'built' if r.tree else 'same' if r.same else 'void'}" for r in rungs]


def read(rung: Rung, path: str = SKILL_PATH) -> str:
    assert rung.tree is not None, rung.reason
    content = rung.tree.read(path)
    assert content is not None, f"{path} is not in {rung.state}"
    return content.decode()
