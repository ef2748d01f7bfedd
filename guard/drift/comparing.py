"""What differs between the versions by which a case ran and those by which it last held."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from guard.drift.versions import Held, Versions
from guard.results import Drift, TrialResult

PROGRAM: Final = "program"
MODEL: Final = "model"
ENDPOINT: Final = "endpoint"
#: What parts the programs of a fingerprint.
BETWEEN: Final = "; "
#: A longer version is a digest or a time: nobody compares such by eye.
READABLE: Final = 20


def compared(now: Versions, held: Held) -> tuple[Drift, ...]:
    """Return each version that is another now; what one side doesn't tell is no difference."""
    was, since = held.versions, held.date
    found = (
        *_programs(now, was),
        *_models(now, was),
        *_differing(ENDPOINT, "the model's endpoint", now.asked.endpoint, was.asked.endpoint),
    )
    return tuple(one._replace(since=since) for one in found)


def mixed(trials: Sequence[TrialResult]) -> tuple[Drift, ...]:
    """Return what changed while trials of one case were made: several models, or programs."""
    models = {seen.model for trial in trials if (seen := trial.observation).model}
    programs = {seen.program for trial in trials if (seen := trial.observation).program}
    asked = {trial.asked.program for trial in trials if trial.asked.program}
    found = [(MODEL, models), (PROGRAM, programs if len(programs) > 1 else asked)]
    return tuple(
        Drift(what, f"the {what}", BETWEEN.join(sorted(filter(None, names))))
        for what, names in found
        if len(names) > 1
    )


def _programs(now: Versions, was: Versions) -> Iterator[Drift]:
    asked = list(_versions(_parts(now.asked.program), _parts(was.asked.program)))
    yield from asked
    known = {one.name for one in asked}
    for one in _versions(now.programs, was.programs):
        # A client tells its version twice: beforehand, and in what it leaves behind.
        if one.name not in known and not (asked and one.stated):
            yield one


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.split(BETWEEN) if part)


def _versions(now: Sequence[str], was: Sequence[str]) -> Iterator[Drift]:
    """Yield programs of another version; where the names differ, the programs themselves."""
    if not (now and was) or set(now) == set(was):
        return
    new, old = _by_name(now), _by_name(was)
    if new.keys() == old.keys() and all((*new.values(), *old.values())):
        for name, version in new.items():
            if version != old[name]:
                yield Drift(PROGRAM, name, version, old[name])
    else:
        yield Drift(PROGRAM, "the program", _shown(now), _shown(was), stated=True)


def shown_programs(text: str) -> str:
    """Return the programs of a fingerprint, without versions that nobody reads."""
    return _shown(_parts(text))


def _shown(programs: Sequence[str]) -> str:
    return _joined(
        [
            name if len(version) > READABLE else f"{name} {version}".rstrip()
            for name, version in map(_parted, programs)
        ]
    )


def _parted(program: str) -> tuple[str, str]:
    """Return name and version: the last word, where it holds a digit."""
    name, _, version = program.rpartition(" ")
    told = name and any(map(str.isdigit, version))
    return (name, version) if told else (program, "")


def _by_name(programs: Iterable[str]) -> dict[str, str]:
    """Return name → version."""
    found: dict[str, list[str]] = {}
    for name, version in map(_parted, programs):
        found.setdefault(name, []).append(version)
    return {name: _joined(versions) for name, versions in found.items()}


def _models(now: Versions, was: Versions) -> Iterator[Drift]:
    asked = list(_differing(MODEL, "the model asked for", now.asked.model, was.asked.model))
    if now.models and was.models:
        told = _differing(MODEL, "the model", _joined(now.models), _joined(was.models))
        yield from (one._replace(stated=bool(asked)) for one in told)
    else:
        yield from asked


def _differing(what: str, name: str, now: str, was: str) -> Iterator[Drift]:
    # An empty endpoint is the provider's own; an empty model is one that nobody told.
    if now != was and (what == ENDPOINT or (now and was)):
        own = "the provider's own"
        yield Drift(what, name, now or own, was or own, stated=True)


def _joined(names: Sequence[str]) -> str:
    return " and ".join(names)
