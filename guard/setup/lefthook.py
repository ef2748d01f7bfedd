"""lefthook's configuration, read only: which of its jobs call guard, and how."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeGuard

import yaml

#: Calls of guard in a line of shell.
CALLS_GUARD: Final = re.compile(
    r"\b(?:regression-)?guard(?: hook\b|-(?:commit-msg|affected|suite)\b)"
)
NAMES: Final = ("lefthook", ".lefthook", ".config/lefthook", "lefthook-local", ".lefthook-local")
ENDINGS: Final = ("yml", "yaml", "json", "toml")
#: They bring jobs from elsewhere, which are not looked for.
ELSEWHERE: Final = ("extends", "remotes")
#: Key → where scripts are without it, in a folder of the stage's name.
SCRIPTS: Final = {"source_dir": ".lefthook", "source_dir_local": ".lefthook-local"}


class Job(NamedTuple):
    """One job that calls guard."""

    file: str
    stage: str
    settings: Mapping[str, Any]
    script: str = ""
    """The text of the script that it starts, where it is no `run`."""

    @property
    def run(self) -> str:
        """What it runs."""
        return self.script or str(self.settings.get("run", ""))


class Lefthook(NamedTuple):
    """What its files say."""

    files: tuple[str, ...] = ()
    jobs: tuple[Job, ...] = ()
    unread: tuple[str, ...] = ()
    """Files, or keys that name others, in which there may be more."""


def read_lefthook(root: str) -> Lefthook:
    """Return guard's jobs in the files of lefthook's; nothing where there are none."""
    names = [f"{name}.{ending}" for name in NAMES for ending in ENDINGS]
    files = [name for name in names if os.path.isfile(os.path.join(root, name))]
    jobs: list[Job] = []
    unread: list[str] = []
    for name in files:
        document = _read(os.path.join(root, name))
        if document is None:
            unread.append(name)
            continue
        unread += [f"{name}: `{key}`" for key in ELSEWHERE if key in document]
        folders = [str(document.get(key, place)) for key, place in SCRIPTS.items()]
        for stage, hook in document.items():
            for settings in _jobs(hook):
                paths = [os.path.join(root, folder, stage) for folder in folders]
                job = Job(name, stage, settings, _script(paths, settings))
                jobs += [job] if CALLS_GUARD.search(job.run) else []
    return Lefthook(tuple(files), tuple(jobs), tuple(unread))


def _read(path: str) -> Mapping[str, Any] | None:
    try:
        with open(path, "rb") as stream:
            content = stream.read()
        if path.endswith(".toml"):
            import tomllib

            return tomllib.loads(content.decode())
        found: Any = yaml.safe_load(content)
    except (OSError, ValueError, yaml.YAMLError, RecursionError):
        return None
    return found if _is_mapping(found) else {}


def _jobs(hook: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the jobs of a hook: a list, or by name; a group has jobs of its own."""
    if not _is_mapping(hook):
        return
    listed: list[Any] = [*_values(hook.get("jobs")), *_values(hook.get("commands"))]
    listed += _named_scripts(hook.get("scripts"))
    for job in listed:
        if not _is_mapping(job):
            continue
        yield job
        group: Any = job.get("group")
        # What a group says holds for its jobs, where they don't say it themselves.
        yield from ({**job, **inner} for inner in _jobs(group))


def _named_scripts(scripts: Any) -> list[Any]:
    if not _is_mapping(scripts):
        return []
    return [{**job, "script": name} for name, job in scripts.items() if _is_mapping(job)]


def _script(folders: Sequence[str], settings: Mapping[str, Any]) -> str:
    """Return the text of a job's script; empty where it has none, or none that can be read."""
    name = settings.get("script")
    for folder in folders if isinstance(name, str) and name else ():
        try:
            with open(os.path.join(folder, str(name)), encoding="utf-8") as stream:
                return stream.read()
        except (OSError, ValueError):
            continue
    return ""


def _values(listed: Any) -> list[Any]:
    if _is_mapping(listed):
        return [*listed.values()]
    return [*listed] if isinstance(listed, (list, tuple)) else []


def _is_mapping(value: Any) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, dict)


def shows_pushes(root: str) -> bool:
    """Tell whether lefthook hands on what git says of a push, to every job that calls guard."""
    jobs = [job for job in read_lefthook(root).jobs if job.stage == "pre-push"]
    return bool(jobs) and all(job.settings.get("use_stdin") is True for job in jobs)
