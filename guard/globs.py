"""Globs as DESIGN section 4 defines them, translated to one regex over git's bytes paths.

Anchored at the repository's root; ``*`` and ``?`` don't cross ``/``, ``**`` does; ``[ab]`` is
a class; a name without wildcards matches itself and all below it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

Matcher = Callable[[bytes], bool]

WILDCARDS = frozenset("*?[")
_SPECIAL = WILDCARDS | {"\\"}
#: What of a glob's regex stands for more than one byte.
ANYTHING, PART, FOLDERS, BELOW = b".*", b"[^/]*", b"(?:.*/)?", b"(?:/.*)?"


def compile_globs(globs: Iterable[str], names: Iterable[str] = ()) -> Matcher:
    """Return a test of a path against any of the globs, and of names taken as they stand.

    The names may be thousands: a look-up each, as a pattern of them takes long to make.
    """
    listed = tuple(globs)
    # By far the most common ones, which take no pattern: each takes a millisecond to make.
    below = tuple(_encoded(_plain(glob)[:-2]) for glob in listed if _is_all_below(glob))
    pattern = _regex(tuple(glob for glob in listed if not _is_all_below(glob)))
    match = pattern.match if pattern else _matches_nothing
    known = frozenset(_encoded(name.removeprefix("./").rstrip("/")) for name in names)
    if known:
        return lambda path: (
            path.startswith(below) or match(path) is not None or _is_within(path, known)
        )
    if below and not pattern:
        return lambda path: path.startswith(below)
    return lambda path: path.startswith(below) or match(path) is not None


def _plain(glob: str) -> str:
    return glob.removeprefix("./")


def _is_all_below(glob: str) -> bool:
    """Tell whether a glob names all that is in one folder: ``skills/tea/**``."""
    folder = _plain(glob).removesuffix("/**")
    return folder not in ("", _plain(glob)) and not _SPECIAL.intersection(folder)


def _matches_nothing(path: bytes) -> None:
    return None


def _is_within(path: bytes, names: frozenset[bytes]) -> bool:
    while path and path not in names:
        path = path.rpartition(b"/")[0]
    return bool(path)


@lru_cache(maxsize=512)
def _regex(globs: tuple[str, ...]) -> re.Pattern[bytes] | None:
    if not globs:
        return None
    return re.compile(b"|".join(b"(?:" + translate(glob) + b")" for glob in globs), re.DOTALL)


def translate(glob: str) -> bytes:
    """Return the regex of one glob, anchored at both ends."""
    return b"".join(pieces(glob)) + b"\\Z"


def pieces(glob: str) -> Iterator[bytes]:
    """Yield the parts of a glob's regex: each a constant of this module, or one byte's."""
    text = glob.removeprefix("./").rstrip("/") if glob not in ("", "/") else ""
    if not text or text == ".":
        yield ANYTHING
    elif not WILDCARDS.intersection(_LITERAL.sub("", text)):
        yield from _each_byte(_LITERAL.sub(r"\1", text))
        yield BELOW
    else:
        yield from _translated(text)


def _translated(text: str) -> Iterator[bytes]:
    position = 0
    while position < len(text):
        if text.startswith("**/", position) and (position == 0 or text[position - 1] == "/"):
            yield FOLDERS
            position += 3
        elif text.startswith("**", position):
            yield ANYTHING
            position += 2
        elif text[position] == "*":
            yield PART
            position += 1
        elif text[position] == "?":
            yield b"[^/]"
            position += 1
        elif text[position] == "[" and (end := _class_end(text, position)):
            yield _character_class(text[position + 1 : end])
            position = end + 1
        else:
            yield from _each_byte(text[position])
            position += 1


def _each_byte(text: str) -> Iterator[bytes]:
    return (re.escape(bytes((byte,))) for byte in _encoded(text))


def _class_end(text: str, start: int) -> int:
    first = start + 2 if text[start + 1 : start + 2] in ("!", "^") else start + 1
    return max(text.find("]", first + 1), 0)


def _character_class(inside: str) -> bytes:
    negated = inside[0] in "!^"
    members = _members(inside[1:] if negated else inside)
    if not members:  # only ranges that run backwards: no character is in there
        return b"[^/]" if negated else b"(?!)"
    return (b"[^/" if negated else b"(?!/)[") + members + b"]"


def _members(text: str) -> bytes:
    parts: list[bytes] = []
    position = 0
    while position < len(text):
        first, last = text[position], text[position + 2 : position + 3]
        if last and text[position + 1] == "-":
            position += 3
            if first <= last:
                parts.append(re.escape(_encoded(first)) + b"-" + re.escape(_encoded(last)))
        else:
            position += 1
            parts.append(re.escape(_encoded(first)))
    return b"".join(parts)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


#: One character as `literal` writes it.
_LITERAL = re.compile(r"\[([*?[])\]")


def literal(path: str) -> str:
    """Return a glob that matches just this path and what is below it."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)


def literal_prefix(glob: str) -> str:
    """Return the deepest folder (or the name itself) that holds all that the glob matches."""
    text = glob.removeprefix("./").rstrip("/")
    if not WILDCARDS.intersection(text):
        return text
    fixed: list[str] = []
    for part in text.split("/"):
        if WILDCARDS.intersection(_LITERAL.sub("", part)):
            break
        fixed.append(_LITERAL.sub(r"\1", part))
    return "/".join(fixed)


def outermost(folders: Iterable[str]) -> list[str]:
    """Return those of the folders that lie in no other one, sorted; empty is the root."""
    found: list[str] = []
    for folder in sorted(set(folders)):
        if not any(above in ("", folder) or folder.startswith(above + "/") for above in found):
            found.append(folder)
    return found


def samples_below(folder: bytes, globs: Iterable[str]) -> Iterator[bytes]:
    """Yield, for each glob, a path below the folder that it might match."""
    depth = folder.count(b"/") + 1
    for glob in globs:
        parts = glob.split("/")
        start = min(parts.index("**"), depth) if "**" in parts else depth
        rest = [part for part in parts[start:] if part != "**"] or ["x"]
        yield folder + b"/" + _encoded("/".join(rest).replace("*", "x").replace("?", "x"))


def folders_above(globs: Iterable[str]) -> frozenset[bytes]:
    """Return the folders that hold all that a glob matches, up to the root's own entries.

    Where a tree has an entry of such a name, it is a submodule, or leads elsewhere.
    """
    found: set[bytes] = set()
    for glob in globs:
        folder = _encoded(literal_prefix(glob))
        while folder:
            found.add(folder)
            folder = folder.rpartition(b"/")[0]
    return frozenset(found)
