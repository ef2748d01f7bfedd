"""Asks a record's checks again, of what a proof's trials left behind: the grader proof.

What was rejected must be rejected still, on the recorded keys; what was accepted, accepted. No
agent is run: it shows that the checks can tell the two apart, and nothing of the agent.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from guard import model
from guard.closing import Closing
from guard.engine import Engine
from guard.errors import GuardError
from guard.git import bytes_of
from guard.leftovers import make_folder, remove_folder
from guard.model import Case
from guard.plugin.api import Evaluator
from guard.project import Project
from guard.proofs.observations import (
    ENGINE_KEYS,
    REJECTED,
    Kept,
    ObservationError,
    read_kept,
)
from guard.regressions import Record
from guard.rules.case_weakened import case_of
from guard.storage.records import dump, to_plain
from guard.trials.grading import BUILT_IN, Grade, grade
from guard.trials.kept import KeptError, LeftIn, lay_kept
from guard.trials.trial import regrade
from guard.workspace import clear_folder

HOLDS: Final = "holds"
BROKEN: Final = "broken"
#: It can't be told: an observation is missing or was edited, or a check breaks.
UNKNOWN: Final = "unknown"
#: The case asks for more than when it was proven: its proof is of another case.
OUTDATED: Final = "outdated"
#: Its keys are read by checkers or a judge alone, which are not asked here.
NOT_ASKED: Final = "not asked"
#: A proof of before observations were kept, or one that none could be kept of.
NOT_KEPT: Final = "not kept"

#: Why a record's checks can't tell: a recorded key accepts what it rejected, or nothing scores it;
#: what is kept can't be used; they can't be asked on this machine.
ACCEPTS: Final = "accepts"
UNSCORED: Final = "unscored"
OBSERVATION: Final = "observation"
MACHINE: Final = "machine"

CHECKERS: Final = "command"
#: Records whose observations are read together.
AT_ONCE: Final = 50


class Told(NamedTuple):
    """What came of one record."""

    record: Record
    verdict: str
    said: str = ""
    paths: tuple[str, ...] = ()
    fault: str = ""
    """One of the above; empty where it is none of them."""


class Graders(Closing):
    """Asks the checks of a project's cases; a context manager."""

    def __init__(self, project: Project, may_run: Callable[[Case], bool]) -> None:
        """``may_run``: whether a case's checkers, which are programs, may be started."""
        self.project = project
        self._engine = Engine(project)
        self._may_run = may_run
        self._folder = ""
        self._contents: Mapping[bytes, bytes] = {}

    def close(self) -> None:
        """Remove every folder."""
        self._engine.close()
        if self._folder:
            remove_folder(self._folder)

    def read_ahead(self, records: Iterable[Record]) -> None:
        """Read what is kept of several records at once; what was read before is let go."""
        paths = (bytes_of(p) for record in records for p in record.observation_paths.values())
        self._contents = self.project.tree.read_many(paths)

    # One record ------------------------------------------------------------------------

    def judge(self, record: Record) -> Told | None:
        """Return what came of a record; None where nothing is to be asked."""
        case = None if record.retired else case_of(self.project, record)
        keys = [key for key in record.fails_on if key not in ENGINE_KEYS]
        if case is None or case.agent != record.agent or not keys:
            return None
        missing = self._missing(record)
        if missing is None:
            return Told(record, NOT_KEPT) if record.proof else None
        try:
            if missing:
                raise ObservationError(f"{missing} is missing")
            return self._judged(record, case, keys)
        except (ObservationError, KeptError) as error:
            return Told(record, UNKNOWN, str(error), (case.path,), OBSERVATION)

    def _missing(self, record: Record) -> str | None:
        """Return the first observation that should be there; None where none ever was."""
        paths = [*record.observation_paths.values()]
        absent = [path for path in paths if self.project.tree.get(bytes_of(path)) is None]
        if len(absent) == len(paths) and not record.observations:
            return None
        return absent[0] if absent else ""

    def _judged(self, record: Record, case: Case, keys: Sequence[str]) -> Told:
        asked = [key for key in keys if key not in self.left_out(case)]
        if not asked:
            return Told(record, NOT_ASKED)
        for side, path in record.observation_paths.items():
            kept = self._read(record, side, path)
            found = self.grade(case, kept.left_in)
            told = Told(record, HOLDS, paths=(case.path, path))
            if side == REJECTED:
                told = self._of_rejected(told, found, asked)
            else:
                verdict, said = self._of_accepted(found, case, kept)
                told = told._replace(verdict=verdict, said=said)
            if told.verdict != HOLDS:
                return told
        return Told(record, HOLDS)

    def _read(self, record: Record, side: str, path: str) -> Kept:
        try:
            name = bytes_of(path)
            content = self._contents.get(name) or self.project.tree.read(name) or b""
            return read_kept(content, record.id, side)
        except ObservationError as error:
            raise ObservationError(f"{path} {error.message}") from error

    def _of_rejected(self, told: Told, found: Grade, keys: Iterable[str]) -> Told:
        if found.verdict in (model.ERROR, model.STALE):
            return told._replace(verdict=UNKNOWN, said=found.reason)
        scored = {score.key for score in found.scores}
        for key in keys:
            if key not in scored:
                said = f"nothing scores {key}, on which what happened was rejected"
                return told._replace(verdict=BROKEN, said=said, fault=UNSCORED)
            if key not in found.failing or key in found.excused:
                said = f"{key} accepts now what happened before the fix"
                return told._replace(verdict=BROKEN, said=said, fault=ACCEPTS)
        return told

    def _of_accepted(self, found: Grade, case: Case, kept: Kept) -> tuple[str, str]:
        if found.verdict in (model.PASS, model.XFAIL):
            return HOLDS, ""
        if found.verdict in (model.ERROR, model.STALE):
            return UNKNOWN, found.reason
        expected = self.expected(case)
        if found.verdict == model.UNGRADED and expected.keys() <= self.left_out(case):
            return HOLDS, ""
        failing = [key for key in found.failing if key not in found.excused]
        if all(_asks_else(key, kept.expected, expected) for key in failing or [""]):
            return OUTDATED, f"it asks for something else than when proven: {found.reason}"
        return BROKEN, f"what the fix does is no longer accepted: {found.reason}"

    # Asking ----------------------------------------------------------------------------

    def expected(self, case: Case) -> dict[str, Any]:
        """Return all that is expected in a case."""
        return {**self.project.agents[case.agent].always, **case.expected}

    def left_out(self, case: Case) -> frozenset[str]:
        """Return the keys of a case that are not asked: a judge's, and programs' unless allowed."""
        judges = (e for e in self._evaluators(case) if e.judge)
        keys = {key for judge in judges for key in (*judge.reads, *judge.writes)}
        expected = self.expected(case)
        if CHECKERS in expected and not (self._may_run(case) and not self._lacks(case)):
            keys.add(CHECKERS)
        return frozenset(keys)

    def _lacks(self, case: Case) -> str:
        """Return the variable that the agent's programs ask for and that isn't set here."""
        return self._engine.stage(self.project.agents[case.agent]).missing

    def _evaluators(self, case: Case) -> tuple[Evaluator, ...]:
        return self.project.evaluators_of(self.project.agents[case.agent])

    def grade(self, case: Case, left_in: LeftIn, *, whole: bool = False) -> Grade:
        """Put what was left behind through today's checks.

        ``whole``: on all files of the agent's workspace, though its checks may read none.
        """
        leave_out = self.left_out(case)
        if whole or self.needs_workspace(case):
            stage = self._engine.stage(self.project.agents[case.agent])
            return regrade(stage, case, left_in, leave_out)
        return self._graded_alone(case, left_in, leave_out)

    def needs_workspace(self, case: Case) -> bool:
        """Tell whether a check may read files that no expectation names."""
        expected = self.expected(case).keys() - self.left_out(case)
        if CHECKERS in expected:
            return True
        others = [e for e in self._evaluators(case) if e.source != BUILT_IN and not e.judge]
        return any(not e.declared or not expected.isdisjoint(e.reads) for e in others)

    def _graded_alone(self, case: Case, left_in: LeftIn, leave_out: Collection[str]) -> Grade:
        """Grade in a folder that holds what is kept, and nothing else: no other file is read."""
        expected = {k: v for k, v in self.expected(case).items() if k not in leave_out}
        workspace = self._empty_workspace()
        try:
            left = left_in(workspace)
            lay_kept(left.files, workspace)
            seen = left.observation._replace(workspace=workspace)
            judges = [e for e in self._evaluators(case) if not e.judge]
            verdict = grade(case, expected, seen, judges, left.own)
            if verdict.late:
                # What isn't done may write there still.
                remove_folder(self._folder)
                self._folder = ""
            return verdict
        finally:
            if self._folder:
                clear_folder(workspace)

    def _empty_workspace(self) -> str:
        """Return a folder that is used again and again: to make and remove one takes longest."""
        self._folder = self._folder or make_folder("scratch")
        workspace = os.path.join(self._folder, "ws")
        os.makedirs(workspace, exist_ok=True)
        return workspace


def _asks_else(key: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Tell whether what a key stands for is expected otherwise than it was."""
    if key in before and key in now:
        return dump(to_plain(before[key])) != dump(to_plain(now[key]))
    # A score of an evaluator's own name: it may have read any expectation.
    return dump(to_plain(before)) != dump(to_plain(now))


# All of them -------------------------------------------------------------------------------


def ask_again(
    project: Project, records: Iterable[Record], may_run: Callable[[Case], bool]
) -> list[Told]:
    """Return what came of each record that there is something to ask about."""
    with Graders(project, may_run) as graders:
        return [*_all_told(graders, records)]


def _all_told(graders: Graders, records: Iterable[Record]) -> Iterator[Told]:
    for record in _read_ahead(graders, records):
        try:
            told = graders.judge(record)
        except GuardError as error:
            told = Told(record, UNKNOWN, error.message, fault=MACHINE)
        if told is not None:
            yield told


def _read_ahead(graders: Graders, records: Iterable[Record]) -> Iterator[Record]:
    """Yield the records, once what is kept of them is read: some at a time, for it may be large."""
    waiting = iter(records)
    while some := [*islice(waiting, AT_ONCE)]:
        graders.read_ahead(some)
        yield from some
