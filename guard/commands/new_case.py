"""``guard new-case``: write a case that loads, for a person to complete."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

from guard import config as config_file
from guard.casekeys import CASE_KEYS
from guard.cases.markdown import parse as parse_case
from guard.errors import ExitCode, UsageError
from guard.git import bytes_of
from guard.globs import WILDCARDS, compile_globs
from guard.judging.left_out import ignored_by
from guard.model import Agent
from guard.output import out, printable, shell_path
from guard.project import Project
from guard.proofs.record import TO_REPLACE
from guard.schema import Invalid, nearest
from guard.session import Session
from guard.wording import commands

if TYPE_CHECKING:
    import argparse

#: A wildcard that stands for itself, as `guard.project.literal` writes it.
_ESCAPED = re.compile(r"\[([*?[])\]")

HELP = "write a new case to fill in"
TEXT = """\
---
id: {id}
agent: {agent}
{said}expected:
  no_changes: true
---
{prose}
"""
PROSE = f"""\
{TO_REPLACE}

As it stands this case says: the agent changes no file. Other expectations, such as what the reply
must say or which files may change, are listed by `guard explain expected`."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``guard new-case``."""
    parser.add_argument("id", metavar="ID", help="its name, unique in the repository")
    parser.add_argument("--agent", required=True, metavar="A", help="whose case it is")
    parser.add_argument("--utterance", metavar="T", help="what the user says to the agent")


def new_case(*, id: str, agent: str, utterance: str | None = None, disabled: frozenset[str]) -> int:
    """Write one case in Markdown; never over a file that is there."""
    _refuse_placeholders(id, agent, utterance)
    with Session.open(disabled=disabled) as session:
        project = session.guarded_project()
        owner = _agent_named(project, agent)
        _check_id(project, id)
        path, text = case_path(owner, id), case_text(id, owner.name, utterance)
        parse_case(path, text)  # what it refuses is said before anything is written
        _write_new(project, path, text)
        ignored = ignored_by(session.repo, [bytes_of(path)])
    out(f"wrote {printable(path)}; read it, it is meant for people")
    if utterance is None:
        out("it says nothing to the agent yet: add `utterance:`, or `input:` where that is taken")
    for rule in ignored.values():
        out(f"! {printable(rule)} ignores it: git add --force {shell_path(path)}")
    out(f"next: guard prove {id}")
    return ExitCode.OK


def _refuse_placeholders(name: str, agent: str, utterance: str | None) -> None:
    """Refuse what a refusal prints for its reader to replace."""
    hint = f'guard new-case eur-taxi --agent {shell_path(agent)} --utterance "{commands.SAID}"'
    if name == commands.NAME:
        said = f"{name} stands for a name of yours, unique in the repository"
        raise UsageError(said, f"{hint}    # name it, and say what was said")
    if utterance == commands.SAID:
        said = f'"{utterance}" stands for what was said to the agent when it went wrong'
        raise UsageError(said, hint.replace("eur-taxi", shell_path(name)))


def _agent_named(project: Project, name: str) -> Agent:
    if name not in project.agents:
        raise UsageError(
            f"there is no agent {name!r} in guard.yaml{nearest(name, project.agents)}",
            "guard agents",
        )
    return project.agents[name]


def _check_id(project: Project, name: str) -> None:
    try:
        CASE_KEYS["id"](name)
    except Invalid as error:
        raise UsageError(error.message, "guard new-case eur-taxi --agent AGENT") from error
    if name in project.cases:
        raise UsageError(
            f"there is a case {name} already: {project.cases[name].path}", "take another id"
        )


def case_path(agent: Agent, name: str) -> str:
    """Return where a case of the agent goes: into the folder of its first glob that takes it."""
    stem = name.replace("/", "-")
    # A README beside cases is no case.
    stem = f"case-{stem}" if stem.lower() == "readme" else stem
    for glob in agent.cases:
        path = "/".join([*_folders_of(glob), _file_of(glob, stem)])
        if compile_globs([glob])(bytes_of(path)):
            return path
    stated = ", ".join(agent.cases) or "there is none"
    raise UsageError(
        f"agent {agent.name}: no `cases` glob takes a new Markdown file ({stated})",
        f"{config_file.FILE}: agents.{agent.name}: cases: [evals/*.md]",
    )


def _folders_of(glob: str) -> list[str]:
    """Return the folders that a glob names before its first wildcard."""
    folders: list[str] = []
    parts = glob.removeprefix("./").rstrip("/").split("/")
    for part in parts if _is_folder(parts[-1]) else parts[:-1]:
        plain = _ESCAPED.sub(r"\1", part)
        if WILDCARDS.intersection(_ESCAPED.sub("", part)):
            break
        folders.append(plain)
    return folders


def _is_folder(last: str) -> bool:
    """Tell whether the end of a glob may name a folder of cases: it has no ending of a file."""
    return not WILDCARDS.intersection(_ESCAPED.sub("", last)) and "." not in last


def _file_of(glob: str, stem: str) -> str:
    last = glob.rpartition("/")[2]
    is_pattern = last.count("*") == 1 and last.lower().endswith((".md", ".markdown"))
    return last.replace("*", stem) if is_pattern else f"{stem}.md"


def case_text(name: str, agent: str, utterance: str | None) -> str:
    """Return the text of a case that loads as it is."""
    said = "" if utterance is None else f"utterance: {_quoted(utterance)}\n"
    return TEXT.format(id=_quoted(name), agent=_quoted(agent), said=said, prose=PROSE)


def _quoted(text: str) -> str:
    # A JSON text is a YAML text, whatever stands in it.
    return json.dumps(text, ensure_ascii=False)


def _write_new(project: Project, path: str, text: str) -> None:
    full = os.path.join(project.repo.root, path)
    if os.path.lexists(full):
        raise UsageError(f"{path} is there already", "take another id")
    try:
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "x", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise UsageError(f"{path} can't be written: {error.strerror}") from error
