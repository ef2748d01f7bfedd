"""What runs leave behind: observations, scores, trials, cases, proofs, and the report of all.

Apart from `guard.model`, because the rules of a hook need none of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from guard.model import FAIL, PASS, XFAIL, Violation

#: What an ERROR is blamed on where the files of its trials can't be had.
SNAPSHOT: Final = "snapshot"


class ToolCall(NamedTuple):
    """One use of a tool by the agent."""

    name: str
    input: Mapping[str, Any] = {}
    result: str = ""


class FileChange(NamedTuple):
    """One path of the workspace that differs after the trial."""

    path: str
    """From the workspace's root, surrogate-escaped."""
    status: str
    """A added, D deleted, M content, T type or mode."""
    insertions: int = 0
    deletions: int = 0


class Observation(NamedTuple):
    """What a trial left behind. None means: the target can't tell (never zero)."""

    reply: str = ""
    stdout: str = ""
    stderr: str = ""
    exit_status: int | None = None
    output: Any = None
    """Structured output, where there is one."""
    facts: Mapping[str, Any] = {}
    """Flat name → JSON value, set by the target."""
    changes: tuple[FileChange, ...] = ()
    """Filled in by the engine, from the workspace."""
    tool_calls: tuple[ToolCall, ...] | None = None
    permission_denials: tuple[str, ...] | None = None
    cost_usd: float | None = None
    tokens: Mapping[str, int] | None = None
    turns: int | None = None
    seconds: float = 0.0
    """Wall time; filled in by the engine."""
    model: str | None = None
    program: str | None = None
    """Name and version of the program that was driven."""
    loaded: bool | None = None
    """Whether the agent under test was loaded."""
    used: bool | None = None
    response_ids: tuple[str, ...] = ()
    """The provider's ids; the same one in two trials is an ERROR."""
    files_read: tuple[str, ...] | None = None
    """Files of the workspace that were read, from its root; ``notes/`` stands for the names in a
    folder, ``notes/**`` for all it holds. Where it is None, the tool calls tell."""
    services: Mapping[str, Any] = {}
    """What the trial's prerequisites saw once the target had ended, by their names, as JSON
    values. Filled in by the engine."""
    argv: tuple[str, ...] = ()
    workspace: str = ""
    """Folder on disk; exists only while evaluators run. Filled in by the engine."""
    repo: str = ""
    """``{repo}`` for checkers; exists only while evaluators run. Filled in by the engine."""


class Fingerprint(NamedTuple):
    """What a receipt is bound to beside files: the same twice for the same machine."""

    program: str = ""
    """Name and version of the program that is driven; several are parted by ``; ``."""
    model: str = ""
    """The model asked for."""
    endpoint: str = ""
    """Where the model answers; empty for the provider's own."""


class Score(NamedTuple):
    """One key, a value from 0 to 1, a reason in words."""

    key: str
    value: float
    reason: str = ""
    evidence: Mapping[str, Any] = {}
    """What else a judge's score rests on, as JSON values: its model, votes, digests."""


class KeptFile(NamedTuple):
    """A file as a trial left it, kept so that its checks can be asked again."""

    path: str
    """From the workspace's root, surrogate-escaped."""
    kind: str
    """file, link, absent (removed, or never there), other (a pipe, a socket, unreadable)."""
    executable: bool = False
    size: int = 0
    """Bytes of the whole content."""
    sha256: str = ""
    """Of the whole content, as the trial left it."""
    text: str | None = None
    """Its content, or the beginning of a large one; of a link where it leads."""
    base64: str | None = None
    """The same of a content that is no UTF-8 text. Neither: nothing of it is kept."""


class TrialResult(NamedTuple):
    """One trial, graded."""

    case: str
    number: int
    """From 1; a gate reads outcomes in this order."""
    verdict: str
    scores: tuple[Score, ...] = ()
    reason: str = ""
    observation: Observation = Observation()
    orphan_pids: tuple[int, ...] = ()
    trial_id: str = ""
    started: str = ""
    """UTC, ISO 8601."""
    workspace_before: str = ""
    """Digest of the workspace when the target started."""
    workspace_after: str = ""
    diff: str = ""
    """What changed, as a bounded unified diff."""
    isolation: str = ""
    """How the trial was kept apart, in words."""
    failing: tuple[str, ...] = ()
    """Keys below 1."""
    excused: tuple[str, ...] = ()
    """Failing keys that a baseline excused."""
    blame: str = ""
    """Of an ERROR, ``target`` or ``judge`` where that is what broke: hooks call it owed then.

    `SNAPSHOT` where no trial could start, for its files can't be had.
    """
    files: tuple[KeptFile, ...] = ()
    """What it changed and what its expectations name, as it left them; bounded."""
    asked: Fingerprint = Fingerprint()
    """What the target said, before it ran, that it drives: the observation says what answered."""
    unread: tuple[str, ...] = ()
    """Expectations that no evaluator read, where all of them were asked about what a run left."""

    @property
    def cost_usd(self) -> float | None:
        """What the target and the judges cost, as far as they tell; None where none does."""
        told = (self.observation.cost_usd, *(s.evidence.get("cost_usd") for s in self.scores))
        known = [cost for cost in told if isinstance(cost, (int, float))]
        return sum(known) if known else None

    @property
    def judged_live(self) -> bool:
        """Whether each judge that was asked answered at its provider's own endpoint."""
        return all(score.evidence.get("live", True) for score in self.scores)


class Drift(NamedTuple):
    """One version that isn't what it was when a case last held, or not one within a run."""

    what: str
    """program, model or endpoint."""
    name: str
    """Of the program; else ``the model`` and so on."""
    now: str
    was: str = ""
    """Empty where several answered within one run, which ``now`` lists then."""
    since: str = ""
    """When the case last held, UTC, ISO 8601."""
    stated: bool = False
    """Whether another one is asked for, so that a change of the configuration may be behind it."""


class BaseRun(NamedTuple):
    """How a case that fails ended on the tree before the change."""

    sha: str
    verdict: str = ""
    """Empty where it was not run: the reason says why."""
    passed: int = 0
    trials: int = 0
    reason: str = ""
    reused: str = ""
    """Date of the receipt that answered."""


class CaseResult(NamedTuple):
    """One case, judged over its trials."""

    case: str
    agent: str
    verdict: str
    trials: tuple[TrialResult, ...] = ()
    reason: str = ""
    affected_by: tuple[str, ...] = ()
    confirmed: bool = False
    """Whether a FAIL was confirmed by a second, fresh gate."""
    receipt: str = ""
    """Digest of the receipt that answers it, whether made now or found."""
    reused: str = ""
    """Date of the receipt where one answered and nothing was run."""
    path: str = ""
    seconds: float = 0.0
    cost_usd: float | None = None
    evidence_class: str = ""
    evidence_disqualifiers: tuple[str, ...] = ()
    planned: int = 0
    """Trials that the policy asks for at most."""
    recorded_passed: int = 0
    recorded_trials: int = 0
    """Counts of a receipt, where its trials' texts are no longer kept."""
    advisory: bool = False
    """UNGRADED by prose alone, and neither the change nor a record names it: fails no run."""
    repeated: Side | None = None
    """What a second, fresh gate counted, where one was run to confirm a FAIL."""
    drift: tuple[Drift, ...] = ()
    """What else it runs by than when it last held; changes no verdict."""
    base: BaseRun | None = None
    """How it ended before the change, where that was asked."""
    unread: tuple[str, ...] = ()
    """Expectations that no evaluator read in any of its trials."""
    unscored: tuple[str, ...] = ()
    """Keys of its baseline that nothing scored, though the group's condition held."""

    @property
    def graded(self) -> tuple[TrialResult, ...]:
        """The trials that count towards the rate."""
        return tuple(t for t in self.trials if t.verdict in (PASS, FAIL, XFAIL))

    @property
    def passed(self) -> int:
        """How many graded trials passed (an excused failure counts)."""
        if not self.trials:
            return self.recorded_passed
        return sum(t.verdict in (PASS, XFAIL) for t in self.graded)

    @property
    def graded_count(self) -> int:
        """How many trials were graded."""
        return len(self.graded) if self.trials else self.recorded_trials


class Side(NamedTuple):
    """One side of a proof: how many trials passed on it."""

    passed: int
    trials: int


class ProofResult(NamedTuple):
    """The verdict on one record of regressions.json."""

    id: str
    agent: str
    case: str
    verdict: str
    state: str = ""
    """Which broken state decided: live, pinned, branch, capsule, revision, patch, command."""
    before: Side | None = None
    after: Side | None = None
    p_value: float | None = None
    reason: str = ""
    hint: str = ""
    before_result: CaseResult | None = None
    after_result: CaseResult | None = None


class Report(NamedTuple):
    """Everything one command established: what the report formats write."""

    command: str
    run_id: str = ""
    started: str = ""
    finished: str = ""
    live: bool = True
    sha: str = ""
    ref: str = ""
    tree: str = ""
    at: str = ""
    """What was under test: worktree, index, or a revision."""
    strict: bool = False
    report_only: bool = False
    cases: tuple[CaseResult, ...] = ()
    regressions: tuple[ProofResult, ...] = ()
    rules: tuple[Violation, ...] = ()
    exempt: tuple[str, ...] = ()
    """Exempted commits, each with its reason."""
    not_established: tuple[str, ...] = ()
    """What can't be known from this run, a sentence each."""
    notes: tuple[str, ...] = ()
    """Shown, and changes nothing."""
    exit_code: int = 0
    drift: tuple[str, ...] = ()
    """Which model or program is another than when cases last held: said first, changes nothing."""
    commits: int | None = None
    """How many commits the rules judged; None where they were asked about none."""
    nothing_owed: bool = False
    """Whether what is owed was asked for, and nothing is."""
