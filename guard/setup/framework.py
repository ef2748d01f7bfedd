"""``.pre-commit-config.yaml``: which of guard's hooks it has, and adding those it lacks.

What comes out is read again, and must say the same as before, and our hooks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

import yaml

from guard.errors import UsageError
from guard.setup.yaml_text import Unreadable, append_lines, insert_items

FILE = ".pre-commit-config.yaml"
TYPES_KEY = "default_install_hook_types"
#: What pre-commit installs where the key is absent.
DEFAULT_TYPES = ("pre-commit",)


class Hook(NamedTuple):
    """One of guard's hooks, as the framework runs it."""

    id: str
    """The console script too."""
    name: str
    stages: tuple[str, ...]
    takes_file: bool = False
    """Whether it is given a file's name: the message."""


HOOKS = (
    Hook("guard-commit-msg", "guard (a fix brings its case)", ("commit-msg",), True),
    Hook("guard-affected", "guard (affected cases)", ("pre-commit", "pre-merge-commit")),
    Hook("guard-suite", "guard (suite and proofs)", ("pre-push",)),
)
STAGES = tuple(dict.fromkeys(stage for hook in HOOKS for stage in hook.stages))


class Source(NamedTuple):
    """Where the framework gets guard from; without one it runs what is installed."""

    url: str
    rev: str


def read_document(text: str) -> Mapping[str, Any]:
    """Return what the file says. Raises `Unreadable`."""
    try:
        found: Any = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise Unreadable(f"it is not valid YAML: {' '.join(str(error).split())}") from error
    if found is None:
        return {}
    if not _is_mapping(found):
        raise Unreadable("it is not a mapping with `repos`")
    return found


def _is_mapping(value: Any) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, dict)


def items_of(value: Any) -> list[Any]:
    """Return the items of a list; none of anything else."""
    return [*value] if isinstance(value, (list, tuple)) else []


def hooks_in(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the entries of guard's hooks, of whichever repository."""
    ids = {hook.id for hook in HOOKS}
    return [
        hook
        for repo in _mappings(document.get("repos"))
        for hook in _mappings(repo.get("hooks"))
        if hook.get("id") in ids
    ]


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in items_of(value) if _is_mapping(item)]


def missing_hooks(document: Mapping[str, Any]) -> list[Hook]:
    """Return those of guard's hooks that the file doesn't have."""
    there = {hook["id"] for hook in hooks_in(document)}
    return [hook for hook in HOOKS if hook.id not in there]


def missing_types(document: Mapping[str, Any]) -> list[str]:
    """Return the hook types that ``pre-commit install`` would not install."""
    there = items_of(document.get(TYPES_KEY, DEFAULT_TYPES))
    return [stage for stage in STAGES if stage not in there]


def add_hooks(text: str, source: Source | None) -> str:
    """Return the file's text with guard's hooks; the same text where it has them.

    Raises `UsageError` where text can't be added safely.
    """
    try:
        before = read_document(text)
        added = _add_hooks(text, before, source)
        _check_same(before, read_document(added))
    except Unreadable as error:
        raise UsageError(
            f"{FILE}: {error}; guard's hooks were not added",
            "mend it and call guard init again, or without the framework: guard install",
        ) from error
    return added


def _add_hooks(text: str, document: Mapping[str, Any], source: Source | None) -> str:
    hooks = missing_hooks(document)
    if hooks:
        text = _with_hooks(text, document, hooks, source)
    types = missing_types(document)
    if not types:
        return text
    if TYPES_KEY in document:
        return insert_items(text, TYPES_KEY, types, types)
    return append_lines(text, [_types_line([*dict.fromkeys((*DEFAULT_TYPES, *STAGES))])])


def _with_hooks(
    text: str, document: Mapping[str, Any], hooks: Sequence[Hook], source: Source | None
) -> str:
    if "repos" not in document:
        return append_lines(text, ["repos:", *(f"  {line}" for line in new_lines(hooks, source))])
    return insert_items(text, "repos", new_lines(hooks, source), [_flow(hooks, source)])


def _types_line(stages: Iterable[str]) -> str:
    return f"{TYPES_KEY}: [{', '.join(stages)}]"


def new_lines(hooks: Iterable[Hook], source: Source | None) -> list[str]:
    """Return the lines of one item of `repos`, not indented."""
    if source is None:
        return ["- repo: local", "  hooks:", *(line for hook in hooks for line in _local(hook))]
    lines = [f"- repo: {source.url}", f"  rev: {source.rev}", "  hooks:"]
    return [*lines, *(f"  - id: {hook.id}" for hook in hooks)]


def _local(hook: Hook) -> Iterable[str]:
    name, *rest = _settings(hook).items()
    yield f"  - {name[0]}: {name[1]}"
    for key, value in rest:
        yield f"    {key}: {_plain(value)}"


def _settings(hook: Hook) -> dict[str, Any]:
    named = {} if hook.takes_file else {"pass_filenames": False}
    return {
        "id": hook.id,
        "name": hook.name,
        "entry": hook.id,
        "language": "system",
        "stages": list(hook.stages),
        "always_run": True,
        **named,
        "require_serial": True,
        "verbose": True,
    }


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(str, items_of(value)))}]"
    return str(value)


def _flow(hooks: Iterable[Hook], source: Source | None) -> str:
    import json

    if source is None:
        item: dict[str, Any] = {"repo": "local", "hooks": [_settings(hook) for hook in hooks]}
    else:
        item = {"repo": source.url, "rev": source.rev, "hooks": [{"id": h.id} for h in hooks]}
    return json.dumps(item)


def _check_same(before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Refuse a result in which anything but our own items differs."""
    for key in {*before, *after}:
        old, new = before.get(key), after.get(key)
        if key in ("repos", TYPES_KEY):
            old = items_of(old)
            new = items_of(new)[: len(old)]
        if old != new:
            raise Unreadable(f"its `{key}` would not stay as it is")
    if missing_hooks(after) or missing_types(after):
        raise Unreadable("it is written in a way that nothing can be added to")
