"""The checks that only a back office needs; plain functions over what a trial left behind."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from guard.plugin import Expectations, Observation, Score, evaluator

#: Written a second time on purpose: the agent's own reading of amounts is what is graded here.
AMOUNT = re.compile(r"(?<![\d.,-])-?\d[\d ., ]*[.,]\d\d(?!\d)")


@evaluator(reads=("refusals",))
def refusals(observation: Observation, expected: Expectations) -> Score:
    """Compare the rules that refused an entry, in any order."""
    told = _told(observation, "refusals")
    broken = None if told is None else sorted(one["rule"] for one in told)
    return _compare("refusals", broken, sorted(expected["refusals"]))


@evaluator(reads=("findings",), writes=("findings_missed", "findings_besides"))
def findings(observation: Observation, expected: Expectations) -> list[Score]:
    """Compare an audit's findings: to miss one is another fault than to cry wolf."""
    told = _told(observation, "findings")
    wanted = set(expected["findings"])
    if told is None:
        return [Score(key, 0.0, "no report") for key in ("findings_missed", "findings_besides")]
    found = {f"{one['family']} {one['entry']}" for one in told}
    missed, besides = sorted(wanted - found), sorted(found - wanted)
    return [
        Score("findings_missed", float(not missed), f"missed {missed}"),
        Score("findings_besides", float(not besides), f"besides {besides}"),
    ]


@evaluator(reads=("schema_type",))
def schema_type(observation: Observation, expected: Expectations) -> Score:
    """Compare the proposed type; null stands for none."""
    proposed = _told(observation, "schema_type", "no answer")
    return _compare("schema_type", proposed, expected["schema_type"])


@evaluator(reads=("proposals",))
def proposals(observation: Observation, expected: Expectations) -> Score:
    """Compare what is proposed on the fields that the case states, as a ratio of them."""
    found: list[dict[str, Any]] | None = _told(observation, "proposals")
    wanted: list[dict[str, Any]] = expected["proposals"]
    if found is None or len(found) != len(wanted):
        return Score("proposals", 0.0, f"{found} proposed, not {len(wanted)}")
    pairs = [
        (one, key, value)
        for one, want in zip(found, wanted, strict=True)
        for key, value in want.items()
    ]
    wrong = [
        f"{key} is {one.get(key)!r}, not {value!r}"
        for one, key, value in pairs
        if one.get(key) != value
    ]
    return Score("proposals", 1 - len(wrong) / max(len(pairs), 1), "; ".join(wrong))


@evaluator(reads=("grounded",), never_excuse=("grounded",))
def grounded(observation: Observation, expected: Expectations) -> Score | None:
    """The anti-fabrication bound: each amount that reached people stands on the paper.

    It asks what lies in the queue, not what the clerk says of itself, and no baseline excuses it.
    """
    if not expected["grounded"]:
        return None
    paper = Path(observation.workspace, expected.inputs["paper"]).read_text(encoding="utf-8")
    printed = {_digits(amount) for amount in AMOUNT.findall(paper)}
    made_up = [one["total"] for one in _queued(observation) if str(one["total"]) not in printed]
    return Score("grounded", float(not made_up), f"not on the paper: {made_up}")


@evaluator(reads=("queued",))
def queued(observation: Observation, expected: Expectations) -> Score:
    """Count the proposals that wait for a person, each with a paper that can be found."""
    messages = _queued(observation)
    lost = [
        m["paper"]
        for m in messages
        if not Path(observation.workspace, "archive", m["paper"]).exists()
    ]
    held = len(messages) == expected["queued"] and not lost
    return Score("queued", float(held), f"{len(messages)} wait; without a paper: {lost}")


def _told(observation: Observation, name: str, missing: Any = None) -> Any:
    """Return a value of the graph's final state: one that isn't there is no empty one."""
    state: Any = observation.output
    return state.get(name, missing) if isinstance(state, dict) else missing


def _compare(key: str, found: object, wanted: object) -> Score:
    """Score whether two are the same, with both in the reason where they aren't."""
    said = f"{found}" if found == wanted else f"{found}, not {wanted}"
    return Score(key, float(found == wanted), said)


def _queued(observation: Observation) -> list[dict[str, Any]]:
    path = Path(observation.workspace, "queue.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def _digits(amount: str) -> str:
    """Return an amount in cents, as text."""
    sign = "-" if amount.startswith("-") else ""
    return sign + re.sub(r"\D", "", amount).lstrip("0")
