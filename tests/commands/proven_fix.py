"""A fix of the clerk that is proven as a user does it: red, edit, green, commit."""

from __future__ import annotations

from tests.clerk import BASE, CASE_PATH, FIXED, SKILL_PATH, case
from tests.commands.calling import call_guard
from tests.scratch_repo import ScratchRepo


def commit_proven_fix(repo: ScratchRepo) -> None:
    """Commit the bug; prove its fix in two calls; commit that."""
    repo.commit("feat: clerk", BASE)
    repo.write({CASE_PATH: case()})
    assert call_guard(repo.root, "prove", "taxi").code == 3
    repo.write({SKILL_PATH: FIXED})
    assert call_guard(repo.root, "prove", "taxi").code == 0
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "fix(clerk): ask")
