"""The text of a refused commit: at most eight lines, the likely cause first, then commands.

The last command repeats the commit, with the message kept in ``<git-dir>/guard/message``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from guard.change import Change
from guard.git import Repo, bytes_of
from guard.globs import compile_globs, literal, literal_prefix
from guard.judging.again import as_called
from guard.judging.amend import is_amend, takes_all
from guard.judging.left_out import LeftOut, is_partial, left_out
from guard.messages.commandline import place_options, read_command_line
from guard.messages.message import WEAKENED
from guard.model import Agent, Violation
from guard.output import printable, shell_path
from guard.project import Project
from guard.regressions import FILE as REGRESSIONS
from guard.wording import commands

LINES = 8
#: Paths that one line lists before it only counts.
SHOWN = 3
#: Folders that one command names before it names the folder of all.
MOST_FOLDERS = 20
#: Digits of a commit's id that people are shown.
SHORT = 10
_KEPT = "      # your message is kept"
_YOURS = "      # REASON: yours"
_NO_FIX = "      # reword it: nothing came before that it could fix"
_FIX_RULES = ("fix-needs-case", "fix-needs-record")
_RECORD = "record-invalid"
_GRADERS = "grader-proof"
_ON_PURPOSE = "      # where it asks for something else on purpose"


class Refused(NamedTuple):
    """The commit that is refused, and how it was asked for."""

    repo: Repo
    new: Project
    change: Change
    argv: tuple[str, ...]
    """The command line of git; empty where it can't be seen."""
    message_file: str
    """Where the message is kept; empty where it couldn't be."""
    prefix: str = ""
    """The folder below the root in which git was called."""

    @property
    def git(self) -> str:
        """How git is called again, where it was told by options where the repository is."""
        from shlex import quote

        return " ".join(["git", *map(quote, place_options(self.argv))])

    def path(self, path: str) -> str:
        """Return a path of the repository as it is pasted where git was called."""
        below = os.path.relpath(path, self.prefix) if self.prefix else path
        return shell_path(below + "/" if path.endswith("/") else below)


def refusal(violations: Sequence[Violation], refused: Refused) -> str:
    """Return the text for what blocks a commit; the first violation is told in full."""
    first = violations[0]
    left = _left_out(first, refused)
    # What may be left out where there are too many lines has the higher number.
    parts = [
        (0, [f"guard: refused: {first.message} ({first.rule})"]),
        (1, _labelled("likely", [f"{it.path} {it.why}" for it in left[:1]])),
        (2, _labelled("because", first.detail[:1])),
        (1, _labelled("changed", [_listed(first.paths)] if first.paths else ())),
        (0, _labelled("do", [*_commands(first, left, refused), *_repeated(first, left, refused)])),
        (3, _labelled("also", _others(violations[1:]))),
        (4, _labelled("more", [f"guard explain {first.rule}"])),
    ]
    told = [(number, line) for number, lines in parts for line in lines]
    while len(told) > LINES:
        told.remove(max(told, key=lambda one: one[0]))
    return "\n".join(printable(line) for _, line in told)


def _labelled(label: str, texts: Sequence[str]) -> Iterator[str]:
    for number, text in enumerate(texts):
        yield f"  {'' if number else label:<8} {text}"


def _listed(paths: Sequence[str]) -> str:
    more = len(paths) - SHOWN
    shown = ", ".join(shell_path(path) for path in paths[:SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown


def _others(violations: Sequence[Violation]) -> list[str]:
    if not violations:
        return []
    more = f", and {len(violations) - 1} more" if len(violations) > 1 else ""
    return [f"{violations[0].message} ({violations[0].rule}){more}"]


def _left_out(violation: Violation, refused: Refused) -> list[LeftOut]:
    """Return what on disk would probably have kept the rule."""
    agents = agents_of(violation, refused.new)
    if violation.rule not in (*_FIX_RULES, _RECORD) or not agents:
        return []
    cases = tuple(glob for agent in agents for glob in agent.cases)
    wanted = (REGRESSIONS,) if violation.rule == "fix-needs-record" else cases
    if violation.rule == _RECORD:
        wanted = (*cases, *map(literal, _files_of_records(violation, refused.new)))
    found = left_out(refused.repo, refused.change, wanted)
    # Of a record only its own case and files can be the cause.
    return [it for it in found if violation.rule != _RECORD or it.path in violation.message]


def _files_of_records(violation: Violation, project: Project) -> Iterator[str]:
    """Yield what records keep beside them, and the message names."""
    for record in project.records.values():
        kept = (record.before.get("path"), record.before.get("capsule"))
        yield from (path for path in kept if path and path in violation.message)


def trailer_of(violation: Violation) -> str:
    """Return the trailer that names what is lost; empty where something else mends it."""
    first = "".join(violation.hint[:1])
    return first if first.startswith(f"{WEAKENED}: ") else ""


def _commands(violation: Violation, left: list[LeftOut], refused: Refused) -> Iterator[str]:
    """Yield the commands that mend it, up to the one that repeats the commit."""
    trailer = trailer_of(violation).replace('"', '\\"')
    if trailer and refused.message_file:
        kept = shell_path(refused.message_file)
        yield f'git interpret-trailers --in-place --trailer "{trailer}" {kept}{_YOURS}'
    elif violation.rule in _FIX_RULES:
        yield from _fix_commands(violation, left, refused)
    elif violation.rule == _GRADERS and (edited := _edited(violation, refused)):
        yield from _undo_or_prove(violation, edited, refused)
    elif violation.rule == _RECORD and left:
        yield _add_command([it.path for it in left[:SHOWN]], left, refused)
    elif violation.rule in ("case-weakened", _RECORD) and violation.hint and not trailer:
        yield from (*violation.hint, _add_command(violation.paths[:1], left, refused))
    else:
        yield from violation.hint or _bring_back(violation, refused)


def _edited(violation: Violation, refused: Refused) -> tuple[str, list[str]] | None:
    """Return what the commit edits of what broke a proof, and where it is as it was before."""
    entries = [e for e in refused.change.entries if e.name in violation.paths and e.old]
    for rev in ("HEAD", "HEAD^"):
        found = [refused.repo.resolve(f"{rev}:{entry.name}") for entry in entries]
        if entries and found == [entry.old.oid for entry in entries if entry.old]:
            return rev, [entry.name for entry in entries[:SHOWN]]
    return None


def _undo_or_prove(
    violation: Violation, edited: tuple[str, list[str]], refused: Refused
) -> Iterator[str]:
    """Yield the likely mend, the edit's undoing; then the one of an edit that is meant."""
    rev, paths = edited
    pasted = " ".join(map(refused.path, paths))
    yield f"{refused.git} checkout {rev} -- {pasted}"
    added = f"{refused.git} add {pasted} {_pasted_records(refused)}"
    yield f"{violation.hint[0]} && {added}{_ON_PURPOSE}"


def _bring_back(violation: Violation, refused: Refused) -> Iterator[str]:
    """Yield the command that brings back what the commit deletes."""
    repo, gone = refused.repo, _gone(violation, refused)
    merged = [parent[:SHORT] for parent in refused.change.parents[1:]]
    for rev in ("HEAD", "HEAD^", "MERGE_HEAD", *merged) if gone else ():
        if all(repo.resolve(f"{rev}:{path}") for path in gone):
            yield f"{refused.git} checkout {rev} -- {' '.join(map(refused.path, gone))}"
            return


def _gone(violation: Violation, refused: Refused) -> list[str]:
    """Return what to bring back: what is deleted, and the file of a record that is."""
    new = refused.new.tree
    paths = violation.paths[:SHOWN]
    deleted = violation.rule == "case-weakened" and not violation.hint
    gone = [path for path in paths if new.get(bytes_of(path)) is None]
    return [*gone, *(path for path in paths if deleted and path == REGRESSIONS)]


def _repeated(violation: Violation, left: list[LeftOut], refused: Refused) -> Iterator[str]:
    """Yield the last command; nothing where all is brought back, and nothing left to commit."""
    gone = [] if violation.hint or is_amend(refused.argv) else _gone(violation, refused)
    # A merge is a commit still, whatever its tree.
    others = any(entry.name not in gone for entry in refused.change.entries)
    if not gone or others or len(refused.change.parents) > 1:
        yield _repeat(violation, left, refused)


def _fix_commands(violation: Violation, left: list[LeftOut], refused: Refused) -> Iterator[str]:
    case = _case_id(violation, left, refused)
    if refused.change.base.oid == refused.repo.empty_tree and refused.message_file:
        # Nothing stood before it that could fail: no proof will ever be had.
        yield f'"${{EDITOR:-vi}}" {shell_path(refused.message_file)}{_NO_FIX}'
        return
    if violation.rule == "fix-needs-case" and not left:
        yield new_case_command(violation)
    if violation.rule == "fix-needs-case" or not left:
        yield f"guard prove {case}{for_each(violation)}"
    yield _add_command(_to_add(violation, left, refused), left, refused)


def _add_command(paths: Sequence[str], left: Sequence[LeftOut], refused: Refused) -> str:
    force = "-f " if any(it.ignored for it in left) else ""
    pasted = " ".join(with_kept(path, refused.path(path)) for path in paths)
    return f"{refused.git} add {force}{pasted}"


def with_kept(path: str, pasted: str) -> str:
    """Return a path as it is pasted; regressions.json with what is kept beside it.

    The folder need not be there: what stands for both matches the file alone, too.
    """
    return f"{pasted.removesuffix('.json')}*" if path == REGRESSIONS else pasted


def _pasted_records(refused: Refused) -> str:
    return with_kept(REGRESSIONS, refused.path(REGRESSIONS))


def new_case_command(violation: Violation) -> str:
    """Return the command that makes the case; of several agents the first one's."""
    return f"{commands.new_case((*violation.agents, violation.agent)[0])}{for_each(violation)}"


def for_each(violation: Violation) -> str:
    """Return a comment for a command that each of several agents needs."""
    number = len(violation.agents)
    return f"      # one for each of the {number} agents" if number > 1 else ""


def _to_add(violation: Violation, left: list[LeftOut], refused: Refused) -> list[str]:
    if violation.rule == "fix-needs-record":
        return [REGRESSIONS]
    folders = case_folders(violation, refused.new)
    return [*([it.path for it in left[:SHOWN]] or folders), REGRESSIONS]


def agents_of(violation: Violation, project: Project) -> list[Agent]:
    """Return the agents of a violation, as far as they are in the tree."""
    names = violation.agents or (violation.agent,)
    return [project.agents[name] for name in names if name in project.agents]


def case_folders(violation: Violation, project: Project) -> list[str]:
    """Return the folders that the agents' new cases go to, one of each."""
    found: dict[str, None] = {}
    for agent in agents_of(violation, project):
        folders = [literal_prefix(glob) for glob in agent.cases]
        found.update(dict.fromkeys([folder for folder in folders if folder][:1]))
    folders = list(found)
    return folders if len(folders) <= MOST_FOLDERS else [os.path.commonpath(folders) or "."]


def _case_id(violation: Violation, left: list[LeftOut], refused: Refused) -> str:
    """Return the id of the case that is there already, or what stands for one."""
    agents = agents_of(violation, refused.new)
    is_case = compile_globs([glob for agent in agents for glob in agent.cases])
    staged = [e.name for e in refused.change.entries if e.new and is_case(e.path)]
    for path in (*(it.path for it in left), *staged):
        if is_case(bytes_of(path)) and (found := _id_in(path, refused)):
            return found
    return "ID"


def _id_in(path: str, refused: Refused) -> str:
    try:
        with open(os.path.join(refused.repo.root, path), encoding="utf-8") as file:
            found = re.search(r"(?m)^id:\s*['\"]?([^\s'\"#]+)", file.read(2000))
    except (OSError, ValueError):
        return ""
    return shell_path(found[1]) if found else ""


def _repeat(violation: Violation, left: list[LeftOut], refused: Refused) -> str:
    """Return the command that repeats the commit as it was asked for."""
    if read_command_line(refused.argv).name == "am":
        return "git am --continue"
    if not refused.message_file and (called := as_called(refused.argv)):
        # What is proven anew belongs to a commit of some paths, too.
        proven = violation.rule == _GRADERS and is_partial(refused.repo)
        return f"{called} {_pasted_records(refused)}" if proven else called
    words = [f"{refused.git} commit"]
    if is_amend(refused.argv):
        words.append("--amend")
    if takes_all(refused.argv):
        words.append("-a")
    words.append(f"-F {shell_path(refused.message_file)}" if refused.message_file else "")
    if is_partial(refused.repo):
        added = _to_add(violation, left, refused) if violation.rule in _FIX_RULES else []
        paths = dict.fromkeys([*(entry.name for entry in refused.change.entries), *added])
        words += ["--", *(with_kept(path, refused.path(path)) for path in paths)]
    return " ".join(filter(None, words)) + (_KEPT if refused.message_file else "")
