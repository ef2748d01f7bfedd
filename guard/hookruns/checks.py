"""What hooks say of a record's checks: whether they still tell its bug from its fix."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from guard.affected import Selected
from guard.git import Repo, bytes_of
from guard.judging.left_out import ignored_by
from guard.model import Violation
from guard.output import UNKNOWN, printable, say, shell_path
from guard.project import Project
from guard.proofs.graders import Told
from guard.regressions import FILE, Record
from guard.rules.grader_proof import (
    GraderProof,
    any_checker,
    prove_again,
    prove_graders,
    unknown_of,
)

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


def push_refusal(proof: GraderProof, place: str, repo: Repo | None) -> str:
    """Return the text for a tip whose checks can't tell, or of which it isn't known.

    Nothing where there is no such check. ``place`` names the tip; without ``repo`` the files
    that it comes from lie elsewhere.
    """
    if proof.violations:
        return rules_refusal(proof.violations, place)
    if not proof.unknown:
        return ""
    told, *others = proof.unclear
    more = [f"  also     {len(others)} more: guard check"] if others else []
    first, *commands = _mending(told, repo)
    lines = [
        f"guard: not pushed: it isn't known {unknown_of(told)}",
        f"  in       {place}",
        *more,
        f"  do       {first}",
        *(f"           {command}" for command in commands),
        "  more     guard explain grader-proof",
    ]
    return "\n".join(map(printable, lines))


def _is_left_out(told: Told) -> bool:
    """Tell whether a file is missing; one that is there and can't be read is to be made anew."""
    return any(told.said == f"{path} is missing" for path in told.record.observation_paths.values())


def _mending(told: Told, repo: Repo | None) -> Iterator[str]:
    """Yield the commands that bring what is missing: from disk, where it was only left out."""
    paths = list(told.record.observation_paths.values())
    lying = [path for path in paths if repo and os.path.isfile(os.path.join(repo.root, path))]
    if len(lying) < len(paths) or not _is_left_out(told):
        yield prove_again(told)
    ignored = repo and ignored_by(repo, [bytes_of(path) for path in paths])
    yield f"git add {'-f ' if ignored else ''}{' '.join(map(shell_path, [FILE, *paths]))}"
    yield f'git commit -m "test: keep what the proof of {told.record.id} saw" && git push'


def rules_refusal(violations: Sequence[Violation], place: str) -> str:
    """Return the text for a tip whose tree breaks rules."""
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
