"""Objects of a repository, read in bulk, and what git says as Python has it."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterable, Sequence
from typing import IO, TYPE_CHECKING, NamedTuple

from guard.errors import UnreadableError

if TYPE_CHECKING:
    from guard.git import Repo

#: Objects asked for in one go: their names fit into a pipe, so neither side waits for the other.
AT_ONCE = 200
#: Brings what a partial clone left out; nothing of guard fetches unasked.
FETCH_MISSING = "git fetch --refetch --no-filter"


def text_of(path: bytes) -> str:
    """Return a path of git's as text, reversibly."""
    return path.decode("utf-8", "surrogateescape")


def bytes_of(path: str) -> bytes:
    """Return the bytes that `text_of` made this text from."""
    return path.encode("utf-8", "surrogateescape")


#: What git ends with where it has said why in the line before.
_NO_REASON = "fatal: revision walk setup failed"


def said_by_git(stderr: bytes) -> str:
    """Return the line in which git says why it ended; its first line where none does."""
    lines = [line for line in text_of(stderr.strip()).splitlines() if line != _NO_REASON] or [""]
    for word in ("fatal: ", "error: "):
        for line in lines:
            if line.startswith(word):
                return line.removeprefix(word)
    return lines[0] if lines else ""


class GitObject(NamedTuple):
    """One object of the repository."""

    oid: str
    kind: str
    data: bytes


class ObjectError(UnreadableError):
    """An object that can't be read: missing, and nothing fetches it unasked, or damaged."""

    def __init__(self, oid: str, why: str = "", hint: str = "") -> None:
        missing = "is missing (a partial or shallow clone?)"
        super().__init__(
            f"object {oid} {why or missing}",
            hint or ("git fsck" if why else FETCH_MISSING),
        )
        self.oid = oid

    def of_file(self, path: bytes) -> UnreadableError:
        """Return the error that names the file whose content the object is."""
        return UnreadableError(f"{text_of(path)} can't be read: {self.message}", self.hint)


class ObjectReader:
    """Reads objects through one ``git cat-file --batch`` that stays open."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo
        self._process: subprocess.Popen[bytes] | None = None
        self._held: dict[str, bytes] = {}
        # What trials set up may read files of the tree, each on a thread of its own.
        self._lock = threading.RLock()

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        if self._process is None:
            self._process = self._repo.start("cat-file", "--batch")
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        return stdin, stdout

    def open(self) -> None:
        """Start the process behind the reader before it is needed, beside something else."""
        self._pipes()

    def read(self, spec: bytes | str) -> GitObject | None:
        """Return the object that ``spec`` names (an id, ``REV:path``, ``:path``), or None."""
        name = spec if isinstance(spec, bytes) else spec.encode()
        return None if b"\n" in name else self._answers([name])[0]

    def hold(self, oids: Iterable[str]) -> None:
        """Read blobs for those who will ask for them one by one; let go of what was held before.

        What can't be read is theirs to ask for, and to be told of.
        """
        asked = dict.fromkeys(oids)
        kept = {oid: self._held[oid] for oid in asked if oid in self._held}
        wanted = [oid for oid in asked if oid not in kept]
        try:
            for start in range(0, len(wanted), AT_ONCE):
                names = [oid.encode() for oid in wanted[start : start + AT_ONCE]]
                kept.update((item.oid, item.data) for item in self._answers(names) if item)
        except UnreadableError:
            pass
        self._held = kept

    def read_many(self, oids: Iterable[str]) -> dict[str, bytes]:
        """Return id → content of the blobs named. Raises `ObjectError` where one is missing."""
        asked = dict.fromkeys(oids)
        found = {oid: self._held[oid] for oid in asked if oid in self._held}
        wanted = [oid for oid in asked if oid not in found]
        for start in range(0, len(wanted), AT_ONCE):
            chunk = wanted[start : start + AT_ONCE]
            for oid, item in zip(chunk, self._answers([o.encode() for o in chunk]), strict=True):
                if item is None:
                    raise self._lost(oid.encode())
                found[oid] = item.data
        return found

    def _answers(self, names: Sequence[bytes]) -> list[GitObject | None]:
        """Ask for several at once: waiting for each answer takes longer than the answers."""
        with self._lock:
            return self._ask(names)

    def _ask(self, names: Sequence[bytes]) -> list[GitObject | None]:
        found: list[GitObject | None] = []
        try:
            stdin, stdout = self._pipes()
            stdin.write(b"".join(name + b"\n" for name in names))
            stdin.flush()
            for name in names:
                found.append(_object_after(stdout.readline(), stdout, name))
        except (OSError, EOFError) as error:
            raise self._lost(names[len(found)]) from error
        return found

    def _lost(self, name: bytes) -> ObjectError:
        """Ask again, alone, for an object that isn't to be had: only then git tells why."""
        self.close()
        err = self._repo.run("cat-file", "-p", name, ok=None).err
        damaged = [text_of(line) for line in err.splitlines() if line.startswith(b"error: ")]
        if b"promisor" in err or (b"Not a valid object name" in err and not damaged):
            return ObjectError(text_of(name))
        if damaged:
            return ObjectError(text_of(name), f"is damaged ({damaged[0][len('error: ') :]})")
        return ObjectError(text_of(name), f"can't be read ({said_by_git(err)})")

    def close(self) -> None:
        """End the process behind the reader."""
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except OSError:
                continue  # it ended with a question unread
        process.wait()


def _object_after(header: bytes, stdout: IO[bytes], name: bytes) -> GitObject | None:
    if header.endswith((b" missing\n", b" ambiguous\n")):
        return None
    parts = header.split()
    if not parts:
        raise EOFError
    if len(parts) != 3:
        raise UnreadableError(f"git cannot read {text_of(name)}: {text_of(header.strip())}")
    data = stdout.read(int(parts[2]))
    stdout.read(1)
    return GitObject(parts[0].decode(), parts[1].decode(), data)
