"""A receipt as a file: canonical JSON that names its own digest."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, cast

from guard.exchange.shapes import misfit
from guard.model import Policy
from guard.results import TrialResult
from guard.storage.records import Receipt, digest_of, dump

SCHEMA: Final = "guard.receipt.v1"
ORDINARY: Final = "receipt"
RED: Final = "red"
#: Bytes of one file; the texts of a receipt are cut far below.
LIMIT: Final = 16 << 20


class NotAReceipt(Exception):
    """A file is no receipt that can be used; its text says why."""


class Evidence(NamedTuple):
    """What a receipt holds of its trials."""

    trials: tuple[TrialResult, ...]
    policy: Policy
    deterministic: bool
    job: Mapping[str, str] = {}
    reads: Mapping[str, str] = {}
    tree: str = ""
    exact: str = ""
    """Of a red side: the key of what was run."""
    state: str = ""
    head: str = ""


class Stored(NamedTuple):
    """A receipt, and what it is kept as."""

    kind: str
    """ORDINARY, or RED: the broken side of a proof."""
    receipt: Receipt


def file_name(receipt: Receipt) -> str:
    """Return a name that is a file of its own everywhere, whatever the case is called."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", receipt.case)[:60]
    return f"{plain or '_'}-{receipt.digest.rpartition(':')[2][:24]}.json"


def content_of(stored: Stored) -> bytes:
    """Return the file's content: the same for the same receipt."""
    fields = {"schema": SCHEMA, "kind": stored.kind, **stored.receipt._asdict()}
    return dump(fields).encode() + b"\n"


def read_receipt(path: str) -> Stored:
    """Return what a file holds. Raises `NotAReceipt`, whoever wrote it and whatever it is."""
    fields = _parsed(_content(path))
    if fields.get("schema") != SCHEMA:
        raise NotAReceipt(f"its schema is not {SCHEMA}")
    kind = fields.get("kind")
    values = {name: fields[name] for name in Receipt._fields if name in fields}
    wrong = misfit(values, Receipt, "it") or misfit(values.get("evidence"), Evidence, "evidence")
    if wrong:
        raise NotAReceipt(wrong)
    if set(fields) != {"schema", "kind", *Receipt._fields}:
        raise NotAReceipt("it has keys that no receipt has, or lacks some")
    receipt = Receipt(**values)
    if receipt.digest != digest_of(receipt):
        raise NotAReceipt("it doesn't fit its own digest: it was altered, or is cut off")
    if kind != (RED if receipt.evidence.get("exact") else ORDINARY):
        raise NotAReceipt("it is not of the kind that it says")
    return Stored(str(kind), receipt)


def _content(path: str) -> bytes:
    """Read a plain file: no link is followed, no pipe waited for, and no more read than is sane."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise NotAReceipt("it is no plain file")
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            content = file.read(LIMIT + 1)
    except OSError as error:
        raise NotAReceipt(f"it can't be read: {error.strerror}") from error
    if len(content) > LIMIT:
        raise NotAReceipt(f"it is larger than {LIMIT >> 20} MiB")
    return content


def _parsed(content: bytes) -> Mapping[str, Any]:
    try:
        found: Any = json.loads(content, parse_constant=_no_number, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        said = "it is nested too deep" if isinstance(error, RecursionError) else "it is no JSON"
        raise NotAReceipt(said) from error
    if not isinstance(found, dict):
        raise NotAReceipt("it is no JSON object")
    return cast("Mapping[str, Any]", found)


def _no_number(name: str) -> float:
    raise ValueError(name)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key twice")
    return found
