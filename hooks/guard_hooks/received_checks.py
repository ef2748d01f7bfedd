"""The grader proof of what a server receives: asked of the protected branch's evaluators.

Of a push its agents' text, cases, records and observations are read, and nothing of it is
imported; no checker is started. Only records are asked that it changes, or whose agent it does:
of the others the protected branch has the answer already.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from guard.errors import ExitCode
from guard.git import bytes_of
from guard.hookruns.checks import push_refusal, tell_checks
from guard.hookruns.pushes import Tip
from guard.judging.judge import readable
from guard.judging.policy import Policy
from guard.output import UNKNOWN, printable, say
from guard.project import Project
from guard.proofs import graders
from guard.proofs.graders import Told
from guard.regressions import FILE as RECORDS
from guard.regressions import Record
from guard.rules.grader_proof import GraderProof, no_checker, prove_graders
from guard.tree import Tree
from guard.wording.units import names
from guard_hooks.pushed import name_of

#: What came of a record whose checks can't tell, or of which it isn't known.
FAILING: Final = (graders.BROKEN, graders.UNKNOWN)


class Asked(NamedTuple):
    """What the checks of the records of one tree say."""

    proof: GraderProof = GraderProof()
    """What the push answers for."""
    left_open: Mapping[str, str] = {}
    """Record → why it is for CI to tell."""


def judge_checks(tips: Sequence[Tip], policy: Policy) -> int:
    """Ask the checks on each tip's tree, equal ones once; return the exit code."""
    done: list[Asked] = []
    for tip in {tip.tree: tip for tip in reversed(tips)}.values():
        asked = ask_changed(policy, Tree(policy.project.repo, tip.tree))
        if refused := push_refusal(asked.proof, name_of(tip), None):
            say(refused)
            broken = asked.proof.violations
            return ExitCode.REGRESSION if broken else ExitCode.NOT_ESTABLISHED
        done.append(asked)
    _tell(done)
    return ExitCode.OK


def ask_changed(policy: Policy, tree: Tree) -> Asked:
    """Ask the checks of those records of a tree that aren't on the protected branch like this."""
    if tree.get(RECORDS.encode()) is None or not policy.project.has_config:
        return Asked()
    head, base = policy.judged(tree), readable(policy.project)
    concerned = _concerned(head, base)
    told = prove_graders(head, no_checker, concerned).told if concerned else ()
    failing = [one.record.id for one in told if one.verdict in FAILING]
    if not failing:
        return Asked(GraderProof(told))
    return _sorted(told, _known(base, failing), others=_has_other_code(policy, tree))


def _concerned(head: Project, base: Project | None) -> list[Record]:
    """Return the records whose checks may say something else than on the protected branch."""
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


def _known(base: Project | None, failing: Collection[str]) -> Mapping[str, str]:
    """Return record → what its checks say of it as the protected branch is."""
    if base is None:
        return {}
    known = [record for record in base.records.values() if record.id in failing]
    return {told.record.id: told.verdict for told in prove_graders(base, no_checker, known).told}


def _has_other_code(policy: Policy, tree: Tree) -> bool:
    """Tell whether a tree brings other checks than those that are asked here."""
    changed = _changed(tree, policy.project.tree)
    return any(policy.decides(path) for path in changed)


def _sorted(told: Sequence[Told], known: Mapping[str, str], *, others: bool) -> Asked:
    """Tell apart what the push answers for; ``others``: it brings other checks."""
    left_open: dict[str, str] = {}
    for one in told:
        name = one.record.id
        if one.verdict in FAILING and (why := _excuse(one, known.get(name, ""), others=others)):
            left_open[name] = why
    answered = tuple(one for one in told if one.record.id not in left_open)
    return Asked(GraderProof(answered), left_open)


def _excuse(told: Told, before: str, *, others: bool) -> str:
    """Return why it is not the push's fault that a record's checks can't tell, or may not be.

    Checks that it brings may see what those that are asked here can't. A bug that these do see,
    and that the case of the push accepts, is lost whatever it brings.
    """
    if before in FAILING:
        return "its checks could not tell before this push either"
    if told.fault == graders.MACHINE:
        return f"its checks can't be asked on this server: {told.said}"
    lost = told.fault == graders.ACCEPTS and before == graders.HOLDS
    if others and not lost and told.fault != graders.OBSERVATION:
        return "checks that come with this push are not run on a server"
    return ""


def _tell(asked: Sequence[Asked]) -> None:
    told = {(t.record.id, t.verdict, t.said): t for one in asked for t in one.proof.told}
    tell_checks(GraderProof(tuple(told.values())), unkept=False)
    reasons: dict[str, dict[str, None]] = {}
    for one in asked:
        for name, why in one.left_open.items():
            reasons.setdefault(why, {})[name] = None
    for why, found in reasons.items():
        say(printable(f"{UNKNOWN} {names(list(found))}: {why} (CI tells)"))
