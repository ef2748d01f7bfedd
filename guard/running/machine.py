"""What of this machine a trial depends on, beside the files of the repository.

Values of variables are in it as digests only: a receipt is read by others.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from guard.model import Agent
from guard.running.installed import installed_in
from guard.running.prerequisites import agent_python
from guard.trials.environment import LOCALE, find_program, virtual_environment

if TYPE_CHECKING:
    from guard.store import Store

#: Lines of pyvenv.cfg that name the interpreter's version, by who made the environment.
_VERSIONS: Final = ("version", "version_info")


def machine_facts(agent: Agent, root: str, store: Store | None = None) -> Mapping[str, Any]:
    """Return what differs where a trial may come out otherwise, though all files are the same."""
    facts: dict[str, Any] = {
        "system": f"{sys.platform} {os.uname().machine}",
        "python": f"{sys.implementation.name} {sys.version_info[0]}.{sys.version_info[1]}",
        "variables": dict(_variables(agent)),
    }
    python = agent_python(agent, root)
    if python:
        facts["agent's python"] = _interpreter(python[0], root, store)
    return facts


def _variables(agent: Agent) -> Iterator[tuple[str, str]]:
    """Yield each variable that a trial gets from its caller, with a digest of its value."""
    locale = [name for name in os.environ if name in LOCALE or name.startswith("LC_")]
    for name in sorted({*agent.env, *locale}):
        value = os.environ.get(name)
        if value is not None:
            written = f"{name}={value}".encode("utf-8", "surrogateescape")
            yield name, hashlib.sha256(written).hexdigest()


def _interpreter(program: str, root: str, store: Store | None) -> list[str]:
    """Return the version of an interpreter, and what is installed beside it."""
    venv = virtual_environment(program)
    if venv:
        return [*_venv_versions(venv), *installed_in(venv, root, store)]
    path = program if "/" in program else find_program(program)
    real = os.path.realpath(path) if path else program
    try:
        return [real, str(os.stat(real).st_size)]
    except OSError:
        return [real]


def _venv_versions(venv: str) -> Iterator[str]:
    try:
        with open(os.path.join(venv, "pyvenv.cfg"), encoding="utf-8", errors="replace") as lines:
            for line in lines:
                name, _, value = line.partition("=")
                if name.strip() in _VERSIONS:
                    yield value.strip()
    except OSError:
        return
