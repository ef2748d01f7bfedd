"""Drift in plain sentences, equal ones of several cases and agents together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from guard.drift.comparing import BETWEEN, READABLE
from guard.results import Drift
from guard.wording.units import count, listed


class Drifted:
    """One kind of drift, and the cases that it was found in."""

    def __init__(self) -> None:
        self.cases: dict[str, str] = {}
        """Case → agent."""
        self.since = ""
        self.fails = False

    def add(self, case: str, agent: str, drift: Drift, *, fails: bool) -> None:
        """Take a case."""
        self.cases[case] = agent
        self.since = max(self.since, drift.since)
        self.fails = self.fails or fails


def sentences(found: Iterable[tuple[Drift, Drifted]], agents: Iterable[str]) -> tuple[str, ...]:
    """Return one sentence for each kind of drift; ``agents`` are all those of the run."""
    several = len(set(agents)) > 1
    return tuple(_sentence(drift, drifted, several=several) for drift, drifted in found)


def _sentence(drift: Drift, drifted: Drifted, *, several: bool) -> str:
    if not drift.was:
        return _of_mixed(drift, list(drifted.cases))
    names = listed(sorted(set(drifted.cases.values())))
    suite = f"what guards {names}" if several else "this suite"
    when = f"when {suite} last held ({drifted.since[:10]})"
    return f"{_said(drift, when)}: {_consequence(drift, fails=drifted.fails)}"


def _said(drift: Drift, when: str) -> str:
    readable = max(len(drift.now), len(drift.was)) <= READABLE
    if drift.what == "program" and not drift.stated and not readable:
        return f"{drift.name} is another build now than {when}"
    return f"{drift.name} is {drift.now} now, was {drift.was} {when}"


def _consequence(drift: Drift, *, fails: bool) -> str:
    if not fails:
        return "what is said below is of the new one"
    cause = "the program" if drift.what == "program" else "the model"
    # What is asked for stands in guard.yaml or a variable: that may be what was changed.
    return f"what fails below may be {cause}" + ("" if drift.stated else ", not your change")


def _of_mixed(drift: Drift, cases: Sequence[str]) -> str:
    number = len(drift.now.split(BETWEEN))
    names = drift.now.replace(BETWEEN, " and ")
    if drift.what == "program":
        names = names if len(names) <= 4 * READABLE else count(number, "build")
        said = f"the program changed while trials were made ({names})"
    else:
        said = f"{count(number, drift.what)} answered trials of one case ({names})"
    return f"{said}: the rate of {listed(list(cases))} is that of none of them alone"
