"""Case formats, one file each: path and text in, cases out.

A format's module has ``claims(path) -> bool`` and ``parse(path, text) -> list of fields``.
What a plugin's ``guard_load_cases`` claims comes first (`guard.project`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from guard.casekeys import EVIDENCE_KEYS, POLICY_KEYS, policy_of
from guard.errors import ConfigError
from guard.model import Agent, Case, Policy

#: Counts up when the stored form of a parsed case changes.
FORMAT = "case-2"

Fields = Mapping[str, Any]


class CaseFormat(Protocol):
    """What a module of this folder offers."""

    def claims(self, path: str) -> bool:
        """Tell whether a file of this name is in the format."""
        ...

    def parse(self, path: str, text: str) -> Sequence[Fields]:
        """Return the validated fields of each case in the file."""
        ...


def parse_cases(path: str, content: bytes) -> Sequence[Fields]:
    """Return the validated fields of every case in a file. Raises `ConfigError`."""
    from guard.cases import dataset, markdown

    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ConfigError(path, line, "", "is not UTF-8 text") from error
    formats: tuple[CaseFormat, ...] = (markdown, dataset)
    for known in formats:
        if known.claims(path):
            return known.parse(path, text)
    raise ConfigError(
        path,
        0,
        "",
        "no known case format (Markdown with front matter is one, and a dataset in JSON)",
        "narrow `cases` in guard.yaml",
    )


def is_native(path: str) -> bool:
    """Tell whether a case file is in guard's own format, in which every key has to be known."""
    return path.lower().endswith((".md", ".markdown"))


def make_case(fields: Fields, path: str, blob: str, agent: Agent) -> Case:
    """Return the case that validated fields describe, with the agent's defaults filled in.

    Most keys are stated by few cases, so only those that are stated are looked at: thousands
    of cases are read on each start.
    """
    values: dict[str, Any] = {"policy": _policy(fields, path, agent)}
    evidence: dict[str, Any] = {}
    for key, value in (*agent.defaults.items(), *fields.items()):
        if key in _LISTS:
            values[key] = tuple(value)
        elif key in _AS_STATED:
            values[key] = value
        elif key == "given":
            values[key] = value.get("files", {})
            provisions = {name: what for name, what in value.items() if name != "files"}
            if provisions:
                values["provisions"] = provisions
        elif key in EVIDENCE_KEYS:
            evidence[key] = value
    values |= {"agent": agent.name, "path": path, "blob": blob, "evidence": evidence}
    return Case(**values)


def _policy(fields: Fields, path: str, agent: Agent) -> Policy:
    policy = policy_of(fields, agent.defaults)
    # Most commits make no case of what they read.
    from guard.running.gates import unreachable

    said = unreachable(policy)
    if said:
        # A case that states none of it has it from its agent, or from all agents' defaults.
        own = [key for key in POLICY_KEYS if key in fields]
        if not own:
            raise ConfigError("guard.yaml", 0, f"agents.{agent.name}", said)
        key, _, rest = said.partition(": ")
        raise ConfigError(path, 0, *((key, rest) if key in own else (own[0], said)))
    return policy


_LISTS = frozenset(
    (
        "turns",
        "preconditions",
        "expected_baseline",
        "counter_examples",
        "prerequisites",
        "blocked_when_stdout_contains",
        "remarks",
        "unread",
    )
)
_AS_STATED = frozenset(("id", "utterance", "input", "expected", "body", "metadata"))
