"""Receipts to files and from files."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from guard.engine import Engine
from guard.errors import UsageError
from guard.exchange.checks import Answers, check_receipt
from guard.exchange.files import (
    ORDINARY,
    RED,
    NotAReceipt,
    Stored,
    content_of,
    file_name,
    read_receipt,
)
from guard.exchange.trials import Known
from guard.output import printable, shell_path, write_bytes
from guard.project import Project
from guard.proofs.evidence import APART
from guard.store import Store
from guard.tree import Tree

ENDING = ".json"


def stored_in(store: Store) -> list[Stored]:
    """Return all that is kept, the oldest first."""
    kinds = (ORDINARY, RED)
    found = [Stored(kind, receipt) for kind in kinds for receipt in store.all_receipts(kind)]
    return sorted(found, key=lambda one: one.receipt.date)


class Fitting:
    """Tells which receipts are evidence for the tree under test."""

    def __init__(self, engine: Engine) -> None:
        project = engine.project
        nothing = Tree(project.repo, project.repo.empty_tree)
        cases = project.cases.values()
        self.cases = {engine.receipt_key(case): case for case in cases}
        self._apart = {engine.receipt_key(case, nothing) for case in cases}
        self._named = set(_named_digests(project))
        self._fits = engine.answers.fits

    def __call__(self, stored: Stored) -> bool:
        """Tell whether a receipt may answer a case or a proof of this tree."""
        receipt = stored.receipt
        if receipt.digest in self._named:
            return True
        if stored.kind == RED:
            exact = str(receipt.evidence.get("exact", ""))
            # That of a record of kind command has the command's digest before it.
            of_tree = any(exact.endswith(key) for key in self.cases)
            return of_tree or receipt.evidence.get(APART) in self._apart
        return receipt.key in self.cases and self._fits(receipt)


def _named_digests(project: Project) -> Iterator[str]:
    """Yield the receipts that records of the tree name."""
    for record in project.records.values():
        yield from (record.proof or {}).get("receipts", ())


def known_cases(project: Project) -> Mapping[str, Known]:
    """Return key → case, of the cases that the tree under test states.

    A broken side is found by its key but for the state that it was run on.
    """
    if not project.has_config:
        return {}
    nothing = Tree(project.repo, project.repo.empty_tree)
    evaluators = {name: project.evaluators_of(agent) for name, agent in project.agents.items()}
    found: dict[str, Known] = {}
    with Engine(project) as engine:
        for case in project.cases.values():
            expected = {**project.agents[case.agent].always, **case.expected}
            known = Known(case, expected, evaluators[case.agent])
            found[engine.receipt_key(case)] = found[engine.receipt_key(case, nothing)] = known
    return found


def export(chosen: Iterable[Stored], folder: str) -> int:
    """Write one file for each receipt; return how many there are."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        said = f"{printable(folder)} can't be made: {error.strerror}"
        raise UsageError(said, "guard receipts export FOLDER") from error
    number = 0
    for stored in chosen:
        write_bytes(os.path.join(folder, file_name(stored.receipt)), content_of(stored))
        number += 1
    return number


class Imported(NamedTuple):
    """What came of files that were to be imported."""

    new: int = 0
    known: int = 0
    refused: tuple[tuple[str, str], ...] = ()
    """Path and reason of each that was not taken."""
    unkept: int = 0
    """Good ones that the store could not keep."""


def import_all(paths: Iterable[str], store: Store, cases: Mapping[str, Known]) -> Imported:
    """Take the receipts of files into the store; one that is refused keeps no other out."""
    kept = [stored.receipt for stored in stored_in(store)]
    known = {receipt.digest for receipt in kept}
    answers = Answers(kept)
    found = Imported()
    for path in paths:
        try:
            stored = read_receipt(path)
            check_receipt(stored, cases)
            answers.add(stored.receipt)
        except NotAReceipt as error:
            found = found._replace(refused=(*found.refused, (path, str(error))))
            continue
        if stored.receipt.digest in known:
            found = found._replace(known=found.known + 1)
        elif store.put_imported(stored.kind, stored.receipt):
            known.add(stored.receipt.digest)
            found = found._replace(new=found.new + 1)
        else:
            found = found._replace(unkept=found.unkept + 1)
    return found


def files_at(path: str) -> list[str]:
    """Return a file, or the receipts in a folder. Raises `UsageError` where there are none."""
    if os.path.isdir(path):
        try:
            names = sorted(name for name in os.listdir(path) if name.endswith(ENDING))
        except OSError as error:
            raise UsageError(f"{printable(path)} can't be read: {error.strerror}") from error
        if not names:
            raise UsageError(f"there is no receipt in {printable(path)}", _hint(path))
        return [os.path.join(path, name) for name in names]
    if not os.path.lexists(path):
        raise UsageError(f"there is no file or folder {printable(path)}")
    return [path]


def _hint(path: str) -> str:
    return f"guard receipts export {shell_path(path)}    # on the machine that has them"


def of_cases(found: Iterable[Stored], ids: Collection[str]) -> list[Stored]:
    """Return the receipts of some cases. Raises `UsageError` for one that has none."""
    chosen = list(found)
    for name in ids:
        if not any(stored.receipt.case == name for stored in chosen):
            raise UsageError(f"no receipt of {printable(name)} is held here", "guard receipts")
    return [stored for stored in chosen if not ids or stored.receipt.case in ids]
