"""Conditions on the machine that a case or an agent asks for, checked before it is run.

A missing one makes the case SKIP, with its reason: never a pass, never scored.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from guard.casekeys import BUILT_IN_PREREQUISITES
from guard.errors import UsageError
from guard.model import Agent, Case
from guard.plugin.api import Prerequisite
from guard.plugin.blame import blamed_on
from guard.running.services import find_silence
from guard.schema import nearest
from guard.trials.environment import find_program

if TYPE_CHECKING:
    from guard.project import Project


def find_missing(
    agent: Agent,
    case: Case,
    root: str,
    offered: Mapping[str, Prerequisite],
    of_target: Sequence[str] = (),
) -> str | None:
    """Return what is missing for a case, in words, or None where all is there.

    ``of_target``: the prerequisites that the agent's target declares.
    """
    unset = next((name for name in agent.env if name not in os.environ), None)
    if unset:
        return f"the environment variable {unset} is not set"
    checks: Mapping[str, Callable[[str], str | None]] = {
        "program": lambda name: _program(name, root),
        "env": _variable,
        "file": lambda path: _file(path, root),
        "python": lambda module: _module(module, agent, root),
        "tcp": find_silence,
        **{name: item.missing for name, item in offered.items()},
    }
    for wanted in dict.fromkeys((*of_target, *agent.prerequisites, *case.prerequisites)):
        name, _, argument = wanted.partition(":")
        if name not in checks:
            raise UsageError(f"prerequisite {wanted!r} is not known{nearest(name, checks)}")
        with blamed_on(f"prerequisite {wanted}"):
            missing = checks[name](argument)
        if missing:
            return missing
    return None


def refuse_unknown(
    project: Project, agent: Agent, case: Case, offered: Mapping[str, Prerequisite]
) -> None:
    """Raise `ConfigError`, where it stands, for a prerequisite that nothing checks."""
    known = (*BUILT_IN_PREREQUISITES, *offered)
    for wanted in (*agent.prerequisites, *case.prerequisites):
        name = wanted.partition(":")[0]
        if name in known:
            continue
        said = f"{wanted!r} is not known{nearest(name, known)}"
        if wanted in agent.prerequisites:
            raise project.config_error(("agents", agent.name, "prerequisites"), said)
        if wanted in agent.defaults.get("prerequisites", ()):
            raise project.config_error(("defaults", "prerequisites"), said)
        raise project.case_error(case.path, "prerequisites", said, case.id)


def _program(name: str, root: str) -> str | None:
    if "/" in name:
        place = os.path.join(root, name)
        return None if shutil.which(place) else f"{name} is not a program"
    return None if find_program(name) else f"the program {name} is not on PATH"


def _variable(name: str) -> str | None:
    return None if name in os.environ else f"the environment variable {name} is not set"


def _file(path: str, root: str) -> str | None:
    return None if os.path.exists(os.path.join(root, path)) else f"the file {path} is not there"


def _module(name: str, agent: Agent, root: str) -> str | None:
    python = agent_python(agent, root) or ["python3"]
    call = [*python, "-c", "import importlib, sys; importlib.import_module(sys.argv[1])", name]
    try:
        # Not guard's own standard input: in a pre-push hook git writes the refs there.
        done = subprocess.run(
            call,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=root or None,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return f"{python[0]} can't be started"
    return None if done.returncode == 0 else f"{python[0]} can't import {name}"


def agent_python(agent: Agent, root: str) -> list[str]:
    """Return the argv of the agent's own Python, absolute; empty where it names none."""
    if not agent.python:
        return []
    program = agent.python[0]
    if "/" in program:
        program = os.path.join(root, program)
    return [program, *agent.python[1:]]
