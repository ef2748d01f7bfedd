"""Repositories that are vacuous or wrong, each in a way of its own: none of them is PROVEN.

Where it costs little, the same repository with the one wrong thing mended stands beside it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from unittest import mock

import pytest

from guard.verdict import PROOF_CODES
from tests.commands.calling import call_guard
from tests.conftest import ScratchRepo
from tests.corpus import bookkeeping, crashes, flaky, judges, kept, leaks, twice, vacuous
from tests.corpus.story import (
    CASE,
    FIXED,
    RECORDS,
    SCRIPT,
    Files,
    Story,
    case,
    fix,
    history,
    record,
    records,
    start,
    told,
)

MODULES = (crashes, judges, vacuous, flaky, leaks, bookkeeping, kept, twice)
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
STRICT = ("PENDING", "SKIP")


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
    for line in outcome.out.splitlines():
        show = line.partition("do  guard show ")[2]
        assert not show or call_guard(repo.root, "show", show).code == 0, line


@pytest.mark.parametrize("story", MENDED, ids=[story.name for story in MENDED])
def test_the_same_with_the_one_wrong_thing_mended(repo: ScratchRepo, story: Story) -> None:
    assert story.twin is not None
    story.twin(repo)
    found, outcome = told(repo, *story.command)
    assert (found["verdict"], outcome.code) == ("PROVEN", 0), outcome.out
    assert "taxi PROVEN" in outcome.out


@pytest.mark.parametrize(
    ("expected", "keys", "why"),
    [
        ("{files: {act.sh: {contains: currency}}}", ["files"], "all that it expects"),
        (
            '{files: {act.sh: {contains: currency}}, reply_contains: ["o"]}',
            ["files"],
            "files is read in the agent's own files",
        ),
    ],
    ids=["no more", "beside what it says"],
)
def test_a_proof_of_the_agents_wording_is_called_that(
    repo: ScratchRepo, expected: str, keys: list[str], why: str
) -> None:
    """It fails before and passes now, for its own text: that shows nothing of what it does."""
    history(start("echo no\n"), fix("echo no  # which currency\n", case(expected), fails_on=keys))(
        repo
    )
    found, outcome = told(repo, "verify")
    assert (found["verdict"], outcome.code) == ("PROVEN", 0)
    assert "? not established: what clerk does about taxi: it tests wording" in outcome.out
    assert why in outcome.out


def test_a_proof_of_behaviour_is_not(repo: ScratchRepo) -> None:
    history(start(), fix())(repo)
    assert "wording" not in told(repo, "verify")[1].out


@pytest.mark.parametrize(
    "files",
    [
        records(status="retired", retirement=None),
        records(status="disabled"),
        records(fails_on="reply_contains"),
        records(before={"kind": "believe me"}),
        records(before={"kind": "command", "argv": ["true"], "expect_exit": 127}),
        {RECORDS: '{"schema": "guard.regressions.v1", "regressions": {'},
        {RECORDS: "<<<<<<< ours\n" + records()[RECORDS] + "=======\n>>>>>>> theirs\n"},
        {CASE: case("{reply_contain: [currency]}")},
        {CASE: case(more="min_pass_rate: 0\n")},
        {CASE: case(more="min_pass_rate: 2\n")},
        {"evals/taxi-2.md": case()},
    ],
    ids=[
        *("retired without a reason", "an unknown status", "keys that are no list"),
        *("an unknown kind", "a command that must not be found", "no JSON", "a conflict"),
        *("an unknown expectation", "a rate of nothing", "a rate beyond all", "two of one id"),
    ],
)
def test_what_cant_be_read_proves_nothing(repo: ScratchRepo, files: Files) -> None:
    history(start(), fix(), files)(repo)
    outcome = call_guard(repo.root, "verify")
    assert outcome.code == 2, outcome
    assert "PROVEN" not in outcome.out
    assert 1 <= len(outcome.err.splitlines()) <= 2, outcome.err


def test_one_that_is_refuted_outranks_what_is_not_known(repo: ScratchRepo) -> None:
    """Several records in one call: 1 outranks 3, and 3 what holds."""
    many = {"taxi": record(), "lost": record(case="evals/lost.md"), "bus": record(agent="x")}
    document = {"schema": "guard.regressions.v1", "incidents": {}, "regressions": many}
    crash = {"evals/lost.md": case(more="preconditions:\n  - file_exists: x\n", name="lost")}
    history(start(), {**fix(), **crash, RECORDS: json.dumps(document)})(repo)
    ends = {
        ids: call_guard(repo.root, "verify", *ids).code for ids in (("taxi",), ("lost",), ("bus",))
    }
    assert list(ends.values()) == [0, 3, 1]
    assert call_guard(repo.root, "verify", "taxi", "lost").code == 3
    assert call_guard(repo.root, "verify").code == 1


def test_a_red_that_stood_in_a_proof_is_not_bought_again(repo: ScratchRepo) -> None:
    """Nor where data changed with the skill: then its red and its green met the same once."""
    repo.commit("start", {**start(), CASE: case()})
    assert call_guard(repo.root, "prove", "taxi").code == 3
    repo.write({SCRIPT: FIXED})
    assert call_guard(repo.root, "prove", "taxi").code == 0
    repo.commit("fix")
    repo.commit("later", {SCRIPT: FIXED + "# kindly\n", "agent/budget.md": "taxi 401\n"})
    found, outcome = told(repo, "verify")
    assert (found["verdict"], outcome.code) == ("PROVEN", 0)
    assert "before answered by a receipt of 20" in outcome.out
    assert "after answered by" not in outcome.out
    assert "receipt" not in told(repo, "verify", "--live")[1].out


@pytest.mark.parametrize("story", [s for s in STORIES if s.verdict in STRICT], ids=lambda s: s.name)
def test_strict_takes_nothing_for_granted(repo: ScratchRepo, story: Story) -> None:
    story.build(repo)
    assert told(repo, *story.command, "--strict")[1].code == CODES[story.verdict][1] == 3


def test_each_verdict_has_its_story() -> None:
    assert {story.verdict for story in STORIES} | {"PROVEN"} == set(PROOF_CODES) == set(CODES)
