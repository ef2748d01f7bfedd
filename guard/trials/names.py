"""Names that git tells apart and a file system doesn't: twins by case or by composition."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from guard.git import text_of


class Folding(NamedTuple):
    """What a file system takes for the same name."""

    case: bool = False
    composition: bool = False


def folding(folder: str) -> Folding:
    """Try out what the file system of an existing folder takes for the same name."""
    # In bytes: where output is ASCII, so may be what Python makes of file names.
    tried, *others = (
        os.path.join(os.fsencode(folder), name.encode())
        for name in (".guard-Name-\u00e9", ".guard-nAME-\u00e9", ".guard-Name-e\u0301")
    )
    with open(tried, "xb"):
        pass
    try:
        return Folding(*map(os.path.lexists, others))
    finally:
        os.unlink(tried)


def find_twins(paths: Iterable[bytes], folds: Folding) -> tuple[bytes, bytes, str] | None:
    """Return two paths of which one would overwrite the other, and why; None where there are none.

    Folders count too: ``B/x`` and ``b/y`` would be laid into one folder.
    """
    if not any(folds):
        return None
    seen: dict[str, bytes] = {}
    for path in paths:
        end = len(path)
        while end > 0:
            name = path[:end]
            known = seen.setdefault(_folded(name, folds), name)
            if known != name:
                return known, name, "case folds" if _by_case(known, name) else "composed alike"
            end = path.rfind(b"/", 0, end)
    return None


def _by_case(first: bytes, second: bytes) -> bool:
    return text_of(first).casefold() == text_of(second).casefold()


def _folded(name: bytes, folds: Folding) -> str:
    text = text_of(name)
    if folds.composition:
        text = unicodedata.normalize("NFD", text)
    return text.casefold() if folds.case else text
