"""Whether a broken rule blocks or, while a team starts, only warns: ``enforce`` of guard.yaml."""

from __future__ import annotations

import time
from collections.abc import Iterable

from guard.config import Config
from guard.project import Project

RULES = ("fix-needs-case", "fix-needs-record", "case-weakened")
#: A team that is warned of missing cases is not blocked for the records that go with them.
_FOLLOWS = {"fix-needs-record": "fix-needs-case"}


def deadline(config: Config, rule: str) -> str:
    """Return the last day on which the rule only warns; empty where it blocks."""
    stated = config.enforce.get(rule, "")
    if not stated and rule in _FOLLOWS:
        return deadline(config, _FOLLOWS[rule])
    return "" if stated in ("", "block") else str(stated["until"])


def warns_until(projects: Iterable[Project], rule: str, today: str = "") -> str:
    """Return the day until which the rule warns by every guard.yaml there is; else nothing.

    ``today`` is a date in UTC, such as 2026-12-31; the clock's by default.
    """
    days = [deadline(p.policy, rule) for p in projects if p.has_config]
    last = min(days, default="")
    return last if last >= (today or time.strftime("%Y-%m-%d", time.gmtime())) else ""
