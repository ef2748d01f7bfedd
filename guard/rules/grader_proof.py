"""grader-proof: a record's checks still reject what happened, and accept what its fix does.

They are asked of the observations that `guard prove` keeps beside a record. No agent is run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from guard.errors import ExitCode
from guard.model import Case, Violation
from guard.output import HOLDS as MARK_HOLDS
from guard.output import LOOK, shell_path
from guard.output import UNKNOWN as MARK
from guard.project import Project
from guard.proofs import graders
from guard.proofs.graders import Told, ask_again
from guard.regressions import Record
from guard.wording.units import count

RULE: Final = "grader-proof"
#: Ids that one line names before it only counts.
SHOWN: Final = 3


def no_checker(case: Case) -> bool:
    """Let no checker be started: it is a program."""
    return False


def any_checker(case: Case) -> bool:
    """Let checkers be started, as a run starts them."""
    return True


class GraderProof(NamedTuple):
    """What the checks of several records still tell apart."""

    told: tuple[Told, ...] = ()

    @property
    def violations(self) -> tuple[Violation, ...]:
        """A broken rule for each record whose checks can't tell the two apart any more."""
        return tuple(_violation(told) for told in self.that(graders.BROKEN))

    @property
    def unknown(self) -> tuple[str, ...]:
        """A sentence for each record of which it can't be told."""
        return tuple(f"{unknown_of(told)} ({prove_again(told)})" for told in self.unclear)

    @property
    def unclear(self) -> list[Told]:
        """The records of which it can't be told."""
        return self.that(graders.UNKNOWN)

    @property
    def code(self) -> int:
        """The exit code that what isn't known asks for."""
        return ExitCode.NOT_ESTABLISHED if self.unclear else ExitCode.OK

    def that(self, verdict: str) -> list[Told]:
        """Return what came of the records with this verdict."""
        return [told for told in self.told if told.verdict == verdict]

    def lines(self, *, by_hand: bool = False, unkept: bool = True) -> list[str]:
        """Say what was asked again, and what was not; ``unkept``: also what never can be."""
        holding, unasked = self.that(graders.HOLDS), self.that(graders.NOT_ASKED)
        said: list[str] = []
        if holding:
            noun = count(len(holding), "regression")
            said.append(
                f"{MARK_HOLDS} the checks of {noun} still tell what happened from what is right "
                "(no agent was run)"
            )
        if unasked:
            how = " (programs: guard check --run-checkers)" if by_hand else ""
            said.append(
                f"{MARK} {_names(unasked)}: checked by programs or a judge, not asked here{how}"
            )
        for told in self.that(graders.OUTDATED):
            said.append(f"{MARK} {told.record.id}: {told.said} ({prove_again(told)})")
        silent = self.that(graders.NOT_KEPT) if unkept else []
        if silent:
            noun = count(len(silent), "proven regression")
            verb = "keeps" if len(silent) == 1 else "keep"
            said.append(
                f"{LOOK} {noun} {verb} no observation to ask its checks again: guard prove ID"
            )
        return said


def unknown_of(told: Told) -> str:
    """Say of one record what isn't known, and why."""
    return f"whether the checks of {told.record.id} still see its bug: {told.said}"


def prove_again(told: Told) -> str:
    """Return the command that makes a proof anew, and keeps what it sees."""
    return f"guard prove {shell_path(told.record.id)}"


def _names(several: Iterable[Told]) -> str:
    ids = [told.record.id for told in several]
    more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
    return ", ".join(ids[:SHOWN]) + more


def _violation(told: Told) -> Violation:
    record = told.record
    return Violation(
        rule=RULE,
        message=f"the checks of {record.id} no longer tell its bug from its fix: {told.said}",
        agent=record.agent,
        paths=told.paths,
        hint=(prove_again(told),),
    )


def prove_graders(
    project: Project,
    may_run: Callable[[Case], bool],
    records: Iterable[Record] | None = None,
) -> GraderProof:
    """Ask the checks of the records again, of all where none are named."""
    wanted = project.records.values() if records is None else records
    active = [record for record in wanted if not record.retired]
    return GraderProof(tuple(ask_again(project, active, may_run)) if active else ())
