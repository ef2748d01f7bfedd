"""What is known already: which receipt stands for a run, and what this machine lacks for one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from inspect import signature
from typing import Any

from guard.judges.stated import judged_by, provider_of
from guard.model import PASS, XFAIL, Agent, Case
from guard.plugin.api import Host, Target
from guard.plugin.blame import blamed_on
from guard.project import Project
from guard.results import CaseResult, Fingerprint
from guard.running.builds import builds_kept
from guard.running.outcomes import is_deterministic
from guard.running.prerequisites import agent_python, find_missing, refuse_unknown
from guard.running.reads import DATA, READS, Reads
from guard.running.receipts import Keys, answers, shows_pass
from guard.storage.records import Receipt, trials_of
from guard.tree import Tree
from guard.trials.ground import Ground
from guard.trials.options import checked_options
from guard.verdict import responses_of


class Answers:
    """Looks up what answers the cases of one project before anything is run."""

    def __init__(self, project: Project, *, by_receipts: bool = True) -> None:
        """``by_receipts``: whether a receipt may answer at all."""
        self.project = project
        self.by_receipts = by_receipts
        self.anew: frozenset[str] = frozenset()  # ids of cases that no receipt may answer
        self.keys = Keys(project)
        self._ground = Ground(project)
        self._fingerprints: dict[str, Fingerprint] = {}
        self._reads = Reads(project)
        self._missing: dict[tuple[str, tuple[str, ...], str], str | None] = {}

    def key(self, case: Case, tree: Tree | None = None) -> str:
        """Return the key of a case's evidence on a tree."""
        agent = self.project.agents[case.agent]
        return self.keys.key(case, self.fingerprint(agent), tree)

    def fingerprint(self, agent: Agent) -> Fingerprint:
        """Return what the agent's target says that it drives; asked once, and no trial is run."""
        if agent.name not in self._fingerprints:
            target, options = self.project.target_of(agent), checked_options(self.project, agent)
            kept = builds_kept(self.project.repo.root, self.project.store)
            with blamed_on(f"target {target.name}: its fingerprint"), kept:
                found = target.fingerprint(options, **self._host(agent, target))
                known = Fingerprint(*(str(part or "") for part in found))
            self._fingerprints[agent.name] = known
        return self._fingerprints[agent.name]

    def _host(self, agent: Agent, target: Target) -> dict[str, Host]:
        """Return what a fingerprint is told beside the options, where it asks for it."""
        if "host" not in signature(target.fingerprint).parameters:
            return {}
        python = tuple(agent_python(agent, self.project.repo.root))
        env = {name: os.environ[name] for name in agent.env if name in os.environ}
        return {"host": Host(python, env)}

    def is_live(self, agent: Agent) -> bool:
        """Tell whether an agent's trials run against the provider's own endpoint."""
        return self.project.target_of(agent).live and not self.fingerprint(agent).endpoint

    def receipt_for(self, case: Case, key: str) -> Receipt | None:
        """Return the receipt that stands for a run of the case, where one does.

        None does where a precondition no longer holds: data that changed voids no receipt.
        """
        if not self.by_receipts or case.id in self.anew:
            return None
        found = self.project.store.find_receipt(key, self.fits)
        if found is None or not answers(found, self.max_age(case)):
            return None
        deterministic = self._is_deterministic(case)
        shown = shows_pass(found, case.policy, deterministic=deterministic)
        return found if shown and not self._ground.find_broken(case) else None

    def fits(self, receipt: Receipt) -> bool:
        """Tell whether what the trials of a receipt read is the same on this tree."""
        return self._reads.hold(receipt)

    def facts(self, case: Case, result: CaseResult, reads: Reads | None = None) -> dict[str, Any]:
        """Return what a receipt keeps beside its trials: how they are judged, what they read.

        ``reads``: those of the tree that they ran on, where its data isn't the project's own.
        """
        agent = self.project.agents[case.agent]
        seen = reads or self._reads
        read = seen.of(agent, result.trials)
        untold = any(trial.observation.files_read is None for trial in result.trials)
        return {
            "policy": case.policy._asdict(),
            "deterministic": self._is_deterministic(case),
            **({READS: read} if read else {}),
            **({DATA: seen.all(agent)} if untold else {}),
        }

    def data(self, case: Case) -> str:
        """Return the state of all that trials of a case may read beside the agent's own files."""
        return self._reads.all(self.project.agents[case.agent])

    def _is_deterministic(self, case: Case) -> bool:
        return is_deterministic(self.project, self.project.agents[case.agent])

    def earlier(self, key: str) -> Mapping[str, str]:
        """Return the response ids of a run that held, and that is to be made anew.

        A cache that answers makes old evidence look like new. What failed is no evidence.
        """
        found = self.project.store.find_receipt(key)
        if found is None or found.verdict not in (PASS, XFAIL):
            return {}
        return responses_of(trials_of(found), f" of {found.date}")

    def max_age(self, case: Case) -> str:
        """Return how old evidence of a case may be."""
        stated = self.project.agents[case.agent].max_age
        return stated or str(self.project.config.receipts["max_age"])

    def missing_for(self, agent: Agent, case: Case) -> str | None:
        """Return the prerequisite of a case that is missing on this machine."""
        judge = judged_by(agent, case)
        asked = (agent.name, case.prerequisites, provider_of(judge))
        if asked not in self._missing:
            offered = self.project.plugins.prerequisites()
            refuse_unknown(self.project, agent, case, offered)
            of_target = self.project.target_of(agent).prerequisites
            root = self.project.repo.root
            missing = find_missing(agent, case, root, offered, of_target)
            self._missing[asked] = missing or self.project.plugins.panel.missing(judge)
        return self._missing[asked]
