"""What this repository adds to guard: its storage doubles, declared with their reasons."""

from __future__ import annotations

from guard.plugin import StorageDouble, hookimpl

from .doubles import open_archive, open_queue


@hookimpl
def guard_storage_doubles() -> list[StorageDouble]:
    """The two that the clerk names under ``doubles``; the ledger's database is real."""
    return [
        StorageDouble(
            name="review-queue",
            replaces="ledger.storage:open_queue",
            factory=open_queue,
            why="a message on the real queue wakes a person",
        ),
        StorageDouble(
            name="archive",
            replaces="ledger.storage:open_archive",
            factory=open_archive,
            why="what is in the real archive can't be removed for ten years",
        ),
    ]
