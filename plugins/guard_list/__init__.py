"""Reads a plain list of what production serves: a JSON or YAML list, or one name a line.

A plugin of its own, so that a repository whose text files mean something else can switch it off.
"""

from __future__ import annotations

from typing import Any, cast

from guard.plugin import Project, Served, TargetError, hookimpl, read_json

_YAML = (".yaml", ".yml")
_TEXT = (".txt", ".list", "")
_COMMENT = "#"


@hookimpl
def guard_served_agents(project: Project) -> list[Served]:
    """Return an entry for each name of each list that guard.yaml serves."""
    found: list[Served] = []
    for path in project.served:
        names = read_names(project.read(path) or b"", path)
        if names is not None:
            found += [Served(name, path) for name in names or [""]]
    return found


def read_names(content: bytes, path: str) -> list[str] | None:
    """Return the names of a list, None where the file is none. Raises `TargetError`."""
    file = path.rpartition("/")[2]
    ending = file[file.rindex(".") :] if "." in file.lstrip(".") else ""
    if ending == ".json":
        return _checked(read_json(content, path), path)
    if ending in _YAML:
        return _checked(_read_yaml(content, path), path)
    return _lines(content, path) if ending in _TEXT else None


def _checked(document: Any, path: str) -> list[str] | None:
    """Return the items of a list, None of another document. Raises `TargetError`."""
    if not isinstance(document, list):
        return None
    for place, item in enumerate(cast("list[object]", document), 1):
        if not isinstance(item, str) or not item.strip():
            raise TargetError(f"{path}: item {place} of the list is no name: {item!r:.80}")
    return cast("list[str]", document)


def _read_yaml(content: bytes, path: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(_decoded(content, path))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        at = f":{mark.line + 1}" if mark is not None else ""
        said = getattr(error, "problem", None) or "it can't be read"
        raise TargetError(f"{path}{at}: not valid YAML: {said}") from error
    except (RecursionError, ValueError) as error:
        raise TargetError(f"{path}: not valid YAML: it can't be read") from error


def _lines(content: bytes, path: str) -> list[str]:
    lines = map(str.strip, _decoded(content, path).splitlines())
    return [line for line in lines if line and not line.startswith(_COMMENT)]


def _decoded(content: bytes, path: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise TargetError(f"{path}:{line}: not UTF-8 text") from error
