"""An agent's ``options``, checked against what its target declares, with defaults filled in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from guard.errors import ConfigError
from guard.model import Agent
from guard.plugin.api import Option, Target
from guard.project import Project
from guard.schema import nearest


def checked_options(project: Project, agent: Agent) -> Mapping[str, Any]:
    """Return the options of a project's agent. Raises `ConfigError` at the option's line."""
    try:
        return fill_options(project.target_of(agent), agent)
    except ConfigError as error:
        option = error.key.removeprefix(f"agents.{agent.name}.options.")
        located = project.config_error(("agents", agent.name, "options", option), error.said)
        located.hint = error.hint
        raise located from None


def fill_options(target: Target, agent: Agent) -> Mapping[str, Any]:
    """Return every option's value. Raises `ConfigError` for one that the target refuses."""
    known = {option.name: option for option in target.options}
    for name, value in agent.options.items():
        if name not in known:
            raise _refused(agent, name, f"{target.name} knows no such option{nearest(name, known)}")
        if not KINDS[known[name].kind](value):
            raise _refused(agent, name, f"must be {_in_words(known[name])}")
    for option in target.options:
        if option.required and agent.options.get(option.name) in (None, "", [], ()):
            raise _refused(agent, option.name, f"is missing: {option.help or target.name}")
    stated = {name: value for name, value in agent.options.items() if value is not None}
    return {option.name: option.default for option in target.options} | stated


def _refused(agent: Agent, name: str, message: str) -> ConfigError:
    key = f"agents.{agent.name}.options.{name}"
    return ConfigError(agent.origin, 0, key, message, f"guard explain {agent.target}")


def _in_words(option: Option) -> str:
    words = {"texts": "a list of texts", "boolean": "true or false", "integer": "a whole number"}
    return words.get(option.kind, f"a {option.kind}")


def _is_texts(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(
        isinstance(item, str) for item in cast("list[Any]", value)
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


#: Kind of an option → whether a value is of it. Null leaves an option unset.
KINDS: Final[dict[str, Callable[[Any], bool]]] = {
    "any": lambda value: True,
    "text": lambda value: value is None or isinstance(value, str),
    "texts": lambda value: value is None or _is_texts(value),
    "integer": lambda value: value is None or (_is_number(value) and int(value) == value),
    "number": lambda value: value is None or _is_number(value),
    "boolean": lambda value: isinstance(value, bool),
    "mapping": lambda value: value is None or isinstance(value, Mapping),
}
