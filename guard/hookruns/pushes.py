"""What a push brings: its refs, as git or a framework names them, and the commits of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from guard.errors import UnreadableError
from guard.git import Repo, text_of
from guard.hookruns.remotes import Remotes

#: All that any remote has, as rev-list takes it.
ANY_REMOTE = "--remotes"


class PushedRef(NamedTuple):
    """One ref that is created or moved on the other side."""

    name: str
    """The ref there, such as refs/heads/main."""
    oid: str
    """The object it will name, peeled to a commit by `find_tips`."""
    known: str = ""
    """What it names there now; empty where it is new."""


class Tip(NamedTuple):
    """A commit that is pushed, and the refs that will name it."""

    commit: str
    tree: str
    names: tuple[str, ...]
    known: tuple[str, ...]
    """Commits that the other side has already, and that are here too."""

    @property
    def title(self) -> str:
        """The refs in short, for people."""
        return ", ".join(short_name(name) for name in self.names)


def short_name(ref: str) -> str:
    """Return a ref as people write it."""
    for prefix in ("refs/heads/", "refs/tags/"):
        if ref.startswith(prefix):
            return ref.removeprefix(prefix)
    return ref


def parse_pushed(said: bytes) -> list[PushedRef]:
    """Return what git told a pre-push hook; deletions bring nothing and are left out.

    ``<local ref> <local id> <remote ref> <remote id>``, and the first may hold blanks.
    """
    found: list[PushedRef] = []
    for line in said.splitlines():
        if not line.strip():
            continue
        parts = text_of(line).rsplit(" ", 3)
        if len(parts) != 4 or not is_id(parts[1]) or not is_id(parts[3]):
            raise UnreadableError(f"git said of this push: {text_of(line)!r}, which isn't a ref")
        _local, oid, name, known = parts
        if oid.strip("0"):
            found.append(PushedRef(name, oid, known if known.strip("0") else ""))
    return found


def is_id(text: str) -> bool:
    """Tell whether git would name an object like this."""
    return len(text) in (40, 64) and not text.strip("0123456789abcdef")


def pushed_by_framework(repo: Repo, environment: Mapping[str, str]) -> list[PushedRef]:
    """Return the one ref that the pre-commit framework shows of a push.

    It gives both ends, or the new one alone, or for a branch without history there neither:
    then the branch's name. Raises `UnreadableError` where it gives nothing.
    """
    branch = environment.get("PRE_COMMIT_LOCAL_BRANCH", "")
    named = environment.get("PRE_COMMIT_TO_REF", "") or branch
    oid = repo.resolve(named) if named else None
    if oid is None:
        raise UnreadableError(
            f"the framework shows no pushed ref{f' ({named} is not here)' if named else ''}",
            "pre-commit run --hook-stage pre-push --from-ref BASE --to-ref TIP",
        )
    start = environment.get("PRE_COMMIT_FROM_REF", "")
    known = (repo.resolve(start) if start else None) or ""
    return [PushedRef(environment.get("PRE_COMMIT_REMOTE_BRANCH") or branch or named, oid, known)]


def find_tips(repo: Repo, refs: Iterable[PushedRef]) -> list[Tip]:
    """Return the commits that the refs name, each once, tags peeled.

    A ref that names no commit (a tag of a file) brings nothing that could be judged.
    """
    names: dict[tuple[str, str], list[str]] = {}
    known: dict[tuple[str, str], list[str]] = {}
    for ref in refs:
        place = _commit_and_tree(repo, ref.oid)
        if place is None:
            # Asked without reading it: it may be a file of any size.
            if repo.run("cat-file", "-e", ref.oid, ok=None).code:
                raise UnreadableError(f"{short_name(ref.name)} is pushed as {ref.oid}: not here")
            continue
        names.setdefault(place, []).append(ref.name)
        there = known.setdefault(place, [])
        if ref.known and (old := _commit_and_tree(repo, ref.known)):
            there.append(old[0])
    return [Tip(*place, tuple(names[place]), tuple(known[place])) for place in names]


def _commit_and_tree(repo: Repo, oid: str) -> tuple[str, str] | None:
    """Peel an object to its commit, whose tree is named in its first line."""
    found = repo.objects.read(f"{oid}^{{commit}}")
    if found is None or found.kind != "commit":
        return None
    return found.oid, found.data[5 : found.data.index(b"\n")].decode()


def known_there(repo: Repo, tips: Iterable[Tip], remote: str, url: str = "") -> list[str]:
    """Return, for ``rev-list --not``, what the other side has already, as far as it is known.

    The tracking refs of the remote, or of the one with the URL that is pushed to; and what
    its refs name now. Never ``remote..local``: a new branch or a forced push has no such range.
    This repository itself, by ``git push .``, has it all.
    Of a URL that no remote has nothing is known: what any remote has is published already.
    """
    heads = dict.fromkeys(commit for tip in tips for commit in tip.known)
    remotes = Remotes(repo)
    if remotes.is_here(remote):
        return ["--glob=refs/*"]
    name = remotes.find(remote, url)
    anywhere = [ANY_REMOTE] if remote and remotes else []
    return [*(remotes.known(name) if name else anywhere), *heads]


def has_all(repo: Repo, remote: str) -> bool:
    """Tell whether the remote has every commit of every branch and tag, as far as is known here."""
    remotes = Remotes(repo)
    name = remotes.find(remote)
    if not name:
        return False
    head = ["HEAD"] if repo.resolve("HEAD") else []
    refs = ("--branches", "--tags", *head, "--not", *remotes.known(name))
    return not repo.out("rev-list", "--max-count=1", *refs)
