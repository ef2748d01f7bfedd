"""Whether a range has anything to do with guard: else there is nothing to say of it."""

from __future__ import annotations

from collections.abc import Iterable

from guard.config import FILE
from guard.project import Project


def is_guarded(start: Project, tip: Project, commit: str, not_in: Iterable[str]) -> bool:
    """Tell whether there is a guard.yaml at either end, or a commit between them touches one.

    ``commit`` is the tip's; ``not_in`` are the commits that are not of the range, nor before them.
    """
    if tip.has_config or start.has_config:
        return True
    wanted = ("rev-list", "--max-count=1", "--full-history", commit)
    return bool(tip.repo.out(*wanted, "--not", *not_in, "--", FILE).strip())
