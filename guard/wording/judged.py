"""What a judge's score rests on, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from guard.output import printable
from guard.wording.units import money

#: Characters of a digest that are shown; reports have all of it.
SHOWN_DIGEST: Final = 12


def judged_lines(evidence: Mapping[str, Any]) -> list[str]:
    """Return the lines of one score's evidence; none where no judge gave it."""
    if not evidence.get("judge"):
        return []
    return [printable(line) for line in (_who(evidence), _canaries(evidence), _digests(evidence))]


def _who(evidence: Mapping[str, Any]) -> str:
    asked = f"{evidence['judge']}:{evidence.get('model', '')}"
    answered = ", ".join(evidence.get("answered_by") or ())
    told = [f"judged by {asked}" + (f" ({answered} answered)" if answered else "")]
    if evidence.get("votes"):
        told.append(f"votes {_numbers(evidence['votes'])} (floor {evidence.get('floor', 1):g})")
    cost = evidence.get("cost_usd")
    told.append("cost not known" if cost is None else money(cost))
    if not evidence.get("live", True):
        told.append(f"at {evidence.get('endpoint')}, not the provider's own endpoint")
    return ", ".join(told)


def _canaries(evidence: Mapping[str, Any]) -> str:
    found: Mapping[str, Any] = evidence.get("canaries") or {}
    told = [f"the one to {n} got {_numbers(found[n])}" for n in ("reject", "accept") if n in found]
    return f"canaries: {', '.join(told) or 'not judged'}"


def _digests(evidence: Mapping[str, Any]) -> str:
    names = [f"{n} {str(evidence.get(n, ''))[: 7 + SHOWN_DIGEST]}" for n in ("rubric", "prompt")]
    ids = evidence.get("response_ids") or ()
    return ", ".join([*names, *([f"responses {', '.join(ids)}"] if ids else [])])


def _numbers(votes: Sequence[float]) -> str:
    return ", ".join(f"{vote:g}" for vote in votes)
