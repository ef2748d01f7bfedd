"""Receipts: the stored evidence of a case, under a digest of all that it depended on.

Of the tree only what the case depends on is in it: the agent's own paths, what its checks
depend on, the code of its plugins, its fixtures, and the skills that a client lists beside
it. Other files of the workspace are data: an edit there voids no evidence.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from guard import __version__
from guard.affected import Selected
from guard.change import DiffEntry
from guard.git import bytes_of
from guard.globs import Matcher, compile_globs, literal
from guard.grounds import ground_of
from guard.judges.stated import judged_by, provider_of
from guard.model import FAIL, PASS, XFAIL, Agent, Case, Policy
from guard.project import Project
from guard.references import fixtures_of, named_in_repo
from guard.results import CaseResult, Fingerprint
from guard.rules.baseline_groups import without_prose
from guard.rules.commit import is_owned
from guard.running.doubles import double_facts, named_doubles
from guard.running.gates import decide_policy
from guard.running.machine import machine_facts
from guard.running.shown import seen_in_evidence, shown_by
from guard.skills import is_skill, skill_heads
from guard.storage.records import Receipt, evidence_of
from guard.tree import GITLINK, Tree
from guard.trials.filters import filter_facts
from guard.trials.template import folder_of

FORMAT = "receipt-2"


class Keys:
    """Makes the keys of one project's cases; what an agent's cases share is digested once."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._trees: dict[tuple[str, str], str] = {}
        self._filtered: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
        self._machine: dict[str, Mapping[str, Any]] = {}
        self._codes: dict[str, str] = {}

    def key(self, case: Case, fingerprint: Fingerprint, tree: Tree | None = None) -> str:
        """Return the key of a case on a tree (default: the project's own).

        In a proof the tree is a broken state; case, checks and plugins stay the project's.
        """
        agent = self.project.agents[case.agent]
        globs = ground_of(self.project, (*agent.prerequisites, *case.prerequisites))
        parts: dict[str, Any] = {
            "format": FORMAT,
            "guard": __version__,
            "case": _case_facts(case),
            "agent": _agent_facts(agent),
            "target": list(fingerprint),
            "own": self._own(agent, tree or self.project.tree),
            "machine": self._machine_facts(agent),
            "plugins": self._code_of(agent.target),
            "checks": self._checks(agent),
            "case_files": self._case_files(case),
        }
        if globs:
            parts["ground"] = self._digest(compile_globs(globs), tree or self.project.tree)
        filters = self._filters(agent, tree or self.project.tree)
        if filters:
            parts["filters"] = filters
        doubles = double_facts(named_doubles(self.project, agent))
        if doubles:
            parts["doubles"] = doubles
        judge = judged_by(agent, case)
        if judge:
            parts["judge"] = self._judge(judge)
        return "sha256:" + hashlib.sha256(_canonical(parts)).hexdigest()

    def _evaluators(self) -> str:
        if "" not in self._codes:
            self._codes[""] = self.project.plugins.identity("guard_evaluators")
        return self._codes[""]

    def text_key(self, case: Case) -> str:
        """Return the key of what is expected of a case, and of the code that grades it."""
        agent = self.project.agents[case.agent]
        parts = {
            "guard": __version__,
            "case": case.id,
            "expected": {**agent.always, **case.expected},
            "baseline": without_prose(case.expected_baseline),
            "evaluators": agent.evaluators,
            "checks": self._checks(agent),
            "plugins": self._evaluators(),
        }
        return hashlib.sha256(_canonical(parts)).hexdigest()

    def _judge(self, stated: Mapping[str, Any]) -> list[str]:
        """Return what its scores rest on beside what the case states: prompt, endpoint, code."""
        plugins = self.project.plugins
        return [*plugins.panel.identity(stated), plugins.code_of_judge(provider_of(stated))]

    def _filters(self, agent: Agent, tree: Tree) -> dict[str, dict[str, str]]:
        """Return what this machine makes of files of the workspace."""
        name = (agent.workspace, tree.oid)
        if name not in self._filtered:
            self._filtered[name] = filter_facts(tree, folder_of(agent.workspace))
        return self._filtered[name]

    def _code_of(self, target: str) -> str:
        if target not in self._codes:
            self._codes[target] = self.project.plugins.code_of(target)
        return self._codes[target]

    def _machine_facts(self, agent: Agent) -> Mapping[str, Any]:
        if agent.name not in self._machine:
            root, store = self.project.repo.root, self.project.store
            self._machine[agent.name] = machine_facts(agent, root, store)
        return self._machine[agent.name]

    def _own(self, agent: Agent, tree: Tree) -> str:
        name = (agent.name, tree.oid)
        if name not in self._trees:
            own = self._digest(self._owned_in(tree, agent), tree)
            heads = skill_heads(tree, self._skills_beside(agent, tree), self.project.store)
            self._trees[name] = own + hashlib.sha256(_canonical(heads)).hexdigest()
        return self._trees[name]

    def _owned_in(self, tree: Tree, agent: Agent) -> Matcher:
        """Return a test of the own paths that takes a submodule for all that it may hold."""
        own = self.project.own_paths(agent)
        links = frozenset(
            path
            for path, entry in tree.entries().items()
            if entry.mode == GITLINK and is_owned(DiffEntry(path, entry, entry), agent, own)
        )
        return lambda path: path in links or own(path)

    def _skills_beside(self, agent: Agent, tree: Tree) -> list[bytes]:
        return [p for p in tree.below(bytes_of(agent.workspace)) if is_skill(p)]

    def _checks(self, agent: Agent) -> str:
        name = (agent.name, "checks")
        if name not in self._trees:
            project = self.project
            globs = (*project.depends_of(agent), *project.tools_of(agent), *project.code_of(agent))
            self._trees[name] = self._digest(compile_globs(globs), project.tree)
        return self._trees[name]

    def _case_files(self, case: Case) -> str:
        named = (*fixtures_of(case), *named_in_repo(case.expected))
        # Most name none: then no file is to be looked at.
        wanted = compile_globs(map(literal, named))
        return self._digest(wanted, self.project.tree) if named else hashlib.sha256().hexdigest()

    def _digest(self, wanted: Matcher, tree: Tree) -> str:
        digest = hashlib.sha256()
        for path, entry in sorted(tree.entries().items()):
            if wanted(path):
                digest.update(b"%s\0%s %s\n" % (path, entry.mode.encode(), entry.oid.encode()))
        return digest.hexdigest()


def _case_facts(case: Case) -> dict[str, Any]:
    """Return what decides a case's outcome: not its prose, its file, or what it claims."""
    left_out = (
        *("path", "body", "blob", "evidence", "counter_examples"),
        *("metadata", "remarks", "unread"),
    )
    facts = {name: value for name, value in case._asdict().items() if name not in left_out}
    facts["expected_baseline"] = without_prose(case.expected_baseline)
    if not case.provisions:
        del facts["provisions"]
    return facts


def _agent_facts(agent: Agent) -> dict[str, Any]:
    kept = (
        *("name", "target", "options", "workspace", "evaluators", "always", "env", "python"),
        # It decides how many trials are asked for.
        "deterministic",
    )
    return {name: value for name, value in agent._asdict().items() if name in kept}


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, default=str).encode()


def make_receipt(key: str, result: CaseResult, facts: Mapping[str, Any] = {}) -> Receipt:
    """Return the receipt of a case that was just run; ``facts`` go into its evidence."""
    return Receipt(
        key=key,
        case=result.case,
        agent=result.agent,
        verdict=result.verdict,
        passed=result.passed,
        trials=result.graded_count,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        evidence={**evidence_of(result), **facts},
    )


def answers(receipt: Receipt | None, max_age: str) -> bool:
    """Tell whether a receipt stands for a run: it holds, and it isn't too old.

    A failure is never answered by a receipt: what is broken is looked at again. A verdict without
    the trials behind it is no evidence.
    """
    if receipt is None or receipt.verdict not in (PASS, XFAIL):
        return False
    return is_fresh(receipt.date, max_age) and is_backed(receipt)


def is_backed(receipt: Receipt) -> bool:
    """Tell whether the trials that a receipt holds are as many as it says, and any at all."""
    outcomes = outcomes_in(receipt)
    return bool(outcomes) and (sum(outcomes), len(outcomes)) == (receipt.passed, receipt.trials)


def outcomes_in(receipt: Receipt) -> list[bool]:
    """Return whether each graded trial of a receipt passed, in their order."""
    verdicts = [trial.get("verdict") for trial in receipt.evidence.get("trials", ())]
    return [verdict != FAIL for verdict in verdicts if verdict in (PASS, XFAIL, FAIL)]


def shows_pass(receipt: Receipt, policy: Policy, *, deterministic: bool) -> bool:
    """Tell whether the trials of a receipt pass by a policy, whatever verdict stands in it."""
    outcomes = outcomes_in(receipt)
    return decide_policy(policy, outcomes, deterministic=deterministic) == PASS


def is_fresh(date: str, max_age: str) -> bool:
    """Tell whether evidence of a date is young enough."""
    try:
        age = datetime.now(UTC) - datetime.fromisoformat(date)
    except (TypeError, ValueError):
        return False
    return timedelta(minutes=-5) <= age <= _duration(max_age)


def _duration(text: str) -> timedelta:
    unit = {"d": timedelta(days=1), "h": timedelta(hours=1), "m": timedelta(minutes=1)}[text[-1]]
    return int(text[:-1]) * unit if len(text) <= 8 else timedelta.max


def result_of(receipt: Receipt, chosen: Selected) -> CaseResult:
    """Return the result that a receipt stands for."""
    shown = shown_by(chosen.case, map(seen_in_evidence, receipt.evidence.get("trials", ())))
    return CaseResult(
        case=chosen.case.id,
        agent=chosen.case.agent,
        verdict=receipt.verdict,
        affected_by=chosen.affected_by,
        path=chosen.case.path,
        receipt=receipt.digest,
        reused=receipt.date,
        recorded_passed=receipt.passed,
        recorded_trials=receipt.trials,
        evidence_class=str(chosen.case.evidence.get("evidence_class", "")),
        unread=shown.unread,
        unscored=shown.unscored,
    )
