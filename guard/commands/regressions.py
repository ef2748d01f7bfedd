"""``guard regressions``: list, audit, verify, add, retire and reopen the retained regressions."""

from __future__ import annotations

import json as json_module
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from guard.commands import verify
from guard.errors import ExitCode, UsageError
from guard.output import out, path_from_here, printable, shell_path, write_file
from guard.proofs.record import put_document, read_document, read_file, write_beside
from guard.regressions import FILE, Record, is_list_form
from guard.running.selection import select_one_case
from guard.session import Session
from guard.wording import commands

if TYPE_CHECKING:
    import argparse

    from guard.project import Project
    from guard.proofs.broken_state import BrokenStates
    from guard.retained.adding import Added, Asked

HELP = "list, audit, verify, add, move, retire or reopen the retained regressions"
#: Action → the options of its own.
ACTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "show": (),
    "audit": (),
    "verify": (),
    "add": (
        *("agent", "before", "patch", "incident", "fails_on"),
        *("expect_exit", "expect_output", "argv", "capsule"),
    ),
    "move": (),
    "retire": ("reason", "by"),
    "reopen": ("reason", "by"),
}
OWN_OPTIONS: Final = tuple(dict.fromkeys(name for names in ACTIONS.values() for name in names))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``guard regressions``."""
    parser.add_argument("action", metavar="ACTION", nargs="?", help=", ".join(ACTIONS))
    add = parser.add_argument_group("add CASE: a record of it, to be proven by `guard prove CASE`")
    add.add_argument("--agent", metavar="NAME", help="whose case it is, to be sure")
    add.add_argument("--before", metavar="REV", help="broken as it was there; kept as a patch")
    add.add_argument("--patch", metavar="F", help="broken by this patch")
    add.add_argument("--incident", metavar="TEXT", help="what happened, in one sentence")
    add.add_argument("--fails-on", metavar="KEY", action="append", help="what fails there")
    add.add_argument("--expect-exit", type=int, metavar="N", help="the code of --command")
    add.add_argument("--expect-output", metavar="TEXT", help="what --command prints")
    add.add_argument(
        "--command",
        dest="argv",
        nargs="...",
        metavar="ARGV",
        help="last: runs the guard against the broken behaviour; weaker than a rebuilt state",
    )
    add.add_argument(
        "--capsule",
        action="store_const",
        const=True,
        help="keep the broken side in the repository, for clones without history; ID may name a "
        "record that is there",
    )
    retire = parser.add_argument_group("retire ID, reopen ID")
    retire.add_argument("--reason", metavar="TEXT", help="why")
    retire.add_argument("--by", metavar="NAME", help="who says so; git's user.name if left out")
    verify.add_arguments(parser)


def regressions(
    *,
    action: str | None = None,
    ids: Sequence[str] = (),
    disabled: frozenset[str] = frozenset(),
    **values: Any,
) -> int:
    """Do what the action says; all but ``verify`` run nothing."""
    if action is None:
        said = f"guard regressions takes an action: {', '.join(ACTIONS)}"
        raise UsageError(said, "guard regressions show    # or: guard regressions --help")
    if action not in ACTIONS:
        from guard.schema import nearest

        said = f"guard regressions {action}: takes {', '.join(ACTIONS)}{nearest(action, ACTIONS)}"
        raise UsageError(said)
    own = {name: values.pop(name, None) for name in OWN_OPTIONS}
    for name, value in own.items():
        if value is not None and name not in ACTIONS[action]:
            option = "command" if name == "argv" else name.replace("_", "-")
            raise UsageError(f"guard regressions {action} takes no --{option}")
    if action == "verify":
        return verify.verify(ids=_without_file(ids), disabled=disabled, **values)
    return _FUNCTIONS[action](list(ids), disabled, {**values, **own})


def _without_file(ids: Sequence[str]) -> list[str]:
    """Leave out the path of this repository's own file, which stands for all its records."""
    for name in ids:
        if name.endswith(".json") and os.path.basename(name) != FILE:
            hint = f"guard regressions audit {shell_path(name)}"
            raise UsageError(f"{printable(name)} is not {FILE} of this repository", hint)
    return [name for name in ids if os.path.basename(name) != FILE]


# show --------------------------------------------------------------------------------------


def _show(ids: list[str], disabled: frozenset[str], values: Mapping[str, Any]) -> int:
    from guard.retained.listing import lines_of

    with Session.open(disabled=disabled) as session:
        project = session.guarded_project()
        records = verify.select_records(project, _without_file(ids))
        if values.get("json"):
            return _as_json(records, str(values["json"]))
        for line in lines_of(project, records) if records else [verify.NOTHING]:
            out(line)
    return ExitCode.OK


def _as_json(records: Sequence[Record], path: str) -> int:
    write_file(path, json_module.dumps({r.id: r.raw for r in records}, indent=2) + "\n")
    return ExitCode.OK


# add ---------------------------------------------------------------------------------------


def _add(names: list[str], disabled: frozenset[str], values: Mapping[str, Any]) -> int:
    from guard.retained.adding import Asked, States

    name = _only(names, "add", "CASE")
    asked = Asked(
        agent=values["agent"],
        before=values["before"],
        patch=values["patch"],
        incident=values["incident"],
        fails_on=values["fails_on"] or (),
        command=_command(values),
        capsule=bool(values["capsule"]),
    )
    with Session.open(disabled=disabled) as session:
        project = session.guarded_project()
        root = session.repo.root
        before = read_file(root)
        with States(project) as states:
            added = _added(project, states.broken, name, asked, rewrite=is_list_form(before))
        document = read_document(root, list_form=True)
        records = {**document["regressions"], added.record.id: added.fields}
        write_beside(root, added.files)
        put_document(root, {**document, "regressions": records})
    if is_list_form(before):
        _tell_rewritten(before)
    _tell_added(root, added)
    return ExitCode.OK


def _added(
    project: Project, states: BrokenStates, name: str, asked: Asked, *, rewrite: bool
) -> Added:
    """Return a new record; or one that is there with a capsule, or to be written in our form."""
    from guard.retained.adding import Added, Asked, keep_broken_side, new_record

    known = project.records.get(name)
    if known is not None and asked == Asked(capsule=True):
        return keep_broken_side(states, known)
    if known is not None and rewrite and asked == Asked():
        return Added(known, known.raw, {})
    case = select_one_case(project, name, "regressions add")
    return new_record(project, states, case, asked)


def _tell_rewritten(before: bytes) -> None:
    from guard.retained.older import left_out

    out(f"{FILE} was in the list form of agentic_evals, and is in guard's form now")
    gone = left_out(before)
    if gone:
        out(f"without what that has no place for: {', '.join(map(printable, gone))}")


def _tell_added(root: str, added: Added) -> None:
    state = "active" if added.fields.get("proof") else "PENDING"
    also = "".join(f", and {printable(path)}" for path in added.files)
    out(f"{printable(added.record.id)} is in {FILE}, {state}{also}; nothing was run")
    if state == "PENDING":
        out(f"next: guard prove {shell_path(added.record.id)}")
        return
    out(f"next: git add {' '.join(path_from_here(root, path) for path in (FILE, *added.files))}")


def _command(values: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what the record says of its command. Raises `UsageError`."""
    stated = {
        key: values[key] for key in ("expect_exit", "expect_output") if values[key] is not None
    }
    if values["argv"] is None:
        if stated:
            raise UsageError("--expect-exit and --expect-output say how a --command ends: name it")
        return None
    return {"kind": "command", "argv": values["argv"], **stated}


def _only(names: Sequence[str], action: str, what: str) -> str:
    if len(names) != 1:
        raise UsageError(f"guard regressions {action} takes one {what}", "guard regressions show")
    return names[0]


# move, retire, reopen ----------------------------------------------------------------------


def _move(names: list[str], disabled: frozenset[str], values: Mapping[str, Any]) -> int:
    """Let a record name the file that its case is in now."""
    from guard.retained.retiring import moved

    if len(names) != 2:
        said = "guard regressions move takes an ID and the file that its case is in now"
        raise UsageError(said, "guard regressions show")
    with Session.open(disabled=disabled) as session:
        project = session.guarded_project()
        root = session.repo.root
        put_document(root, moved(read_document(root), names[0], names[1], project.cases))
    out(f"{printable(names[0])} names {printable(names[1])} now; its proof stays")
    out(f"next: git add {path_from_here(root, FILE)}")
    return ExitCode.OK


def _retire(names: list[str], disabled: frozenset[str], values: Mapping[str, Any]) -> int:
    from guard.retained.retiring import retired

    name = _changed(names, disabled, values, "retire", retired)
    out(f"{printable(name)} is retired: {printable(values['reason'])}; it is reported, and not run")
    return ExitCode.OK


def _reopen(names: list[str], disabled: frozenset[str], values: Mapping[str, Any]) -> int:
    from guard.retained.retiring import reopened

    name = _changed(names, disabled, values, "reopen", reopened)
    out(f"{printable(name)} is active again, and PENDING until it is proven anew")
    out(f"next: guard prove {shell_path(name)}")
    return ExitCode.OK


def _changed(
    names: list[str],
    disabled: frozenset[str],
    values: Mapping[str, Any],
    action: str,
    change: Callable[[Mapping[str, Any], str, str, str], dict[str, Any]],
) -> str:
    """Change one record on disk; return its id."""
    name = _only(names, action, "ID")
    reason = (values["reason"] or "").strip()
    if not reason or reason in commands.REASONS:
        hint = f'guard regressions {action} {shell_path(name)} --reason "WHY"'
        raise UsageError(f"say why: guard regressions {action} takes a reason", hint)
    with Session.open(disabled=disabled) as session:
        session.guarded_project()
        root = session.repo.root
        by = values["by"] or session.repo.run("config", "user.name", ok=None).out.decode(
            "utf-8", "replace"
        )
        put_document(root, change(read_document(root), name, reason, by.strip()))
    out(f"written: {path_from_here(root, FILE)}")
    return name


# audit -------------------------------------------------------------------------------------


def _audit(paths: list[str], disabled: frozenset[str], values: Mapping[str, Any]) -> int:
    from guard.retained.auditing import audit_paths
    from guard.retained.telling import audit_lines

    del disabled  # No plugin is loaded, here or in the repositories named.
    if not paths:
        from guard.git import find_repo

        with find_repo() as repo:
            paths = [repo.root]
    audited = audit_paths(paths)
    if values.get("json"):
        found = [file._asdict() for file in audited]
        write_file(str(values["json"]), json_module.dumps(found, indent=2) + "\n")
    if values.get("json") != "-":
        for line in audit_lines(audited):
            out(line)
    wrong = any(file.wrong for file in audited)
    return ExitCode.REGRESSION if wrong else ExitCode.OK


_FUNCTIONS: Final[Mapping[str, Callable[[list[str], frozenset[str], Mapping[str, Any]], int]]] = {
    "show": _show,
    "audit": _audit,
    "add": _add,
    "move": _move,
    "retire": _retire,
    "reopen": _reopen,
}
