"""Which manager of hooks a repository uses, by the files that its users commit."""

from __future__ import annotations

import os
import shutil

from guard.git import Repo
from guard.setup.framework import FILE
from guard.setup.lefthook import read_lefthook


def other_manager(root: str) -> str:
    """Return the name of a manager that reads no `.pre-commit-config.yaml`; empty for none."""
    if read_lefthook(root).files:
        return "lefthook"
    return "husky" if os.path.isdir(os.path.join(root, ".husky")) else ""


def framework_program() -> str:
    """Return the program that installs the hooks of `.pre-commit-config.yaml`; empty for none."""
    return next(filter(shutil.which, ("pre-commit", "prek")), "")


def uses_framework(repo: Repo) -> bool:
    """Tell whether somebody committed, or staged, `.pre-commit-config.yaml`."""
    return bool(repo.out("ls-files", "-z", "--", FILE))
