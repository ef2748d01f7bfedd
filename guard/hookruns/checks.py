"""What hooks say of a record's checks: whether they still tell its bug from its fix."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from guard.affected import Selected
from guard.git import bytes_of
from guard.model import Violation
from guard.output import UNKNOWN, printable, say, shell_path
from guard.project import Project
from guard.regressions import Record
from guard.rules.grader_proof import GraderProof, any_checker, prove_again, prove_graders

#: Why a case is selected where its checks, or what they are asked of, may be others.
CHANGED: Final = frozenset(("case", "agent", "depends", "plugin", "config", "record"))
#: Sentences that a hook says of records; the others are counted.
MOST: Final = 3


def ask_concerned(
    project: Project, selection: Sequence[Selected], changed: Collection[bytes]
) -> GraderProof:
    """Ask the checks of those records again that a change concerns."""
    files = {one.case.path for one in selection if CHANGED.intersection(one.affected_by)}
    concerned = [
        record
        for record in project.records.values()
        if record.case_path in files or _is_observed_anew(record, changed)
    ]
    return prove_graders(project, any_checker, concerned)


def _is_observed_anew(record: Record, changed: Collection[bytes]) -> bool:
    return any(bytes_of(path) in changed for path in record.observation_paths.values())


def tell_checks(proof: GraderProof, *, unkept: bool = True) -> None:
    """Say what was asked again, and of which records it isn't known.

    ``unkept``: also how many records keep nothing to ask their checks of.
    """
    for text in proof.unknown[:MOST]:
        say(f"{UNKNOWN} not established: {printable(text)}")
    if len(proof.unknown) > MOST:
        say(f"{UNKNOWN} and {len(proof.unknown) - MOST} more of them: guard check")
    for line in proof.lines(unkept=unkept):
        say(printable(line))


def push_refusal(proof: GraderProof, place: str) -> str:
    """Return the text for a tip whose checks can't tell, or of which it isn't known.

    Nothing where there is no such check. ``place`` names the tip.
    """
    if proof.violations:
        return _broken(proof.violations, place)
    if not proof.unknown:
        return ""
    first, *others = proof.unknown
    told = proof.unclear[0]
    more = [f"  also     {len(others)} more: guard check"] if others else []
    lines = [
        f"guard: not pushed: {first.partition(' (')[0]} isn't known for {place}",
        *more,
        f"  do       {prove_again(told)}",
        f"           git add {' '.join(map(shell_path, told.record.observation_paths.values()))}",
        "  more     guard explain grader-proof",
    ]
    return "\n".join(map(printable, lines))


def _broken(violations: Sequence[Violation], place: str) -> str:
    first, others = violations[0], violations[1:]
    more = [f"  also     {others[0].message}"] if others else []
    more += [f"           and {len(others) - 1} more"] if len(others) > 1 else []
    lines = [
        f"guard: not pushed: {first.message} ({first.rule})",
        f"  in       {place}",
        f"  see      {', '.join(map(shell_path, first.paths))}",
        *more,
        "  do       guard check --run-checkers",
        f"  more     guard explain {first.rule}",
    ]
    return "\n".join(map(printable, lines))
