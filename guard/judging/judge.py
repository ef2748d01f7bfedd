"""Judge one commit by the offline rules: what it breaks, what is noted, what is excused.

The same for a commit that is being made and for one that is done, so that a hook, a push and
CI say the same of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from guard.change import Change
from guard.errors import UsageError
from guard.messages.message import Message, trailer_problems, weakenings
from guard.model import Violation
from guard.project import Project
from guard.rules import (
    agent_without_case,
    case_weakened,
    fix_needs_case,
    fix_needs_record,
    near_miss_header,
    observed_in,
    record_invalid,
    unserved_agent,
    unwritten_prose,
)
from guard.rules.commit import COMMIT, RANGE, JudgedCommit, is_excused
from guard.rules.enforcement import warns_until
from guard.tree import SYMLINK, Tree

if TYPE_CHECKING:
    from guard.judging.merges import MergeCommit

__all__ = [
    "COMMIT",
    "RANGE",
    "Judgement",
    "cosmetic_count",
    "joined",
    "judge",
    "judge_commit",
    "judge_merge",
    "readable",
]


class Judgement(NamedTuple):
    """What the rules say of one commit, or of several."""

    violations: tuple[Violation, ...] = ()
    """The broken rules; those with ``warning`` set don't block."""
    notes: tuple[str, ...] = ()
    """Shown, and changes nothing."""
    exempt: tuple[str, ...] = ()
    """What was excused, each with its reason."""
    cosmetic: tuple[str, ...] = ()
    """Why fixes owe no case, where all they change is cosmetic: ``PATH: 1 word of prose``."""

    @property
    def blocking(self) -> tuple[Violation, ...]:
        """The violations that refuse the commit."""
        return tuple(violation for violation in self.violations if not violation.warning)


def judge_commit(
    base: Project,
    new: Project,
    change: Change,
    message: Message,
    *,
    stage: str = COMMIT,
    followers: Sequence[JudgedCommit] = (),
    today: str = "",
    heard: Callable[[JudgedCommit], None] = lambda commit: None,
) -> Judgement:
    """Judge the commit that turns ``base`` into ``new``; a merge by all of its parents.

    ``followers`` are later commits that may bring what a fix lacks; ``today`` is a date in
    UTC, the clock's by default; ``heard`` is told of a commit that is no merge.
    Raises `ConfigError` where the new tree's files are wrong.
    """
    if len(change.parents) > 1:
        from guard.judging.merges import MergeCommit, parents_of

        parents = parents_of(new, change)
        return judge_merge(MergeCommit(parents, base, new, change, message, stage=stage), today)
    known = readable(base)
    before = known or _nothing(base)
    commit = JudgedCommit(before, new, change, message, stage=stage, followers=followers)
    judged = judge(commit, today)
    heard(commit)
    if known is not None:
        return judged
    removed = () if new.has_config else (case_weakened.REMOVED,)
    lost = case_weakened.violations(removed, commit.weakenings)
    note = "what stood before can't be read, so this is judged by the new state alone"
    return judged._replace(
        violations=(*judged.violations, *_weigh(lost, (new,), today)), notes=(*judged.notes, note)
    )


def readable(project: Project) -> Project | None:
    """Return the state before a commit, or None where its own files are wrong.

    The commit that mends them could else never be made.
    """
    try:
        _ = project.agents, project.records
    except UsageError:
        return None
    return project


def _nothing(project: Project) -> Project:
    return project.at(Tree(project.repo, project.repo.empty_tree))


def judge_merge(merge: MergeCommit, today: str = "") -> Judgement:
    """Judge a merge by what it does by itself; its parents are judged on their own."""
    from guard.judging.merge_faults import merge_faults

    fixing = Judgement() if readable(merge.base) is None else _judge_fix(merge)
    lost = case_weakened.violations(merge.lost, weakenings(merge.message))
    found = (*fixing.violations, *lost, *merge_faults(merge.of, merge.new))
    violations = _weigh(found, (merge.base, merge.new), today)
    return fixing._replace(violations=violations)


def joined(found: Iterable[Judgement]) -> Judgement:
    """Return several judgements as one."""
    each = list(found)
    return Judgement(
        tuple(violation for one in each for violation in one.violations),
        tuple(note for one in each for note in one.notes),
        tuple(text for one in each for text in one.exempt),
        tuple(text for one in each for text in one.cosmetic),
    )


def cosmetic_count(cosmetic: Sequence[str]) -> tuple[str, ...]:
    """Return one line that counts the cosmetic fixes of a range by their reason; or none."""
    if not cosmetic:
        return ()
    from collections import Counter

    kinds = Counter(text.rpartition(": ")[2].lstrip("0123456789 ") for text in cosmetic)
    told = ", ".join(f"{kind} ({number})" for kind, number in kinds.most_common())
    fixes = "1 file of a fix" if len(cosmetic) == 1 else f"{len(cosmetic)} files of fixes"
    return (f"{fixes} changed only cosmetically, no case asked: {told}",)


def judge(commit: JudgedCommit, today: str = "") -> Judgement:
    """Judge a commit that isn't a merge, and whose files before it can be read."""
    fixing = _judge_fix(commit)
    others = (
        *case_weakened.check(commit),
        *record_invalid.check(commit),
        *agent_without_case.check(commit),
        *unserved_agent.check(commit),
        *near_miss_header.check(commit),
    )
    notes = (
        *fixing.notes,
        *case_weakened.pending(commit.base, commit.new, commit.change.paths),
        *agent_without_case.named(commit),
        *unwritten_prose.named(commit),
        *observed_in.named(commit),
        *_links_brought(commit),
        *_trailer_problems(commit),
    )
    violations = _weigh((*fixing.violations, *others), (commit.base, commit.new), today)
    return Judgement(violations, notes, fixing.exempt, fixing.cosmetic)


def _links_brought(commit: JudgedCommit) -> list[str]:
    entries = (entry for entries in commit.owned.values() for entry in entries)
    if not any(entry.new and entry.new.mode == SYMLINK for entry in entries):
        return []
    from guard.judging.led_away import links_brought

    return links_brought(commit)


def _weigh(
    violations: Iterable[Violation], projects: Sequence[Project], today: str
) -> tuple[Violation, ...]:
    """Turn into warnings what every guard.yaml there is only warns of."""
    found: list[Violation] = []
    for violation in violations:
        until = warns_until(projects, violation.rule, today)
        if until:
            said = f"{violation.message}; refused after {until}"
            violation = violation._replace(message=said, warning=True)
        found.append(violation)
    return tuple(found)


def _judge_fix(commit: JudgedCommit) -> Judgement:
    # In this order: to tell a cosmetic change two texts are read, and few commits are fixes.
    if not (commit.owned and commit.fix):
        return Judgement(notes=_nothing_changed(commit))
    if not commit.touched:
        told = tuple(f"{path}: {reason}" for path, reason in commit.cosmetic.items())
        return Judgement(cosmetic=told)
    exempt = tuple(_exempt(commit))
    lacking = tuple(fix_needs_case.check(commit))
    besides = [name for violation in lacking for name in violation.agents]
    found = (*lacking, *fix_needs_record.check(commit, besides=besides))
    if found:
        # A trailer that was meant to excuse it and can't is what its author wants to know.
        problems = _trailer_problems(commit)
        found = (found[0]._replace(detail=(*problems, *found[0].detail)), *found[1:])
    if found and commit.is_deferred:
        return Judgement((), tuple(_deferred(commit, found)), exempt)
    return Judgement(found, tuple(_flags(commit)), exempt)


def _trailer_problems(commit: JudgedCommit) -> tuple[str, ...]:
    """Return a sentence for each trailer of ours that has no effect."""
    named = commit.exemption.agents if commit.exemption else ()
    unknown = [n for n in named if n not in commit.base.agents and n not in commit.new.agents]
    named_cases = commit.message.values("Regression-Case") if commit.owned else ()
    return (
        *trailer_problems(commit.message),
        *(f"Guard-Exempt names {name}, and there is no such agent" for name in unknown),
        *(
            f"Regression-Case names {name}, and there is no such case"
            for name in named_cases
            if name and name not in commit.new.cases
        ),
    )


def _nothing_changed(commit: JudgedCommit) -> tuple[str, ...]:
    if commit.change.entries or not commit.fix:
        return ()
    return ("this fix changes no file, so it owes no case",)


def _deferred(commit: JudgedCommit, found: Sequence[Violation]) -> Iterator[str]:
    why = f"{commit.message.autosquash[0]}!" if commit.message.autosquash else "fix.unit: range"
    for violation in found:
        yield f"noted, and judged at push ({why}): {violation.message} ({violation.rule})"


def _flags(commit: JudgedCommit) -> Iterator[str]:
    for name in commit.owing:
        for case in fix_needs_case.judged_by_a_model_alone(commit, name):
            yield f"{case.path} is read by a judge alone: accepted, and flagged"


def _exempt(commit: JudgedCommit) -> Iterator[str]:
    excused = commit.exemption
    names = [name for name in commit.touched if excused and is_excused(excused, name)]
    if excused and names:
        where = f"{commit.change.commit[:10]} " if commit.change.commit else ""
        yield f"{where}{commit.message.header} (agent {', '.join(names)}): {excused.reason}"
