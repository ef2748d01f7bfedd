"""What a graph's result depends on beside files: LangGraph's version, model, endpoint."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from guard.plugin import Fingerprint, Host, find_program

_VERSION: Final = re.compile(r"langgraph-(\d[^-]*)\.dist-info\Z")
#: Variables by which the clients of providers are led elsewhere, and the providers' own domains.
_ENDPOINTS: Final = {
    **dict.fromkeys(("ANTHROPIC_BASE_URL", "ANTHROPIC_API_URL"), ".anthropic.com"),
    **dict.fromkeys(("OPENAI_BASE_URL", "OPENAI_API_BASE"), ".openai.com"),
    "GOOGLE_GEMINI_BASE_URL": ".googleapis.com",
    "GROQ_API_BASE": ".groq.com",
    "MISTRAL_BASE_URL": ".mistral.ai",
}


def fingerprint(options: Mapping[str, Any], host: Host) -> Fingerprint:
    """Name LangGraph's version in the agent's Python, and the model that it is configured with."""
    model = options["config"].get("model")
    return Fingerprint(
        program=f"langgraph {version_in(host.python)}".rstrip(),
        model=model if isinstance(model, str) else "",
        endpoint=endpoint_in({**host.env, **options["env"]}),
    )


def version_in(python: tuple[str, ...]) -> str:
    """Return the version of LangGraph that is installed for a Python; empty where none is found.

    No program is started: the names of a few folders are read.
    """
    path = python[0] if python else ""
    if "/" not in path:
        path = find_program(path or "python3") or ""
    for program in (path, os.path.realpath(path)):
        prefix = os.path.dirname(os.path.dirname(program))
        for folder in _packages(prefix):
            for name in _listed(folder):
                if found := _VERSION.match(name):
                    return found[1]
    return ""


def endpoint_in(env: Mapping[str, Any]) -> str:
    """Return where a model's client is led to that isn't the provider's own; else nothing."""
    for name, domain in _ENDPOINTS.items():
        stated = env.get(name)
        if stated and not f".{urlsplit(str(stated)).hostname or ''}".endswith(domain):
            return str(stated)
    return ""


def _packages(prefix: str) -> list[str]:
    library = os.path.join(prefix, "lib")
    pythons = [name for name in sorted(_listed(library)) if name.startswith("python")]
    kinds = ("site-packages", "dist-packages")
    return [os.path.join(library, python, kind) for python in pythons for kind in kinds]


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
