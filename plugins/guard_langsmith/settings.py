"""What the environment says of LangSmith: the key, the endpoint, the prefix of names.

Nothing else is asked: not the file of a login by LangSmith's own program, whose endpoint may be
another one than the one that stands in the environment.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

KEY: Final = "LANGSMITH_API_KEY"
ENDPOINT: Final = "LANGSMITH_ENDPOINT"
PREFIX: Final = "LANGSMITH_GUARD_PREFIX"
OWN_ENDPOINT: Final = "https://api.smith.langchain.com"
#: Their older names, which LangSmith's client still knows.
OLDER: Final = {KEY: "LANGCHAIN_API_KEY", ENDPOINT: "LANGCHAIN_ENDPOINT"}


def find_missing() -> str | None:
    """Return what this machine lacks to talk to LangSmith, in words, or None."""
    if find_spec("langsmith") is None:
        return "the package langsmith is not installed (pip install 'regression-guard[langsmith]')"
    if not api_key():
        return f"the environment variable {KEY} is not set"
    return None if _is_address(endpoint()) else f"{ENDPOINT} is no address such as {OWN_ENDPOINT}"


def api_key() -> str:
    """Return the key; empty where there is none."""
    return _setting(KEY)


def endpoint() -> str:
    """Return where LangSmith answers."""
    return (_setting(ENDPOINT) or OWN_ENDPOINT).rstrip("/")


def where() -> str:
    """Return the endpoint as people may see it: without credentials; what isn't live says so."""
    if not _is_address(endpoint()):
        return ""
    url = urlsplit(endpoint())
    shown = url._replace(netloc=url.netloc.rpartition("@")[2], query="", fragment="").geturl()
    return shown if is_live() else f"{shown}, live: false"


def _is_address(text: str) -> bool:
    try:
        url = urlsplit(text)
    except ValueError:
        return False
    return url.scheme in ("http", "https") and bool(url.hostname)


def is_live() -> bool:
    """Tell whether the endpoint is another machine's."""
    host = urlsplit(endpoint()).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return False
    try:
        address = ip_address(host)
    except ValueError:
        return True
    return not (address.is_loopback or address.is_unspecified)


def dataset_name(agent: str) -> str:
    """Return the name of an agent's dataset: repositories of one workspace differ by a prefix."""
    return f"{os.environ.get(PREFIX, '')}{agent} (guard)"


def probe_name() -> str:
    """Return the name of the project that traces are tried in."""
    return f"{os.environ.get(PREFIX, '')}guard-probe"


def _setting(name: str) -> str:
    for known in (name, OLDER[name]):
        value = os.environ.get(known, "").strip()
        if value:
            return value
    return ""
