"""Raw output of clients, in files beside the database; the oldest go when there is too much."""

from __future__ import annotations

import os
import re
from typing import Final

LIMIT: Final = 256 << 20
#: Files are removed until so many bytes are left, not one at each new file.
KEPT: Final = LIMIT * 3 // 4


class RawFiles:
    """A folder of texts, each written whole or not at all."""

    def __init__(self, folder: str, limit: int = LIMIT) -> None:
        self.folder = folder
        self.limit = limit
        self._total: int | None = None
        self._made = 0

    def put(self, name: str, data: bytes) -> str:
        """Keep ``data`` and return the file's path; empty where it can't be kept."""
        path = os.path.join(self.folder, file_name(name))
        self._made += 1
        temporary = f"{path}.{os.getpid()}.{self._made}.tmp"
        try:
            os.makedirs(self.folder, exist_ok=True)
            with open(temporary, "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        except OSError:
            _remove(temporary)
            return ""
        self._make_room(len(data))
        return path

    def get(self, name: str) -> bytes | None:
        """Return what was kept under that name, if it still is."""
        try:
            with open(os.path.join(self.folder, file_name(name)), "rb") as file:
                return file.read()
        except OSError:
            return None

    def _make_room(self, added: int) -> None:
        if self._total is not None and self._total + added <= self.limit:
            self._total += added
            return
        files = self._list_files()
        self._total = sum(size for _, size, _ in files)
        if self._total <= self.limit:
            return
        kept = min(KEPT, self.limit * 3 // 4)
        for _, size, path in files[:-1]:  # the newest stays, however large
            if self._total <= kept:
                return
            _remove(path)
            self._total -= size

    def _list_files(self) -> list[tuple[int, int, str]]:
        """Return (time, size, path) of each file, the oldest first."""
        found: list[tuple[int, int, str]] = []
        with os.scandir(self.folder) as entries:
            for entry in entries:
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError:  # another process was quicker
                    continue
                found.append((status.st_mtime_ns, status.st_size, entry.path))
        return sorted(found)


def file_name(name: str) -> str:
    """Return a name that is one safe file: what is odd or long is told apart by a digest."""
    plain = re.sub(r"[^A-Za-z0-9_.-]", "_", name)
    if plain == name and len(name) <= 100 and not name.startswith("."):
        return name
    from hashlib import sha256

    digest = sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return f"{plain[:80].lstrip('.')}-{digest}"


def _remove(path: str) -> None:
    try:
        os.remove(path)
    except OSError:
        return
