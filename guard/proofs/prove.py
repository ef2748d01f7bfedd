"""What one call of ``guard prove`` comes to: red before the edit, green after it.

The command is run twice and finds out by itself where it stands: by the agent's own paths in
the working tree and in HEAD, and by the red side that is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from guard import model
from guard.errors import ExitCode, UsageError
from guard.model import Case
from guard.project import Project
from guard.proof import Prover
from guard.proofs.as_patch import as_patch
from guard.proofs.evidence import BEFORE, Half, kept_key
from guard.proofs.origin import Origin
from guard.proofs.sides import OPEN, common_keys
from guard.proofs.verdicts import decide, hint_of
from guard.regressions import Record
from guard.results import ProofResult, TrialResult
from guard.running.prerequisites import find_missing
from guard.storage.records import trials_of
from guard.tree import Tree
from guard.verdict import Judgement, proof_code

#: Verdicts after which it is worth asking whether the skill is broken again as it stands.
MAYBE_BROKEN_AGAIN = (model.BROKEN_NOW, model.DEGENERATE, model.STALE, model.BLOCKED)


class Proved(NamedTuple):
    """The outcome of one call."""

    proof: ProofResult
    record: Record
    """As it was proven, or as it would be."""
    red: bool = False
    """Whether the case fails on the skill as it is: the fix is still to be made."""
    kept: bool = False
    """Whether the store holds that red side, for the second call."""
    files: Mapping[str, bytes] = {}
    """What goes beside the record into the repository."""
    unkept: str = ""
    """Why no observation of it is kept, where none is."""

    @property
    def exit_code(self) -> int:
        """The code that the verdict alone asks for: 0 for PROVEN, never for anything unknown."""
        if self.red:
            return ExitCode.NOT_ESTABLISHED
        code = proof_code(self.proof)
        done = self.proof.verdict in (model.PROVEN, model.RETIRED)
        return code if code or done else ExitCode.NOT_ESTABLISHED


def prove_case(prover: Prover, case: Case, before: str | None = None) -> Proved:
    """Run what is missing of the proof of one case: its red side, its green side, or both."""
    record = record_of(prover.project, case)
    if record.retired:
        return Proved(prover.prove([record])[0], record)
    if before is not None:
        return _from_revision(prover, record, stable_name(prover.project, before))
    if record.before["kind"] != "parent" and not _is_committed(prover, record, record.reopened):
        # Its author says how its broken state is rebuilt: no history knows of it.
        return _proved(prover, record)
    head = prover.histories[0].tip
    if prover.states.changes_agent(record, Origin("", head)):
        return _after_edit(prover, record)
    if _is_committed(prover, record):
        return _again(prover, case, record)
    fixed_in = _committed_since(prover, case, record)
    if fixed_in:
        return _from_revision(prover, record, fixed_in)
    return _red(prover, case, record)


def _is_committed(prover: Prover, record: Record, reopened: int = 0) -> bool:
    return any(history.holds(record.id, reopened) for history in prover.histories)


def record_of(project: Project, case: Case) -> Record:
    """Return the record of a case; a new one, of kind parent, where there is none."""
    together = [other for other in project.cases.values() if other.path == case.path]
    named = f"{case.path}#{case.id}" if len(together) > 1 else case.path
    of_case = [r for r in project.records.values() if r.case in (named, f"{case.path}#{case.id}")]
    by_id = [record for record in (*of_case, *project.records.values()) if record.id == case.id]
    found = next(iter([*by_id, *of_case]), None)
    if found is None:
        return Record(case.id, case.agent, named, {"kind": "parent"})
    return found._replace(agent=case.agent, case=named)


def stable_name(project: Project, rev: str) -> str:
    """Return a name for a revision that still means the same tomorrow: a tag, or the full id."""
    commit = project.repo.resolve(f"{rev}^{{commit}}")
    if commit is None:
        raise UsageError(f"{rev} names no commit or tag here", "git log --oneline -5")
    return rev if project.repo.resolve(f"refs/tags/{rev}") else commit


def receipts_of(proof: ProofResult) -> list[str]:
    """Return the digests of the receipts that a proof joins."""
    halves = (proof.before_result, proof.after_result)
    return [half.receipt for half in halves if half and half.receipt]


# Green: both sides -------------------------------------------------------------------------


def _from_revision(prover: Prover, record: Record, rev: str) -> Proved:
    return _proved(prover, as_patch(prover.states, record, rev))


def _after_edit(prover: Prover, record: Record) -> Proved:
    """Prove an edit that isn't committed yet: what is before it is HEAD."""
    committed = any(history.holds(record.id, 0) for history in prover.histories)
    before = record._replace(before={"kind": "parent"})
    if not committed:
        capsule = {key: record.before[key] for key in ("capsule",) if key in record.before}
        return _proved(prover, record._replace(before={"kind": "parent", **capsule}))
    # The commit that will bring this fix is found by the count that it raises.
    raised = 1 + max(history.reopened(record.id) for history in prover.histories)
    proved = _proved(prover, before._replace(reopened=raised))
    if proved.proof.verdict != model.VACUOUS:
        return proved
    # HEAD is not broken: the edit is no fix of this, and what is proven already still counts.
    return _proved(prover, record)


def _again(prover: Prover, case: Case, record: Record) -> Proved:
    """Prove a record that is committed, with nothing edited; or find that it broke again."""
    proved = _proved(prover, record)
    if proved.proof.verdict in MAYBE_BROKEN_AGAIN:
        red = _red(prover, case, record)
        return red if red.red else proved
    return proved


def _proved(prover: Prover, record: Record) -> Proved:
    draft = record.states_nothing
    proof = prover.prove([record], draft=draft)[0]
    if draft and proof.verdict == model.PROVEN:
        keys = common_keys(proof.before_result.trials if proof.before_result else ())
        if not keys:
            reason = "it fails before the fix, but no key fails in every trial"
            proof = proof._replace(verdict=model.INCONCLUSIVE, reason=reason)
        record = record._replace(fails_on=keys)
        proof = proof._replace(reason=f"fails without the fix ({', '.join(keys)}), passes with it")
    offered = prover.states.offered
    return Proved(
        proof, record, files={n: offered[n] for n in record.named_files() if n in offered}
    )


def _committed_since(prover: Prover, case: Case, record: Record) -> str:
    """Return the commit at which a kept red side was run, where the skill is another since."""
    kept = prover.project.store.find_red(_key_of_case(prover, case, record))
    if kept is None or not kept.evidence.get("head"):
        return ""
    bounded = prover.bounded(case, record)
    if kept.evidence.get("exact") == prover.engine.receipt_key(bounded):
        return ""
    failed = any(trial.verdict == model.FAIL for trial in trials_of(kept))
    head = str(kept.evidence["head"])
    return head if failed and prover.project.repo.resolve(f"{head}^{{commit}}") else ""


def _key_of_case(prover: Prover, case: Case, record: Record) -> str:
    """Return a key of the case that no state of the agent is part of."""
    repo = prover.project.repo
    nothing = Tree(repo, repo.empty_tree)
    return f"case:{prover.engine.receipt_key(prover.bounded(case, record), nothing)}"


# Red: the skill as it is -------------------------------------------------------------------


def _red(prover: Prover, case: Case, record: Record) -> Proved:
    """Run the case on the skill as it is, and keep that it fails."""
    bounded = prover.bounded(case, record)
    half = prover.half(bounded, prover.project.tree, BEFORE, record.fails_on)
    missing = _run(prover, bounded, half)
    found = half.judgement
    if missing:
        found = Judgement(model.SKIP, missing)
    elif found == OPEN:
        found = Judgement(model.OWED, "a budget ended first")
    elif found.verdict == model.FAIL:
        head = prover.histories[0].tip
        half.put_red(
            kept_key(half.key), _key_of_case(prover, case, record), state="live", head=head
        )
        return Proved(_proof(record, case, half, _say_red()), record, True, bool(half.digest))
    return Proved(_proof(record, case, half, _not_red(found, half, record)), record)


def _run(prover: Prover, case: Case, half: Half) -> str:
    """Run what the side takes; return the prerequisite that is missing for it."""
    if not half.is_open():
        return ""
    project = prover.project
    agent, offered = project.agents[case.agent], project.plugins.prerequisites()
    missing = find_missing(agent, case, project.repo.root, offered)
    if not missing:
        prover.engine.run_series(
            [half.start()], prover.engine.may_start, lambda series: half.keep(state="live")
        )
    return missing or ""


def _say_red() -> Judgement:
    return Judgement(model.PENDING, "RED, as it should be before a fix: this case sees the bug")


def _not_red(found: Judgement, half: Half, record: Record) -> Judgement:
    if found.verdict == model.PASS:
        side = half.counts()
        counted = f" ({side.passed} of {side.trials})" if side else ""
        said = f"it passes on the skill as it is{counted}, so it doesn't see the bug"
        return Judgement(model.VACUOUS, said)
    if found.verdict == model.WRONG_REASON and not record.fails_on:
        return Judgement(model.WRONG_REASON, f"it fails, but by no score: {found.reason}")
    decided = decide(found, Judgement(model.PASS), record.fails_on)
    assert decided is not None
    wrong = decided.verdict == model.WRONG_REASON
    return decided if wrong else decided._replace(reason=found.reason or decided.reason)


def _proof(record: Record, case: Case, half: Half, found: Judgement) -> ProofResult:
    trials: tuple[TrialResult, ...] = half.trials
    return ProofResult(
        id=record.id,
        agent=record.agent,
        case=record.case,
        verdict=found.verdict,
        before=half.counts(),
        reason=found.reason,
        hint="" if found.verdict == model.PENDING else hint_of(found.verdict, record.id, case.id),
        before_result=half.result() if trials else None,
    )
