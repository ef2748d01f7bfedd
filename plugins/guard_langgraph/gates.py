"""What a graph's pauses must show, and that it comes to an end: two evaluators.

`gates` is also scored where the case doesn't state it and the graph waits for an answer that nobody
gives, or was given one that it never asked for: what it left behind isn't what was to be graded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from guard.plugin import Evaluator, Expectations, Observation, Score, unmet_in, wrong_item
from guard_langgraph.runner_values import is_dict, is_list

KEY: Final = "gates"
LIMIT_KEY: Final = "recursion_limit"
_MORE: Final = ("node", "shows")


def grade_gates(observation: Observation, expected: Expectations) -> Iterator[Score]:
    """Score what the graph's pauses showed, in their order."""
    facts = observation.facts
    if "paused" not in facts or "turns_left" not in facts:
        return
    wrong = _answers_wrong(facts, expected)
    if expected.states((KEY,)):
        wrong += find_wrong(facts, expected[KEY])
    elif not wrong:
        return
    count = facts["gates"]
    said = "; ".join(wrong) or f"it paused {_counted(count)}, as expected"
    yield Score(KEY, 0.0 if wrong else 1.0, said[:300])


def _answers_wrong(facts: Mapping[str, Any], expected: Expectations) -> list[str]:
    left = facts["turns_left"]
    if left and not facts["errors"]:
        return [f"{left} of the case's `turns` answer nothing: the graph didn't wait for them"]
    if facts["paused"] and not expected.states((KEY,)):
        node = facts.get(f"gate.{facts['gates']}.node")
        return [
            f"it waits at {node} for an answer that the case doesn't give: add it to `turns`, or "
            "state `gates` where the pause is expected"
        ]
    return []


def find_wrong(facts: Mapping[str, Any], wanted: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what of the pauses isn't as it is wanted, in words."""
    count, wrong = facts["gates"], list[str]()
    if count != len(wanted):
        wrong.append(f"it paused {_counted(count)}, not {len(wanted)}")
    for number, item in enumerate(wanted[:count], 1):
        node, shown = facts[f"gate.{number}.node"], facts[f"gate.{number}.shows"]
        if item.get("node", node) != node:
            wrong.append(f"gate {number} is at {node}, not at {item['node']}")
        for part in _parts(item):
            wrong += [f"gate {number}: {said}" for said in unmet_in(shown, part, "what it shows")]
    return wrong


def _parts(item: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    own = {name: value for name, value in item.items() if name not in _MORE}
    return [*([own] if own else []), *item.get("shows", ())]


def check_gates(key: str, value: Any) -> str | None:
    """Say what is wrong with the expectation `gates`, or return None."""
    if not is_list(value):
        return "must be a list with an item for each pause; an empty one where none is allowed"
    for number, item in enumerate(value):
        if said := _wrong_of(item):
            return f"{number}: {said}"
    return None


def _wrong_of(item: Any) -> str | None:
    if not is_dict(item):
        return "must be a mapping: node, pointer, equals, contains, matches, one_of or shows"
    stated: dict[str, Any] = item
    if "node" in stated and not (isinstance(stated["node"], str) and stated["node"]):
        return "node: must be the name of a node"
    shows = stated.get("shows", [])
    if not is_list(shows):
        return "shows: must be a list of pointer, equals, contains, matches, one_of"
    own = {name: value for name, value in stated.items() if name not in _MORE}
    wrong = (wrong_item(part) for part in [own, *shows])
    return next((said for said in wrong if said), None)


def _counted(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def grade_limit(observation: Observation, expected: Expectations) -> Iterator[Score]:
    """Score 0 where a graph had to be stopped; nothing is said of one that came to its end."""
    if observation.facts.get("recursion_limit_reached") is True:
        steps, nodes = observation.facts.get("steps"), observation.facts.get("nodes") or ()
        last = ", ".join(str(node) for node in nodes[-4:])
        yield Score(
            LIMIT_KEY, 0.0, f"stopped after {steps} steps: it never ends ({last} at last)"[:300]
        )


EVALUATORS: Final = (
    Evaluator(
        name="gates",
        evaluate=grade_gates,
        reads=(KEY,),
        writes=(KEY,),
        check=check_gates,
        source="langgraph",
    ),
    Evaluator(
        name="recursion_limit",
        evaluate=grade_limit,
        writes=(LIMIT_KEY,),
        never_excuse=(LIMIT_KEY,),
        source="langgraph",
    ),
)
