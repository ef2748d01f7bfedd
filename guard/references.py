"""Files of the tree that a configuration names inside other text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from guard.model import Case

_IN_REPO = re.compile(r"\{repo\}/([^{}]+)")
_FIRST_WORD = re.compile(r"\A[^\s\"'`;&|<>()]+(?=[\s\"'`;&|<>()])")


def fixtures_of(case: Case) -> list[str]:
    """Return the paths of the tree that what a case is given comes from."""
    given = [cast("Mapping[str, str]", v) for v in case.given.values() if isinstance(v, Mapping)]
    return [*(source["from"] for source in given), *sources_in(case.provisions)]


def sources_in(value: Any) -> list[str]:
    """Return the paths written as ``{from: path}``, and no more in it, anywhere in a value."""
    if isinstance(value, Mapping):
        found = cast("Mapping[str, Any]", value)
        if len(found) == 1 and isinstance(found.get("from"), str):
            return [str(found["from"])]
        items: Iterable[Any] = found.values()
    else:
        items = cast("Iterable[Any]", value) if isinstance(value, (list, tuple)) else ()
    return [path for item in items for path in sources_in(item)]


def named_in_repo(value: Any) -> list[str]:
    """Return the paths written as ``{repo}/…`` anywhere in a value.

    In a line for a shell the path ends at the first blank or quote, elsewhere it may hold them:
    both are returned, and one of them is in the tree.
    """
    if isinstance(value, str):
        wholes = _IN_REPO.findall(value)
        return list(dict.fromkeys(p for w in wholes for p in (w, *_FIRST_WORD.findall(w)) if p))
    if isinstance(value, Mapping):
        items: Iterable[Any] = cast("Mapping[str, Any]", value).values()
    else:
        items = cast("Iterable[Any]", value) if isinstance(value, (list, tuple)) else ()
    return [path for item in items for path in named_in_repo(item)]
