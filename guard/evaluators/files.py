"""`files`: what each named file of the workspace holds after the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from guard.evaluators.shapes import (
    inside_path,
    one_or_more,
    pattern,
    plain_text,
    sha256_digest,
)
from guard.evaluators.single import evaluator_of
from guard.evaluators.texts import find_missing, find_unmatched, find_unwanted
from guard.evaluators.workspace_files import (
    Unmet,
    find_other_digest,
    find_small,
    is_absent,
    read_file,
    text_in,
)
from guard.results import Observation
from guard.schema import Check, Invalid, boolean, integer, kind_of, mapping, mapping_of

_FINDERS: Mapping[str, Callable[[bytes, Any], list[str]]] = {
    "contains": lambda data, wanted: find_missing("it", text_in(data), wanted),
    "excludes": lambda data, unwanted: find_unwanted("it", text_in(data), unwanted),
    "equals": lambda data, wanted: _find_difference(text_in(data), wanted),
    "matches": lambda data, patterns: find_unmatched("it", text_in(data), patterns),
    "sha256": find_other_digest,
    "min_bytes": find_small,
}


def find_unmet(observation: Observation, wanted: Any) -> list[str] | None:
    if not observation.workspace:
        return None
    return [
        f"{path}: {what}"
        for path, asked in wanted.items()
        for what in _find_unmet_in(observation.workspace, path, asked)
    ]


def _find_unmet_in(workspace: str, path: str, asked: Mapping[str, Any]) -> list[str]:
    try:
        if asked.get("absent") is True:
            return [] if is_absent(workspace, path) else ["is there"]
        data = read_file(workspace, path)
    except Unmet as error:
        return [str(error)]
    return [
        what for name, find in _FINDERS.items() if name in asked for what in find(data, asked[name])
    ]


def _find_difference(text: str, wanted: str) -> list[str]:
    if text == wanted:
        return []
    ours, theirs = text.splitlines(keepends=True), wanted.splitlines(keepends=True)
    same = next(
        (n for n, (one, two) in enumerate(zip(ours, theirs, strict=False)) if one != two),
        min(len(ours), len(theirs)),
    )
    return [f"isn't the expected text: they differ from line {same + 1} on"]


def any_content(value: Any) -> str:
    """Text that a whole file may be; it may be empty."""
    if not isinstance(value, str):
        raise Invalid(f"must be text, not {kind_of(value)}")
    return value


def refuse_absent_with_more(asked: Mapping[str, Any], *, beside: tuple[str, ...] = ()) -> None:
    """Refuse ``absent: true`` together with what only a file that is there can meet."""
    others = [key for key in asked if key not in ("absent", *beside)]
    if asked.get("absent") is True and others:
        raise Invalid(f"takes `absent` or `{others[0]}`, not both")


_KEYS: dict[str, Check] = {
    "contains": one_or_more(plain_text),
    "excludes": one_or_more(plain_text),
    "equals": any_content,
    "matches": one_or_more(pattern),
    "sha256": sha256_digest,
    "min_bytes": integer(1),
    "absent": boolean,
}


def check_file(value: Any) -> None:
    asked: dict[str, Any] = mapping(_KEYS)(value)
    if not asked:
        raise Invalid("states nothing; `absent: false` says that the file must be there")
    refuse_absent_with_more(asked)


def check_files(value: Any) -> None:
    if not mapping_of(check_file, key=inside_path)(value):
        raise Invalid("must not be empty: it names no file, so it can never fail")


EVALUATORS = (evaluator_of("files", find_unmet, check_files, "the files are as expected"),)
