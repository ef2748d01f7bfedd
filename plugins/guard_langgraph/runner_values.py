"""What a graph leaves behind, as JSON values.

Runs in the agent's own Python: nothing of guard is there.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import math
import os
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeGuard

_DEEPEST = 100
_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant"}


class UnwritableError(Exception):
    """A value that JSON can't hold: where it is, as a JSON pointer, and what it is."""

    def __init__(self, pointer: str, what: str) -> None:
        super().__init__(f"{pointer or 'all of it'} is {what}")
        self.pointer = pointer
        self.what = what


def to_json(value: Any, at: str = "", depth: int = 0) -> Any:
    """Return a value as JSON holds it. Raises `UnwritableError`."""
    if value is None or type(value) in (bool, str):
        return value
    if depth > _DEEPEST:
        raise UnwritableError(at[:80], "nested too deep, or holds itself")
    if is_message(value):
        return message_to_json(value, at, depth)
    for kinds, write in _WRITERS:
        if isinstance(value, kinds):
            return write(value, at, depth)
    return _object_to_json(value, at, depth)


def is_list(value: Any) -> TypeGuard[list[Any]]:
    """Tell whether a value is a list."""
    return isinstance(value, list)


def is_dict(value: Any) -> TypeGuard[dict[Any, Any]]:
    """Tell whether a value is a mapping."""
    return isinstance(value, dict)


def kind_of(value: object) -> Any:
    """Return a value's type."""
    return type(value)


def is_message(value: Any) -> bool:
    """Tell whether a value is a message of LangChain's."""
    return hasattr(value, "response_metadata") and isinstance(getattr(value, "type", None), str)


def message_to_json(message: Any, at: str = "", depth: int = 0) -> dict[str, Any]:
    """Return a message with its role, content and tool calls; ids are new in each trial."""
    calls: list[Any] = getattr(message, "tool_calls", None) or []
    found: dict[str, Any] = {
        "role": role_of(message),
        "content": to_json(message.content, f"{at}/content", depth + 1),
        "tool_calls": [
            {"name": call["name"], "args": to_json(call["args"], f"{at}/tool_calls", depth + 1)}
            for call in calls
        ],
    }
    if getattr(message, "name", None):
        found["name"] = message.name
    return found


def role_of(message: Any) -> str:
    """Return user, assistant, system or tool, or what else the message says that it is."""
    kind = str(message.type)
    return _ROLES.get(kind, kind)


def text_of(content: Any) -> str:
    """Return the text of a message's content, which may be a list of blocks."""
    if isinstance(content, str):
        return content
    parts: list[str] = []
    for block in content if is_list(content) else ():
        said = block.get("text") if is_dict(block) else block
        parts.append(said if isinstance(said, str) else "")
    return "".join(parts)


def _number(value: Any, at: str, depth: int) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        raise UnwritableError(at, f"{value}, which is no number in JSON")
    return value


def _mapping(value: Mapping[Any, Any], at: str, depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, item in value.items():
        name = key.value if isinstance(key, enum.Enum) else key
        if isinstance(name, bool) or not isinstance(name, (str, int)):
            raise UnwritableError(at, f"keyed by {type(key).__name__}, not by text")
        found[str(name)] = to_json(item, f"{at}/{_escaped(str(name))}", depth + 1)
    return found


def _list(value: Iterable[Any], at: str, depth: int) -> list[Any]:
    return [to_json(item, f"{at}/{position}", depth + 1) for position, item in enumerate(value)]


def _set(value: Iterable[Any], at: str, depth: int) -> list[Any]:
    return sorted(_list(value, at, depth), key=repr)


def _bytes(value: bytes, at: str, depth: int) -> str:
    try:
        return bytes(value).decode("utf-8")
    except UnicodeDecodeError:
        raise UnwritableError(at, "bytes that are no text") from None


def _object_to_json(value: Any, at: str, depth: int) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        named = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return _mapping(named, at, depth)
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        try:
            return to_json(dump(mode="json"), at, depth + 1)
        except UnwritableError:
            raise
        except Exception as error:  # what pydantic can't write it says in its own words
            said = " ".join(str(error).split())[:120]
            raise UnwritableError(
                at, f"a {_kind_of(value)} that can't be written: {said}"
            ) from None
    raise UnwritableError(at, f"a {_kind_of(value)}")


def _kind_of(value: Any) -> str:
    kind = kind_of(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


_Write = Callable[[Any, str, int], Any]
#: Kinds → how they are written; the first that fits.
_WRITERS: tuple[tuple[Any, _Write], ...] = (
    (enum.Enum, lambda value, at, depth: to_json(value.value, at, depth + 1)),
    (str, lambda value, at, depth: str.__str__(value)),
    ((int, float), _number),
    ((datetime.date, datetime.time), lambda value, at, depth: value.isoformat()),
    (datetime.timedelta, lambda value, at, depth: value.total_seconds()),
    ((decimal.Decimal, uuid.UUID), lambda value, at, depth: str(value)),
    (os.PathLike, lambda value, at, depth: str(value)),
    ((bytes, bytearray), _bytes),
    (Mapping, _mapping),
    ((set, frozenset), _set),
    ((list, tuple), _list),
)
