from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard import model
from guard.model import Case, Policy, Violation
from guard.results import CaseResult, Observation, ProofResult, Report, Score, Side, TrialResult
from guard.running import gates
from guard.verdict import (
    confirm,
    exit_code,
    judge_case,
    next_trials,
    outcomes_of,
    plain_code,
    sort_trials,
)

CASE = Case("taxi", "expense", "evals/taxi.md")
DEFAULT = Policy()
LETTERS = {
    "P": model.PASS,
    "F": model.FAIL,
    "X": model.XFAIL,
    "E": model.ERROR,
    "S": model.SKIP,
    "B": model.BLOCKED,
    "O": model.STALE,
    "T": model.TAINTED,
    "U": model.UNGRADED,
}


def trial(number: int, letter: str, ids: tuple[str, ...] = (), **facts: object) -> TrialResult:
    passed = letter in "PX"
    return TrialResult(
        "taxi",
        number,
        LETTERS[letter],
        scores=(Score("no_changes", 1.0 if passed else 0.0, "2 files changed"),),
        reason="" if letter in "PFX" else f"reason of {letter}",
        observation=Observation(response_ids=ids, facts=facts),
    )


def trials(letters: str) -> list[TrialResult]:
    return [trial(number, letter) for number, letter in enumerate(letters, start=1)]


def judge(letters: str, policy: Policy = DEFAULT, **how: Any) -> str:
    return judge_case(CASE, trials(letters), policy, **how).verdict


@pytest.mark.parametrize(
    ("letters", "verdict"),
    [
        ("PPPP", model.PASS),
        ("FF", model.FAIL),
        ("PPPXFPPP", model.XFAIL),
        ("XXXX", model.XFAIL),
        ("", model.NOT_TESTED),
        ("PP", model.INCONCLUSIVE),
        ("FFT", model.TAINTED),
        ("FFE", model.FAIL),
        ("EFF", model.FAIL),
        ("PPPPE", model.ERROR),
        ("PPPEP", model.ERROR),
        ("EU", model.ERROR),
        ("UB", model.UNGRADED),
        ("BS", model.BLOCKED),
        ("SO", model.SKIP),
        ("O", model.STALE),
        ("FE", model.ERROR),
    ],
)
def test_precedence_under_the_default_gate(letters: str, verdict: str) -> None:
    assert judge(letters) == verdict


@pytest.mark.parametrize(
    ("letters", "policy", "verdict"),
    [
        ("PPP", Policy(trials=3), model.PASS),
        ("PP", Policy(trials=3), model.INCONCLUSIVE),
        ("PF", Policy(trials=3), model.FAIL),
        ("PFP", Policy(trials=3, min_pass_rate=0.6), model.PASS),
        ("PFPE", Policy(trials=3, min_pass_rate=0.6), model.ERROR),
        ("PPE", Policy(trials=3, min_pass_rate=0.6), model.ERROR),
        ("PPFP", Policy(gate="standard", trials=4), model.INCONCLUSIVE),
        ("PPP", Policy(gate="quick"), model.PASS),
    ],
)
def test_stated_policies(letters: str, policy: Policy, verdict: str) -> None:
    assert judge(letters, policy) == verdict


@pytest.mark.parametrize(
    ("letters", "verdict"),
    [
        ("PP", "PASS"),
        ("FF", "FAIL"),
        ("PF", "INCONCLUSIVE"),
        ("P", "INCONCLUSIVE"),
        ("PE", "ERROR"),
    ],
)
def test_a_deterministic_target_must_agree_with_itself(letters: str, verdict: str) -> None:
    assert judge(letters, deterministic=True) == verdict


def test_disagreement_is_said_in_words() -> None:
    assert "disagree" in judge_case(CASE, trials("PF"), Policy(), deterministic=True).reason


@pytest.mark.parametrize(
    ("letters", "verdict"),
    [
        ("", model.OWED),
        ("PPP", model.OWED),
        ("PPPP", model.PASS),
        ("FF", model.FAIL),
        ("PE", model.ERROR),
        ("S", model.SKIP),
    ],
)
def test_owed_stands_between_stale_and_inconclusive(letters: str, verdict: str) -> None:
    assert judge(letters, owed=True) == verdict


def test_a_time_out_stays_in_the_denominator() -> None:
    timed_out = TrialResult("taxi", 2, model.FAIL, failing=("timeout",), reason="300 s are over")
    ordered = [trial(1, "P"), timed_out, trial(3, "P")]
    judged = judge_case(CASE, ordered, Policy(trials=3, min_pass_rate=0.6))
    assert judged.verdict == model.PASS
    assert judge_case(CASE, ordered, Policy(trials=3)).verdict == model.FAIL


def test_trials_are_read_by_number_not_by_completion() -> None:
    by_number = trials("PPPFFF")
    assert judge_case(CASE, by_number[::-1], Policy(gate="quick")).verdict == model.PASS
    # the order of completion, taken as it comes, would have failed
    assert gates.decide("quick", outcomes_of(by_number[::-1])) == "FAIL"


def test_failures_are_grouped_in_the_reason() -> None:
    assert judge_case(CASE, trials("FF"), Policy()).reason == (
        "0 of 2 passed; no_changes: 2 files changed"
    )


def test_the_reason_of_one_trial_names_it() -> None:
    assert judge_case(CASE, trials("PE"), Policy()).reason == "reason of E (trial 2)"


# -- response ids ---------------------------------------------------------------------------------


def test_the_same_response_id_twice_is_an_error() -> None:
    same = [trial(n, "P", ids=("msg_1",)) for n in range(1, 5)]
    judged = judge_case(CASE, same, Policy())
    assert judged.verdict == model.ERROR
    assert "trial 1" in judged.reason
    assert "msg_1" in judged.reason


def test_repeated_ids_are_no_failures_either() -> None:
    same = [trial(n, "F", ids=("msg_1",)) for n in (1, 2)]
    assert judge_case(CASE, same, Policy()).verdict == model.ERROR
    own = [trial(n, "F", ids=(f"msg_{n}",)) for n in (1, 2, 3)]
    assert judge_case(CASE, own, Policy()).verdict == model.FAIL


def test_an_id_may_repeat_within_one_trial() -> None:
    pieces = [trial(n, "P", ids=(f"msg_{n}", f"msg_{n}")) for n in range(1, 5)]
    assert judge_case(CASE, pieces, Policy()).verdict == model.PASS


def test_a_deterministic_target_may_repeat_an_id() -> None:
    same = [trial(n, "P", ids=("msg_1",)) for n in (1, 2)]
    assert judge_case(CASE, same, Policy(), deterministic=True).verdict == model.PASS


def test_every_id_of_a_voided_trial_is_remembered() -> None:
    ordered = [trial(1, "P", ids=("a",)), trial(2, "P", ids=("a", "b")), trial(3, "P", ids=("b",))]
    assert [t.verdict for t in sort_trials(ordered)] == [model.PASS, model.ERROR, model.ERROR]


# -- baselines ------------------------------------------------------------------------------------

STEADY: Mapping[str, Any] = {"failing_keys": ["no_changes"]}


def with_baseline(*groups: Mapping[str, Any]) -> Case:
    return CASE._replace(expected_baseline=groups)


def test_an_expected_failure_that_passes_in_every_trial_is_xpass() -> None:
    judged = judge_case(with_baseline(STEADY), trials("PPPP"), Policy())
    assert judged.verdict == model.XPASS
    assert judged.reason == (
        "no_changes passed in every trial: the recorded defect seems fixed, so take it out"
    )


def test_two_excuses_that_each_failed_once_are_named_as_one_of_them() -> None:
    case = with_baseline({"failing_keys": ["a"]}, {"failing_keys": ["b"]})
    turns = [(Score("a", n % 2), Score("b", (n + 1) % 2)) for n in range(4)]
    shown = [TrialResult("taxi", n, model.XFAIL, s) for n, s in enumerate(turns, start=1)]
    judged = judge_case(case, shown, Policy())
    assert judged.verdict == model.XPASS
    assert judged.reason.startswith("one of a, b passed in every trial")


def test_no_xpass_where_a_fact_only_looks_equal() -> None:
    group = {"failing_keys": ["no_changes"], "only_when": {"n": 1}}
    seen = [trial(n, "P", n=True) for n in range(1, 5)]
    assert judge_case(with_baseline(group), seen, Policy()).verdict == model.PASS
    seen = [trial(n, "P", n=1.0) for n in range(1, 5)]
    assert judge_case(with_baseline(group), seen, Policy()).verdict == model.XPASS


@pytest.mark.parametrize(
    "group",
    [
        {"failing_keys": ["no_changes"], "intermittent": True},
        {"failing_keys": ["no_changes"], "only_when": {"model": "old"}},
        {"failing_keys": ["no_changes", "reply"]},
        {"failing_keys": []},
    ],
)
def test_no_xpass_where_the_group_does_not_speak(group: Mapping[str, Any]) -> None:
    assert judge_case(with_baseline(group), trials("PPPP"), Policy()).verdict == model.PASS


def test_one_excused_failure_makes_xfail_not_xpass() -> None:
    excused = TrialResult(
        "taxi", 4, model.XFAIL, (Score("no_changes", 0.0),), excused=("no_changes",)
    )
    judged = judge_case(with_baseline(STEADY), [*trials("PPP"), excused], Policy())
    assert judged.verdict == model.XFAIL
    assert judged.reason == "1 trial failed on no_changes, as expected"


def test_a_condition_is_read_from_the_facts_of_each_trial() -> None:
    group = {"failing_keys": ["no_changes"], "only_when": {"model": "old"}}
    matching = [trial(n, "P", model="old") for n in range(1, 5)]
    assert judge_case(with_baseline(group), matching, Policy()).verdict == model.XPASS
    mixed = [*matching[:3], trial(4, "P", model="new")]
    assert judge_case(with_baseline(group), mixed, Policy()).verdict == model.PASS


def test_unexcused_failures_that_break_the_rate_come_before_xpass() -> None:
    scores = (Score("no_changes", 1.0), Score("reply", 0.0, "wrong"))
    failing = [TrialResult("taxi", n, model.FAIL, scores, failing=("reply",)) for n in (1, 2)]
    assert judge_case(with_baseline(STEADY), failing, Policy()).verdict == model.FAIL


# -- planning -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcomes", "jobs", "more"),
    [
        ([], 8, 2),
        ([], 1, 1),
        ([True, True], 8, 2),
        ([True, False], 8, 1),
        ([True] * 4, 8, 0),
        ([False] * 2, 8, 0),
    ],
)
def test_a_gate_starts_only_what_it_will_need(outcomes: list[bool], jobs: int, more: int) -> None:
    assert next_trials(Policy(), outcomes, jobs=jobs) == more


def test_fixed_trials_are_all_planned() -> None:
    assert next_trials(Policy(trials=5, min_pass_rate=0.6), [True], jobs=8) == 4
    assert next_trials(Policy(trials=3), [], jobs=2) == 2
    assert next_trials(Policy(trials=3), [True, True, True], jobs=8) == 0
    assert next_trials(Policy(trials=3), [False], jobs=8) == 0


def test_both_trials_of_a_deterministic_target_start_together() -> None:
    assert next_trials(Policy(), [], deterministic=True, jobs=8) == 2
    assert next_trials(Policy(), [True], deterministic=True, jobs=8) == 1


POLICIES = [
    *(Policy(gate=name) for name in gates.GATES),
    *(Policy(trials=n, min_pass_rate=r) for n, r in itertools.product((1, 3, 7), (0.5, 0.9, 1.0))),
    Policy(gate="firm", trials=6),
    Policy(),
]


@given(
    st.sampled_from(POLICIES),
    st.booleans(),
    st.integers(1, 6),
    st.lists(st.booleans(), min_size=30, max_size=30),
)
def test_planning_ends_decided_and_a_gate_wastes_no_trial(
    policy: Policy, deterministic: bool, jobs: int, coming: list[bool]
) -> None:
    seen: list[bool] = []
    while more := next_trials(policy, seen, deterministic=deterministic, jobs=jobs):
        assert more <= jobs
        for outcome in coming[len(seen) : len(seen) + more]:
            if policy.trials is None:
                assert gates.decide_policy(policy, seen, deterministic=deterministic) is None
            seen.append(outcome)
    assert gates.decide_policy(policy, seen, deterministic=deterministic) is not None
    assert len(seen) <= gates.planned_trials(policy, deterministic=deterministic)


@given(st.sampled_from(POLICIES), st.text(alphabet="PFXESBOTU", max_size=16), st.booleans())
def test_pass_needs_every_trial_graded_and_enough_passes(
    policy: Policy, letters: str, owed: bool
) -> None:
    verdict = judge(letters, policy, owed=owed)
    if set(letters) & set("ESBOTU"):
        assert verdict not in (model.PASS, model.XFAIL, model.XPASS)
    if verdict == model.PASS:
        assert gates.decide_policy(policy, [letter != "F" for letter in letters]) == "PASS"
    if not letters:
        assert verdict == (model.OWED if owed else model.NOT_TESTED)


# -- confirmation ---------------------------------------------------------------------------------


def result(verdict: str, letters: str = "") -> CaseResult:
    return CaseResult("taxi", "expense", verdict, tuple(trials(letters)), cost_usd=0.5)


def test_two_failing_gates_confirm() -> None:
    joined = confirm(result(model.FAIL, "FF"), result(model.FAIL, "FPF"))
    assert (joined.verdict, joined.confirmed, joined.repeated) == ("FAIL", True, Side(1, 3))
    assert joined.cost_usd == 1.0


@pytest.mark.parametrize("second", [model.PASS, model.ERROR, model.OWED, model.INCONCLUSIVE])
def test_anything_else_after_a_fail_confirms_nothing(second: str) -> None:
    joined = confirm(result(model.FAIL, "FF"), result(second, "PPPP"))
    assert (joined.verdict, joined.confirmed) == (model.INCONCLUSIVE, False)
    assert "0 of 2 passed, then 4 of 4" in joined.reason


def test_a_tainted_repetition_outranks() -> None:
    assert confirm(result("FAIL", "FF"), result("TAINTED", "T")).verdict == model.TAINTED


# -- exit codes -----------------------------------------------------------------------------------

#: The verdicts, written down a second time: (exit code, exit code under --strict).
CASE_TABLE = {
    model.PASS: (0, 0),
    model.XFAIL: (0, 0),
    model.FAIL: (1, 1),
    model.XPASS: (1, 1),
    model.ERROR: (3, 3),
    model.TAINTED: (3, 3),
    model.UNGRADED: (3, 3),
    model.INCONCLUSIVE: (3, 3),
    model.NOT_TESTED: (3, 3),
    model.SKIP: (0, 3),
    model.BLOCKED: (0, 3),
    model.STALE: (0, 3),
    model.OWED: (0, 3),
}
PROOF_TABLE = {
    model.PROVEN: (0, 0),
    model.PENDING: (0, 3),
    model.VACUOUS: (1, 1),
    model.WRONG_REASON: (1, 1),
    model.BROKEN_NOW: (1, 1),
    model.DEGENERATE: (1, 1),
    model.UNPROTECTED: (1, 1),
    model.INCONCLUSIVE: (3, 3),
    model.STALE: (3, 3),
    model.BLOCKED: (3, 3),
    model.SKIP: (0, 3),
    model.RETIRED: (0, 0),
}


def model_code(codes: Sequence[int]) -> int:
    """Brute force: walk the chain 130 > 4 > 2 > 1 > 3 > 0."""
    for code in (130, 4, 2, 1, 3):
        if code in codes:
            return code
    return 0


def named_report(
    cases: list[str],
    proofs: list[str],
    rules: list[tuple[str, bool]],
    strict: bool,
    report_only: bool,
    code: int,
) -> Report:
    return Report(
        "run",
        strict=strict,
        report_only=report_only,
        cases=tuple(CaseResult("c", "a", verdict) for verdict in cases),
        regressions=tuple(ProofResult("r", "a", "c", verdict) for verdict in proofs),
        rules=tuple(Violation(rule, "m", warning=warning) for rule, warning in rules),
        exit_code=code,
    )


RULES = st.tuples(st.sampled_from(["fix-needs-case", "near-miss-header"]), st.booleans())
reports = st.builds(
    named_report,
    cases=st.lists(st.sampled_from(sorted(CASE_TABLE)), max_size=5),
    proofs=st.lists(st.sampled_from(sorted(PROOF_TABLE)), max_size=4),
    rules=st.lists(RULES, max_size=2),
    strict=st.booleans(),
    report_only=st.booleans(),
    code=st.sampled_from([0, 0, 0, 0, 2, 3, 4, 130]),
)


@given(reports)
def test_exit_code_against_the_table(report: Report) -> None:
    codes = [report.exit_code]
    codes += [CASE_TABLE[case.verdict][report.strict] for case in report.cases]
    codes += [PROOF_TABLE[proof.verdict][report.strict] for proof in report.regressions]
    for rule in report.rules:
        named_only = rule.warning and not (report.strict and rule.rule == "near-miss-header")
        codes.append(0 if named_only else 1)
    expected = model_code(codes)
    assert plain_code(report) == expected
    if report.report_only and expected in (1, 3):
        expected = 0
    assert exit_code(report) == expected
    assert exit_code(report._replace(exit_code=exit_code(report))) == expected


def test_a_verdict_nobody_knows_is_never_zero() -> None:
    assert exit_code(Report("run", cases=(CaseResult("c", "a", "GREEN"),))) == 3
    assert exit_code(Report("run", regressions=(ProofResult("r", "a", "c", "GREEN"),))) == 3


def test_prose_alone_fails_a_run_only_where_the_engine_says_so() -> None:
    prose = CaseResult("c", "a", model.UNGRADED, advisory=True)
    assert exit_code(Report("run", cases=(prose,))) == 0
    assert exit_code(Report("run", cases=(prose._replace(advisory=False),))) == 3
    assert exit_code(Report("run", cases=(prose._replace(verdict=model.ERROR),))) == 3


def test_nothing_affected_is_zero() -> None:
    assert exit_code(Report("run")) == 0
