"""The keys that a case may state, whatever file format it stands in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from guard.model import Policy
from guard.schema import (
    Check,
    Invalid,
    Path,
    any_text,
    anything,
    boolean,
    integer,
    list_of,
    mapping,
    mapping_of,
    matching,
    nearest,
    number,
    one_of,
    some_mapping,
    text,
    text_or_texts,
    texts,
)

GATES = ("quick", "standard", "firm", "strict", "critical")
BUILT_IN_PREREQUISITES = ("program", "env", "file", "python", "tcp")

POLICY_KEYS: dict[str, Check] = {
    "gate": one_of(*GATES),
    "trials": integer(1, 1000),
    "min_pass_rate": number(0, 1, above=True),
    "timeout": number(0, 86400, above=True),
    "prerequisites": lambda value: list_of(check_prerequisite)(value),
}


def check_prerequisite(value: Any) -> str:
    """``program:claude``, ``tcp:HOST:PORT``, or a plugin's ``NAME:ARG``."""
    found = text(value)
    name, colon, argument = found.partition(":")
    if not colon or not name or not argument:
        raise Invalid(f"{found!r} must be NAME:ARG, such as program:claude or tcp:HOST:PORT")
    if name == "tcp" and not argument.rpartition(":")[2].isdigit():
        raise Invalid(f"{found!r} must be tcp:HOST:PORT")
    return found


def check_policy(stated: Mapping[str, Any], path: Path = ()) -> None:
    """Refuse a policy that its trials can never satisfy, with the number that would do."""
    if not POLICY_KEYS.keys() & stated.keys():
        return
    from guard.running.gates import unreachable

    said = unreachable(policy_of(stated, {}))
    # A rate beside no trials may find them in the agent's or the repository's defaults.
    if said and not ("min_pass_rate" in stated and not {"trials", "gate"} & stated.keys()):
        key, _, rest = said.partition(": ")
        if key in stated and rest:
            raise Invalid(rest, (*path, key))
        at = next((k for k in ("trials", "min_pass_rate", "gate") if k in stated), "timeout")
        raise Invalid(said, (*path, at))


def policy_of(stated: Mapping[str, Any], defaults: Mapping[str, Any]) -> Policy:
    """Return the policy of a case: what it states, over what its agent and guard.yaml state."""
    chosen = {key: defaults[key] for key in ("trials", "min_pass_rate") if key in defaults}
    if "gate" in stated:
        chosen = {"gate": stated["gate"]}
    elif not {"trials", "min_pass_rate"} & stated.keys() and "gate" in defaults:
        chosen["gate"] = defaults["gate"]
    chosen |= {key: stated[key] for key in ("trials", "min_pass_rate") if key in stated}
    return Policy(
        gate=chosen.get("gate"),
        trials=chosen.get("trials"),
        min_pass_rate=float(chosen.get("min_pass_rate", 1.0)),
        timeout=float(stated.get("timeout", defaults.get("timeout", 300))),
    )


PRECONDITIONS = (
    "file_exists",
    "file_absent",
    "match",
    "no_match",
    "match_word",
    "no_match_word",
)


def _precondition(value: Any) -> dict[str, Any]:
    found = some_mapping(value)
    if len(found) != 1:
        raise Invalid(f"states one of {', '.join(PRECONDITIONS)}")
    name, wanted = next(iter(found.items()))
    if name not in PRECONDITIONS:
        raise Invalid(f"unknown precondition{nearest(name, PRECONDITIONS)}", (name,))
    try:
        return {name: _precondition_value(name, wanted)}
    except Invalid as error:
        raise Invalid(error.message, (name, *error.path)) from error


def _precondition_value(name: str, wanted: Any) -> Any:
    if name.startswith("file_"):
        return workspace_path(wanted)
    if not isinstance(wanted, dict):
        return text(wanted)
    keys: dict[str, Check] = {"text": text, "in": text_or_texts, "regex": boolean}
    found = mapping(keys, required=("text",))(wanted)
    if found.get("regex"):
        _compiled(found["text"])
    return found


def _compiled(pattern: str) -> None:
    import re

    try:
        re.compile(pattern)
    except re.error as error:
        raise Invalid(f"{pattern!r} is not a regular expression: {error}", ("text",)) from error


def workspace_path(value: Any) -> str:
    """A path in the workspace: relative, and not out of it."""
    found = text(value)
    if found.startswith("/") or ".." in found.split("/"):
        raise Invalid(f"{found!r} leaves the workspace")
    return found


def _given_path(value: Any) -> str:
    found = workspace_path(value)
    if "\0" in found or {"", "."} & set(found.split("/")):
        raise Invalid(f"{found!r} is no path inside the workspace")
    return found


def _given_file(value: Any) -> Any:
    if isinstance(value, dict):
        return mapping({"from": workspace_path}, required=("from",))(value)
    return any_text(value)


_files = mapping_of(_given_file, key=_given_path)


_PROVIDER = matching(r"[a-z][a-z0-9_-]*", "`files` or the name of a prerequisite")


def _given(value: Any) -> dict[str, Any]:
    """``files``, and what prerequisites are to set up, which is checked once they are known."""
    found: dict[str, Any] = mapping_of(anything, key=_PROVIDER)(value)
    files = {"files": found["files"]} if "files" in found else {}
    return {**found, **mapping({"files": _files})(files)}


def _counter_example(value: Any) -> dict[str, Any]:
    keys: dict[str, Check] = {
        "files": _files,
        "patch": text,
        "reply": any_text,
        "fails": list_of(text, least=1),
    }
    found: dict[str, Any] = mapping(keys, required=("fails",))(value)
    if not {"files", "patch", "reply"} & set(found):
        raise Invalid("states what went wrong: files, a patch or a reply")
    return found


_BASELINE_KEYS: dict[str, Check] = {
    "failing_keys": list_of(text, least=1),
    "only_when": mapping_of(anything),
    "intermittent": boolean,
    "note": any_text,
    "observed_in": any_text,
}

EVIDENCE_CLASSES = (
    "deterministic",
    "property_or_fuzz",
    "fault_injected_deterministic",
    "live_e2e",
    "adversarial_live_e2e",
    "human_evaluation",
)
EVIDENCE_KEYS: dict[str, Check] = {
    "type": one_of("positive", "negative", "adversarial"),
    "evidence_class": one_of(*EVIDENCE_CLASSES),
    "supports_claims": texts,
    "seams": texts,
    "real_world": boolean,
    "required": boolean,
    "must_exercise": texts,
}

CASE_KEYS: dict[str, Check] = {
    # It names files and stands in commands: nothing that leaves a folder or reads as an option.
    "id": matching(
        r"(?![-/])(?!(?:.*/)?\.\.(?:/|$))[^\s#,:*?\[\]\x00-\x1f\x7f]+",
        "an id (no spaces, no # , : * ? [ ], no - or / before it, no ..)",
    ),
    "agent": text,
    "utterance": text,
    "input": some_mapping,
    "turns": texts,
    "given": _given,
    "preconditions": list_of(_precondition),
    "expected": some_mapping,
    "expected_baseline": list_of(mapping(_BASELINE_KEYS, required=("failing_keys",))),
    "counter_examples": list_of(_counter_example),
    **POLICY_KEYS,
    "blocked_when_stdout_contains": texts,
    **EVIDENCE_KEYS,
}
