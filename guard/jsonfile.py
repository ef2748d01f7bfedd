"""JSON as people expect it: no key twice, no NaN, no half characters, and lines for messages.

Lines are looked up only when a message needs one: Python's own reader knows none.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, NoReturn, cast

from guard.conflicts import to_mend, unsettled
from guard.errors import ConfigError
from guard.schema import Path, dotted, is_list

#: As deep as a file of YAML may be: what is kept of it is read by functions that call themselves.
MAX_DEPTH: Final = 60
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_NO_NUMBERS: Final = ("NaN", "Infinity", "-Infinity")


def load_json(text: str, file: str) -> Any:
    """Return the document of a text. Raises `ConfigError` with file and line."""
    try:
        found = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite
        )
    except json.JSONDecodeError as error:
        said = f"not valid JSON at column {error.colno}: {error.msg}"
        conflict = unsettled(text, file)
        raise conflict or ConfigError(file, error.lineno, "", said, to_mend(file)) from error
    except RecursionError as error:
        raise ConfigError(file, 1, "", "nested too deeply") from error
    except ValueError as error:
        raise _find_odd(text, file) from error
    if _is_too_deep(found):
        raise ConfigError(file, 1, "", f"nested too deeply: more than {MAX_DEPTH} levels")
    if "\\u" in text and (half := _find_half(text, file)):
        raise half
    return found


def line_of(text: str, path: Path) -> int:
    """Return the line where the value at ``path``, or its nearest parent, is written."""
    depth, offset = -1, 0
    for place in _places(text):
        here = place.path
        if len(here) > depth and here == path[: len(here)]:
            depth, offset = len(here), place.offset
            if depth == len(path):
                break
    return _line_at(text, offset)


def _line_at(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


class _Odd(ValueError):
    """Something that Python reads and JSON doesn't know."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Odd
    return found


def _refuse(word: str) -> NoReturn:
    raise _Odd


def _finite(digits: str) -> float:
    found = float(digits)
    if not math.isfinite(found):
        raise _Odd
    return found


def _find_odd(text: str, file: str) -> ConfigError:
    """Return the error that names the first key that stands twice, or number that is none."""
    seen: set[Path] = set()
    for path, offset, token, is_key in _places(text):
        said = ""
        if is_key:
            said = "stands here twice" if path in seen else ""
            seen.add(path)
        elif token in _NO_NUMBERS:
            said = f"{token} is no number that JSON knows"
        elif _is_too_large(token):
            said = f"{token[:20]}… is too large a number"
        if said:
            return ConfigError(file, _line_at(text, offset), dotted(path), said, to_mend(file))
    return ConfigError(file, 1, "", "not valid JSON", to_mend(file))


def _is_too_large(token: str) -> bool:
    if not token.lstrip("-")[:1].isdigit():
        return False
    try:
        json.loads(token, parse_float=_finite)
    except ValueError:
        return True
    return False


def _find_half(text: str, file: str) -> ConfigError | None:
    """Return the error that names the first text with half a character in it: none can write it."""
    for path, offset, token, _ in _places(text):
        if token.startswith('"') and _SURROGATE.search(json.loads(token, strict=False)):
            said = f"{token[:40]} holds half of a character, a lone surrogate"
            return ConfigError(file, _line_at(text, offset), dotted(path), said, to_mend(file))
    return None


def _is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [item for part in level for item in _items(part)]
        if not level:
            return False
    return True


def _items(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(cast("dict[str, Any]", value).values())
    return value if is_list(value) else []


class _Place(NamedTuple):
    """A key, or a value, as it is written."""

    path: Path
    offset: int
    token: str
    is_key: bool


class _Inside:
    """An object or a list that has begun and not ended."""

    def __init__(self, *, is_list: bool) -> None:
        self.step: str | int = 0 if is_list else ""
        self.wants_key = not is_list

    def go_on(self) -> None:
        """Take the comma behind an item."""
        if isinstance(self.step, int):
            self.step += 1
        else:
            self.wants_key = True


def _places(text: str) -> Iterator[_Place]:
    """Yield all keys and values of a text that is JSON, as they stand."""
    around: list[_Inside] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == ",":
            around[-1].go_on()
        elif token in "]}":
            around.pop()
        elif token != ":":
            is_key = bool(around) and around[-1].wants_key
            if is_key:
                around[-1].step = json.loads(token, strict=False)
                around[-1].wants_key = False
            path = tuple(inside.step for inside in around)
            yield _Place(path, match.start(), token, is_key)
            if token in "[{":
                around.append(_Inside(is_list=token == "["))
