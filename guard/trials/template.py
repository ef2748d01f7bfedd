"""A folder of a git tree, kept ready so that it can be laid again and again.

Made once by GIT-CASES' rule 1: a fresh index and an own, empty work tree, with committed
attributes honoured and line ends pinned. A small one is kept in memory and written from
there: three times as fast as the fastest copy (PERF 6d).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from guard.git import bytes_of
from guard.tree import GITLINK, Entry, Tree
from guard.trials.manifest import FILE, LINK, Item, stamp_of

MEMORY_BYTES = 64 << 20
ATTRIBUTES = b".gitattributes"
#: Nothing of the user's configuration decides what a workspace holds, or is written to.
SETTINGS = (
    *("-c", "core.autocrlf=false", "-c", "core.eol=lf", "-c", "core.symlinks=true"),
    *("-c", "core.attributesFile=/dev/null", "-c", "core.splitIndex=false"),
    *("-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "-c", "index.sparse=false"),
    *("-c", "core.sparseCheckout=false", "-c", "core.safecrlf=false"),
)
ENVIRONMENT = {"GIT_ATTR_NOSYSTEM": "1", "GIT_LFS_SKIP_SMUDGE": "1"}


class Piece(NamedTuple):
    """One file or symlink of a template."""

    path: bytes
    kind: str
    executable: bool
    data: bytes
    """Content or link target; empty where it is too large for memory."""
    digest: str
    source: bytes = b""
    """Where it lies on disk, for what isn't in memory."""


class Template:
    """Files, symlinks and empty folders (of gitlinks) that can be laid anywhere."""

    def __init__(
        self, pieces: Sequence[Piece], empty_folders: Sequence[bytes] = (), size: int = 0
    ) -> None:
        self.pieces: Mapping[bytes, Piece] = {piece.path: piece for piece in pieces}
        folders = {folder for path in self.pieces for folder in parents_of(path)}
        for path in empty_folders:
            folders |= {path, *parents_of(path)}
        self.folders = sorted(folders)
        self.size = size
        """Bytes of all files together."""

    def lay(self, target: bytes) -> dict[bytes, Item]:
        """Write everything into an existing folder; return its manifest."""
        target += b"/"
        for folder in self.folders:
            os.mkdir(target + folder)
        return {path: lay_piece(piece, target + path) for path, piece in self.pieces.items()}

    def content(self, path: bytes) -> bytes | None:
        """Return the content of a file, or where a symlink leads; None for no such path."""
        piece = self.pieces.get(path)
        if piece is None or not piece.source:
            return None if piece is None else piece.data
        with open(piece.source, "rb") as file:
            return file.read()


def parents_of(path: bytes) -> list[bytes]:
    """Return the folders above a path, the nearest first."""
    found: list[bytes] = []
    while b"/" in path:
        path = path.rpartition(b"/")[0]
        found.append(path)
    return found


def lay_piece(piece: Piece, place: bytes) -> Item:
    """Write one file or symlink; return its entry in the manifest."""
    if piece.kind == LINK:
        os.symlink(piece.data, place)
        return Item(LINK, False, piece.digest, stamp_of(os.lstat(place)))
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    fd = os.open(place, flags, 0o755 if piece.executable else 0o644)
    try:
        if piece.source:
            _copy(piece.source, fd)
        elif piece.data:
            _write(fd, piece.data)
        return Item(FILE, piece.executable, piece.digest, stamp_of(os.fstat(fd)))
    finally:
        os.close(fd)


def _write(fd: int, data: bytes) -> None:
    written = os.write(fd, data)
    while written < len(data):
        written += os.write(fd, memoryview(data)[written:])


def _copy(source: bytes, fd: int) -> None:
    with open(source, "rb", buffering=0) as file:
        try:
            while os.copy_file_range(file.fileno(), fd, 1 << 30):
                pass
        except (AttributeError, OSError):
            # Not Linux, or two file systems that won't copy between them.
            file.seek(os.lseek(fd, 0, os.SEEK_CUR))
            with open(fd, "wb", closefd=False) as target:
                shutil.copyfileobj(file, target, 1 << 20)


def make_template(
    tree: Tree, paths: Sequence[bytes], strip: bytes, folder: str, memory: int = MEMORY_BYTES
) -> Template:
    """Make a template of paths of a tree, named without the prefix ``strip``.

    ``folder`` doesn't exist yet; it stays in use where the whole is larger than ``memory``.
    Raises `UnreadableError` where git can't check them out.
    """
    entries = tree.entries()
    files = [path for path in paths if entries[path].mode != GITLINK]
    links = [path for path in paths if entries[path].mode == GITLINK]
    work = os.path.join(folder, "tree")
    os.makedirs(work)
    check_out(tree, files, folder, work)
    places = {path: os.path.join(os.fsencode(work), path) for path in files}
    size = sum(os.lstat(place).st_size for place in places.values())
    in_memory = size <= memory
    pieces = [_piece(path[len(strip) :], places[path], in_memory) for path in files]
    if in_memory:
        shutil.rmtree(folder)
    return Template(pieces, [path[len(strip) :] for path in links], size)


def check_out(tree: Tree, files: Sequence[bytes], scratch: str, work: str) -> None:
    """Write files of a tree into the folder ``work``, through an index in ``scratch``."""
    if not files:
        return
    entries = tree.entries()
    env = {**ENVIRONMENT, "GIT_INDEX_FILE": os.path.join(scratch, "index"), "GIT_WORK_TREE": work}
    attributes = [p for p in entries if p == ATTRIBUTES or p.endswith(b"/" + ATTRIBUTES)]
    listed = b"".join(
        b"%s %s\t%s\0" % (entries[path].mode.encode(), entries[path].oid.encode(), path)
        for path in dict.fromkeys((*files, *attributes))
    )
    git = tree.repo.run
    git(*SETTINGS, "update-index", "-z", "--index-info", input=listed, env=env)
    names = b"".join(path + b"\0" for path in files)
    git(*SETTINGS, "checkout-index", "-q", "-z", "--stdin", input=names, env=env)


def _piece(path: bytes, place: bytes, in_memory: bool) -> Piece:
    status = os.lstat(place)
    if stat.S_ISLNK(status.st_mode):
        target = os.readlink(place)
        return Piece(path, LINK, False, target, hashlib.sha256(target).hexdigest())
    executable = bool(status.st_mode & stat.S_IXUSR)
    if in_memory:
        with open(place, "rb") as file:
            data = file.read()
        return Piece(path, FILE, executable, data, hashlib.sha256(data).hexdigest())
    with open(place, "rb", buffering=0) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Piece(path, FILE, executable, b"", digest, place)


def folder_paths(entries: Mapping[bytes, Entry], folder: str) -> tuple[list[bytes], bytes]:
    """Return the paths below a folder of the tree ("" for the root), and the prefix to strip."""
    prefix = bytes_of(folder.strip("/"))
    if not prefix:
        return sorted(entries), b""
    prefix += b"/"
    return sorted(path for path in entries if path.startswith(prefix)), prefix


def text_piece(path: bytes, content: str | bytes) -> Piece:
    """Return a file with this content."""
    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape")
    return Piece(path, FILE, False, data, hashlib.sha256(data).hexdigest())
