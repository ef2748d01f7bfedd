"""What lies on disk and isn't part of the commit: the likely cause of a refusal.

Asked once a commit is refused, so it may take its time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from guard.change import Change
from guard.git import Repo, bytes_of, text_of
from guard.globs import compile_globs, literal_prefix

#: The index that `git commit PATH` makes for the hook: HEAD and those paths alone.
PARTIAL_INDEX = "next-index-"


class LeftOut(NamedTuple):
    """One file on disk that the commit doesn't hold, or holds in another state."""

    path: str
    why: str
    """A few words, to be put behind the path."""
    ignored: bool = False


def is_partial(repo: Repo) -> bool:
    """Tell whether the hook runs for `git commit PATH`."""
    return os.path.basename(repo.index_file).startswith(PARTIAL_INDEX)


def left_out(repo: Repo, change: Change, globs: Iterable[str]) -> list[LeftOut]:
    """Return the files that match a glob and aren't committed as they are on disk."""
    wanted = tuple(globs)
    if not repo.root or not wanted:
        return []
    return [*_untracked(repo, wanted), *_modified(repo, change, wanted)]


def _untracked(repo: Repo, globs: tuple[str, ...]) -> Iterator[LeftOut]:
    folders = [bytes_of(prefix) for prefix in dict.fromkeys(map(literal_prefix, globs))]
    # Below the root itself all that is ignored (node_modules) would be listed.
    options = () if all(folders) else ("--exclude-standard",)
    paths = () if not all(folders) else folders
    listed = repo.run("ls-files", "--others", "-z", *options, "--", *paths, ok=None).out
    matches = compile_globs(globs)
    found = [path for path in listed.split(b"\0") if path and matches(path)]
    rules = ignored_by(repo, found)
    for path in found:
        if path in rules:
            yield LeftOut(text_of(path), f"is ignored by {rules[path]}", ignored=True)
        elif is_partial(repo):
            yield LeftOut(text_of(path), "is left out by `git commit PATH`")
        else:
            yield LeftOut(text_of(path), "exists but is not staged")


def ignored_by(repo: Repo, paths: list[bytes]) -> dict[bytes, str]:
    """Return path → the ignore rule that holds for it, as FILE:LINE."""
    if not paths:
        return {}
    # It refuses literal pathspecs; behind ./ nothing is taken for one with magic.
    asked = b"".join(b"./" + path + b"\0" for path in paths)
    call = ("check-ignore", "--verbose", "--stdin", "-z")
    plain = {"GIT_LITERAL_PATHSPECS": "0"}
    fields = repo.run(*call, input=asked, env=plain, ok=None).out.split(b"\0")
    rules = zip(fields[0::4], fields[1::4], fields[2::4], fields[3::4], strict=False)
    return {
        path.removeprefix(b"./"): f"{text_of(source)}:{text_of(line)}"
        for source, line, pattern, path in rules
        if not pattern.startswith(b"!")
    }


def _modified(repo: Repo, change: Change, globs: tuple[str, ...]) -> Iterator[LeftOut]:
    listed = repo.run("diff-files", "--name-only", "-z", "--ignore-submodules=none", ok=None).out
    matches = compile_globs(globs)
    for path in filter(matches, listed.split(b"\0")):
        # The index's times may be stale: what counts is the content.
        if path and _differs(repo, change, path):
            yield LeftOut(text_of(path), "has changes that are not staged")


def _differs(repo: Repo, change: Change, path: bytes) -> bool:
    try:
        with open(os.path.join(os.fsencode(repo.root), path), "rb") as file:
            on_disk = file.read()
    except OSError:
        return False
    staged = change.new.read(path) or b""
    return on_disk.replace(b"\r\n", b"\n") != staged.replace(b"\r\n", b"\n")
