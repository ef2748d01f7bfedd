"""The stand-ins for storage that an agent's options name, found among the plugins'."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterable
from typing import Any, Final

from guard.model import Agent
from guard.plugin.doubles import StorageDouble
from guard.project import Project
from guard.schema import nearest

#: The option of a target that names them.
OPTION: Final = "doubles"


def named_doubles(project: Project, agent: Agent) -> tuple[StorageDouble, ...]:
    """Return the doubles by the names in the option. Raises `ConfigError` for an unknown one."""
    if all(option.name != OPTION for option in project.target_of(agent).options):
        return ()
    names: list[Any] = agent.options.get(OPTION) or []
    return tuple(_named(project, agent, name) for name in dict.fromkeys(names))


def _named(project: Project, agent: Agent, name: str) -> StorageDouble:
    known = project.plugins.storage_doubles()
    if name in known:
        return known[name]
    raise project.config_error(
        ("agents", agent.name, "options", OPTION),
        f"no plugin offers the storage double {name!r}{nearest(name, known)}",
    )


def double_facts(doubles: Iterable[StorageDouble]) -> list[list[str]]:
    """Return what differs where a double does: its name, what it replaces, its module's text."""
    return [[one.name, one.replaces, text_digest(one)] for one in doubles]


def text_digest(double: StorageDouble) -> str:
    """Return a digest of the text that runs in the agent's Python; empty where there is none."""
    module = inspect.getmodule(double.factory)
    try:
        text = inspect.getsource(module) if module else ""
    except (OSError, TypeError):
        text = ""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() if text else ""
