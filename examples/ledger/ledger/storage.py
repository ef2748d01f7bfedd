"""What the clerk leaves outside the ledger: a queue that people read, and the archive.

Agents reach both through the two functions at the end, and nothing else does.
"""

from __future__ import annotations

import hashlib
import json
import os
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol


class Queue(Protocol):
    """Where proposals wait for a person."""

    def put(self, message: Mapping[str, Any]) -> None: ...


class Archive(Protocol):
    """Where papers lie for ten years."""

    def keep(self, name: str, content: bytes) -> str:
        """Return the reference under which the content can be found again."""
        ...


class HttpQueue(NamedTuple):
    """The review desk's queue, behind HTTP."""

    url: str

    def put(self, message: Mapping[str, Any]) -> None:
        body = json.dumps(message).encode()
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})
        urllib.request.urlopen(request, timeout=10).close()


class WriteOnceFolder(NamedTuple):
    """A folder in which a file is named by its content and never written again."""

    path: Path

    def keep(self, name: str, content: bytes) -> str:
        reference = f"{hashlib.sha256(content).hexdigest()[:16]}-{name}"
        self.path.mkdir(parents=True, exist_ok=True)
        file = self.path / reference
        if not file.exists():
            file.write_bytes(content)
            file.chmod(0o444)
        return reference


def open_queue() -> Queue:
    return HttpQueue(os.environ["LEDGER_QUEUE_URL"])


def open_archive() -> Archive:
    return WriteOnceFolder(Path(os.environ["LEDGER_ARCHIVE"]))
