"""What an expectation's value must look like, in the checks of `guard.schema`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from guard.evaluators.json_values import is_array, is_mapping, is_pointer
from guard.schema import Check, Invalid, dotted, kind_of, list_of

#: A pattern that matches all of these matches any text, so it can never fail.
_ANY_TEXT = ("", "a", "\x00\n\x00", "é 9_")


def sentence_of(check: Check) -> Callable[[str, Any], str | None]:
    """Return an evaluator's ``check``: what ``check`` says is wrong, in one sentence."""

    def say(key: str, value: Any) -> str | None:
        try:
            check(value)
        except Invalid as error:
            where = dotted(error.path)
            return f"{where}: {error.message}" if where else error.message
        return None

    return say


def only_true(instead: str) -> Check:
    """Nothing but true; ``instead`` says what to do where it isn't wanted."""

    def check(value: Any) -> bool:
        if value is not True:
            raise Invalid(f"takes only true; {instead}")
        return True

    return check


def plain_text(value: Any) -> str:
    """Text that isn't empty. A number must be quoted: 400.10 would be read as 400.1."""
    if not isinstance(value, str):
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        raise Invalid(f"must be text, not {kind_of(value)}{': put it in quotes' * number}")
    if not value:
        raise Invalid("must not be empty: every text contains the empty one")
    return value


def pattern(value: Any) -> str:
    """A regular expression, for ``re.search`` without flags, that some text doesn't match."""
    found = plain_text(value)
    try:
        compiled = re.compile(found)
    except (re.error, OverflowError, RecursionError) as error:
        raise Invalid(f"{found!r} is not a regular expression: {error}") from error
    if all(map(compiled.search, _ANY_TEXT)):
        raise Invalid(f"{found!r} matches any text, so it can never fail")
    return found


def one_or_more(check: Check) -> Check:
    """One value, or a list of at least one."""

    def check_either(value: Any) -> list[Any]:
        if not isinstance(value, list):
            return [check(value)]
        checked: list[Any] = list_of(check, least=1)(value)
        return checked

    return check_either


def pointer(value: Any) -> str:
    """A JSON pointer of RFC 6901; the empty one names the whole document."""
    if not isinstance(value, str):
        raise Invalid(f"must be a JSON pointer such as /total, not {kind_of(value)}")
    if not is_pointer(value):
        raise Invalid(f"{value!r} is not a JSON pointer: write it as /a/0 (~ is ~0, / is ~1)")
    return value


def json_value(value: Any) -> Any:
    """A value that JSON can hold. NaN is none: it equals nothing, not even itself."""
    if is_mapping(value):
        for item in value.values():
            json_value(item)
    elif is_array(value):
        for item in value:
            json_value(item)
    elif value is not None and not isinstance(value, (str, int, float)):
        raise Invalid(f"{value!r} is not a JSON value")
    elif value != value:
        raise Invalid("NaN equals nothing, so this can never hold")
    return value


def inside_path(value: Any) -> str:
    """A path of a file in the workspace: relative, and not out of it."""
    found = plain_text(value)
    if found.startswith("/") or ".." in found.split("/") or "\0" in found:
        raise Invalid(f"{found!r} leaves the workspace")
    return found


def sha256_digest(value: Any) -> str:
    """64 hexadecimal digits, with or without ``sha256:`` before them."""
    found = plain_text(value)
    if not re.fullmatch(r"(?:sha256:)?[0-9a-fA-F]{64}", found):
        raise Invalid(f"{found!r} is not a SHA-256 in 64 hexadecimal digits")
    return found
