from __future__ import annotations

from collections.abc import Generator

import pytest

from guard.git import find_repo
from tests.conftest import ScratchRepo
from tests.guarded_repo import BASE, RETAINED
from tests.judged_repo import Bench


@pytest.fixture
def opened_bench(repo: ScratchRepo) -> Generator[Bench]:
    with find_repo(str(repo.root)) as opened:
        yield Bench(repo, opened)


@pytest.fixture
def bench(opened_bench: Bench) -> Bench:
    """A repository with one guarded skill that has no case yet."""
    opened_bench.repo.commit("feat: base", BASE)
    return opened_bench


@pytest.fixture
def retained(opened_bench: Bench) -> Bench:
    """The same with a case, and an active record that retains it."""
    opened_bench.repo.commit("fix: base", RETAINED)
    return opened_bench
