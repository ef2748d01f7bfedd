"""What every repository of graded agents holds, as tests of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import pytest

from guard.model import FAIL
from guard.results import Observation
from guard.session import WORKTREE
from guard.testing.repository import Graded, GradedRepository


class AgentContract:
    """Subclass it in your own tests, and say where the repository is. No agent is run.

    class TestAgents(AgentContract):
        root = Path(__file__).parent.parent
    """

    root: ClassVar[str | os.PathLike[str]] = "."
    """The top folder of the repository."""
    at: ClassVar[str] = WORKTREE
    """Which tree is looked at: worktree, index or a revision."""
    repository: GradedRepository

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _opened(cls) -> Iterator[None]:
        # Each test has an instance of its own: what they share is on the class.
        with GradedRepository(cls.root, cls.at) as repository:
            cls.repository = repository
            yield

    def test_every_served_graph_is_graded(self) -> None:
        """Whatever a manifest serves has an agent, evaluators, and a case that can fail."""
        _hold(self.repository.find_ungraded())

    def test_every_target_drives_the_real_agent_graph(self) -> None:
        """What would be run is what the manifest names; only storage is substituted."""
        _hold(self.repository.find_unreal())

    def test_every_reference_key_is_graded_by_some_evaluator(self) -> None:
        """No expectation stands there that nothing reads."""
        _hold(self.repository.find_unread())

    def test_no_baseline_excuses_what_nothing_scores(self) -> None:
        """Each key that a baseline names can fail, and may be excused."""
        _hold(self.repository.find_impossible())

    # For tests of your own ---------------------------------------------------------------

    def grade(
        self,
        case: str,
        observation: Observation | None = None,
        *,
        scores: Mapping[str, float] | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> Graded:
        """Grade an observation, or scores, as guard would grade a trial of the case."""
        return self.repository.grade(case, observation, scores=scores, facts=facts)

    def assert_still_gates(self, case: str, key: str, facts: Mapping[str, Any]) -> None:
        """Assert that a miss on a score key fails the case under these facts.

        That is how a baseline for another condition is shown not to reach further.
        """
        graded = self.grade(case, scores={key: 0.0}, facts=facts)
        if graded.verdict != FAIL or key in graded.excused:
            said = f"a miss on `{key}` with {dict(facts)} is {graded.verdict}, not {FAIL}"
            raise AssertionError(f"{case}: {said}")

    def assert_never_excused(self, key: str) -> None:
        """Assert that no baseline excuses a miss on a score key, in any case, nor could one."""
        _hold(self.repository.find_excused(key))


def _hold(problems: Sequence[str]) -> None:
    if problems:
        raise AssertionError("\n".join(problems))
