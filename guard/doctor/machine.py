"""The machine: git, Python, and how far trials can be kept apart."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess

from guard import __version__
from guard.doctor import Finding, broken, holds, look, unknown
from guard.errors import UsageError
from guard.git import MINIMUM_VERSION, Repo
from guard.trials.runfolder import RunFolder
from guard.trials.sandbox import NOT_CONTROLLED, plan_hidden, probe_namespaces
from guard.trials.ways import find_overlay

#: From here on git merges trees without a work tree (`git merge-tree --write-tree`).
LIVE_VERSION = (2, 38)
UPGRADE = "install a newer git"


def check_git() -> Finding:
    """Check that git is there, and new enough."""
    if not shutil.which("git"):
        return broken("git is not on PATH", "install git 2.31 or newer")
    done = subprocess.run(["git", "--version"], capture_output=True, text=True, check=False)
    return judge_git(done.stdout)


def judge_git(told: str) -> Finding:
    """Judge what ``git --version`` printed."""
    found = re.search(r"\d+\.\d+(?:\.\d+)*", told)
    if not found:
        return unknown(f"git says {told.strip()!r}, which names no version", "git --version")
    version = tuple(int(part) for part in found[0].split(".")[:2])
    if version < MINIMUM_VERSION:
        return broken(f"git {found[0]} is too old: guard needs 2.31 or newer", UPGRADE)
    if version < LIVE_VERSION:
        return look(
            f"git {found[0]}: a proof can't take a fix back from today's tree (live); "
            "pinned and branch are used",
            f"{UPGRADE} (2.38)",
        )
    return holds(f"git {found[0]}")


def check_python() -> Finding:
    """Say which guard this is, and what runs it."""
    return holds(f"guard {__version__}, Python {platform.python_version()}, {platform.system()}")


def check_isolation(repo: Repo | None) -> list[Finding]:
    """Check whether trials can be kept from the user's checkout and HOME."""
    problem = probe_namespaces()
    if problem:
        return [look(f"trials: {NOT_CONTROLLED} ({problem})"), _home()]
    if repo is not None and _is_too_wide(repo):
        return [
            look(
                f"trials: {NOT_CONTROLLED} (the repository holds your HOME, "
                "which can't be hidden with it)"
            ),
            _home(),
        ]
    return [holds("trials: the checkout is hidden, {repo} is read-only"), _home()]


def check_workspaces(repo: Repo) -> Finding:
    """Tell how the workspace of a large folder is laid here, and where."""
    with RunFolder(repo) as run:
        try:
            place = run.place()
        except UsageError as error:
            return broken(error.message, error.hint)
        _, problem = find_overlay(place, hides=not _is_too_wide(repo))
    how = f"used again, and mended (no overlay: {problem})" if problem else "overlays"
    return holds(f"large workspaces: {how}, in {place.root}")


def _is_too_wide(repo: Repo) -> bool:
    from os.path import expanduser

    return plan_hidden((repo.root, repo.git_dir, repo.common_dir), expanduser("~")) is None


def _home() -> Finding:
    return holds("trials: each has a HOME, temporary folder and process group of its own")
