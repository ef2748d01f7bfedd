"""What a case states under ``judge``, checked before any judge is looked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from guard.model import Agent, Case
from guard.schema import Check, Invalid, integer, is_mapping, kind_of, mapping, number

MOST_VOTES: Final = 9


class Stated(NamedTuple):
    """One expectation ``judge``."""

    rubric: str
    provider: str
    model: str
    """As the provider names it."""
    votes: int
    floor: float
    accept: str
    """An answer that the judge must accept, before its scores count."""
    reject: str


def stated_of(value: Mapping[str, Any]) -> Stated:
    """Return what an expectation that was checked states."""
    provider, _, model = str(value["model"]).partition(":")
    canaries = value["canaries"]
    return Stated(
        rubric=value["rubric"],
        provider=provider,
        model=model,
        votes=value.get("votes", 1),
        floor=float(value.get("floor", 1.0)),
        accept=canaries["accept"],
        reject=canaries["reject"],
    )


def judged_by(agent: Agent, case: Case) -> Mapping[str, Any] | None:
    """Return what is expected of a judge in a case, if anything."""
    found: Mapping[str, Any] | None = {**agent.always, **case.expected}.get("judge")
    return found


def provider_of(value: object) -> str:
    """Return the provider that an expectation names, whatever else is wrong with it."""
    model = value.get("model", "") if is_mapping(value) else ""
    return str(model).partition(":")[0]


def check_judge(value: Any) -> None:
    """Raise `Invalid` for an expectation ``judge`` that can't be asked."""
    found = mapping(_KEYS, required=("rubric", "model", "canaries"))(value)
    canaries = found["canaries"]
    if canaries["accept"].split() == canaries["reject"].split():
        raise Invalid("one answer can't be both accepted and rejected", ("canaries",))


def _plain_text(value: Any) -> str:
    if not isinstance(value, str):
        raise Invalid(f"must be text, not {kind_of(value)}")
    if not value.strip():
        raise Invalid("must not be empty")
    return value


def _judge_name(value: Any) -> str:
    provider, colon, model = _plain_text(value).partition(":")
    if not (colon and provider.strip() and model.strip()) or value != value.strip():
        raise Invalid(f"{value!r} is not provider:name, such as anthropic:claude-sonnet-5-5")
    return str(value)


def _odd(value: Any) -> int:
    found: int = integer(1, MOST_VOTES)(value)
    if found % 2 == 0:
        raise Invalid(f"must be odd, so that more than half decide: {found - 1} or {found + 1}")
    return found


_KEYS: Mapping[str, Check] = {
    "rubric": _plain_text,
    "model": _judge_name,
    "votes": _odd,
    # Every answer reaches a floor of 0.
    "floor": number(0, 1, above=True),
    "canaries": mapping(
        {"accept": _plain_text, "reject": _plain_text}, required=("accept", "reject")
    ),
}
