"""What a remote has already, as far as this repository knows: its tracking refs.

Nothing is asked over the network: a hook that runs while git is connected must not connect again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from guard.git import Repo, text_of

#: Where the user's own branches and tags lie, whatever a remote is fetched into.
OWN = ("refs/heads/", "refs/tags/")


class Remote(NamedTuple):
    """One remote of the configuration."""

    urls: tuple[str, ...]
    """Those that are fetched from and pushed to, as they are written."""
    fetch: tuple[str, ...]
    """Its refspecs."""


class Remotes:
    """The remotes of a repository, read from its configuration once."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo
        self._remotes = _read_remotes(repo)

    def __bool__(self) -> bool:
        return bool(self._remotes)

    def is_here(self, remote: str) -> bool:
        """Tell whether a URL is this very repository: ``git push . HEAD:other``."""
        folders = (self._repo.root, self._repo.git_dir, self._repo.common_dir)
        places = {os.path.realpath(folder) for folder in folders if folder}
        return bool(remote) and remote not in self._remotes and self._place(remote) in places

    def find(self, remote: str, url: str = "") -> str:
        """Return the remote of this name or URL; empty where none is configured.

        ``url`` is what git made of it, by ``url.X.insteadOf``.
        """
        if remote in self._remotes:
            return remote
        wanted = {self._place(text) for text in (remote, url) if text}
        for name, found in self._remotes.items():
            if wanted.intersection(map(self._place, found.urls)):
                return name
        return next((n for n in self._remotes if wanted.intersection(self._resolved(n))), "")

    def _resolved(self, name: str) -> Iterator[str]:
        """Yield a remote's URLs as git sees them once they are rewritten."""
        for which in ((), ("--push",)):
            said = self._repo.run("remote", "get-url", "--all", *which, name, ok=None)
            yield from map(self._place, text_of(said.out).splitlines())

    def _place(self, url: str) -> str:
        """Return a URL in a form that two ways to write one share."""
        path = url.removeprefix("file://")
        if re.match(r"[\w+.-]+://|[^/]+:", path):
            return path.rstrip("/").removesuffix(".git")
        start = self._repo.root or self._repo.git_dir
        return os.path.realpath(os.path.join(start, path)).removesuffix("/.git")

    def known(self, name: str) -> list[str]:
        """Return what a remote has, as options of ``rev-list --not``."""
        places = [f"refs/remotes/{_literally(name)}/*", *self._fetched_into(name)]
        longer = [other for other in self._remotes if other.startswith(f"{name}/")]
        # What lies below it may be another remote's; each --glob forgets what was excluded.
        others = [f"--exclude=refs/remotes/{_literally(other)}/*" for other in longer]
        return [word for place in dict.fromkeys(places) for word in (*others, f"--glob={place}")]

    def _fetched_into(self, name: str) -> Iterator[str]:
        for refspec in self._remotes[name].fetch:
            place = refspec.partition(":")[2]
            start = place.partition("*")[0]
            if not place.startswith("refs/") or any(
                start.startswith(own) or own.startswith(start) for own in OWN
            ):
                continue
            # Without a wildcard git would look below it.
            yield place if "*" in place else f"{place[:-1]}[{place[-1]}]"


def _read_remotes(repo: Repo) -> Mapping[str, Remote]:
    keys = r"^remote\..*\.(url|pushurl|fetch)$"
    listed = repo.run("config", "-z", "--get-regexp", keys, ok=None).out
    found: dict[str, Remote] = {}
    for entry in filter(None, listed.split(b"\0")):
        key, _, value = text_of(entry).partition("\n")
        name, _, what = key.removeprefix("remote.").rpartition(".")
        known = found.get(name, Remote((), ()))
        if what == "fetch":
            found[name] = known._replace(fetch=(*known.fetch, value))
        else:
            found[name] = known._replace(urls=(*known.urls, value))
    return found


def _literally(name: str) -> str:
    return re.sub(r"([*?\[\\])", r"\\\1", name)
