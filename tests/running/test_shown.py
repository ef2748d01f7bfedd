"""What trials show of a case's text, against a plain reading of the rule."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from guard.model import ERROR, FAIL, PASS, TIMEOUT_KEY, UNGRADED, XFAIL, Case
from guard.results import Observation, Score, TrialResult
from guard.running.shown import Seen, seen_in, seen_in_evidence, shown_by
from guard.storage.records import trial_to_json

KEYS = ("a", "b", "c")
SETS = st.sets(st.sampled_from(KEYS))


@st.composite
def groups(draw: st.DrawFn) -> dict[str, Any]:
    """A group of a baseline."""
    group: dict[str, Any] = {"failing_keys": sorted(draw(SETS.filter(bool)))}
    if draw(st.booleans()):
        group["only_when"] = {"n": draw(st.integers(0, 1))}
    if draw(st.booleans()):
        group["intermittent"] = draw(st.booleans())
    return group


@st.composite
def trials(draw: st.DrawFn) -> Seen:
    """What a trial tells, one that was ended for its time among them."""
    scored = sorted(draw(SETS)) + ([TIMEOUT_KEY] if draw(st.booleans()) else [])
    verdict = draw(st.sampled_from([PASS, XFAIL, UNGRADED, FAIL, ERROR]))
    return Seen(verdict, tuple(sorted(draw(SETS))), scored, {"n": draw(st.integers(0, 1))})


@given(st.lists(groups(), max_size=3), st.lists(trials(), max_size=4))
def test_by_the_rule(baseline: list[dict[str, Any]], seen: list[Seen]) -> None:
    case = Case("one", "clerk", "evals/one.md", expected_baseline=tuple(baseline))
    shown = shown_by(case, seen)
    asked = [t for t in seen if t.verdict != ERROR and TIMEOUT_KEY not in t.scored]
    for key in KEYS:
        ended = any(t.verdict != FAIL for t in asked)
        assert (key in shown.unread) == (ended and all(key in t.unread for t in asked))
        scored = any(key in t.scored for t in asked)
        speaking = [
            group
            for group in case.expected_baseline
            if key in group["failing_keys"] and not group.get("intermittent")
        ]
        held = any(
            group.get("only_when", {}).items() <= t.facts.items()
            for group in speaking
            for t in asked
        )
        assert (key in shown.unscored) == (held and not scored)


def test_a_receipt_tells_what_its_trials_did() -> None:
    seen = Observation(facts={"n": 0})
    trial = TrialResult("one", 1, PASS, (Score("a", 1.0),), observation=seen, unread=("b",))
    assert seen_in(trial) == Seen(PASS, ("b",), ["a"], {"n": 0})
    kept = seen_in_evidence(trial_to_json(trial))
    assert kept._replace(unread=tuple(kept.unread)) == seen_in(trial)
    assert seen_in_evidence({"verdict": PASS}) == Seen(PASS, (), [], {})
