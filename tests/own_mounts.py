"""Tests in a mount namespace of their own: on a thread, so that it is gone with the thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from guard.trials import own_mounts


def in_own_mounts(body: Callable[[], None]) -> None:
    """Call ``body`` where overlays may be mounted; what it raises is raised here."""
    raised: list[BaseException] = []

    def call() -> None:
        try:
            assert own_mounts.enter() == ""
            body()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]


@cache
def why_no_overlays(folder: str) -> str:
    """Return why overlays can't be had below a folder, or nothing."""
    found: list[str] = []

    def try_it() -> None:
        found.append(own_mounts.enter() or own_mounts.probe_overlay(folder)[1])

    thread = threading.Thread(target=try_it)
    thread.start()
    thread.join()
    return found[0]


def need_overlays(folder: Path) -> None:
    """Skip the test where overlays can't be had."""
    problem = why_no_overlays(str(folder.parent / "probe"))
    if problem:
        pytest.skip(f"no overlays here: {problem}")
