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


def find_twins(paths: Iterable[bytes], folds: Folding) -> dict[bytes, bytes]:
    """Return path → the name it would be laid over, or laid into, for all that have one.

    Folders count too: ``B/x`` and ``b/y`` would come to lie in one folder.
    """
    if not any(folds):
        return {}
    seen: dict[str, bytes] = {}
    found: dict[bytes, bytes] = {}
    for path in paths:
        end = len(path)
        while end > 0:
            known = seen.setdefault(_folded(path[:end], folds), path[:end])
            if known != path[:end]:
                found.setdefault(path, known)
            end = path.rfind(b"/", 0, end)
    return found


def _folded(name: bytes, folds: Folding) -> str:
    text = text_of(name)
    if folds.composition:
        text = unicodedata.normalize("NFD", text)
    return text.casefold() if folds.case else text
