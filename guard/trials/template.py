"""A folder of a git tree, kept ready so that it can be laid again and again.

Made once from git's objects (`guard.trials.export`). A small one is kept in memory and
written from there: three times as fast as the fastest copy.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from guard.errors import UnreadableError
from guard.git import bytes_of, text_of
from guard.tree import GITLINK, Entry, Tree
from guard.trials.export import check_out
from guard.trials.filters import Lacking
from guard.trials.manifest import FILE, LINK, Item, Manifest, digest_of, stamp_of
from guard.wording.units import count

MEMORY_BYTES = 64 << 20


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
        self,
        pieces: Sequence[Piece],
        empty_folders: Sequence[bytes] = (),
        size: int = 0,
        filters: Iterable[str] = (),
        folder: bytes = b"",
    ) -> None:
        self.pieces: Mapping[bytes, Piece] = {piece.path: piece for piece in pieces}
        folders = {folder for path in self.pieces for folder in parents_of(path)}
        for path in empty_folders:
            folders |= {path, *parents_of(path)}
        self.folders = sorted(folders)
        self.size = size
        """Bytes of all files together."""
        self.filters = tuple(sorted(filters))
        """The filters of this machine that had a part in it."""
        self.folder = folder
        """What holds the whole of it as ``ws``, as it is laid; empty where nothing does."""
        self._digests: dict[frozenset[Piece], str] = {}

    def digest_with(self, given: Mapping[bytes, Piece], manifest: Manifest) -> str:
        """Return the digest of what is laid together with given files: ``manifest``, made once."""
        key = frozenset(given.values())
        if key not in self._digests:
            self._digests[key] = digest_of(manifest)
        return self._digests[key]

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
    tree: Tree,
    paths: Sequence[bytes],
    strip: bytes,
    folder: str,
    memory: int = MEMORY_BYTES,
    *,
    keep: bool = False,
) -> Template:
    """Make a template of paths of a tree, named without the prefix ``strip``.

    ``folder`` doesn't exist yet; it stays in use where the whole is larger than ``memory``, and
    where it is to be kept as `Template.folder`. Raises `UnreadableError`, which names the first
    that can't be had.
    """
    entries = tree.entries()
    files = [path for path in paths if entries[path].mode != GITLINK]
    links = [path for path in paths if entries[path].mode == GITLINK]
    work = os.path.join(folder, "tree")
    os.makedirs(work)
    written = check_out(tree, files, os.path.join(folder, "scratch"), work)
    if written.lacking:
        raise lacking_error(written.lacking)
    top = os.path.join(os.fsencode(work), strip)
    if keep:
        top = _set_apart(top, os.path.join(os.fsencode(folder), b"kept"))
    places = {path: os.path.join(top, path[len(strip) :]) for path in files}
    size = sum(os.lstat(place).st_size for place in places.values())
    in_memory = size <= memory and not keep
    pieces = [_piece(path[len(strip) :], places[path], in_memory) for path in files]
    if in_memory:
        shutil.rmtree(folder)
    empty = [path[len(strip) :] for path in links]
    whole = os.path.dirname(top) if keep else b""
    template = Template(pieces, empty, size, written.filters, whole)
    for path in template.folders if keep else ():
        os.makedirs(os.path.join(top, path), exist_ok=True)
    return template


def _set_apart(top: bytes, folder: bytes) -> bytes:
    """Move a folder to ``<folder>/ws``, alone there; it may not be there. Return where it is."""
    kept = os.path.join(folder, b"ws")
    os.mkdir(folder)
    if os.path.isdir(top):
        os.rename(top, kept)
    else:
        os.mkdir(kept)
    return kept


def size_of(tree: Tree, paths: Iterable[bytes]) -> int:
    """Return the bytes of files of a tree as git keeps them; of what isn't there, none."""
    entries = tree.entries()
    names = "".join(f"{entries[path].oid}\n" for path in paths if entries[path].mode != GITLINK)
    call = ("cat-file", "--batch-check=%(objectsize)", "--buffer")
    sizes = tree.repo.run(*call, input=names.encode(), ok=None).out.split(b"\n")
    return sum(int(size) for size in sizes if size.isdigit())


def lacking_error(lacking: Sequence[Lacking]) -> UnreadableError:
    """Return the error for files that can't be had: the first one named, the others counted."""
    first, others = lacking[0], len(lacking) - 1
    more = f", and {count(others, 'more file')}" if others else ""
    return UnreadableError(f"{text_of(first.path)} {first.why}{more}", first.hint)


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


def folder_of(workspace: str) -> bytes:
    """Return a folder of the tree as paths begin: with a slash at its end, "" for the root."""
    name = bytes_of(workspace.strip("/"))
    return name and name + b"/"


def folder_paths(entries: Mapping[bytes, Entry], folder: str) -> tuple[list[bytes], bytes]:
    """Return the paths below a folder of the tree ("" for the root), and the prefix to strip."""
    prefix = folder_of(folder)
    return sorted(path for path in entries if path.startswith(prefix)), prefix


def text_piece(path: bytes, content: str | bytes) -> Piece:
    """Return a file with this content."""
    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape")
    return Piece(path, FILE, False, data, hashlib.sha256(data).hexdigest())
