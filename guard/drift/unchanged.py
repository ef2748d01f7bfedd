"""Whether a suite still stands as it held: for a nightly job that pays only where it doesn't.

It stands where each case is answered by a receipt: that is bound to the files, the program and
the model, and grows too old. What a target doesn't tell of itself can't be unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from guard.affected import Selected
from guard.drift.comparing import compared, shown_programs
from guard.drift.versions import Held, Versions
from guard.engine import Engine
from guard.model import PASS, XFAIL, Case
from guard.results import CaseResult, Fingerprint
from guard.running.answers import Answers
from guard.running.receipts import is_fresh, result_of
from guard.wording.units import count, listed

OPTION = "--if-changed"


class Standing(NamedTuple):
    """What was found of a suite before anything was run."""

    cases: tuple[CaseResult, ...] = ()
    """As their receipts answer; none where the suite is to be run."""
    line: str = ""
    """What is unchanged since when; or why the suite is run."""
    anew: frozenset[str] = frozenset()
    """Ids of the cases that are run for a reason which no receipt can answer."""


class Suite:
    """The cases that are asked for, and what is known of them."""

    def __init__(self, engine: Engine, selection: Sequence[Selected]) -> None:
        self.engine = engine
        self.project = engine.project
        self.selection = selection
        # Whether anything changed is asked of receipts, also where the run uses none.
        self.answers = Answers(self.project)
        store = self.project.store
        self.held: Mapping[str, Held] = store.last_held()
        self.last: Mapping[str, str] = store.last_verdicts()

    def standing(self) -> Standing:
        """Return the receipts that answer all of it, or why it is to be run."""
        answered: list[CaseResult] = []
        reasons: dict[str, int] = {}
        anew: set[str] = set()
        for chosen in self.selection:
            case = self.engine.bounded(chosen.case)
            receipt = self.answers.receipt_for(case, self.answers.key(case))
            reason = self._last_failed(case) or self._untold(case)
            if reason:
                anew.add(case.id)
            if receipt is None or reason:
                reason = reason or self._changed(case)
                reasons[reason] = reasons.get(reason, 0) + 1
            else:
                answered.append(result_of(receipt, chosen))
        if reasons:
            told = [f"{why} ({count(n, 'case')})" for why, n in reasons.items()]
            line = f"{OPTION}: the suite is run, for {listed(told)}"
            return Standing(line=line, anew=frozenset(anew))
        return Standing(tuple(answered), self._unchanged(answered))

    def _last_failed(self, case: Case) -> str:
        last = self.last.get(case.id, PASS)
        return "" if last in (PASS, XFAIL) else f"the last verdict was {last}"

    def _untold(self, case: Case) -> str:
        agent = self.project.agents[case.agent]
        if any(self.answers.fingerprint(agent)):
            return ""
        return f"target {agent.target} doesn't tell what it drives"

    def _changed(self, case: Case) -> str:
        """Say why no receipt answers a case: the version first, that is what is asked about."""
        held = self.held.get(case.id)
        if held is None:
            return "there is no green run yet"
        now = self.answers.fingerprint(self.project.agents[case.agent])
        for drift in compared(Versions(now), held):
            return f"{drift.name} is another than on {drift.since[:10]}"
        if not is_fresh(held.date, self.answers.max_age(case)):
            return f"the evidence is older than {self.answers.max_age(case)}"
        return f"other files than those that held on {held.date[:10]}"

    def _unchanged(self, answered: Sequence[CaseResult]) -> str:
        since = min((result.reused for result in answered), default="")
        agents = {result.agent: self.project.agents[result.agent] for result in answered}
        driven = dict.fromkeys(map(_shown, map(self.answers.fingerprint, agents.values())))
        held = f"{count(len(answered), 'case')} held then"
        return f"unchanged since {since[:10]}: {listed(list(driven))}; {held}, nothing was run"


def _shown(asked: Fingerprint) -> str:
    model = f"model {asked.model}" if asked.model else ""
    where = f"at {asked.endpoint}" if asked.endpoint else ""
    return " ".join(part for part in (shown_programs(asked.program), model, where) if part)
