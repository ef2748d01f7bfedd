"""The grader proof of a tree that nobody has reviewed: asked of the trusted tree's evaluators.

Of the other its agents' text, cases, records and observations are read, and nothing of it is
imported; no checker is started.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from guard.git import bytes_of
from guard.judging.judge import readable
from guard.judging.policy import Policy
from guard.project import Project
from guard.proofs import graders
from guard.proofs.graders import Told
from guard.regressions import FILE as RECORDS
from guard.regressions import Record
from guard.rules.grader_proof import GraderProof, no_checker, prove_graders
from guard.tree import Tree
from guard.wording.units import names

#: What came of a record whose checks can't tell, or of which it isn't known.
FAILING: Final = (graders.BROKEN, graders.UNKNOWN)


class Asked(NamedTuple):
    """What the checks of the records of one tree say."""

    proof: GraderProof = GraderProof()
    """What the tree answers for."""
    left_open: Mapping[str, str] = {}
    """Record → why its own checks have to tell, where they may be run."""

    @property
    def left(self) -> list[str]:
        """A sentence for the records that are left open for the same reason."""
        reasons: dict[str, list[str]] = {}
        for name, why in self.left_open.items():
            reasons.setdefault(why, []).append(name)
        return [f"{names(found)}: {why}" for why, found in reasons.items()]


def ask_by_policy(policy: Policy, tree: Tree, *, everything: bool = False) -> Asked:
    """Ask the checks of those records of a tree that the policy's own doesn't have like this.

    ``everything``: of all records.
    """
    if tree.get(RECORDS.encode()) is None or not policy.project.has_config:
        return Asked()
    head, base = policy.judged(tree), readable(policy.project)
    concerned = _concerned(head, None if everything else base)
    told = prove_graders(head, no_checker, concerned).told if concerned else ()
    failing = [one.record.id for one in told if one.verdict in FAILING]
    if not failing:
        return Asked(GraderProof(told))
    return _sorted(told, _known(base, failing), others=_has_other_code(policy, tree))


def _concerned(head: Project, base: Project | None) -> list[Record]:
    """Return the records whose checks may say something else than in the base."""
    active = [record for record in head.records.values() if not record.retired]
    if base is None:
        return active
    changed = _changed(head.tree, base.tree)
    touched = {name for name in head.agents if _is_touched(head, name, changed)}

    def differs(record: Record) -> bool:
        known = base.records.get(record.id)
        paths = (record.case_path, *record.observation_paths.values())
        same = known is not None and known.raw == record.raw
        return not same or not changed.isdisjoint(map(bytes_of, paths)) or record.agent in touched

    return [record for record in active if differs(record)]


def _changed(tree: Tree, base: Tree) -> frozenset[bytes]:
    now, before = tree.entries(), base.entries()
    return frozenset(p for p in now.keys() | before.keys() if now.get(p) != before.get(p))


def _is_touched(project: Project, name: str, changed: Collection[bytes]) -> bool:
    """Tell whether files of an agent changed: its checks may read them in the workspace."""
    return any(map(project.own_paths(project.agents[name]), changed))


def _known(base: Project | None, failing: Collection[str]) -> Mapping[str, Told]:
    """Return record → what its checks say of it in the policy's own tree."""
    if base is None:
        return {}
    known = [record for record in base.records.values() if record.id in failing]
    return {told.record.id: told for told in prove_graders(base, no_checker, known).told}


def _has_other_code(policy: Policy, tree: Tree) -> bool:
    """Tell whether a tree brings other checks than those that are asked here."""
    changed = _changed(tree, policy.project.tree)
    return any(policy.decides(path) for path in changed)


def _sorted(told: Sequence[Told], known: Mapping[str, Told], *, others: bool) -> Asked:
    """Tell apart what a tree answers for; ``others``: it brings other checks."""
    left_open: dict[str, str] = {}
    for one in told:
        name = one.record.id
        if one.verdict in FAILING and (why := _excuse(one, known.get(name), others=others)):
            left_open[name] = why
    answered = tuple(one for one in told if one.record.id not in left_open)
    return Asked(GraderProof(answered), left_open)


def _excuse(told: Told, before: Told | None, *, others: bool) -> str:
    """Return why it is not the tree's fault that a record's checks can't tell, or may not be.

    Checks that it brings may see what those that are asked here can't.
    """
    if before is not None and before.verdict in FAILING:
        return "its checks could not tell before this change either"
    if told.fault == graders.MACHINE:
        return f"its checks can't be asked here: {told.said}"
    if others and told.fault != graders.OBSERVATION and not _is_lost(told, before):
        return "checks that come with this change are not run here"
    return ""


def _is_lost(told: Told, before: Told | None) -> bool:
    """Tell whether a case gave up what saw the bug: that is so whatever checks come with it."""
    if before is None or before.verdict != graders.HOLDS:
        return False
    same_keys = set(told.record.fails_on) <= set(before.record.fails_on)
    return told.fault == graders.ACCEPTS or (told.fault == graders.UNSCORED and same_keys)
