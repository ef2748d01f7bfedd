"""Documents that a plugin reads from the tree: strictly, with the line of what is wrong."""

from __future__ import annotations

from typing import Any

from guard.errors import TargetError


def read_json(content: bytes, path: str) -> Any:
    """Return a JSON document. Raises `TargetError`, with its line, for one that is none.

    No key may stand twice in a mapping, and a number is never NaN or infinite: one of the two
    values would be lost, and nobody would be told.
    """
    import json

    try:
        return json.loads(
            content.decode("utf-8-sig"), object_pairs_hook=_unique, parse_constant=_no_number
        )
    except json.JSONDecodeError as error:
        raise TargetError(f"{path}:{error.lineno}: not valid JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise TargetError(f"{path}: not valid JSON: {_in_words(error)}") from error


def _in_words(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    return "it is nested too deep" if isinstance(error, RecursionError) else str(error)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} stands twice")
        found[key] = value
    return found


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number there")
