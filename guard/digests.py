"""SHA-256 without OpenSSL, which each commit would else wait for."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any


def new_sha256() -> Any:
    """Return a fresh SHA-256, Python's own where it has one; its `random` goes the same way."""
    for module in ("_sha2", "_sha256", "hashlib"):
        try:
            return import_module(module).sha256()
        except ImportError:
            continue
    raise ImportError("this Python has no SHA-256")


def digest_of(parts: Iterable[bytes]) -> str:
    """Return the first half of the SHA-256 of parts, each with its length before it."""
    digest = new_sha256()
    for part in parts:
        digest.update(b"%d:%s" % (len(part), part))
    return str(digest.hexdigest())[:32]
