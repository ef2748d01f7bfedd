"""What holds of every proof, whatever its trials were."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from guard.model import Case, Policy
from guard.proofs.sides import OPEN, after_judge, before_judge, hits
from guard.proofs.verdicts import decide
from guard.results import TrialResult
from guard.running.gates import GATES, decide_policy, planned_trials
from guard.verdict import GRADED, judge_case, outcomes_of
from tests.proofs.test_sides import CASE, trials

POLICIES = st.one_of(
    st.sampled_from([Policy(), *(Policy(gate=name) for name in GATES)]),
    st.builds(Policy, st.none(), st.integers(1, 8), st.floats(0.05, 1.0)),
)


@st.composite
def drawn(draw: st.DrawFn, letters: str, most: int) -> str:
    """Return outcomes of a coin whose sides are the letters: by chance few would be proven."""
    coin = random.Random(draw(st.integers(0, 1 << 32)))
    return "".join(coin.choices(letters, k=draw(st.integers(0, most))))


#: Passing, failing on the recorded key, on another, on both; excused; broken.
BEFORE = st.one_of(st.text("PFWBXE", max_size=12), drawn("FFFFFFBP", 9), drawn("FFFFFBPWE", 9))
AFTER = st.one_of(st.text("PFXE", max_size=12), drawn("P" * 20 + "FX", 26), drawn("PPPPPFXE", 26))
KEYS = ("reply",)


def case_of(policy: Policy) -> Case:
    return CASE._replace(policy=policy)


def proof(
    before: list[TrialResult], after: list[TrialResult], policy: Policy, *, same: bool
) -> str:
    """Return the verdict; empty where a side asks for more trials."""
    red = before_judge(hits(KEYS), deterministic=same)(before)
    green = after_judge(case_of(policy), deterministic=same)(after)
    if OPEN in (red, green):
        return ""
    found = decide(red, green, KEYS)
    return found.verdict if found else "VACUOUS"


@given(st.one_of(BEFORE, st.text("PFBE", max_size=5)))
def test_fewer_than_three_failures_prove_nothing(before: str) -> None:
    verdict = proof(trials(before), trials("P" * 15), Policy(), same=False)
    failures = sum(letter in "FB" for letter in before)
    if failures < 3:
        assert verdict != "PROVEN"
    if before.startswith("FFF"):
        assert verdict == "PROVEN"


@given(BEFORE, AFTER, POLICIES, st.booleans())
def test_what_is_proven_failed_on_its_keys_and_keeps_its_policy(
    before: str, after: str, policy: Policy, same: bool
) -> None:
    if proof(trials(before), trials(after), policy, same=same) != "PROVEN":
        return
    graded = [letter for letter in before if letter != "E"]
    read = graded[: 2 if same else 7]
    first = next(n for n in range(1, len(read) + 1) if is_red(read[:n], same=same))
    assert not set(read[:first]) & set("W")
    passed = [trial for trial in trials(after) if trial.verdict in GRADED]
    outcomes = outcomes_of(passed)[: planned_trials(policy, deterministic=same)]
    assert decide_policy(policy, outcomes, deterministic=same) == "PASS"


def is_red(graded: list[str], *, same: bool) -> bool:
    return before_judge(hits(KEYS), deterministic=same)(trials("".join(graded))).verdict == "FAIL"


@given(BEFORE, AFTER, POLICIES, st.booleans(), st.data())
def test_a_trial_that_broke_never_helps(
    before: str, after: str, policy: Policy, same: bool, data: st.DataObject
) -> None:
    without = proof(trials(before), trials(after), policy, same=same)
    where = data.draw(st.integers(0, len(before)))
    with_one = proof(
        trials(before[:where] + "E" + before[where:]), trials(after), policy, same=same
    )
    assert with_one in (without, "INCONCLUSIVE")
    where = data.draw(st.integers(0, len(after)))
    with_one = proof(trials(before), trials(after[:where] + "E" + after[where:]), policy, same=same)
    assert with_one in (without, "INCONCLUSIVE")


@given(st.text("PFXESU", max_size=16), POLICIES, st.booleans(), st.data())
def test_a_case_passes_only_where_every_trial_was_graded(
    outcomes: str, policy: Policy, same: bool, data: st.DataObject
) -> None:
    case = case_of(policy)
    verdict = judge_case(case, trials(outcomes), policy, deterministic=same).verdict
    if set(outcomes) & set("ESU"):
        assert verdict not in ("PASS", "XFAIL", "XPASS")
    where = data.draw(st.integers(0, len(outcomes)))
    broken = trials(outcomes[:where] + "E" + outcomes[where:])
    assert judge_case(case, broken, policy, deterministic=same).verdict in (verdict, "ERROR")


@given(BEFORE, AFTER, POLICIES, st.booleans(), st.randoms(use_true_random=False))
def test_the_order_in_which_trials_end_changes_nothing(
    before: str, after: str, policy: Policy, same: bool, order: random.Random
) -> None:
    red, green = trials(before), trials(after)
    expected = proof(red, green, policy, same=same)
    of_case = judge_case(case_of(policy), green, policy, deterministic=same)
    order.shuffle(red)
    order.shuffle(green)
    assert proof(red, green, policy, same=same) == expected
    assert judge_case(case_of(policy), green, policy, deterministic=same) == of_case
