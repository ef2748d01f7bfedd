"""The nouns of the domain: plain, immutable data that crosses module boundaries.

NamedTuples, not dataclasses: the hooks import this on every commit.
Imports nothing of ours. Paths of the repository are ``bytes`` in git's own plumbing and
``str`` with surrogate escapes everywhere a person or a file format meets them
(`guard.git.text_of` and `bytes_of` convert).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

# Verdicts of a trial and of a case.
PASS: Final = "PASS"
FAIL: Final = "FAIL"
ERROR: Final = "ERROR"
SKIP: Final = "SKIP"
BLOCKED: Final = "BLOCKED"
STALE: Final = "STALE"
TAINTED: Final = "TAINTED"
UNGRADED: Final = "UNGRADED"
XFAIL: Final = "XFAIL"
# Of a case alone.
XPASS: Final = "XPASS"
INCONCLUSIVE: Final = "INCONCLUSIVE"
OWED: Final = "OWED"
NOT_TESTED: Final = "NOT_TESTED"
# Of a proof alone.
PROVEN: Final = "PROVEN"
PENDING: Final = "PENDING"
VACUOUS: Final = "VACUOUS"
WRONG_REASON: Final = "WRONG_REASON"
BROKEN_NOW: Final = "BROKEN_NOW"
DEGENERATE: Final = "DEGENERATE"
UNPROTECTED: Final = "UNPROTECTED"
RETIRED: Final = "RETIRED"

#: Score keys that the engine itself writes; no baseline excuses them.
TIMEOUT_KEY: Final = "timeout"
ORPHANS_KEY: Final = "orphans"


class Policy(NamedTuple):
    """How many trials a case gets, and what they must show."""

    gate: str | None = None
    """Name of a sequential gate (`guard.running.gates`), or None for fixed trials."""
    trials: int | None = None
    """Number of fixed trials; None with a gate."""
    min_pass_rate: float = 1.0
    """Share of the fixed trials that must pass."""
    timeout: float = 300.0
    """Seconds that one trial may take."""


class Agent(NamedTuple):
    """What is guarded: a skill, a prompt folder, a program."""

    name: str
    paths: tuple[str, ...] = ()
    """Globs; a change there changes the agent."""
    target: str = ""
    options: Mapping[str, Any] = {}
    workspace: str = ""
    """Folder of the repository that a trial gets a copy of; empty for the root."""
    cases: tuple[str, ...] = ()
    """Globs of its case files; never part of its own paths."""
    depends: tuple[str, ...] = ()
    evaluators: tuple[str, ...] = ()
    always: Mapping[str, Any] = {}
    """Expectations that hold in every case."""
    prerequisites: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    """Names of variables passed into trials; their values are redacted."""
    python: tuple[str, ...] = ()
    serves: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = {}
    """Case keys that hold where a case doesn't state them (its own over ``defaults:``)."""
    deterministic: bool | None = None
    """None: as the target says."""
    paid: bool | None = None
    max_age: str | None = None
    claims: tuple[Any, ...] = ()
    seams: tuple[Any, ...] = ()
    tests: tuple[str, ...] = ()
    price: Mapping[str, Any] = {}
    origin: str = "guard.yaml"
    """guard.yaml, or the name of the plugin that contributed it."""


class Case(NamedTuple):
    """One known situation with a known correct outcome, written down before any run."""

    id: str
    agent: str
    path: str
    """The file it stands in, from the repository's root."""
    utterance: str = ""
    input: Mapping[str, Any] = {}
    turns: tuple[str, ...] = ()
    """Further user messages."""
    given: Mapping[str, Any] = {}
    """Path in the workspace → text, or ``{"from": fixture}``."""
    provisions: Mapping[str, Any] = {}
    """The rest of ``given``: name of a prerequisite → what it is to set up for each trial."""
    preconditions: tuple[Mapping[str, Any], ...] = ()
    expected: Mapping[str, Any] = {}
    """Its own expectations; the agent's ``always`` are joined by the engine."""
    expected_baseline: tuple[Mapping[str, Any], ...] = ()
    counter_examples: tuple[Mapping[str, Any], ...] = ()
    policy: Policy = Policy()
    prerequisites: tuple[str, ...] = ()
    blocked_when_stdout_contains: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = {}
    """The keys of the evidence contract: type, evidence_class, supports_claims, seams,
    real_world, required, must_exercise."""
    body: str = ""
    """The prose below the front matter."""
    metadata: Mapping[str, Any] = {}
    """What else a dataset says of it; means nothing to guard."""
    remarks: tuple[str, ...] = ()
    """What of its file is read otherwise than it is written, or may be meant otherwise."""
    unread: tuple[str, ...] = ()
    """Keys of its file that are none of its format."""
    blob: str = ""
    """Git's id of the file's content."""


class Violation(NamedTuple):
    """One rule, broken; or, where ``warning`` is set, nearly so."""

    rule: str
    message: str
    """What is refused, in one sentence."""
    agent: str = ""
    paths: tuple[str, ...] = ()
    commit: str = ""
    """Abbreviated id and subject where it was found in a range."""
    hint: tuple[str, ...] = ()
    """Commands that mend it, ready to paste, in order."""
    detail: tuple[str, ...] = ()
    """Further lines: the likely cause first."""
    warning: bool = False
    agents: tuple[str, ...] = ()
    """The agents, one by one, where it is one violation of several; ``agent`` joins them."""


def __getattr__(name: str) -> Any:
    """Find what runs leave behind, where it stood before a hook's start had to be quicker."""
    # Python itself asks each module that is imported from for its __path__.
    if not name.startswith("__"):
        from importlib import import_module

        results = import_module("guard.results")
        if hasattr(results, name):
            return getattr(results, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
