"""What differs between two states of one case: what makes it weaker, what it asks anew.

By what is allowed: any difference that isn't known to keep the case as
strong counts as a weakening.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast

from guard.casekeys import GATES
from guard.model import Agent, Case, Policy
from guard.rules.baseline_groups import added_groups, describe_group, without_prose

#: What the agent is asked, and with what: a difference makes the record PENDING.
INPUT = ("utterance", "input", "turns", "given", "provisions")
#: Lists whose further items allow more, so that not even an added one is harmless.
WIDENING = frozenset({"changes_only", "blocked_when_stdout_contains"})
#: Expectations that are made of others, with the depth down to which they are.
DEPTHS = {"files": 2, "fields": 1}
#: Lists of a case whose order means nothing.
UNORDERED = (
    "preconditions",
    "prerequisites",
    "expected_baseline",
    "counter_examples",
    "blocked_when_stdout_contains",
)
DEFAULT_GATE = "standard"
_SHOWN = 40


class Comparison(NamedTuple):
    """How a case differs from what it was."""

    weaker: tuple[str, ...] = ()
    """What needs a trailer, in words."""
    asked: tuple[str, ...] = ()
    """The keys of the input that changed."""
    changed: bool = False
    """Whether anything but prose, order and place changed."""


def compare_cases(
    old: Case, new: Case, old_agent: Agent | None = None, new_agent: Agent | None = None
) -> Comparison:
    """Compare two states of a case; with its agents, what they add to it is compared too."""
    weaker = (
        *_of_agent(old, new),
        *_of_expectations(_expected(old, old_agent), _expected(new, new_agent)),
        *_policy_losses(old.policy, new.policy),
        *_additions(old.preconditions, new.preconditions, "preconditions"),
        *_additions(_needed(old, old_agent), _needed(new, new_agent), "prerequisites"),
        *_excuses(old, new),
        *_item_losses(old.counter_examples, new.counter_examples, "counter_examples"),
        *_difference(
            sorted(old.blocked_when_stdout_contains),
            sorted(new.blocked_when_stdout_contains),
            "blocked_when_stdout_contains",
        ),
        *_of_evidence(old.evidence, new.evidence),
    )
    changed = [k for k in INPUT if written(getattr(old, k)) != written(getattr(new, k))]
    # Both are the case's `given`.
    asked = tuple(dict.fromkeys("given" if key == "provisions" else key for key in changed))
    return Comparison(weaker, asked, _substance(old) != _substance(new))


def _substance(case: Case) -> str:
    """Return what of a case isn't prose, order or place."""
    expected = {key: _unordered(value) for key, value in _expected(case, None).items()}
    groups = tuple(without_prose(case.expected_baseline))
    bare = case._replace(path="", blob="", body="", metadata={}, remarks=(), unread=())
    plain = bare._replace(expected=expected, expected_baseline=groups)._asdict()
    return written({k: _unordered(v) if k in UNORDERED else v for k, v in plain.items()})


def _unordered(value: Any) -> Any:
    return _sorted(value) if isinstance(value, (list, tuple)) else value


def written(value: Any) -> str:
    """Return a value as text that is equal for equal values: 1, 1.0 and true differ."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _of_agent(old: Case, new: Case) -> Iterator[str]:
    if old.agent != new.agent:
        yield f"it was agent {old.agent}'s and is {new.agent}'s"


def _expected(case: Case, agent: Agent | None) -> dict[str, Any]:
    joined = {**(agent.always if agent else {}), **case.expected}
    if "command" in joined:
        joined["command"] = [_checker(item) for item in _as_list(joined["command"])]
    if "fields" in joined:
        joined.setdefault("ratio_gates", True)
    return joined


def _checker(item: Any) -> Any:
    return {"exit_code": 0, **_mapping(item)} if isinstance(item, Mapping) else item


def _needed(case: Case, agent: Agent | None) -> tuple[str, ...]:
    return (*case.prerequisites, *(agent.prerequisites if agent else ()))


def _of_expectations(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for key, value in old.items():
        where = f"expected.{key}"
        if key not in new:
            yield f"{where} is gone"
        elif key in WIDENING:
            yield from _difference(_sorted(value), _sorted(new[key]), where)
        elif key == "min_accuracy" and _is_higher(value, new[key]):
            continue
        else:
            yield from _losses(value, new[key], where, DEPTHS.get(key, 0), exact=key == "fields")


def _losses(old: Any, new: Any, where: str, depth: int, *, exact: bool) -> Iterator[str]:
    if depth and isinstance(old, Mapping) and isinstance(new, Mapping):
        before, after = _mapping(old), _mapping(new)
        for key, value in before.items():
            if key in after:
                yield from _losses(value, after[key], f"{where}.{key}", depth - 1, exact=exact)
            else:
                yield f"{where}.{key} is gone"
    elif not exact and (isinstance(old, (list, tuple)) or isinstance(new, (list, tuple))):
        yield from _item_losses(_as_list(old), _as_list(new), where)
    else:
        yield from _difference(old, new, where)


def _difference(old: Any, new: Any, where: str) -> Iterator[str]:
    if written(old) != written(new):
        yield f"{where} was {short(old)} and is {short(new)}"


def _item_losses(old: Iterable[Any], new: Iterable[Any], where: str) -> Iterator[str]:
    kept = {written(item) for item in new}
    for item in old:
        if written(item) not in kept:
            yield f"{where} lost {short(item)}"


def _additions(old: Iterable[Any], new: Iterable[Any], where: str) -> Iterator[str]:
    known = {written(item) for item in old}
    for item in new:
        if written(item) not in known:
            yield f"{where} got {short(item)}"


def _excuses(old: Case, new: Case) -> Iterator[str]:
    for group in added_groups(old.expected_baseline, new.expected_baseline):
        yield f"expected_baseline excuses {describe_group(group)}"


def _of_evidence(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for key in sorted({*old, *new}):
        before, after = old.get(key), new.get(key)
        if isinstance(before or after, (list, tuple)):
            yield from _item_losses(_as_list(before), _as_list(after), key)
        else:
            yield from _difference(before, after, key)


def _policy_losses(old: Policy, new: Policy) -> Iterator[str]:
    """Yield what is asked less of the trials, as they are read: beside a gate no rate counts."""
    before, after = _gate(old), _gate(new)
    if before and after:
        yield from _gate_losses(before, after, old.trials, new.trials)
    elif before or after:
        yield f"it took {_policy(old)} and takes {_policy(new)}"
    else:
        if (new.trials or 0) < (old.trials or 0):
            yield f"trials was {old.trials} and is {new.trials}"
        if new.min_pass_rate < old.min_pass_rate:
            yield f"min_pass_rate was {old.min_pass_rate:g} and is {new.min_pass_rate:g}"
    if new.timeout > old.timeout:
        yield f"timeout was {old.timeout:g} and is {new.timeout:g}"


def _gate(policy: Policy) -> str:
    """Return the gate that decides; empty for fixed trials."""
    return policy.gate or ("" if policy.trials else DEFAULT_GATE)


def _gate_losses(before: str, after: str, most: int | None, now: int | None) -> Iterator[str]:
    if GATES.index(after) < GATES.index(before):
        yield f"gate was {before} and is {after}"
    elif most or now:
        from guard.running.gates import cap

        # A gate that ends before its cap is undecided sooner: what would fail doesn't.
        taken, takes = (min(n or cap(g), cap(g)) for g, n in ((before, most), (after, now)))
        if takes < min(taken, cap(after)):
            yield f"gate {after} took up to {taken} trials and takes up to {takes}"


def _policy(policy: Policy) -> str:
    trials = f"{policy.trials} trials" if policy.trials else ""
    gate = _gate(policy)
    return " in ".join(filter(None, (gate and f"gate {gate}", trials)))


def _is_higher(old: Any, new: Any) -> bool:
    return isinstance(old, (int, float)) and isinstance(new, (int, float)) and new > old


def _mapping(value: Any) -> Mapping[str, Any]:
    found: Mapping[str, Any] = value
    return found


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(cast("Iterable[Any]", value)) if isinstance(value, (list, tuple)) else [value]


def _sorted(value: Any) -> list[Any]:
    return sorted(_as_list(value), key=written)


def short(value: Any) -> str:
    """Return a value for a message, cut where it is long."""
    text = value if isinstance(value, str) else written(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
