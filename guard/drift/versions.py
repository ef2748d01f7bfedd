"""By which program and model trials were made: as asked for, and as answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

from guard.results import CaseResult, Fingerprint, ProofResult, TrialResult


class Versions(NamedTuple):
    """What drove the trials of one case. What nobody told is empty, and is no difference."""

    asked: Fingerprint = Fingerprint()
    """What the target said beforehand."""
    programs: tuple[str, ...] = ()
    """Name and version of the program, as its trials told; sorted."""
    models: tuple[str, ...] = ()
    """The model that answered, as its trials told; sorted."""


class Held(NamedTuple):
    """By which versions a case held last."""

    versions: Versions
    date: str
    """UTC, ISO 8601."""


def versions_of(trials: Iterable[TrialResult]) -> Versions:
    """Return what drove the trials."""
    listed = list(trials)
    asked = [trial.asked for trial in listed if any(trial.asked)]
    return Versions(
        asked[-1] if asked else Fingerprint(),
        _told(trial.observation.program for trial in listed),
        _told(trial.observation.model for trial in listed),
    )


def _told(names: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(sorted({name for name in names if name}))


def sides_of(proof: ProofResult) -> tuple[CaseResult, ...]:
    """Return the sides of a proof that have trials."""
    sides = (proof.before_result, proof.after_result)
    return tuple(side for side in sides if side is not None and side.trials)


def versions_to_json(versions: Versions) -> dict[str, Any]:
    """Return JSON values."""
    return {
        "asked": versions.asked._asdict(),
        "programs": list(versions.programs),
        "models": list(versions.models),
    }


def versions_from_json(fields: Mapping[str, Any]) -> Versions:
    """Return what `versions_to_json` wrote; what another version added is left out."""
    asked = cast("Mapping[str, str]", fields.get("asked", {}))
    known = {name: str(asked.get(name, "")) for name in Fingerprint._fields}
    return Versions(
        Fingerprint(**known), tuple(fields.get("programs", ())), tuple(fields.get("models", ()))
    )
