"""From what both sides show to the verdict on a proof, and what is said about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from guard import model
from guard.output import shell_path
from guard.results import Side
from guard.verdict import Judgement
from guard.wording.reasons import one_line

#: What either side may be, and what the proof is then (the first match wins).
EITHER_SIDE: Final[Sequence[tuple[tuple[str, ...], str]]] = (
    ((model.SKIP,), model.SKIP),
    ((model.STALE,), model.STALE),
    ((model.BLOCKED, model.OWED), model.PENDING),
    ((model.ERROR, model.TAINTED, model.UNGRADED), model.INCONCLUSIVE),
)
BROKEN_SIDE: Final = "before the fix"
FIXED_SIDE: Final = "now"


def decide(before: Judgement, after: Judgement, fails_on: Sequence[str]) -> Judgement | None:
    """Return the verdict; None where the broken state passes, so that the next rung is tried."""
    sides = ((BROKEN_SIDE, before), (FIXED_SIDE, after))
    for verdicts, proof in EITHER_SIDE:
        for where, side in sides:
            if side.verdict in verdicts:
                return Judgement(proof, _say_side(where, side))
    if before.verdict == model.PASS:
        return None
    if before.verdict == model.WRONG_REASON:
        keys = ", ".join(fails_on) or "none"
        reason = f"before the fix it fails on something else than is recorded ({keys})"
        return Judgement(model.WRONG_REASON, f"{reason}: {before.reason}")
    if before.verdict != model.FAIL:
        return Judgement(model.INCONCLUSIVE, _say_side(BROKEN_SIDE, before))
    if after.verdict in (model.FAIL, model.XFAIL):
        return Judgement(model.BROKEN_NOW, f"it fails before the fix and now: {after.reason}")
    if after.verdict not in (model.PASS, model.XPASS):
        return Judgement(model.INCONCLUSIVE, _say_side(FIXED_SIDE, after))
    keys = f" ({', '.join(fails_on)})" if fails_on else ""
    return Judgement(model.PROVEN, f"fails without the fix{keys}, passes with it")


def _say_side(where: str, side: Judgement) -> str:
    said = one_line(side.reason) or "its trials disagree"
    return (
        f"{where}: {said}"
        if side.verdict == model.INCONCLUSIVE
        else f"{where} {side.verdict}: {said}"
    )


def say_vacuous(before: Side | None, after: Side | None, reason: str) -> str:
    """Say that a case can't see its bug; ``reason``: why the fixed side fails, where it does."""
    counted = f" ({before.passed} of {before.trials})" if before else ""
    if after and not after.passed:
        fails = f"fails with it ({after.passed} of {after.trials})"
        why = f": {one_line(reason)}" if reason else ""
        return f"it passes without the fix{counted} and {fails}{why}"
    return f"it passes without the fix too{counted}, so it can't see this bug"


#: Of a record whose fix somebody took out again.
UNDONE: Final = "the fix is gone from the agent"


def say_undone(commit: str) -> str:
    """Say that a fix was taken out again by a later edit."""
    said = f"{UNDONE}: what {commit[:12]} brought was taken out again"
    return f"{said}, and the bug may be back"


def hint_of(verdict: str, record: str, case: str, *, undone: bool = False) -> str:
    """Return the command that mends a verdict, or shows why it is so."""
    name, shown = shell_path(record), shell_path(case)
    if undone and verdict == model.DEGENERATE:
        return f"guard run {shown}"
    hints = {
        model.PENDING: f"guard verify {name}",
        model.VACUOUS: f"guard show {shown}#before-1",
        model.WRONG_REASON: f"guard show {shown}#before-1",
        model.BROKEN_NOW: f"guard show {shown}#after-1",
        model.DEGENERATE: f"guard prove {shown} --before REV",
        model.STALE: f"guard prove {shown} --before REV",
    }
    return hints.get(verdict, "")
