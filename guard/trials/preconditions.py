"""Whether a case still fits its workspace: checked before the target starts, at no cost.

A case that was written for files that have changed since proves nothing: it is STALE.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from guard.git import bytes_of, text_of
from guard.globs import compile_globs
from guard.searching import found_in
from guard.trials.changes import BINARY_BYTES
from guard.trials.manifest import FILE, Manifest

Content = Callable[[bytes], bytes | None]


class Files(NamedTuple):
    """The workspace as preconditions see it."""

    manifest: Manifest
    content: Content

    def texts(self, globs: Sequence[str]) -> Iterator[tuple[bytes, bytes]]:
        """Yield the text files that a glob matches (no globs: all), in order."""
        matches = compile_globs(globs) if globs else None
        for path in sorted(self.manifest):
            if self.manifest[path].kind != FILE or (matches and not matches(path)):
                continue
            content = self.content(path)
            if content is not None and b"\0" not in content[:BINARY_BYTES]:
                yield path, content


def find_broken(preconditions: Iterable[Mapping[str, Any]], files: Files) -> str:
    """Return the first precondition that doesn't hold, as a sentence; nothing if all do."""
    for stated in preconditions:
        for name, wanted in stated.items():
            said = _find_broken(name, wanted, files)
            if said:
                return said
    return ""


def _find_broken(name: str, wanted: Any, files: Files) -> str:
    if name in ("file_exists", "file_absent"):
        return _broken_file(name, str(wanted), files.manifest)
    text, globs, regex = _long_form(wanted)
    has_it = _finder(text, word=name.endswith("_word"), regex=regex)
    found = next((path for path, data in files.texts(globs) if has_it(data)), None)
    where = f" in {', '.join(globs)}" if globs else ""
    if name.startswith("no_"):
        return "" if found is None else f'{name} "{text}"{where}: {text_of(found)} has it'
    return "" if found is not None else f'{name} "{text}"{where}: no file has it'


def _broken_file(name: str, path: str, manifest: Manifest) -> str:
    wanted = bytes_of(os.path.normpath(path))
    below = wanted + b"/"
    exists = wanted in manifest or any(each.startswith(below) for each in manifest)
    if exists == (name == "file_exists"):
        return ""
    return f"{name} {path}: " + ("it is there" if exists else "it is not there")


def _long_form(wanted: Any) -> tuple[str, tuple[str, ...], bool]:
    if not isinstance(wanted, Mapping):
        return str(wanted), (), False
    stated = cast("Mapping[str, Any]", wanted)
    globs = stated.get("in") or ()
    texts = (globs,) if isinstance(globs, str) else tuple(globs)
    return str(stated.get("text", "")), texts, bool(stated.get("regex"))


def _finder(text: str, *, word: bool, regex: bool) -> Callable[[bytes], bool]:
    """Return a test of a file's content; a word is bounded by what is no word character."""
    if not word and not regex:
        literal = bytes_of(text)
        return lambda data: literal in data
    source = text if regex else re.escape(text)
    pattern = rf"(?<!\w)(?:{source})(?!\w)" if word else source
    if not regex:
        # The word as it stands: nothing in it can backtrack, however many files there are.
        compiled = re.compile(pattern)
        return lambda data: compiled.search(text_of(data)) is not None
    return lambda data: found_in(text_of(data), pattern, re.MULTILINE)
