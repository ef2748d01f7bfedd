"""For tests of repositories of agents, by pytest.

`AgentContract` is subclassed in the repository's own tests. As a plugin, by
``pytest_plugins = ["guard.testing"]`` in its conftest.py, this gives the fixture
`guard_repository`. Nothing is loaded into anybody's pytest by itself.
"""

from __future__ import annotations

from guard.testing.contract import AgentContract
from guard.testing.fixtures import guard_repository
from guard.testing.repository import Graded, GradedRepository

__all__ = ["AgentContract", "Graded", "GradedRepository", "guard_repository"]
