"""The table of what each hook makes of a verdict, cell by cell."""

from __future__ import annotations

import pytest

from guard import model
from guard.hookruns.standing import (
    AT_COMMIT,
    BROKEN,
    HOLDS,
    OWED,
    UNCLEAR,
    UNREADABLE,
    Standing,
    at_push,
    case_standing,
    proof_standing,
)
from guard.results import SNAPSHOT, CaseResult, ProofResult, TrialResult


def case_of(verdict: str, *blames: str, advisory: bool = False) -> CaseResult:
    trials = tuple(
        TrialResult("c", number, model.ERROR, blame=blame) for number, blame in enumerate(blames, 1)
    )
    return CaseResult("c", "a", verdict, trials, advisory=advisory)


CASES = {
    model.PASS: HOLDS,
    model.XFAIL: HOLDS,
    model.FAIL: BROKEN,
    model.XPASS: BROKEN,
    model.SKIP: OWED,
    model.BLOCKED: OWED,
    model.OWED: OWED,
    model.TAINTED: UNCLEAR,
    model.UNGRADED: UNCLEAR,
    model.INCONCLUSIVE: UNCLEAR,
    model.STALE: UNCLEAR,
    model.NOT_TESTED: UNCLEAR,
    "A_VERDICT_OF_A_LATER_VERSION": UNCLEAR,
}
PROOFS = {
    model.PROVEN: HOLDS,
    model.RETIRED: HOLDS,
    model.PENDING: OWED,
    model.SKIP: OWED,
    model.INCONCLUSIVE: UNCLEAR,
    model.STALE: UNCLEAR,
    model.BLOCKED: UNREADABLE,
    model.VACUOUS: BROKEN,
    model.WRONG_REASON: BROKEN,
    model.BROKEN_NOW: BROKEN,
    model.DEGENERATE: BROKEN,
    model.UNPROTECTED: BROKEN,
    "A_VERDICT_OF_A_LATER_VERSION": UNCLEAR,
}
#: Standing → exit codes at commit, at push with owed: block, with owed: ci.
CODES = {
    HOLDS: (0, 0, 0),
    BROKEN: (1, 1, 1),
    UNREADABLE: (3, 3, 3),
    UNCLEAR: (0, 3, 3),
    OWED: (0, 3, 0),
}


def codes(standing: Standing) -> tuple[int, int, int]:
    return (
        standing.code(AT_COMMIT),
        standing.code(at_push("block")),
        standing.code(at_push("ci")),
    )


@pytest.mark.parametrize(("verdict", "expected"), CASES.items())
def test_case(verdict: str, expected: str) -> None:
    assert case_standing(case_of(verdict)) == expected
    assert codes(Standing((case_of(verdict),))) == CODES[expected]


@pytest.mark.parametrize(("verdict", "expected"), PROOFS.items())
def test_proof(verdict: str, expected: str) -> None:
    assert proof_standing(ProofResult("r", "a", "c", verdict)) == expected
    assert codes(Standing((), (ProofResult("r", "a", "c", verdict),))) == CODES[expected]


@pytest.mark.parametrize(
    ("blames", "expected"),
    [
        (("target",), OWED),
        (("target", "judge"), OWED),
        (("",), UNCLEAR),
        (("target", ""), UNCLEAR),
        ((), UNCLEAR),
        ((SNAPSHOT,), UNREADABLE),
        (("target", SNAPSHOT), UNREADABLE),
    ],
)
def test_error_is_owed_only_where_target_or_judge_broke(
    blames: tuple[str, ...], expected: str
) -> None:
    assert case_standing(case_of(model.ERROR, *blames)) == expected


def test_what_only_prose_expects_is_refused_nowhere() -> None:
    standing = Standing((case_of(model.UNGRADED, advisory=True),))
    assert codes(standing) == (0, 0, 0)
    assert not standing.has(HOLDS, UNCLEAR)


def test_broken_outranks_what_is_not_known() -> None:
    both = Standing((case_of(model.OWED), case_of(model.FAIL), case_of(model.STALE)))
    assert codes(both) == (1, 1, 1)
    assert [case.verdict for case in both.cases_that(BROKEN)] == [model.FAIL]


def test_nothing_is_nothing_wrong() -> None:
    assert codes(Standing()) == (0, 0, 0)
