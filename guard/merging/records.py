"""What a record means as a whole, where merging it key by key would not see it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from guard.merging.values import Conflict, differ, is_mapping, is_same, value_at

#: What a proof is a proof of.
PROVEN: Final = ("agent", "case", "before", "fails_on")
#: A record is retired with a reason, or neither.
TOGETHER: Final = ("status", "retirement")


def settle_record(path: tuple[str, ...], merged: dict[str, Any], versions: Conflict) -> None:
    """Settle a merged record's proof and count, and keep what belongs together together."""
    if len(path) != 2 or path[0] != "regressions":
        return
    counts = [value_at(version, "reopened") for version in (versions.ours, versions.theirs)]
    if isinstance(merged.get("reopened"), Conflict) and all(type(n) is int for n in counts):
        merged["reopened"] = max(counts)
    if isinstance(merged.get("proof"), Conflict):
        merged["proof"] = choose_proof(versions)
    _keep_together(merged, versions)


def choose_proof(versions: Conflict) -> Any:
    """Return the proof of two new ones that the merged record has, or the conflict.

    That of the side which changed what is proven; where neither or both did so alike, the newer.
    """
    ours, base, theirs = versions
    proofs = Conflict(*(value_at(version, "proof") for version in versions))
    if not (is_mapping(proofs.ours) and is_mapping(proofs.theirs)):
        return proofs
    if not differ((ours, theirs), PROVEN):
        return max(proofs.ours, proofs.theirs, key=_age)
    if not differ((base, ours), PROVEN):
        return proofs.theirs
    return proofs if differ((base, theirs), PROVEN) else proofs.ours


def _age(proof: Mapping[str, Any]) -> tuple[str, int, str]:
    """Return what is greater for a newer proof; of one day the one of more trials counts."""
    trials = [value_at(value_at(proof, side), "trials") for side in ("before", "after")]
    counted = sum(number for number in trials if type(number) is int)
    return str(proof.get("date", "")), counted, json.dumps(proof, sort_keys=True)


def _keep_together(merged: dict[str, Any], versions: Conflict) -> None:
    """Make conflicts of what was merged into neither side's state."""
    halves = [isinstance(merged.get(key), Conflict) for key in TOGETHER]
    torn = merged.get("status") == "retired" and not merged.get("retirement")
    if not (torn or any(halves)):
        return
    for key in TOGETHER:
        found = Conflict(*(value_at(version, key) for version in versions))
        if not is_same(found.ours, found.theirs):
            merged[key] = found
