"""``.pre-commit-config.yaml``: what in it would keep guard's hooks from judging."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from guard.doctor import Finding, broken, holds, look, unknown
from guard.doctor.swallowed import SWALLOWED
from guard.setup.framework import (
    FILE,
    HOOKS,
    Hook,
    hooks_in,
    items_of,
    missing_hooks,
    missing_types,
    read_document,
)
from guard.setup.yaml_text import Unreadable

#: Keys that choose among file names. A message file matches none of what people write there.
FILTERS = ("files", "exclude", "types", "types_or", "exclude_types")
MESSAGE_FILE = ".git/COMMIT_EDITMSG"
#: What stages were called before pre-commit 3.2, and may be still.
OLD_NAMES = {"commit": "pre-commit", "push": "pre-push", "merge-commit": "pre-merge-commit"}
_IN_PLACE = ("system", "unsupported", "script", "unsupported_script")


def framework_document(root: str) -> Mapping[str, Any]:
    """Return what the framework's file says; empty where there is none. Raises `Unreadable`."""
    try:
        with open(os.path.join(root, FILE), encoding="utf-8") as stream:
            return read_document(stream.read())
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable(str(error)) from error


def check_framework(root: str) -> Iterator[Finding]:
    """Check guard's hooks in the framework's file; nothing where it has none of them."""
    try:
        document = framework_document(root)
    except Unreadable as error:
        yield unknown(f"{FILE} can't be read: {error}")
        return
    entries = hooks_in(document)
    if not entries:
        return
    problems = [*_missing(document), *_hidden_by_all(document)]
    for entry in entries:
        problems += _check_entry(entry)
    problems += [*_not_there(entries), *_skipped(entries)]
    yield from problems or [holds(f"{FILE}: {len(entries)} hooks of guard's, unfiltered")]


def _missing(document: Mapping[str, Any]) -> Iterator[Finding]:
    hooks = [hook.id for hook in missing_hooks(document)]
    if hooks:
        yield broken(f"{FILE} lacks {', '.join(hooks)}", "guard init")
    types = missing_types(document)
    if types:
        yield look(
            f"`pre-commit install` leaves out {', '.join(types)} (default_install_hook_types)",
            "guard init",
        )


def _hidden_by_all(document: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield a finding for each top-level filter that hides the message file."""
    for key, hides in (("files", False), ("exclude", True)):
        pattern = document.get(key)
        if isinstance(pattern, str) and _matches(pattern) is hides:
            yield broken(
                f"{FILE}: `{key}` leaves {MESSAGE_FILE} out, so commit-msg gets no message",
                f"let `{key}` take {MESSAGE_FILE}",
            )


def _matches(pattern: str) -> bool | None:
    try:
        return re.search(pattern, MESSAGE_FILE) is not None
    except re.error:
        return None


def _check_entry(entry: Mapping[str, Any]) -> Iterator[Finding]:
    hook = next(hook for hook in HOOKS if hook.id == entry["id"])
    for key in FILTERS:
        if key in entry:
            yield broken(
                f"{FILE}: {hook.id}: `{key}` makes the framework skip it; "
                "guard decides itself what is affected",
                f"take `{key}` out",
            )
    if entry.get("always_run") is False:
        yield broken(f"{FILE}: {hook.id} isn't called for every commit", "take `always_run` out")
    if hook.takes_file and entry.get("pass_filenames") is False:
        yield broken(f"{FILE}: {hook.id} is given no message", "take `pass_filenames` out")
    stages = entry.get("stages")
    if isinstance(stages, list):
        named = {OLD_NAMES.get(str(stage), str(stage)) for stage in items_of(stages)}
        lost = [stage for stage in hook.stages if stage not in named]
    else:
        lost = []
    if lost:
        yield broken(f"{FILE}: {hook.id} isn't called at {', '.join(lost)}", "take `stages` out")
    yield from _check_call(entry, hook)


def _check_call(entry: Mapping[str, Any], hook: Hook) -> Iterator[Finding]:
    call = " ".join([str(entry.get("entry", "")), *map(str, entry.get("args") or ())])
    if SWALLOWED.search(call):
        yield broken(f"{FILE}: {hook.id}: `{call.strip()}` turns every refusal into a success")


def _not_there(entries: Iterable[Mapping[str, Any]]) -> Iterator[Finding]:
    """Yield a finding for what the framework would start from PATH, and isn't there."""
    called = [
        str(entry.get("entry", "")).partition(" ")[0]
        for entry in entries
        if entry.get("language") in _IN_PLACE
    ]
    gone = [program for program in called if program and not shutil.which(program)]
    if gone:
        yield broken(
            f"{FILE}: not on PATH: {', '.join(gone)}",
            "pip install regression-guard, in the environment that you commit from",
        )


def _skipped(entries: list[Mapping[str, Any]]) -> Iterator[Finding]:
    named = {name.strip() for name in os.environ.get("SKIP", "").split(",")}
    switched_off = [str(entry["id"]) for entry in entries if entry["id"] in named]
    if switched_off:
        yield broken(f"SKIP switches off {', '.join(switched_off)}", "unset SKIP")
