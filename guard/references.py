"""Files of the tree that a configuration names inside other text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_IN_REPO = re.compile(r"\{repo\}/([^{}]+)")
_FIRST_WORD = re.compile(r"\A[^\s\"'`;&|<>()]+(?=[\s\"'`;&|<>()])")


def named_in_repo(value: Any) -> list[str]:
    """Return the paths written as ``{repo}/…`` anywhere in a value.

    In a line for a shell the path ends at the first blank or quote, elsewhere it may hold them:
    both are returned, and one of them is in the tree.
    """
    if isinstance(value, str):
        wholes = _IN_REPO.findall(value)
        return list(dict.fromkeys(p for w in wholes for p in (w, *_FIRST_WORD.findall(w)) if p))
    if isinstance(value, Mapping):
        return [path for item in value.values() for path in named_in_repo(item)]
    if isinstance(value, (list, tuple)):
        return [path for item in value for path in named_in_repo(item)]
    return []
