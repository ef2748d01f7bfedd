"""Receipts as files, written by one repository, changed, and offered to another."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from guard.storage.records import Receipt, seal
from tests.commands.calling import Outcome, call_guard
from tests.conftest import ScratchRepo

Fields = dict[str, Any]


def receipts(repo: ScratchRepo, *arguments: str) -> Outcome:
    return call_guard(repo.root, "receipts", *arguments)


def cloned(repo: ScratchRepo, folder: Path) -> ScratchRepo:
    """Return a clone on another machine: nothing is held there."""
    repo.git("clone", "-q", str(repo.root), str(folder))
    return ScratchRepo(folder)


def exported(repo: ScratchRepo, folder: Path, *options: str) -> list[Path]:
    outcome = receipts(repo, "export", str(folder), *options)
    assert outcome.code == 0, outcome
    return sorted(folder.glob("*"))


def forged(file: Path, change: Callable[[Fields], None], name: str = "") -> Path:
    """Write another receipt beside a file, whose digest fits what was changed."""
    fields: Fields = json.loads(file.read_text())
    change(fields)
    values = {key: fields[key] for key in Receipt._fields}
    fields["digest"] = seal(Receipt(**values)).digest
    written = file.with_name(name or file.name)
    written.write_text(json.dumps(fields))
    return written


def trials(fields: Fields) -> list[Fields]:
    found: list[Fields] = fields["evidence"]["trials"]
    return found
