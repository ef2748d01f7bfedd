"""A git tree, read lazily: its entries, and the contents of those that are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from guard.git import ObjectError, Repo, bytes_of

GITLINK = "160000"
SYMLINK = "120000"
EXECUTABLE = "100755"
FOLDER = "40000"


class Entry(NamedTuple):
    """One path of a tree."""

    mode: str
    """100644, 100755, 120000 (symlink) or 160000 (gitlink)."""
    oid: str


class Tree:
    """One tree object of a repository."""

    on_disk = False
    """Whether it was taken from files on disk."""
    modules: Mapping[bytes, str] = {}
    """Folder → git directory of the submodules whose files are among the entries."""

    def __init__(self, repo: Repo, oid: str) -> None:
        self.repo = repo
        self.oid = oid
        self._entries: dict[bytes, Entry] | None = None
        self._looked_up: dict[bytes, Entry | None] = {}

    def entries(self) -> Mapping[bytes, Entry]:
        """Return path → entry for all files of the tree, gitlinks too."""
        if self._entries is None:
            listing = self.repo.out("ls-tree", "-r", "-z", "--full-tree", self.oid)
            self._entries = parse_listing(listing)
        return self._entries

    def entries_in(self, folders: Iterable[bytes]) -> Mapping[bytes, Entry]:
        """Return at least the entries at or below folders: all, unless fewer take less time."""
        return self.entries()

    def get(self, path: bytes) -> Entry | None:
        """Return the entry at ``path``, without listing the whole tree for a single one."""
        if self._entries is not None:
            return self._entries.get(path)
        if path not in self._looked_up:
            self._looked_up[path] = self._walk_to(path)
        return self._looked_up[path]

    def _walk_to(self, path: bytes) -> Entry | None:
        found = entry_at(self.repo, self.oid, path)
        return found if found and found.mode != FOLDER else None

    def paths(self) -> Iterator[bytes]:
        """Yield the path of every file; for a submodule one below its folder."""
        for path, entry in self.entries().items():
            yield path + b"/." if entry.mode == GITLINK else path

    def below(self, folder: bytes) -> dict[bytes, Entry]:
        """Return the entries below a folder (empty: all), without listing the rest."""
        if not folder:
            return dict(self.entries())
        if self._entries is None:
            listing = self.repo.out("ls-tree", "-r", "-z", "--full-tree", self.oid, "--", folder)
            return parse_listing(listing)
        prefix = folder + b"/"
        return {p: e for p, e in self._entries.items() if p.startswith(prefix) or p == folder}

    def read(self, path: bytes | str) -> bytes | None:
        """Return the content at ``path``, or None where there is no file."""
        name = path if isinstance(path, bytes) else bytes_of(path)
        entry = self.get(name)
        if entry is None or entry.mode == GITLINK:
            return None
        return self.read_blobs({entry.oid: name})[entry.oid]

    def read_many(self, paths: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return path → content for those of the paths that are files."""
        oids = {p: e.oid for p in paths if (e := self.get(p)) and e.mode != GITLINK}
        blobs = self.read_blobs({oid: path for path, oid in oids.items()})
        return {path: blobs[oid] for path, oid in oids.items()}

    def read_blobs(self, paths: Mapping[str, bytes]) -> dict[str, bytes]:
        """Return id → content of blobs, given as id → path: what can't be read is named."""
        try:
            return self.repo.objects.read_many(paths)
        except ObjectError as error:
            raise error.of_file(paths.get(error.oid, b"")) from error


def entry_at(repo: Repo, oid: str, path: bytes) -> Entry | None:
    """Return what is at a path of a tree, a folder too.

    Down through the tree objects: ls-tree would be a process for every look-up.
    """
    found: Entry | None = Entry(FOLDER, oid)
    for name in path.split(b"/"):
        if found is None or found.mode != FOLDER:
            return None
        found = read_folder(repo, found.oid).get(name)
    return found


def walk_folder(repo: Repo, oid: str, folder: bytes) -> dict[bytes, Entry]:
    """Return the entries at or below a folder of a tree, read from its objects one by one."""
    top = entry_at(repo, oid, folder)
    if top is None or top.mode != FOLDER:
        return {} if top is None else {folder: top}
    found: dict[bytes, Entry] = {}
    waiting = [(folder, top.oid)]
    while waiting:
        above, oid = waiting.pop()
        for name, entry in read_folder(repo, oid).items():
            path = above + b"/" + name
            if entry.mode == FOLDER:
                waiting.append((path, entry.oid))
            else:
                found[path] = entry
    return found


def read_folder(repo: Repo, oid: str) -> Mapping[bytes, Entry]:
    """Return name → entry of one tree object, its folders too (mode `FOLDER`)."""
    item = repo.objects.read(oid)
    if item is None or item.kind != "tree":
        raise ObjectError(oid)
    return parse_folder(item.data, len(oid) // 2)


def parse_folder(content: bytes, width: int) -> dict[bytes, Entry]:
    """Parse a raw tree object whose ids are ``width`` bytes wide."""
    found: dict[bytes, Entry] = {}
    start = 0
    while start < len(content):
        end = content.index(b"\0", start)
        mode, _, name = content[start:end].partition(b" ")
        start = end + 1 + width
        found[name] = Entry(mode.decode(), content[end + 1 : start].hex())
    return found


def parse_listing(listing: bytes) -> dict[bytes, Entry]:
    """Parse the output of ``ls-tree -z``."""
    found: dict[bytes, Entry] = {}
    for record in listing.split(b"\0"):
        if record:
            head, path = record.split(b"\t", 1)
            mode, _, oid = head.split()
            found[path] = Entry(mode.decode(), oid.decode())
    return found
