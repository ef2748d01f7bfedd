"""The ``command`` target: any program is the agent, run in the trial's workspace.

Standard output is the reply, and the structured output where it is one JSON document.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Mapping
from typing import Any

from guard.plugin import (
    Fingerprint,
    Observation,
    Option,
    Target,
    TargetError,
    Trial,
    build_of,
    find_program,
    hookimpl,
)

_NOT_THERE = os.strerror(errno.ENOENT)
_MEND = "mend `options.argv` in guard.yaml"
_INTERPRETER = re.compile(r"(?:python[\d.]*|node|deno|bun|ruby|perl|php|(?:ba|z|da)?sh)\Z")
_PYTHON = re.compile(r"/python[\d.]*\Z")
#: A relative path that nothing is filled into, of a file that is named as programs are.
_SCRIPT = re.compile(r"[^-/{}][^{}]*\.\w+\Z")


def run(trial: Trial) -> Observation:
    """Run the agent's program once."""
    if trial.turns:
        raise TargetError("a command is asked once: the case's `turns` would never be said")
    argv = [trial.fill(part) for part in trial.options["argv"]]
    env = {name: trial.fill(str(value)) for name, value in trial.options["env"].items()}
    stdin = trial.options["stdin"]
    given = None if stdin is None else trial.fill(stdin)
    try:
        done = trial.run_program(argv, input=given, env=env)
    except TargetError as error:
        if _NOT_THERE in error.message:
            raise TargetError(f"{error.message}; {_mend(argv[0])}") from error
        raise
    if done.exit_status:
        _refuse_missing_script(trial)
    return Observation(
        reply=done.stdout,
        stdout=done.stdout,
        stderr=done.stderr,
        exit_status=done.exit_status,
        output=_document(done.stdout),
        program=os.path.basename(argv[0]),
        argv=tuple(argv),
    )


def _mend(program: str) -> str:
    """Return what helps where a program isn't there: an environment never is, in a workspace."""
    if not _PYTHON.search(program) or os.path.isabs(program):
        return _MEND
    return f"name it by the agent's key `python: {program}`, and `python` in `options.argv`"


def _refuse_missing_script(trial: Trial) -> None:
    """Say that the script which an interpreter was to run isn't there, as its own words don't."""
    name, *rest = trial.options["argv"]
    script = rest[0] if rest else ""
    if not _INTERPRETER.match(os.path.basename(name)) or not _SCRIPT.match(script):
        return
    if not os.path.exists(os.path.join(trial.workspace, script)):
        said = f"{script}, which `argv` names, isn't in the workspace: is it the agent's?"
        raise TargetError(f"{said} Else name it {{repo}}/{script}, or {_MEND}")


def _document(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def fingerprint(options: Mapping[str, Any]) -> Fingerprint:
    """Name the program, and a script outside the repository that an interpreter runs.

    One that lies in the workspace is a file of the agent, and bound to the receipt as that.
    """
    name, *rest = map(str, options["argv"])
    in_workspace = "/" in name and not os.path.isabs(name)
    path = None if in_workspace else find_program(name)
    found = [name if in_workspace else _told(name, path)]
    script = next((word for word in rest if not word.startswith("-")), "")
    if _INTERPRETER.match(os.path.basename(name)) and os.path.isabs(script):
        found.append(_told(script, script, by=path or ""))
    return Fingerprint(program="; ".join(found))


def _told(name: str, path: str | None, by: str = "") -> str:
    """Return a program's name and its build, and nothing of where it lies on this machine."""
    build = build_of(path, by) if path else ""
    return f"{os.path.basename(name)} {build}".rstrip()


@hookimpl
def guard_targets() -> list[Target]:
    """Offer the target ``command``."""
    return [
        Target(
            name="command",
            run=run,
            real="the program that options.argv names, as it stands in the workspace",
            options=(
                Option("argv", "texts", help="the program and its arguments", required=True),
                Option("env", "mapping", {}, help="variables set for it"),
                Option("stdin", "text", None, help="text on its standard input"),
                Option("deterministic", "boolean", False, help="same input, same outcome"),
            ),
            fingerprint=fingerprint,
        )
    ]
