"""``guard init``: write guard.yaml and add the hooks, after a look at what is there.

What the user wrote is never written anew: a file that is there stays, or grows at its end.
"""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from guard import config as config_file
from guard.errors import ExitCode, UsageError
from guard.git import Repo
from guard.output import out, printable, say, warn, write, write_file
from guard.project import Project
from guard.regressions import FILE
from guard.session import Session
from guard.setup import framework, workflow
from guard.setup.distribution import own_source, requirement
from guard.setup.layouts import LOOKED_FOR
from guard.setup.managers import other_manager
from guard.setup.merge_driver import (
    ATTRIBUTES,
    append_attribute,
    configure_driver,
    is_named,
    missing_attribute,
)
from guard.setup.remotes import find_remote
from guard.setup.survey import Survey, survey_project
from guard.setup.telling import tell_mode, tell_next, tell_survey

if TYPE_CHECKING:
    import argparse

HELP = "set up this repository"
BY_HAND = """\
  any other agent: write a guard.yaml by hand, such as
    version: 1
    agents:
      my-agent:
        paths: [prompts/**, agent.py]
        target: command
        options: {argv: [python3, agent.py, "{utterance}"]}
        cases: [evals/*.md]
  every key: guard schema guard.yaml"""


class NewFile(NamedTuple):
    """A file to write, and what to say of it."""

    path: str
    text: str
    told: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``guard init``."""
    parser.add_argument("--yes", action="store_true", help="write without asking")
    parser.add_argument("--ci", choices=("github",), help="also write a workflow for CI")


def init(*, yes: bool = False, ci: str | None = None, disabled: frozenset[str]) -> int:
    """Write what is missing; called twice it changes nothing."""
    with Session.open(disabled=disabled) as session:
        if not session.repo.root:
            raise UsageError("a bare repository has no files to set up", "call it in a clone")
        project = session.project()
        survey = survey_project(project, datetime.now(UTC).date())
        if not project.has_config and not survey.declared:
            warn(f"found no skill: looked for {', '.join(LOOKED_FOR)}, in any folder")
            say(BY_HAND)
            return ExitCode.USAGE
        files = _new_files(project, survey, ci)
        tell_survey(project, survey)
        if not files:
            out("nothing to write: guard.yaml and the hooks are there")
        elif not _is_wanted(files, yes):
            say("nothing was written")
            return ExitCode.OK
        _write(session.repo, files)
        if is_named(session.repo) and configure_driver(session.repo):
            out(f"merge driver of {FILE} is set in this clone's git config")
        # Loading it all now says what the first commit would stumble over.
        project = session.project()
        tell_mode(project)
        tell_next(project, [file.path for file in files])
    return ExitCode.OK


def _new_files(project: Project, survey: Survey, ci: str | None) -> list[NewFile]:
    root = project.repo.root
    files: list[NewFile] = []
    if survey.text:
        _refuse_ignored(root, config_file.FILE)
        files.append(NewFile(config_file.FILE, survey.text, f" ({_described(survey)})"))
    files += _framework_file(root)
    attribute = missing_attribute(project.repo)
    if attribute:
        files.append(NewFile(ATTRIBUTES, attribute.decode(), ""))
    if ci and not os.path.lexists(os.path.join(root, workflow.FILE)):
        text = workflow.workflow_text(find_remote(project.repo).branch, requirement())
        files.append(NewFile(workflow.FILE, text, ""))
    return files


def _framework_file(root: str) -> list[NewFile]:
    """Return the framework's file with our hooks; nobody would read it beside another manager."""
    before = _read(root, framework.FILE)
    if not before and other_manager(root):
        return []
    after = framework.add_hooks(before, own_source())
    return [NewFile(framework.FILE, after, _grown(before))] if after != before else []


def _refuse_ignored(root: str, path: str) -> None:
    if os.path.lexists(os.path.join(root, path)):
        raise UsageError(f"{path} is there, but git ignores it", f"git check-ignore -v {path}")


def _read(root: str, path: str) -> str:
    try:
        with open(os.path.join(root, path), "rb") as stream:
            return stream.read().decode("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path} can't be read: {error}", "guard install needs no such file"
        ) from error


def _described(survey: Survey) -> str:
    blocks = sum(entry.each for entry in survey.declared)
    single = len(survey.declared) - blocks
    told = [f"{blocks} blocks" if blocks > 1 else "one block" if blocks else ""]
    told.append(f"{single} agents" if single > 1 else "one agent" if single else "")
    for_all = " for all" if (blocks, single) == (1, 0) else ""
    return " and ".join(filter(None, told)) + for_all


def _grown(before: str) -> str:
    missing = len(framework.missing_hooks(framework.read_document(before)))
    return f" (+{missing} hooks)" if missing else f" ({framework.TYPES_KEY})"


def _is_wanted(files: list[NewFile], yes: bool) -> bool:
    """Ask the one question; without a terminal the answer is yes."""
    if yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    names = ", ".join(file.path for file in files)
    write(sys.stderr, f"write {printable(names)}? [Y/n] ")
    answer = sys.stdin.readline()
    # An end of input is no answer.
    return answer.strip().lower() in ("", "y", "yes") if answer else False


def _write(repo: Repo, files: list[NewFile]) -> None:
    for file in files:
        if file.path == ATTRIBUTES:
            append_attribute(repo, file.text.encode())
            continue
        path = os.path.join(repo.root, file.path)
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        except OSError as error:
            raise UsageError(f"{file.path} can't be written: {error.strerror}") from error
        write_file(path, file.text)
    if files:
        out(f"wrote {', '.join(file.path + file.told for file in files)}")
