"""Repositories that are vacuous or wrong, each in a way of its own: none of them is PROVEN.

Where it costs little, the same repository with the one wrong thing mended stands beside it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from unittest import mock

import pytest

from guard.verdict import PROOF_CODES
from tests.conftest import ScratchRepo
from tests.corpus import bookkeeping, crashes, flaky, kept, leaks, twice, vacuous
from tests.corpus.story import Story, told

MODULES = (crashes, vacuous, flaky, leaks, bookkeeping, kept, twice)
STORIES: tuple[Story, ...] = tuple(story for module in MODULES for story in module.STORIES)
MENDED = tuple(story for story in STORIES if story.twin)
#: Verdict → what ``guard verify`` ends in, and what with ``--strict``.
CODES = {
    "PROVEN": (0, 0),
    "PENDING": (0, 3),
    "VACUOUS": (1, 1),
    "WRONG_REASON": (1, 1),
    "BROKEN_NOW": (1, 1),
    "DEGENERATE": (1, 1),
    "UNPROTECTED": (1, 1),
    "INCONCLUSIVE": (3, 3),
    "STALE": (3, 3),
    "BLOCKED": (3, 3),
    "SKIP": (0, 3),
    "RETIRED": (0, 0),
}


@pytest.fixture(autouse=True)
def _environment() -> Iterator[None]:
    """Let a story change the environment, and no other see it."""
    with mock.patch.dict(os.environ):
        yield


@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
def test_the_verdict_and_its_exit_code(repo: ScratchRepo, story: Story) -> None:
    story.build(repo)
    found, outcome = told(repo, *story.command)
    assert found["verdict"] == story.verdict, outcome.out
    assert outcome.code == (CODES[story.verdict][0] if story.code is None else story.code), outcome
    assert story.says in found["reason"], found["reason"]
    if story.state is not None:
        assert found["state"] == story.state, outcome.out
    assert story.hint in outcome.out


@pytest.mark.parametrize("story", MENDED, ids=[story.name for story in MENDED])
def test_the_same_with_the_one_wrong_thing_mended(repo: ScratchRepo, story: Story) -> None:
    assert story.twin is not None
    story.twin(repo)
    found, outcome = told(repo, *story.command)
    assert (found["verdict"], outcome.code) == ("PROVEN", 0), outcome.out
    assert "taxi PROVEN" in outcome.out


def test_each_verdict_has_its_story() -> None:
    assert {story.verdict for story in STORIES} | {"PROVEN"} == set(PROOF_CODES) == set(CODES)
