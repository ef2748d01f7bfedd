"""Which kept evidence answers in `guard ci`, by ``receipts`` in guard.yaml.

A job takes what was made for its own branch or pull request, and for the branch that this goes
into: what a stranger's branch writes, a protected one must not read.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any

from guard.ci.jobs import Job, job_told, read_job
from guard.ci.services import Told
from guard.config import DEFAULTS
from guard.errors import GuardError
from guard.model import PASS, XFAIL
from guard.project import Project
from guard.running.receipts import is_fresh
from guard.storage.records import CI, LOCAL, Receipt
from guard.wording.units import count


class Accepted:
    """Says which receipts answer; counts those that don't."""

    def __init__(self, receipts: Mapping[str, Any], told: Told, job: Job) -> None:
        """``receipts``: what guard.yaml says of them, with its defaults filled in."""
        self.accept: Collection[str] = receipts["accept"]
        self.max_age = str(receipts["max_age"])
        self.ages: dict[str, str] = {}
        """Agent → its own ``max_age``."""
        self.job = job
        self._trusted = {told.target, told.default} - {""}
        self._refused: dict[str, str] = {}

    def __call__(self, receipt: Receipt) -> bool:
        """Tell whether a receipt answers."""
        why = self._refusal(receipt.producer, receipt.evidence.get("job"))
        if not why and receipt.verdict in (PASS, XFAIL):
            max_age = self.ages.get(receipt.agent) or self.max_age
            why = "" if is_fresh(receipt.date, max_age) else f"older than {max_age}"
        if why:
            # A red side is kept under several keys.
            self._refused[str(receipt.evidence.get("exact") or receipt.digest)] = why
        return not why

    def trials(self, job: Any) -> bool:
        """Tell whether trials that an interrupted run left behind count."""
        return not self._refusal(CI if job else LOCAL, job)

    def _refusal(self, producer: str, told: Any) -> str:
        if producer not in self.accept:
            return producer
        if producer == LOCAL:
            return ""
        job = read_job(told)
        if job is None:
            return "of no known job"
        if job.place == self.job.place:
            return ""
        if job.pull_request:
            return "of another pull request" if self.job.pull_request else "of a pull request"
        if not job.service:
            return "made by hand"
        # By hand there is no branch to protect.
        known = job.branch in self._trusted or not self.job.service
        return "" if known else "of another branch"

    def lines(self) -> list[str]:
        """Say how much was not accepted, and why."""
        reasons = list(self._refused.values())
        return [self._line(reasons.count(why), why) for why in sorted(set(reasons))]

    def _line(self, number: int, why: str) -> str:
        were = "was" if number == 1 else "were"
        if why in (CI, LOCAL):
            accept = ", ".join(self.accept) or "empty"
            said = f"{count(number, f'{why} receipt')} {were} not accepted"
            return f"{said}: receipts.accept is {accept}"
        return f"{count(number, 'receipt')} {why} {were} not accepted"


def accept_evidence(start: Project, tip: Project, told: Told) -> Accepted:
    """Let the store answer with what both sides of a change accept: the head lets no more in."""
    job = job_told(told, os.environ) if told.service else Job()
    now = _stated(tip)
    before = _stated(start) if start.has_config else now
    accept = [kind for kind in now["accept"] if kind in before["accept"]]
    accepted = Accepted({**before, "accept": accept}, told, job)
    accepted.ages = _ages(start)
    tip.store.accepts, tip.store.made_by = accepted, job._asdict
    return accepted


def _stated(project: Project) -> Mapping[str, Any]:
    """Return what a side says of receipts; the defaults where its guard.yaml can't be read."""
    try:
        return project.config.receipts
    except GuardError:
        defaults: Mapping[str, Any] = DEFAULTS["receipts"]
        return defaults


def _ages(project: Project) -> dict[str, str]:
    try:
        return {agent.name: agent.max_age for agent in project.agents.values() if agent.max_age}
    except GuardError:
        return {}
