"""What of case files in other formats is read otherwise than it stands there, or not at all."""

from __future__ import annotations

from collections.abc import Iterable

from guard.model import Case
from guard.output import printable
from guard.wording.units import names

_SHOWN = 3


def remarks_of(cases: Iterable[Case]) -> list[str]:
    """Return a note for each remark on a file, with the cases that it is about."""
    return _told((case, remark) for case in cases for remark in case.remarks)


def unread_keys(cases: Iterable[Case]) -> list[str]:
    """Return a sentence for each key of a file that its format doesn't know."""
    return _told((case, f"the key `{key}` is not read") for case in cases for key in case.unread)


def _told(found: Iterable[tuple[Case, str]]) -> list[str]:
    about: dict[tuple[str, str], list[str]] = {}
    for case, said in found:
        about.setdefault((case.path, said), []).append(case.id)
    return [
        f"{printable(path)}: {printable(said)} ({names(ids, _SHOWN)})"
        for (path, said), ids in about.items()
    ]
