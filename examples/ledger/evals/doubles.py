"""Stand-ins for the clerk's storage: a queue and an archive that are files of the workspace.

They take the place of `ledger.storage.open_queue` and `open_archive` in the clerk's own Python,
which is why they import the standard library alone. Each does what the real one promises, and no
decision is taken here: which proposals are put, and when, is the clerk's code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

QUEUE = "queue.jsonl"
ARCHIVE = "archive"


class FileQueue:
    """Keeps each message as a line, where the real one wakes a person."""

    def put(self, message: Mapping[str, Any]) -> None:
        with open(QUEUE, "a", encoding="utf-8") as file:
            file.write(json.dumps(message) + "\n")


class FileSink:
    """Keeps each paper in the workspace, where the real one keeps it for ten years."""

    def keep(self, name: str, content: bytes) -> str:
        path = Path(ARCHIVE, name)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        return name


def open_queue() -> FileQueue:
    return FileQueue()


def open_archive() -> FileSink:
    return FileSink()
