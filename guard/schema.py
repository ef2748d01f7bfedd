"""Checks for the keys of our files: what is wrong, at which key, and the nearest known one.

A check takes a value and returns it, normalised, or raises `Invalid` with the path to the
part that is wrong. The key tables themselves stand with the files they belong to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeGuard

#: The steps to a value, from the root of its file.
Path = tuple[str | int, ...]
Check = Callable[[Any], Any]


def is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    """Tell a type checker that a value is a mapping, if it is."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Tell a type checker that a value is a list, if it is."""
    return isinstance(value, list)


class Invalid(Exception):
    """A value that a check refuses."""

    def __init__(self, message: str, path: Path = ()) -> None:
        super().__init__(message)
        self.message = message
        self.path = path


def dotted(path: Path) -> str:
    """Return the path as people write it: ``agents.expense.paths[0]``."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def nearest(word: str, words: Collection[str]) -> str:
    """Return ``; did you mean `x`?`` for the nearest of the words, or nothing."""
    import difflib

    found = difflib.get_close_matches(word, words, n=1, cutoff=0.6)
    return f"; did you mean `{found[0]}`?" if found else ""


def kind_of(value: object) -> str:
    """Name a value's type in words a person uses."""
    if value is None:
        return "nothing"
    names: dict[type, str] = {bool: "true/false", int: "a number", float: "a number", str: "text"}
    names |= {list: "a list", dict: "a mapping"}
    return names.get(type(value), type(value).__name__)


def text(value: Any) -> str:
    """Text that isn't empty."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise Invalid(f"must be text, not {kind_of(value)}")
    if not value.strip():
        raise Invalid("must not be empty")
    return value


def any_text(value: Any) -> str:
    """Text, which may be empty."""
    if value is None or value == "":
        return ""
    return text(value)


def boolean(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise Invalid(f"must be true or false, not {kind_of(value)}")
    return value


def number(low: float, high: float = float("inf"), *, above: bool = False) -> Check:
    """A number from ``low`` (itself not, with ``above``) to ``high``."""

    def check(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
            raise Invalid(f"must be a number, not {kind_of(value)}")
        if value < low or value > high or (above and value == low):
            until = f" and at most {high:g}" if high != float("inf") else ""
            raise Invalid(f"must be {'above' if above else 'at least'} {low:g}{until}")
        return value

    return check


def integer(low: int, high: int = 10**9) -> Check:
    """A whole number from ``low`` to ``high``."""
    check_range = number(low, high)

    def check(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise Invalid(f"must be a whole number, not {kind_of(value)}")
        return int(check_range(value))

    return check


def one_of(*words: str) -> Check:
    """One of the words."""

    def check(value: Any) -> str:
        if value not in words:
            near = nearest(str(value), words)
            raise Invalid(f"{value!r} is none of {', '.join(words)}{near}")
        return str(value)

    return check


def texts(value: Any) -> list[str]:
    """A list of texts."""
    found: list[str] = list_of(text)(value)
    return found


def text_or_texts(value: Any) -> list[str]:
    """One text or a list of them."""
    return [text(value)] if isinstance(value, str) else texts(value)


def anything(value: Any) -> Any:
    """Any value."""
    return value


def some_mapping(value: Any) -> dict[str, Any]:
    """A mapping with any keys."""
    if not is_mapping(value):
        raise Invalid(f"must be a mapping, not {kind_of(value)}")
    return {str(key): item for key, item in value.items()}


def list_of(check: Check, *, least: int = 0) -> Check:
    """A list whose items all pass ``check``."""

    def check_list(value: Any) -> list[Any]:
        if not is_list(value):
            raise Invalid(f"must be a list, not {kind_of(value)}")
        if len(value) < least:
            raise Invalid("must not be empty")
        return [_at(position, check, item) for position, item in enumerate(value)]

    return check_list


def mapping_of(check: Check, *, key: Check = text) -> Check:
    """A mapping with free keys, whose values all pass ``check``."""

    def check_mapping(value: Any) -> dict[str, Any]:
        found = some_mapping(value)
        return {_at(k, key, k): _at(k, check, item) for k, item in found.items()}

    return check_mapping


def mapping(keys: Mapping[str, Check], *, required: Collection[str] = (), hint: str = "") -> Check:
    """A mapping with exactly these keys. ``hint`` is added where one is unknown."""

    def check_mapping(value: Any) -> dict[str, Any]:
        found = some_mapping(value)
        for name in found:
            if name not in keys:
                near = nearest(name, keys)
                raise Invalid(f"unknown key{near}{hint}", (name,))
        missing = next((name for name in required if found.get(name) is None), None)
        if missing:
            raise Invalid(f"the key `{missing}` is missing")
        return {name: _at(name, keys[name], item) for name, item in found.items()}

    return check_mapping


def nullable(check: Check) -> Check:
    """Nothing, or what passes ``check``."""
    return lambda value: None if value is None else check(value)


def matching(pattern: str, what: str) -> Check:
    """Text that matches the whole pattern; ``what`` names it in words."""

    def check(value: Any) -> str:
        found = text(value)
        if not re.fullmatch(pattern, found):
            raise Invalid(f"{found!r} is not {what}")
        return found

    return check


def _at(step: str | int, check: Check, value: Any) -> Any:
    try:
        return check(value)
    except Invalid as error:
        raise Invalid(error.message, (step, *error.path)) from error
