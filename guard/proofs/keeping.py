"""Keeps what a proof's trials left behind, so that its checks can be asked again without a run.

Only what the checks grade today exactly as they did in the trial is kept: what had to be cut or
taken out may have been what they read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from guard import model
from guard.git import bytes_of, text_of
from guard.model import Case
from guard.proof import Prover
from guard.proofs.graders import Graders
from guard.proofs.observations import (
    ACCEPTED,
    FILE_BYTES,
    REJECTED,
    ObservationError,
    read_kept,
    scores_of,
    write_kept,
)
from guard.proofs.prove import Proved, receipts_of
from guard.proofs.sides import hits
from guard.regressions import Record, observation_paths
from guard.results import CaseResult, KeptFile, TrialResult
from guard.trials.kept import ABSENT, KeptError, with_content
from guard.trials.template import Piece, Template


class Observed(NamedTuple):
    """What goes beside a record."""

    files: Mapping[str, bytes] = {}
    """Path → content."""
    paths: Mapping[str, str] = {}
    """Side → path, as the record states it."""
    problem: str = ""
    """Why nothing is kept, in words."""


def keep_observations(prover: Prover, proved: Proved, case: Case) -> Observed:
    """Return the files to keep of a proof: of one rejected trial and of one accepted."""
    record, proof = proved.record, proved.proof
    if proof.state == "command":
        # What failed there is a program, no agent: there is nothing for a check to reject.
        return Observed()
    rejected = _rejected(proof.before_result, record)
    accepted = _accepted(proof.after_result)
    if rejected is None or accepted is None:
        return Observed()
    paths = {**observation_paths(record.id), **record.observations}
    files: dict[str, bytes] = {}
    with Graders(prover.project, lambda case: True) as graders:
        if graders.needs_workspace(case):
            rejected = rejected._replace(files=_with_broken_agent(prover, record, case, rejected))
        for side, trial in ((REJECTED, rejected), (ACCEPTED, accepted)):
            try:
                files[paths[side]] = _kept(graders, record, side, case, trial)
            except (ObservationError, KeptError) as error:
                return Observed(problem=f"the {side} one {error}")
    return Observed(files, paths)


def _rejected(result: CaseResult | None, record: Record) -> TrialResult | None:
    hit = hits(record.fails_on)
    trials = result.trials if result else ()
    return next((t for t in trials if t.verdict == model.FAIL and hit(t)), None)


def _accepted(result: CaseResult | None) -> TrialResult | None:
    trials: Sequence[TrialResult] = result.trials if result else ()
    good = [trial for trial in trials if trial.verdict in (model.PASS, model.XFAIL)]
    return min(good, key=lambda trial: trial.verdict != model.PASS, default=None)


def _kept(graders: Graders, record: Record, side: str, case: Case, trial: TrialResult) -> bytes:
    """Return one file. Raises `ObservationError` where it doesn't say what the trial said."""
    expected = graders.expected(case)
    root = graders.project.repo.root
    content = write_kept(record.id, side, record.agent, trial, expected, os.environ, root)
    if len(content) > FILE_BYTES:
        raise ObservationError(f"would take {len(content) >> 10} KiB")
    leave_out = graders.left_out(case)
    found = graders.grade(case, read_kept(content, record.id, side).left_in)
    before, now = scores_of(trial.scores, leave_out), scores_of(found.scores, leave_out)
    if before != now:
        differing = sorted(k for k in before.keys() | now.keys() if before.get(k) != now.get(k))
        raise ObservationError(
            f"can't be graded as the trial was ({', '.join(differing)}): what its checks read "
            "is too large to keep, secret, or not in the workspace"
        )
    return content


def with_observations(prover: Prover, proved: Proved, case: Case) -> Proved:
    """Return a proof with what is kept of its trials; else with the reason why nothing is.

    What an earlier proof kept stays then: it is asked again as before. It also stays where this
    is that proof, told by its receipts.
    """
    if _is_kept_already(prover, proved):
        return proved
    observed = keep_observations(prover, proved, case)
    record = proved.record._replace(observations=observed.paths or proved.record.observations)
    return proved._replace(
        record=record, files={**proved.files, **observed.files}, unkept=observed.problem
    )


def _is_kept_already(prover: Prover, proved: Proved) -> bool:
    record, tree = proved.record, prover.project.tree
    known = (record.proof or {}).get("receipts")
    same = bool(known) and known == receipts_of(proved.proof)
    return same and all(tree.get(bytes_of(path)) for path in record.observation_paths.values())


# The broken agent --------------------------------------------------------------------------


def _with_broken_agent(
    prover: Prover, record: Record, case: Case, trial: TrialResult
) -> tuple[KeptFile, ...]:
    """Return the trial's files, and those in which its workspace differed from today's."""
    broken = prover.broken.get(record.id)
    if broken is None:
        return trial.files
    agent = prover.project.agents[case.agent]
    before = prover.engine.stage(agent, broken.tree).template
    now = prover.engine.stage(agent).template
    changed = {file.path for file in trial.files}
    differing = _differing(before, now)
    return (*(file for file in differing if file.path not in changed), *trial.files)


def _differing(before: Template, now: Template) -> list[KeptFile]:
    found: list[KeptFile] = []
    for path in sorted(before.pieces.keys() | now.pieces.keys()):
        old, new = before.pieces.get(path), now.pieces.get(path)
        if old is None:
            found.append(KeptFile(text_of(path), ABSENT))
        elif new is None or _content(old) != _content(new):
            found.append(_file(old, before.content(path) or b""))
    return found


def _content(piece: Piece) -> tuple[str, bool, str]:
    return piece.kind, piece.executable, piece.digest


def _file(piece: Piece, content: bytes) -> KeptFile:
    kept = KeptFile(text_of(piece.path), piece.kind, piece.executable, len(content), piece.digest)
    return with_content(kept, content)
