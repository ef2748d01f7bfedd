"""``guard receipts``: list the stored evidence, write it to files, take it from files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from guard.errors import ExitCode, UsageError
from guard.output import mark_of, out, printable, warn
from guard.session import Session
from guard.wording.units import count

if TYPE_CHECKING:
    import argparse

    from guard.exchange.files import Stored

HELP = "list the stored evidence, or move it between machines as files"
EPILOG = """\
Of `export` the first argument is the folder, the others are ids of cases; one file is written for
each receipt. Of `import` each argument is such a file, or a folder of them: what doesn't hold is
named and refused, all others are taken, and it ends in 2 then. `list` shows them one a line, with
the first digits of the digest, which the file's name has too.

    guard receipts                             # all that is held, and what of it fits the files
    guard receipts export evidence/            # what fits the working tree
    guard receipts import evidence/            # on the other machine"""
ACTIONS = ("list", "export", "import")
#: Digits that a line shows of a digest; the names of exported files begin with the same.
SHORT = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``guard receipts``."""
    parser.epilog = EPILOG
    parser.add_argument("action", metavar="ACTION", nargs="?", help=", ".join(ACTIONS))
    parser.add_argument("arguments", metavar="ARGUMENT", nargs="*", help="see below")
    parser.add_argument(
        "--all",
        action="store_true",
        help="export what fits other files, too",
    )
    parser.add_argument(
        "--at", default="worktree", metavar="TREE", help="worktree, index, or a revision"
    )


def receipts(
    *,
    action: str | None = None,
    arguments: Sequence[str] = (),
    all: bool = False,
    at: str = "worktree",
    disabled: frozenset[str] = frozenset(),
) -> int:
    """Do what the action says; without one, list. Nothing is run."""
    action = action or "list"
    if action not in ACTIONS:
        from guard.schema import nearest

        said = f"guard receipts {action}: takes {', '.join(ACTIONS)}{nearest(action, ACTIONS)}"
        raise UsageError(said, "guard receipts --help")
    if all and action != "export":
        raise UsageError(f"guard receipts {action} takes no --all", "guard receipts --help")
    with Session.open(disabled=disabled) as session:
        if action == "export":
            return _export(session, arguments, at, everything=all)
        if action == "import":
            return _import(session, arguments, at)
        return _list(session, arguments, at)


# list --------------------------------------------------------------------------------------


def _list(session: Session, ids: Sequence[str], at: str) -> int:
    from guard.exchange.moving import of_cases, stored_in

    found = of_cases(stored_in(session.store), ids)
    fits = _fitting(session, found, at)
    for stored in found:
        out(_line(stored, fits.get(stored.receipt.digest)))
    held = count(len(found), "receipt")
    fit = f", {sum(fits.values())} of them for these files" if fits else ""
    said = f"{held} held here{fit}: guard receipts export FOLDER"
    out(said if found else "no receipt is held here")
    return ExitCode.OK


def _fitting(session: Session, found: Sequence[Stored], at: str) -> dict[str, bool]:
    """Return digest → whether it may answer for the tree under test; nothing where none is."""
    from guard.engine import Engine
    from guard.exchange.moving import Fitting

    try:
        project = session.project(at)
        if not (found and project.has_config):
            return {}
        with Engine(project) as engine:
            fits = Fitting(engine)
            return {stored.receipt.digest: fits(stored) for stored in found}
    except UsageError as error:
        warn(f"which of them fit these files isn't known: {error.message}")
        return {}


def _line(stored: Stored, fits: bool | None) -> str:
    receipt = stored.receipt
    counted = f"{receipt.passed} of {receipt.trials}" if receipt.trials else "not graded"
    date = f"{receipt.date[:16].replace('T', ' ')} UTC"
    of = "" if fits is None else ", these files" if fits else ", other files"
    made = ", ".join(_maker(stored))
    shown = f"{printable(receipt.case)}  {receipt.verdict}: {counted}, {date}, {made}"
    short = receipt.digest.rpartition(":")[2][:SHORT]
    return f"{mark_of(receipt.verdict)} {shown}{_side(stored)}{of}  {short}"


def _side(stored: Stored) -> str:
    """Say which key a side before a fix is kept under: one run has several, a receipt each."""
    from guard.exchange.files import RED
    from guard.proofs.evidence import KEPT

    if stored.kind != RED:
        return ""
    if stored.receipt.key.startswith(KEPT):
        return ", before a fix, kept for later edits"
    if stored.receipt.key.startswith("case:"):
        return ", before a fix, kept for its case"
    return ", before a fix"


def _maker(stored: Stored) -> Iterator[str]:
    from guard.ci.jobs import read_job

    yield printable(stored.receipt.producer)
    job = read_job(stored.receipt.evidence.get("job"))
    if job is None:
        return
    if job.pull_request:
        yield f"pull request {printable(job.pull_request)}"
    elif job.branch:
        yield f"branch {printable(job.branch)}"
    if job.service:
        yield printable(f"{job.service} {job.id}".strip())


# export and import -------------------------------------------------------------------------


def _export(session: Session, arguments: Sequence[str], at: str, *, everything: bool) -> int:
    from guard.engine import Engine
    from guard.exchange.moving import Fitting, export, of_cases, stored_in

    folder, *ids = arguments or [""]
    if not folder:
        said = "guard receipts export takes the folder that the files go to"
        raise UsageError(said, "guard receipts export evidence/")
    found = of_cases(stored_in(session.store), ids)
    if everything:
        chosen = found
    else:
        with Engine(session.guarded_project(at)) as engine:
            chosen = list(filter(Fitting(engine), found))
    number = export(chosen, folder)
    left = len(found) - number
    others = f"; {left} of other files left out, --all takes them" if left else ""
    out(f"{count(number, 'receipt')} written to {printable(folder)}{others}")
    return ExitCode.OK


def _import(session: Session, arguments: Sequence[str], at: str) -> int:
    from guard.exchange.moving import files_at, import_all, known_cases

    if not arguments:
        said = "guard receipts import takes files, or folders of them"
        raise UsageError(said, "guard receipts import evidence/")
    paths = [file for path in arguments for file in files_at(path)]
    found = import_all(paths, session.store, known_cases(session.project(at)))
    for path, reason in found.refused:
        warn(f"{printable(path)} is refused: {reason}")
    parts = [f"{count(found.new, 'receipt')} imported"]
    if found.known:
        parts.append(f"{found.known} known already")
    if found.refused:
        parts.append(f"{len(found.refused)} refused")
    if found.unkept:
        parts.append(f"{found.unkept} not kept: the store can't be written")
    out(", ".join(parts))
    if found.refused:
        return ExitCode.USAGE
    return ExitCode.NOT_ESTABLISHED if found.unkept else ExitCode.OK
