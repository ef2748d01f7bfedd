"""guard.yaml: its key table, its defaults, and the agents it declares.

The validated document is kept by blob id (`guard.store`), so that a hook neither parses nor
validates a file it has seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from guard import __version__
from guard.casekeys import CASE_KEYS, POLICY_KEYS, check_policy, check_prerequisite
from guard.errors import ConfigError, UsageError
from guard.globs import literal
from guard.model import Agent
from guard.schema import (
    Check,
    Invalid,
    anything,
    boolean,
    dotted,
    is_list,
    is_mapping,
    list_of,
    mapping,
    mapping_of,
    matching,
    number,
    one_of,
    some_mapping,
    text,
    text_or_texts,
    texts,
)

FILE = "guard.yaml"
REGRESSIONS = "regressions.json"
#: Counts up when the stored form changes, so that an older one is not read.
FORMAT = "config-1"


def _glob(value: Any) -> str:
    found = text(value)
    if found.startswith("/") or "\\" in found or ".." in found.split("/"):
        raise Invalid(f"{found!r} must be a path from the repository's root, with forward slashes")
    return found


def _plugin_file(value: Any) -> str:
    found = _glob(value)
    if not found.endswith(".py"):
        raise Invalid(f"{found!r} must be a path ending in .py")
    return found


def _served(value: Any) -> list[str]:
    return [_glob(item).removeprefix("./") for item in text_or_texts(value)]


def _pattern(value: Any) -> str:
    import re

    found = text(value)
    try:
        re.compile(found)
    except re.error as error:
        raise Invalid(f"{found!r} is not a regular expression: {error}") from error
    return found


_globs = list_of(_glob)
_duration = matching(r"[0-9]+[dhm]", "a duration such as 30d, 12h or 45m")
_name = matching(r"[^\s#,]+(?: [^\s#,]+)*", "a name (no comma, no #)")

AGENT_KEYS: dict[str, Check] = {
    "paths": list_of(_glob, least=1),
    "each": _glob,
    "workspace": lambda value: "" if value in (".", "./") else _glob(value),
    "target": text,
    "options": some_mapping,
    "cases": _globs,
    "depends": _globs,
    "evaluators": texts,
    "always": some_mapping,
    "prerequisites": list_of(check_prerequisite),
    "env": list_of(matching(r"[A-Za-z_][A-Za-z0-9_]*", "a variable's name")),
    "python": text_or_texts,
    "serves": texts,
    **{key: POLICY_KEYS[key] for key in ("gate", "trials", "min_pass_rate", "timeout")},
    "max_age": _duration,
    "paid": boolean,
    "deterministic": boolean,
    "claims": list_of(anything),
    "seams": list_of(anything),
    "tests": _globs,
    "price": some_mapping,
}
GLOB_KEYS = ("paths", "cases", "depends", "tests")
_dashed = matching(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", "a date such as 2026-12-31")
ENFORCEABLE = ("fix-needs-case", "fix-needs-record", "case-weakened")
_ENFORCED = "must be block, or {warn, until: DATE}"
_BUDGET: dict[str, Check] = {"max_seconds": number(0), "max_cost_usd": number(0)}


def _date(value: Any) -> str:
    from datetime import date

    found = str(_dashed(value))
    try:
        date.fromisoformat(found)
    except ValueError as error:
        raise Invalid(f"{found!r} is not a date such as 2026-12-31") from error
    return found


def _enforcement(value: Any) -> Any:
    if value == "block":
        return value
    if not is_mapping(value):
        raise Invalid(_ENFORCED)
    found = mapping({"warn": anything, "until": _date}, required=("until",))(value)
    if "warn" not in found:
        raise Invalid(_ENFORCED)
    return {"warn": True, "until": found["until"]}


KEYS: dict[str, Check] = {
    "version": one_of("1"),
    "requires": text,
    "plugins": list_of(_plugin_file),
    "defaults": mapping({key: check for key, check in CASE_KEYS.items() if key != "id"}),
    "agents": mapping_of(mapping(AGENT_KEYS), key=_name),
    "served": _served,
    "fix": mapping(
        {
            "types": texts,
            "patterns": list_of(_pattern),
            "closing_keywords": boolean,
            "trailers": texts,
            "unit": one_of("commit", "range"),
            "cosmetic": one_of("allow", "refuse"),
        }
    ),
    "enforce": mapping(dict.fromkeys(ENFORCEABLE, _enforcement)),
    "hooks": mapping(
        {
            "pre-commit": mapping(_BUDGET),
            "pre-push": mapping({**_BUDGET, "owed": one_of("block", "ci")}),
            "pre-receive": mapping({"max_seconds": number(0, 3600, above=True)}),
        }
    ),
    "receipts": mapping({"max_age": _duration, "accept": list_of(one_of("ci", "local"))}),
}

DEFAULTS: dict[str, Any] = {
    "defaults": {"gate": "standard", "timeout": 300},
    "fix": {
        "types": ["fix"],
        "patterns": [],
        "closing_keywords": True,
        "trailers": ["Fixes", "Regression-Case"],
        "unit": "commit",
        "cosmetic": "allow",
    },
    "enforce": {"fix-needs-case": "block"},
    "hooks": {
        "pre-commit": {"max_seconds": 60, "max_cost_usd": 0.5},
        "pre-push": {"max_seconds": 300, "max_cost_usd": 1.0, "owed": "block"},
        "pre-receive": {"max_seconds": 30},
    },
    "receipts": {"max_age": "30d", "accept": ["ci"]},
}


class Config(NamedTuple):
    """guard.yaml, validated, with its defaults filled in."""

    raw: Mapping[str, Any]
    """The validated document as written, without defaults."""
    plugins: tuple[str, ...]
    defaults: Mapping[str, Any]
    agents: Mapping[str, Mapping[str, Any]]
    """As declared; `expand_agents` makes `Agent` values of them."""
    served: tuple[str, ...]
    fix: Mapping[str, Any]
    enforce: Mapping[str, Any]
    hooks: Mapping[str, Mapping[str, Any]]
    receipts: Mapping[str, Any]
    blob: str = ""


def parse_config(content: bytes, blob: str = "") -> Config:
    """Return the configuration. Raises `ConfigError` with file, line and key."""
    return config_of(validate(_decoded(content)), blob)


def validate(source: str) -> dict[str, Any]:
    """Return the validated document as plain data, fit for JSON."""
    from guard.yamlfile import line_of, load_yaml

    document: Any = load_yaml(source, FILE)
    if document is None:
        document = {}
    if is_mapping(document) and "version" in document:
        document = dict(document, version=str(document["version"]))
    try:
        # Before anything else: a newer guard may know keys that this one doesn't.
        _check_requires(document)
        found: dict[str, Any] = mapping(KEYS, required=("version",))(document)
        for name, declared in found.get("agents", {}).items():
            _check_agent(name, declared)
        check_policy(found.get("defaults", {}), ("defaults",))
    except Invalid as error:
        line = line_of(source, error.path)
        raise ConfigError(FILE, line, dotted(error.path), error.message, HINT) from error
    return found


HINT = "guard schema guard.yaml"


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ConfigError(FILE, line, "", "is not UTF-8 text") from error


def _check_requires(document: Any) -> None:
    wanted = document.get("requires") if is_mapping(document) else None
    if wanted is None:
        return
    from guard.requirement import satisfies

    fits = satisfies(__version__, text(wanted))
    if fits is None:
        raise Invalid(f"{wanted!r} is not a version range such as >=0.1,<2", ("requires",))
    if not fits:
        said = f"this repository asks for guard {wanted}, this is {__version__}"
        bound = str(wanted) if str(wanted)[:1] in "<>=!~" else f">={wanted}"
        raise Invalid(f"{said}; pip install 'regression-guard{bound}'", ("requires",))


def _check_agent(name: str, declared: Mapping[str, Any]) -> None:
    path = ("agents", name)
    if "each" in declared and "paths" in declared:
        raise Invalid("takes `each` or `paths`, not both", (*path, "each"))
    if "each" not in declared and "paths" not in declared and declared:
        # Without either it completes a plugin's agent of the same name, key by key.
        return
    policy = {k: v for k, v in declared.items() if k in POLICY_KEYS}
    if policy:
        check_policy(policy, path)


def config_of(raw: Mapping[str, Any], blob: str = "") -> Config:
    """Return the configuration of a validated document."""

    def filled(key: str) -> Mapping[str, Any]:
        return {**DEFAULTS[key], **raw.get(key, {})}

    defaults = filled("defaults")
    if defaults["gate"] == DEFAULTS["defaults"]["gate"] or "trials" in defaults:
        # The default gate is what an unstated policy means; a deterministic target reads it
        # as two trials that must agree.
        defaults = {k: v for k, v in defaults.items() if k != "gate"}
    hooks = {k: {**v, **raw.get("hooks", {}).get(k, {})} for k, v in DEFAULTS["hooks"].items()}
    return Config(
        raw=raw,
        plugins=tuple(raw.get("plugins", ())),
        defaults=defaults,
        agents=raw.get("agents", {}),
        served=tuple(raw.get("served", ())),
        fix=filled("fix"),
        enforce=filled("enforce"),
        hooks=hooks,
        receipts=filled("receipts"),
        blob=blob,
    )


def expand_agents(config: Config, paths: Iterable[bytes]) -> dict[str, Agent]:
    """Return name → agent; a pattern agent gives one for each folder among ``paths``."""
    from guard.patterns import matching_folders

    listing: tuple[bytes, ...] | None = None
    agents: dict[str, Agent] = {}
    for name, declared in config.agents.items():
        if "each" not in declared:
            agents[name] = make_agent(name, declared, config)
            continue
        listing = tuple(paths) if listing is None else listing
        for folder_name, folder in matching_folders(declared["each"], listing).items():
            if folder_name in agents or folder_name in config.agents:
                raise UsageError(
                    f"{FILE}: agents.{name}: {folder} gives a second agent named {folder_name}",
                    "name one of the two folders differently, or narrow `each`",
                )
            agents[folder_name] = make_agent(
                folder_name, _filled_in(declared, folder_name, folder), config
            )
    return agents


def _filled_in(declared: Mapping[str, Any], name: str, folder: str) -> dict[str, Any]:
    def fill(value: Any, form: Callable[[str], str]) -> Any:
        if isinstance(value, str):
            return value.replace("{name}", form(name)).replace("{dir}", form(folder))
        if is_list(value):
            return [fill(item, form) for item in value]
        if is_mapping(value):
            return {key: fill(item, form) for key, item in value.items()}
        return value

    # A folder's name is no glob: one with a bracket in it would match another folder.
    filled: dict[str, Any] = {
        key: fill(item, literal if key in GLOB_KEYS else str)
        for key, item in declared.items()
        if key != "each"
    }
    return {"paths": [f"{literal(folder)}/**"], **filled}


def make_agent(
    name: str, declared: Mapping[str, Any], config: Config, base: Agent | None = None
) -> Agent:
    """Return the agent that a declaration describes, over a plugin's one where given."""
    from guard.patterns import default_workspace

    agent = base or Agent(name)
    values: dict[str, Any] = {}
    for key, value in declared.items():
        if key in Agent._fields:
            values[key] = tuple(value) if is_list(value) else value
    policy = {k: v for k, v in declared.items() if k in POLICY_KEYS}
    inherited = dict(agent.defaults or config.defaults)
    if "trials" in policy and "gate" not in policy:
        inherited.pop("gate", None)
    if "gate" in policy:
        inherited.pop("trials", None)
        inherited.pop("min_pass_rate", None)
    values["defaults"] = {**inherited, **policy}
    agent = agent._replace(**values)
    if "workspace" not in declared and not agent.workspace:
        agent = agent._replace(workspace=default_workspace(agent.paths))
    return agent._replace(serves=agent.serves or (name,))
