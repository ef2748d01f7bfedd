"""What a hook makes of a verdict: it holds, is broken, unclear, owed, or can't be read.

What each hook makes of it: a commit is refused for what is broken or unreadable, a push also for
what is unclear and, unless ``owed: ci``, for what is owed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from guard import model
from guard.errors import ExitCode, worst
from guard.results import SNAPSHOT, CaseResult, ProofResult

HOLDS: Final = "holds"
BROKEN: Final = "broken"
#: Run, and not settled: TAINTED, UNGRADED, INCONCLUSIVE, STALE, an ERROR of guard's side.
UNCLEAR: Final = "unclear"
#: Asked for, and not yet known: nothing is wrong as far as anyone can tell.
OWED: Final = "owed"
UNREADABLE: Final = "unreadable"

_CASES: Final = {
    model.PASS: HOLDS,
    model.XFAIL: HOLDS,
    model.FAIL: BROKEN,
    model.XPASS: BROKEN,
    model.SKIP: OWED,
    model.BLOCKED: OWED,
    model.OWED: OWED,
}
_PROOFS: Final = {
    model.PROVEN: HOLDS,
    model.RETIRED: HOLDS,
    model.PENDING: OWED,
    model.SKIP: OWED,
    model.BLOCKED: UNREADABLE,
    model.INCONCLUSIVE: UNCLEAR,
    model.STALE: UNCLEAR,
    model.VACUOUS: BROKEN,
    model.WRONG_REASON: BROKEN,
    model.BROKEN_NOW: BROKEN,
    model.DEGENERATE: BROKEN,
    model.UNPROTECTED: BROKEN,
}
_CODES: Final = {
    HOLDS: ExitCode.OK,
    BROKEN: ExitCode.REGRESSION,
    UNCLEAR: ExitCode.NOT_ESTABLISHED,
    OWED: ExitCode.NOT_ESTABLISHED,
    UNREADABLE: ExitCode.NOT_ESTABLISHED,
}


class Standing(NamedTuple):
    """All that a hook established, sorted by what it means there."""

    cases: tuple[CaseResult, ...] = ()
    proofs: tuple[ProofResult, ...] = ()

    def cases_that(self, *standings: str) -> list[CaseResult]:
        """Return the cases of these standings; what only prose expects is in none of them."""
        return [
            case for case in self.cases if not is_prose(case) and case_standing(case) in standings
        ]

    def proofs_that(self, *standings: str) -> list[ProofResult]:
        """Return the proofs of these standings."""
        return [proof for proof in self.proofs if proof_standing(proof) in standings]

    def has(self, *standings: str) -> bool:
        """Tell whether anything has one of these standings."""
        return bool(self.cases_that(*standings) or self.proofs_that(*standings))

    def code(self, refused: Iterable[str]) -> int:
        """Return the exit code of a hook that refuses what has one of these standings."""
        return worst(*(_CODES[standing] for standing in refused if self.has(standing)))


#: What a commit is refused for; all else is named.
AT_COMMIT: Final = (BROKEN, UNREADABLE)


def at_push(owed: str) -> tuple[str, ...]:
    """Return what a push is refused for, by ``hooks.pre-push.owed`` (block or ci)."""
    return (BROKEN, UNREADABLE, UNCLEAR, *((OWED,) if owed == "block" else ()))


def is_prose(case: CaseResult) -> bool:
    """Tell whether the case is UNGRADED because only prose says what it expects."""
    return case.advisory and case.verdict == model.UNGRADED


def case_standing(case: CaseResult) -> str:
    """Return what a case's verdict means in a hook."""
    if case.verdict == model.ERROR:
        errors = [trial for trial in case.trials if trial.verdict == model.ERROR]
        if any(trial.blame == SNAPSHOT for trial in errors):
            return UNREADABLE
        return OWED if errors and all(trial.blame for trial in errors) else UNCLEAR
    return _CASES.get(case.verdict, UNCLEAR)


def proof_standing(proof: ProofResult) -> str:
    """Return what a proof's verdict means in a hook."""
    return _PROOFS.get(proof.verdict, UNCLEAR)
