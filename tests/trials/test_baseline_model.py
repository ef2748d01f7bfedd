"""Baselines against the table of their verdicts, written down a second time by brute force."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any, NamedTuple, cast

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy as Strategy

from guard.model import Case, Policy
from guard.plugin.api import Evaluator, Expectations
from guard.results import Observation, Score, TrialResult
from guard.trials.grading import grade_scores
from guard.verdict import judge_case

#: Score keys; the last two are an evaluator's that is never excused, and the engine's.
KEYS = ("type", "amount", "bound", "orphans")
NEVER = ("bound", "orphans", "timeout")
EXPECTED = ("type", "amount")
#: Values that Python takes for equal and JSON doesn't, and the other way round.
VALUES: Sequence[Any] = (0, False, 1, True, 1.0, [1], [True], {"n": 1}, {"n": True}, "1")


class Seen(NamedTuple):
    """What one trial scored, and the facts that its target set."""

    scores: Mapping[str, float]
    facts: Mapping[str, Any]


# The table, by brute force --------------------------------------------------------------------


def plain(value: Any) -> Any:
    """Return a value as something that is equal where JSON is."""
    if isinstance(value, list):
        return ("list", *map(plain, cast("Sequence[Any]", value)))
    if isinstance(value, dict):
        named = cast("Mapping[str, Any]", value)
        return ("dict", *sorted((name, plain(item)) for name, item in named.items()))
    kind = "bool" if isinstance(value, bool) else "number" if isinstance(value, (int, float)) else 0
    return (kind, value)


def matches(group: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
    wanted = group.get("only_when", {})
    return [plain(facts.get(name)) for name in wanted] == [plain(wanted[name]) for name in wanted]


def trial_of_the_table(groups: Sequence[Mapping[str, Any]], seen: Seen) -> str:
    for group in groups:
        for name in group.get("only_when", {}):
            if name not in seen.facts:
                return "ERROR"
    failing = [key for key in seen.scores if seen.scores[key] != 1]
    for key in failing:
        naming = [group for group in groups if key in group["failing_keys"]]
        if key in NEVER or not any(matches(group, seen.facts) for group in naming):
            return "FAIL"
    if any(key not in seen.scores for key in EXPECTED):
        return "UNGRADED"
    return "XFAIL" if failing else "PASS"


def is_fixed(groups: Sequence[Mapping[str, Any]], seen: Seen) -> bool:
    for group in groups:
        if group.get("intermittent") or not matches(group, seen.facts):
            continue
        if all(seen.scores.get(key) == 1 for key in group["failing_keys"]):
            return True
    return False


def case_of_the_table(
    groups: Sequence[Mapping[str, Any]], trials: Sequence[Seen], rate: Fraction
) -> str:
    verdicts = [trial_of_the_table(groups, seen) for seen in trials]
    failed = verdicts.count("FAIL")
    if len(trials) - failed < rate * len(trials):
        return "FAIL"
    for verdict in ("ERROR", "UNGRADED"):
        if verdict in verdicts:
            return verdict
    if all(is_fixed(groups, seen) for seen in trials):
        return "XPASS"
    return "XFAIL" if "XFAIL" in verdicts else "PASS"


# Guard's own ----------------------------------------------------------------------------------


def ask_nothing(observation: Observation, expected: Expectations) -> Iterable[Score]:
    return ()


EVALUATORS = (
    Evaluator("scores", ask_nothing, reads=EXPECTED, writes=EXPECTED),
    Evaluator("bound", ask_nothing, reads=(), writes=("bound",), never_excuse=("bound",)),
)


def graded(case: Case, number: int, seen: Seen) -> TrialResult:
    observation = Observation(facts=seen.facts)
    scores = [Score(key, value) for key, value in seen.scores.items()]
    found = grade_scores(case, dict.fromkeys(EXPECTED), observation, scores, EVALUATORS)
    return TrialResult(
        case.id,
        number,
        found.verdict,
        found.scores,
        observation=observation,
        failing=found.failing,
        excused=found.excused,
    )


def known_to_fail(groups: Sequence[Mapping[str, Any]]) -> Case:
    return Case("typed", "typewriter", "evals/typed.md", expected_baseline=tuple(groups))


# What is tried --------------------------------------------------------------------------------

facts_of: Strategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(("n_proposals", "model")), st.sampled_from(VALUES)
)
groups_of: Strategy[list[dict[str, Any]]] = st.lists(
    st.fixed_dictionaries(
        {"failing_keys": st.lists(st.sampled_from((*KEYS, "unscored")), min_size=1, max_size=3)},
        optional={"only_when": facts_of, "intermittent": st.booleans(), "note": st.just("known")},
    ),
    max_size=3,
)
scores_of: Strategy[dict[str, float]] = st.dictionaries(
    st.sampled_from(KEYS), st.sampled_from((0.0, 0.5, 1.0, 1.0, 1.0))
)
full_scores: Strategy[dict[str, float]] = st.fixed_dictionaries(
    {key: st.sampled_from((0.0, 1.0, 1.0)) for key in EXPECTED},
    optional={"bound": st.sampled_from((0.0, 1.0, 1.0))},
)
all_facts: Strategy[dict[str, Any]] = st.fixed_dictionaries(
    {name: st.sampled_from(VALUES) for name in ("n_proposals", "model")}
)
trials_of: Strategy[Seen] = st.builds(Seen, scores_of, facts_of) | st.builds(
    Seen, full_scores, all_facts
)


@given(st.sampled_from(VALUES), st.sampled_from(VALUES))
def test_a_fact_is_equal_where_the_table_says_so(one: Any, other: Any) -> None:
    group = {"failing_keys": ["type"], "only_when": {"n_proposals": one}}
    seen = Seen({"type": 0.0, "amount": 1.0}, {"n_proposals": other})
    case = known_to_fail([group])
    assert graded(case, 1, seen).verdict == trial_of_the_table([group], seen)


@given(groups_of, trials_of)
@settings(max_examples=300)
def test_a_trial_is_what_the_table_says(groups: list[dict[str, Any]], seen: Seen) -> None:
    case = known_to_fail(groups)
    assert graded(case, 1, seen).verdict == trial_of_the_table(groups, seen)


@given(
    groups_of,
    st.lists(st.builds(Seen, full_scores, all_facts), min_size=1, max_size=4)
    | st.lists(trials_of, min_size=1, max_size=4),
    st.sampled_from((Fraction(1), Fraction(1, 2))),
)
@settings(max_examples=300)
def test_a_case_is_what_the_table_says_under_a_rate(
    groups: list[dict[str, Any]], several: list[Seen], rate: Fraction
) -> None:
    case = known_to_fail(groups)
    trials = [graded(case, number, seen) for number, seen in enumerate(several, start=1)]
    policy = Policy(trials=len(trials), min_pass_rate=float(rate))
    assert judge_case(case, trials, policy).verdict == case_of_the_table(groups, several, rate)


@given(groups_of, st.builds(Seen, full_scores, all_facts))
def test_a_gate_takes_equal_trials_as_one_takes_the_trial(
    groups: list[dict[str, Any]], seen: Seen
) -> None:
    case = known_to_fail(groups)
    trials = [graded(case, number, seen) for number in range(1, 5)]
    expected = case_of_the_table(groups, [seen], Fraction(1))
    assert judge_case(case, trials, Policy(gate="standard")).verdict == expected


@given(groups_of, trials_of)
def test_no_baseline_makes_a_good_trial_red_or_excuses_what_it_does_not_name(
    groups: list[dict[str, Any]], seen: Seen
) -> None:
    excused = graded(known_to_fail(groups), 1, seen)
    alone = graded(known_to_fail(()), 1, seen)
    if excused.verdict != "ERROR":
        assert (alone.verdict == "PASS") == (excused.verdict == "PASS")
    named = {key for group in groups for key in group["failing_keys"]}
    assert set(excused.excused) <= named - set(NEVER)


def test_the_model_tells_every_verdict_apart() -> None:
    """Show that what is compared above is no agreement on one verdict alone."""
    groups = [{"failing_keys": ["type"], "only_when": {"n_proposals": 0}}]
    scores = ({"type": a, "amount": b} for a in (0.0, 1.0) for b in (0.0, 1.0))
    trials = [Seen(s, f) for s in scores for f in ({"n_proposals": 0}, {"n_proposals": 2})]
    trials += [Seen({"amount": 1.0}, {"n_proposals": 2}), Seen({}, {})]
    pairs = [list(pair) for pair in combinations_with_replacement(trials, 2)]
    found = {case_of_the_table(groups, pair, Fraction(1)) for pair in pairs}
    assert found == {"PASS", "FAIL", "XFAIL", "XPASS", "ERROR", "UNGRADED"}
