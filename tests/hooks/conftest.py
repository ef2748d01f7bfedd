from __future__ import annotations

import pytest

from tests.conftest import ScratchRepo
from tests.guarded_repo import BASE
from tests.hooked_repo import HookedRepo


@pytest.fixture
def hooked(repo: ScratchRepo) -> HookedRepo:
    """A repository with one guarded skill, committed; the commit-msg hook is in place."""
    found = HookedRepo(repo.root)
    found.commit("feat: base", BASE)
    found.install()
    return found
