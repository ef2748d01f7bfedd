"""YAML as people expect it: YAML 1.2's plain scalars, no duplicate keys, bounded anchors.

`yaml.compose` with a constructor of our own is faster than CSafeLoader, and free of
YAML 1.1's ``no`` → False, ``010`` → 8 and ``12:30:00`` → 45000. Lines are looked up only
when a message needs one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from guard.conflicts import to_mend, unsettled
from guard.errors import ConfigError
from guard.schema import Path, is_list, is_mapping

#: Nodes that one file may expand to: an anchor bomb ends here.
MAX_NODES = 200_000
MAX_DEPTH = 60

_BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


#: What a scalar without a tag is given, so that `!!str 5` can be told from `5`.
PLAIN = "plain"


class _Loader(_BASE):  # type: ignore[misc]  # the C loader where libyaml is there
    """Resolves no plain scalar, so that each keeps the text that was written.

    PyYAML asks its resolver several times a node; these answers take half of its time away.
    """

    def resolve(self, kind: type[Any], value: Any, implicit: Any) -> str:
        """Return a tag that says: none was written."""
        return PLAIN

    def descend_resolver(self, current_node: Any, current_index: Any) -> None:
        """Follow no path resolvers: there are none."""

    def ascend_resolver(self) -> None:
        """Follow no path resolvers: there are none."""


_FORMS = (str.lower, str.capitalize, str.upper)
_LOWER = {"true": True, "false": False, "null": None, "~": None, "": None}
_WORDS = {form(word): value for word, value in _LOWER.items() for form in _FORMS}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
#: In any version of YAML: numbers, dates and times begin so, and these words are no text.
_AMBIGUOUS = re.compile(r"(?:[-+]?\.?[0-9].*|[-+]?\.(?:inf|nan)|y|yes|n|no|on|off|=|<<)\Z", re.I)
_STANDARD = "tag:yaml.org,2002:"


def load_yaml(text: str, file: str, first_line: int = 1) -> Any:
    """Return the one document of ``text`` as plain values; keys are always text.

    Raises `ConfigError` naming file and line; ``first_line`` is where the text starts.
    """
    root = _composed(text, file, first_line)
    return None if root is None else _Constructor(file, first_line).value(root, 0)


def line_of(text: str, path: Path, first_line: int = 1) -> int:
    """Return the line where the value at ``path``, or its nearest parent, is written."""
    node = yaml.compose(text, Loader=_Loader)
    line = first_line
    for step in path:
        found = _child(node, step)
        if found is None:
            break
        key, node = found
        line = key.start_mark.line + first_line
    return line


def maybe_no_text(text: str) -> list[str]:
    """Return the places of the plain scalars that some reader of YAML takes for no text.

    Readers of YAML 1.1 take ``no``, ``010`` and ``12:30`` for something else than this one does.
    """
    root = yaml.compose(text, Loader=_Loader)
    return sorted(_ambiguous(root, "")) if root is not None else []


def _ambiguous(node: Any, place: str) -> Iterator[str]:
    if isinstance(node, yaml.ScalarNode):
        if not node.style and _AMBIGUOUS.match(node.value):
            yield f"{place}={node.value}"
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            yield from _ambiguous(item, f"{place}/{number}")
    else:
        for key, value in node.value:
            yield from _ambiguous(key, f"{place}/")
            yield from _ambiguous(value, f"{place}/{key.value}")


def _child(node: Any, step: str | int) -> tuple[Any, Any] | None:
    if isinstance(node, yaml.MappingNode):
        return next(((k, v) for k, v in node.value if k.value == str(step)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step], node.value[step]
    return None


def _composed(text: str, file: str, first_line: int) -> Any:
    try:
        return yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        raise unsettled(text, file, first_line) or _invalid(
            error, text, file, first_line
        ) from error
    except (yaml.YAMLError, UnicodeError) as error:
        said = " ".join(str(error).split())
        said = f"not valid YAML: {said}"
        raise ConfigError(file, first_line, "", said, to_mend(file)) from error
    except RecursionError as error:
        raise ConfigError(file, first_line, "", "nested too deeply") from error


#: What the parser says of the place → what to say of it; {char} stands there, {open} began it.
_SAID = (
    ("cannot start any token", "`{char}` can't begin a value: put it in quotes"),
    ("mapping values are not allowed", "`:` can't stand here: put the text in quotes, or indent"),
    ("tab character", "a tab: YAML is indented by spaces"),
    ("unexpected end of stream", "the quote of line {open} isn't closed"),
    ("expected ',' or", "the bracket of line {open} isn't closed"),
    ("undefined alias", "no `&` names this `*`: put it in quotes"),
    ("unknown escape", "no such escape in double quotes: use single ones"),
    ("block end", "indented otherwise than what it belongs to"),
    ("'-' indicator", "indented otherwise than the list above"),
)


def _invalid(error: yaml.MarkedYAMLError, text: str, file: str, first_line: int) -> ConfigError:
    """Return where YAML ends to be YAML, in words that need no knowledge of a parser."""
    mark = error.problem_mark or error.context_mark
    problem = error.problem or error.context or "it can't be read"
    line, column = (mark.line, mark.column) if mark else (0, 0)
    lines = text.split("\n")
    char = lines[line][column : column + 1] if line < len(lines) else ""
    began = error.context_mark.line if error.context_mark else line
    said = next((said for known, said in _SAID if known in problem), "")
    said = said.format(char=char, open=began + first_line) if said else problem
    said = f"not valid YAML at column {column + 1}: {said}"
    return ConfigError(file, line + first_line, "", said, to_mend(file))


class _Constructor:
    """Turns nodes into values, within bounds."""

    def __init__(self, file: str, first_line: int) -> None:
        self.file = file
        self.first_line = first_line
        self.count = 0

    def fail(self, node: Any, message: str, key: str = "") -> ConfigError:
        return ConfigError(self.file, node.start_mark.line + self.first_line, key, message)

    def value(self, node: Any, depth: int) -> Any:
        self.count += 1
        if self.count > MAX_NODES or depth > MAX_DEPTH:
            raise self.fail(node, "too large once its anchors are expanded")
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, depth + 1) for item in node.value]
        return self.mapping(node, depth)

    def scalar(self, node: Any) -> Any:
        text: str = node.value
        if node.tag != PLAIN:
            return self.tagged(node)
        if node.style:  # plain is "" to the C loader, None to the other
            return text
        if text in _WORDS:
            return _WORDS[text]
        if _INTEGER.match(text):
            return int(text) if len(text) < 1000 else text
        return float(text) if _FLOAT.match(text) and not _keeps_its_text(text) else text

    def tagged(self, node: Any) -> Any:
        kind = node.tag.removeprefix(_STANDARD)
        if kind in ("str", "!"):
            return node.value
        if kind in ("int", "float", "bool", "null"):
            return self.scalar(yaml.ScalarNode(PLAIN, node.value, node.start_mark))
        raise self.fail(node, f"the tag {node.tag} is not allowed here")

    def mapping(self, node: Any, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise self.fail(key_node, "a key must be text")
            key: str = key_node.value
            if key == "<<" and not key_node.style:
                merged = {**self.merged(value_node, depth), **merged}
                continue
            if key in found:
                raise self.fail(key_node, "stands here twice", key)
            found[key] = self.value(value_node, depth + 1)
        return {**merged, **found} if merged else found

    def merged(self, node: Any, depth: int) -> dict[str, Any]:
        value = self.value(node, depth + 1)
        parts: list[Any] = list(value) if is_list(value) else [value]
        if not all(is_mapping(part) for part in parts):
            raise self.fail(node, "<< takes a mapping")
        return {key: item for part in reversed(parts) for key, item in part.items()}


def _keeps_its_text(text: str) -> bool:
    # 010 is a code, not a number: YAML 1.1 reads 8, JSON refuses it.
    digits = text.lstrip("+-")
    return digits[:1] == "0" and digits[1:2].isdigit()
