"""case-weakened: a retained case stays as strong as it is, and guard.yaml guards no less.

What is lost is named by a trailer, ``Case-Weakened: ID: REASON``; a case or record is deleted
by its retirement alone, and so is one that a revert takes away.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple

from guard import config as config_file
from guard import regressions as regressions_file
from guard.errors import ConfigError
from guard.git import bytes_of, text_of
from guard.messages.message import trailer_problems
from guard.model import Case, Violation
from guard.project import Project
from guard.proofs.known import is_known
from guard.regressions import Record
from guard.rules.baseline_groups import added_groups
from guard.rules.commit import JudgedCommit, read_cases
from guard.rules.comparison import compare_cases
from guard.rules.observed_in import look_up
from guard.rules.taken_paths import taken_paths
from guard.wording.commands import move, observe, retire

RULE: Final = "case-weakened"
_CONFIG: Final = bytes_of(config_file.FILE)
_RECORDS: Final = bytes_of(regressions_file.FILE)


class Loss(NamedTuple):
    """One thing that is guarded less than before."""

    subject: str
    """What a trailer names: a case's id, or guard.yaml."""
    what: str
    """What was lost, in a few words."""
    path: str
    agent: str = ""
    deleted: bool = False
    """Whether its retirement is asked for, and no trailer does."""
    mend: tuple[str, ...] = ()
    """Commands that keep it as strong as it was, where a trailer would hide a slip."""
    unobserved: bool = False
    """Whether the run that showed the defect is asked for, and no trailer does."""


REMOVED: Final = Loss(config_file.FILE, f"{config_file.FILE} is removed", config_file.FILE)


def check(commit: JudgedCommit) -> Iterator[Violation]:
    """Yield a violation for each retained case, and for guard.yaml, that the commit weakens."""
    lost = losses(commit.base, commit.new, commit.change.paths)
    # A trailer that was meant to excuse it and can't is what its author wants to know.
    problems = trailer_problems(commit.message) if lost else ()
    for violation in violations(lost, commit.weakenings):
        yield violation._replace(detail=(*problems, *violation.detail))


def violations(lost: Collection[Loss], excused: Mapping[str, str]) -> Iterator[Violation]:
    """Yield what is left of the losses once trailers have excused what they can."""
    groups: dict[tuple[str, bool, bool], list[Loss]] = {}
    for loss in lost:
        if loss.deleted or loss.unobserved or loss.subject not in excused:
            kind = (loss.subject, loss.deleted, loss.unobserved)
            groups.setdefault(kind, []).append(loss)
    for (subject, deleted, unobserved), group in groups.items():
        if unobserved:
            yield _unobserved(group)
        else:
            yield _deletion(subject, group) if deleted else _weakening(subject, group)


def _deletion(subject: str, group: list[Loss]) -> Violation:
    return Violation(
        rule=RULE,
        message=f"{group[0].what}, and its record in regressions.json is not retired",
        agent=group[0].agent,
        paths=tuple(dict.fromkeys(loss.path for loss in group)),
        detail=(f"its retirement alone gives it up: {retire(subject)}",),
    )


def _unobserved(group: list[Loss]) -> Violation:
    return Violation(
        rule=RULE,
        message=group[0].what,
        agent=group[0].agent,
        paths=tuple(dict.fromkeys(loss.path for loss in group)),
        detail=("a baseline names a defect that was seen", *(loss.what for loss in group[1:])),
        hint=tuple(dict.fromkeys(command for loss in group for command in loss.mend)),
    )


def _weakening(subject: str, group: list[Loss]) -> Violation:
    guarded = subject in (config_file.FILE, regressions_file.FILE)
    what = f"{subject} guards less" if guarded else f"the retained case {subject} gets weaker"
    slip = next((loss.mend for loss in group if loss.mend), ())
    return Violation(
        rule=RULE,
        message=f"{what}: {group[0].what}",
        agent=group[0].agent,
        paths=tuple(dict.fromkeys(loss.path for loss in group)),
        detail=tuple(f"and {loss.what}" for loss in group[1:]),
        hint=slip or (f"Case-Weakened: {subject}: REASON",),
    )


def losses(base: Project, new: Project, changed: Collection[bytes]) -> list[Loss]:
    """Return all that ``new`` guards less than ``base``, trailers not yet asked."""
    if not base.has_config:
        return []
    if not new.has_config:
        return [REMOVED]
    found: list[Loss] = []
    if _CONFIG in changed:
        from guard.rules.narrowing import narrowings

        found += [Loss(config_file.FILE, w, config_file.FILE) for w in narrowings(base, new)]
    if _RECORDS in changed:
        found += _taken_by_records(base, new)
    found += _gone_observations(base, new, changed)
    comparison = _Retained(base, new, changed)
    for record in comparison.in_question():
        found += comparison.losses(record)
    return found


def _gone_observations(base: Project, new: Project, changed: Collection[bytes]) -> Iterator[Loss]:
    """Yield what was kept to ask a record's checks again, and is deleted without another."""
    gone = {text_of(p) for p in changed if p.endswith(b".json") and new.tree.get(p) is None}
    for record in base.records.values() if gone else ():
        lost = [path for path in record.observation_paths.values() if path in gone]
        now = new.records.get(record.id)
        if not lost or record.retired or now is None or now.retired:
            continue
        if any(new.tree.get(bytes_of(path)) is None for path in now.observation_paths.values()):
            case = case_of(base, record, lenient=True)
            said = f"{lost[0]} is deleted, of which its checks are asked again"
            yield Loss(case.id if case else record.id, said, lost[0], record.agent)


def _taken_by_records(base: Project, new: Project) -> Iterator[Loss]:
    for name, file, agent in taken_paths(base, new):
        said = f"record {name} names {file}, which belongs to agent {agent}"
        yield Loss(regressions_file.FILE, said, regressions_file.FILE, agent)


def _is_same(project: Project, record: Record) -> bool:
    """Tell at a glance whether the project has the record; where it can't be told, it has not."""
    known = project.records.get(record.id)
    return known is not None and known.raw is record.raw


def pending(base: Project, new: Project, changed: Collection[bytes]) -> list[str]:
    """Return a sentence for each record that the change makes PENDING by what is asked."""
    if not (base.has_config and new.has_config):
        return []
    comparison = _Retained(base, new, changed)
    found: list[str] = []
    for record in comparison.in_question():
        asked = comparison.asked(record)
        if asked and not comparison.is_proven_again(record):
            verb = "changes" if len(asked) == 1 else "change"
            found.append(
                f"{record.id} is PENDING until it is proven again: {', '.join(asked)} {verb}"
            )
    return found


class _Retained:
    """The retained cases before and after one change, read once."""

    def __init__(self, base: Project, new: Project, changed: Collection[bytes]) -> None:
        self.base = base
        self.new = new
        self.changed = frozenset(changed)
        self._moved: dict[str, Case] | None = None

    def in_question(self) -> Iterator[Record]:
        """Yield the active records of which the change may take something: few, in a history."""
        config = _CONFIG in self.changed
        same = not config and self.new.records is self.base.records
        if same and not self.base.case_paths(self.changed):
            return
        files = {text_of(path) for path in self.changed}
        for record in self.base.records.values():
            known = not config and record.case_path not in files and _is_same(self.new, record)
            if not known and not record.retired:
                yield record

    def losses(self, record: Record) -> Iterator[Loss]:
        """Yield what is lost of the case that a record retains."""
        now = self.new.records.get(record.id)
        if now is None:
            yield from self._deleted(record)
        elif not now.retired and self._concerns(record, now):
            old = case_of(self.base, record, lenient=True)
            if old is not None:
                yield from self._of_case(old, record, now)
            # A trailer names the case, or the record where there is none.
            subject = old.id if old else record.id
            for what in _narrowed(record, now):
                yield Loss(subject, what, regressions_file.FILE, record.agent)

    def _deleted(self, record: Record) -> Iterator[Loss]:
        """Yield the record, and its case where that goes with it: they come back together."""
        gone = {regressions_file.FILE: f"record {record.id} is deleted"}
        path = record.case_path
        if self.new.tree.get(bytes_of(path)) is None and self.base.tree.get(bytes_of(path)):
            gone[path] = f"its case {path} with it"
        for file, said in gone.items():
            yield Loss(record.id, said, file, record.agent, deleted=True)

    def asked(self, record: Record) -> tuple[str, ...]:
        """Return what changes of what the retained case asks of the agent."""
        now = self.new.records.get(record.id)
        if now is None or now.retired or not self._concerns(record, now):
            return ()
        old = case_of(self.base, record, lenient=True)
        new = self._find(old.id, now) if old else None
        of_case = compare_cases(old, new).asked if old and new else ()
        before = ("its record's before",) if now.broken_by != record.broken_by else ()
        keys = ("its record's fails_on",) if set(now.fails_on) != set(record.fails_on) else ()
        return (*of_case, *before, *keys, *self._of_agent(record))

    def is_proven_again(self, record: Record) -> bool:
        """Tell whether the change brings another proof of the record, which is known here."""
        now = self.new.records[record.id]
        case = case_of(self.new, now)
        changed = case is not None and now.proof != record.proof
        return changed and is_known(now, case.id if case else "", self.new.store)

    def _of_agent(self, record: Record) -> Iterator[str]:
        before, now = self.base.agents.get(record.agent), self.new.agents.get(record.agent)
        if before and now:
            for key in ("target", "options", "workspace"):
                if getattr(before, key) != getattr(now, key):
                    yield f"its agent's {key}"

    def _concerns(self, record: Record, now: Record) -> bool:
        paths = {bytes_of(record.case_path), bytes_of(now.case_path), _CONFIG}
        return not paths.isdisjoint(self.changed) or record.raw != now.raw

    def _of_case(self, old: Case, record: Record, now: Record) -> Iterator[Loss]:
        new = self._find(old.id, now)
        named = case_of(self.new, now)
        if new is None and named is None:
            path = bytes_of(old.path)
            said = "is deleted" if self.new.tree.get(path) is None else "is no longer a case"
            yield Loss(
                old.id, f"the retained case {old.id} {said}", old.path, old.agent, deleted=True
            )
            return
        if named is None or named.id != old.id:
            said = f"record {record.id} names {named.id} instead" if named else ""
            mend: tuple[str, ...] = ()
            if new is not None and not said:
                said = f"it is in {new.path} now, and record {record.id} still names {now.case}"
                mend = (move(record.id, new.path),)
            yield Loss(old.id, said, regressions_file.FILE, old.agent, mend=mend)
        if new is not None:
            yield from self._compared(old, new)

    def _compared(self, old: Case, new: Case) -> Iterator[Loss]:
        agents = (self.base.agents.get(old.agent), self.new.agents.get(new.agent))
        # What guard.yaml alone changes is to be named by guard.yaml's name.
        by_config = old.blob == new.blob and old.path == new.path
        subject, path = (config_file.FILE,) * 2 if by_config else (old.id, new.path)
        for group in added_groups(old.expected_baseline, new.expected_baseline):
            wrong = look_up(self.new.store, new.id, group).wrong
            if wrong:
                mend = (observe(new.id),)
                yield Loss(subject, wrong, path, old.agent, mend=mend, unobserved=True)
        for what in compare_cases(old, new, *agents).weaker:
            said = f"{old.id}: {what}" if by_config else what
            yield Loss(subject, said, path, old.agent)

    def _find(self, case_id: str, now: Record) -> Case | None:
        named = case_of(self.new, now)
        if named is not None and named.id == case_id:
            return named
        if self._moved is None:
            self._moved = read_cases(self.new, self.changed)
        return self._moved.get(case_id)


def _narrowed(old: Record, new: Record) -> Iterator[str]:
    """Yield what a record no longer asks of its proof."""
    if new.before["kind"] == "command" != old.before["kind"]:
        yield f"record {old.id} is proven by a command, no longer by a rebuilt state"
    lost = [key for key in old.fails_on if key not in new.fails_on]
    # Other keys have to be proven; none at all is an invalid record.
    fewer = lost and new.fails_on and set(new.fails_on) < set(old.fails_on)
    # Reopened for a further fix, its proof is of that one, and of the keys that fail there.
    proven = new.reopened > old.reopened and new.proof and new.proof != old.proof
    if fewer and not proven:
        yield f"fails_on of record {old.id} lost {', '.join(lost)}"
    if new.reopened < old.reopened:
        yield f"reopened of record {old.id} was {old.reopened} and is {new.reopened}"


def case_of(project: Project, record: Record, *, lenient: bool = False) -> Case | None:
    """Return the case that a record names, or None where there is none.

    Raises `ConfigError`; with ``lenient`` a file that can't be read holds no case.
    """
    try:
        cases = read_cases(project, [bytes_of(record.case_path)])
    except ConfigError:
        if not lenient:
            raise
        return None
    # Of a file with several cases the one of the record's own name, where it says none.
    wanted = record.case.partition("#")[2] or (record.id if len(cases) > 1 else "")
    return next((case for case in cases.values() if wanted in ("", case.id)), None)
