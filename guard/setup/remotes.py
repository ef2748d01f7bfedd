"""Where the repository's commits go: its remote, and the branch that others start from.

GitPython's place: asked once, at set-up, where its objects are easier to
read than the output of four commands.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from guard.git import Repo

if TYPE_CHECKING:
    import git

#: Where neither a remote nor a setting says it.
DEFAULT_BRANCH = "main"


class Remote(NamedTuple):
    """The remote that is pushed to."""

    name: str = ""
    """Empty where there is none."""
    host: str = ""
    branch: str = DEFAULT_BRANCH
    """Its default branch."""


def find_remote(repo: Repo) -> Remote:
    """Return ``origin``, or the first remote there is, with its default branch.

    What can't be told is left at its default: nothing that is set up depends on it alone.
    """
    import git
    from git.exc import GitError

    try:
        with git.Repo(repo.root or repo.git_dir) as opened:
            return _described(opened)
    except (GitError, OSError, ValueError):
        return Remote()


def _described(opened: git.Repo) -> Remote:
    names = [remote.name for remote in opened.remotes]
    if not names:
        return Remote(branch=_own_branch(opened))
    name = "origin" if "origin" in names else names[0]
    remote = opened.remotes[names.index(name)]
    # A remote without a URL is a leftover of `git config`; it has no host.
    url = next(iter(remote.urls), "") if _has_url(opened, name) else ""
    return Remote(name, host_of(url), _head_of(remote) or _own_branch(opened))


def _has_url(opened: git.Repo, name: str) -> bool:
    with opened.config_reader() as settings:
        return settings.has_option(f'remote "{name}"', "url")


def _head_of(remote: git.Remote) -> str:
    """Return the branch that the remote's HEAD names, as the last clone or fetch left it."""
    prefix = f"{remote.name}/"
    for reference in remote.refs:
        if reference.name == f"{prefix}HEAD":
            try:
                return str(reference.reference.name).removeprefix(prefix)
            except (TypeError, ValueError):  # detached, or it names nothing
                return ""
    return ""


def _own_branch(opened: git.Repo) -> str:
    with opened.config_reader() as settings:
        stated = settings.get_value("init", "defaultBranch", "")
    names = [head.name for head in opened.heads]
    known = [name for name in (str(stated), DEFAULT_BRANCH, "master") if name in names]
    if known:
        return known[0]
    try:
        return str(opened.active_branch.name)
    except TypeError:  # HEAD is detached
        return DEFAULT_BRANCH


def host_of(url: str) -> str:
    """Return the host of a remote's URL; empty for a path."""
    found = re.match(r"[a-z+]+://(?:[^@/]*@)?([^/:]+)", url) or re.match(
        r"(?:[^@/:]+@)?([^/:]{2,}):(?!//)", url
    )
    return found[1].lower() if found else ""
