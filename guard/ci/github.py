"""The event of a job on GitHub, Gitea or Forgejo: a JSON file that the runner lays beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from guard.errors import UnreadableError

#: Events of a pull request; the second is run with the base's rights and its checkout.
PULL_REQUESTS = ("pull_request", "pull_request_target", "pull_request_review")


def read_event(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what the event tells, by the names of `guard.ci.services.Told`.

    Raises `UnreadableError` where the event can't be read: a guess would judge other commits.
    """
    name = environment.get("GITHUB_EVENT_NAME", "")
    event = _load(environment.get("GITHUB_EVENT_PATH", ""))
    told = {"default": _text(event, "repository", "default_branch")}
    if name in PULL_REQUESTS:
        told |= {
            "target": _text(event, "pull_request", "base", "ref"),
            "base": _text(event, "pull_request", "base", "sha"),
            "head": _text(event, "pull_request", "head", "sha"),
            "title": _text(event, "pull_request", "title"),
            "body": _text(event, "pull_request", "body"),
        }
    elif name == "merge_group":
        told |= {
            "target": _short(_text(event, "merge_group", "base_ref")),
            "base": _text(event, "merge_group", "base_sha"),
            "head": _text(event, "merge_group", "head_sha"),
        }
    elif name == "push":
        told |= {"before": _text(event, "before"), "branch": _short(_text(event, "ref"))}
    return told


def _load(path: str) -> Mapping[str, Any]:
    if not path:
        return {}
    try:
        with open(path, encoding="utf-8") as file:
            event: Any = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        said = f"the event of this job ({path}, GITHUB_EVENT_PATH) can't be read: {error}"
        raise UnreadableError(said, "guard ci --base REF") from error
    return cast("Mapping[str, Any]", event) if isinstance(event, dict) else {}


def _text(event: Mapping[str, Any], *names: str) -> str:
    found: Any = event
    for name in names:
        found = cast("Mapping[str, Any]", found).get(name) if isinstance(found, dict) else None
    return found if isinstance(found, str) else ""


def _short(ref: str) -> str:
    return ref.removeprefix("refs/heads/").removeprefix("refs/tags/")
