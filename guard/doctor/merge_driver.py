"""The merge driver of regressions.json: named for all in .gitattributes, defined clone by clone."""

from __future__ import annotations

import os
from collections.abc import Iterator

from guard.doctor import Finding, holds, look
from guard.git import Repo
from guard.output import printable
from guard.regressions import FILE
from guard.setup.merge_driver import configured_driver, driver_python, is_named

INSTALL = "guard install"


def check_merge_driver(repo: Repo) -> Iterator[Finding]:
    """Check that this clone defines what .gitattributes names; nothing where it names nothing."""
    if not is_named(repo):
        return
    command = configured_driver(repo)
    if not command:
        yield look(f"merges of {FILE} are plain text here: this clone has no driver", INSTALL)
        return
    python = driver_python(command)
    if python and not os.access(python, os.X_OK):
        gone = f"{printable(python)}, which merges {FILE}, is gone"
        yield look(f"{gone}: git merges it as text", INSTALL)
        return
    yield holds(f"merges of {FILE}: record by record")
