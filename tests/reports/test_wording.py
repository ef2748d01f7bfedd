from __future__ import annotations

import pytest

from guard.reports import wording
from guard.results import CaseResult, ProofResult, Report, Side
from tests.reports.sample import FAILING, OWED, PROVEN, RECEIPT, passing


def test_sentences() -> None:
    assert wording.case_sentence(passing("a")) == "4 of 4 passed (51 to 100 %)"
    assert wording.case_sentence(FAILING).endswith(", and 0 of 2 when repeated")
    assert wording.case_sentence(OWED) == "not started"
    expected = CaseResult(
        "x", "a", "XFAIL", (), "failed on k", recorded_passed=4, recorded_trials=4
    )
    assert wording.case_sentence(expected) == "4 of 4 passed (51 to 100 %); failed on k"


def test_what_a_trial_took_is_only_said_of_trials_made_now() -> None:
    assert wording.each_took(passing("a")) == "$0.46, 30 s a trial"
    assert wording.each_took(RECEIPT) == ""
    assert wording.each_took(passing("a")._replace(reused="2026-07-12")) == ""


@pytest.mark.parametrize(("p", "said"), [(0.0034, "p = 0.003"), (0.0001, "p < 0.001")])
def test_sides(p: float, said: str) -> None:
    assert wording.proof_sides(PROVEN._replace(p_value=p)).endswith(said)
    assert wording.proof_sides(ProofResult("r", "a", "c", "PENDING")) == ""
    only = ProofResult("r", "a", "c", "VACUOUS", before=Side(3, 3))
    assert wording.proof_sides(only) == "before 3 of 3 (44 to 100 %)"


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("worktree", "the working tree at a1b2c3d (main)"),
        ("index", "what is staged at a1b2c3d (main)"),
        ("v1.0", "v1.0 at a1b2c3d (main)"),
    ],
)
def test_the_tree_is_named(at: str, said: str) -> None:
    assert wording.under_test(Report("run", sha="a1b2c3d4", ref="main", at=at)) == said


def test_a_tree_without_a_commit() -> None:
    assert wording.under_test(Report("run", at="index")) == "what is staged"
    assert wording.under_test(Report("run")) == ""
