"""Where this guard was installed from, so that others can be told to get the same one."""

from __future__ import annotations

import json

from guard import __version__
from guard.setup.framework import Source

NAME = "regression-guard"
#: The labels under which a distribution names its repository.
_LABELS = ("repository", "source", "source code", "homepage")


def own_source() -> Source | None:
    """Return the repository and revision of this guard; None where the metadata don't tell."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        found = distribution(NAME)
    except PackageNotFoundError:
        return None
    direct = found.read_text("direct_url.json")
    if direct:
        return source_of_url(direct)
    urls: list[str] = found.metadata.get_all("Project-URL") or []
    return source_of_project(urls)


def source_of_url(direct_url: str) -> Source | None:
    """Return what a ``direct_url.json`` (PEP 610) tells; None for a local folder or archive."""
    told = json.loads(direct_url)
    vcs = told.get("vcs_info", {})
    if vcs.get("vcs") != "git" or told["url"].startswith("file:"):
        return None
    return Source(told["url"], vcs.get("requested_revision") or vcs["commit_id"])


def source_of_project(urls: list[str]) -> Source | None:
    """Return the repository that a release's ``Project-URL`` lines name, at its tag."""
    for line in urls:
        label, _, url = line.partition(",")
        if label.strip().lower() in _LABELS and "://git" in url:
            return Source(url.strip().removesuffix("/"), f"v{__version__}")
    return None


def requirement() -> str:
    """Return what ``pip install`` takes to get the same guard."""
    source = own_source()
    return f"{NAME} @ git+{source.url}@{source.rev}" if source else f"{NAME}=={__version__}"
