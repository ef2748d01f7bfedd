from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ScratchRepo, isolate_home
from tests.guarded_repo import BASE
from tests.hooked_repo import HookedRepo
from tests.hooks.quick_repo import QuickRepo, copy_quick, make_quick, stage_unguarded


@pytest.fixture
def hooked(repo: ScratchRepo) -> HookedRepo:
    """A repository with one guarded skill, committed; the commit-msg hook is in place."""
    found = HookedRepo(repo.root)
    found.commit("feat: base", BASE)
    found.install()
    return found


@pytest.fixture(scope="session")
def warmed(tmp_path_factory: pytest.TempPathFactory) -> QuickRepo:
    """A repository whose hooks have their list; only to be copied."""
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("quick-home")
        isolate_home(home, patch)
        found = make_quick(tmp_path_factory.mktemp("quick") / "it")
        found.warm()
    return found


@pytest.fixture
def quick(warmed: QuickRepo, tmp_path: Path) -> QuickRepo:
    """A guarded repository: committing nothing guarded starts no Python."""
    return copy_quick(warmed, tmp_path / "quick")


@pytest.fixture
def staged(quick: QuickRepo) -> QuickRepo:
    """A repository in which something is staged that needs no Python."""
    stage_unguarded(quick)
    return quick
