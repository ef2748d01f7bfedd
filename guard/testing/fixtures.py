"""Fixtures for the tests of a repository of agents."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from guard.testing.repository import GradedRepository


@pytest.fixture
def guard_repository(request: pytest.FixtureRequest) -> Iterator[GradedRepository]:
    """Return the agents and cases of the repository that pytest is run in; none is run."""
    with GradedRepository(request.config.rootpath) as repository:
        yield repository
