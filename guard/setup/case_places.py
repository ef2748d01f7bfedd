"""Where the cases of skills stand already, or will: the `cases` globs of a new guard.yaml.

A folder is listed only where everything in it is a case that guard can read; a glob that also
matched a note would make every later command stop at that note.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from guard.cases import is_native, parse_cases
from guard.errors import ConfigError
from guard.evaluators import is_built_in
from guard.git import text_of
from guard.globs import literal
from guard.setup.layouts import NOT_OURS, Declared
from guard.tree import EXECUTABLE, Tree

#: Where a skill's own cases stand, and where they go if notes of another kind stand there.
FOLDER = "evals"
ELSEWHERE = "evals/cases"
_ENDINGS = (".md", ".markdown", ".json")
_FILES = ("100644", EXECUTABLE)

Fields = Mapping[str, Any]
#: Path → the cases in it; None where guard can't read it.
Candidates = Mapping[str, Sequence[Fields] | None]


class Places(NamedTuple):
    """What one entry of `agents` says about its cases."""

    cases: tuple[str, ...]
    depends: tuple[str, ...] = ()
    """Evals that guard can't read: not the agent's behaviour either."""
    found: tuple[Fields, ...] = ()


def read_candidates(tree: Tree) -> Candidates:
    """Read every file below a folder named ``evals`` that might be a case."""
    wanted = [
        path
        for path, entry in tree.entries().items()
        if entry.mode in _FILES and _is_candidate(text_of(path))
    ]
    contents = tree.read_many(wanted)
    return {text_of(path): _read(text_of(path), contents[path]) for path in wanted}


def _is_candidate(path: str) -> bool:
    folders = path.split("/")[:-1]
    is_named = FOLDER in folders and not NOT_OURS.intersection(folders)
    return is_named and path.lower().endswith(_ENDINGS) and path.isprintable()


def _read(path: str, content: bytes) -> Sequence[Fields] | None:
    try:
        found = parse_cases(path, content)
    except ConfigError:
        return None
    return found if is_native(path) or all(map(_is_graded, found)) else None


def _is_graded(fields: Fields) -> bool:
    """Tell whether an example states what guard's own evaluators read: there are no others yet."""
    expected: Mapping[str, Any] = fields.get("expected", {})
    return bool(expected) and all(map(is_built_in, expected))


def place_cases(declared: Sequence[Declared], candidates: Candidates) -> list[Places]:
    """Return, for each entry, where its cases stand."""
    folders = {folder for entry in declared for folder in entry.agents.values()}
    outside = {p: found for p, found in candidates.items() if not _is_inside(p, folders)}
    only = _only_agent(declared)
    return [_places(entry, candidates, outside, only) for entry in declared]


def _is_inside(path: str, folders: Iterable[str]) -> bool:
    return any(path.startswith(folder + "/") for folder in folders)


def _only_agent(declared: Sequence[Declared]) -> str:
    names = [name for entry in declared for name in entry.agents]
    return names[0] if len(names) == 1 else ""


def _places(entry: Declared, candidates: Candidates, outside: Candidates, only: str) -> Places:
    prefix = "{dir}" if entry.each else entry.glob
    within = _relative(entry, candidates)
    readable = {place: found for place, found in _by_place(within).items() if found}
    cases = [f"{prefix}/{place}" for place in readable]
    depends = [f"{prefix}/{place}" for place in _by_place(within) if place.endswith(".json")]
    found = [fields for items in readable.values() for fields in items or ()]
    for place, items in _by_place(list(outside.items())).items():
        mine = [fields for fields in items or () if fields.get("agent", only) in entry.agents]
        if items and mine and all(fields.get("agent", only) for fields in items):
            cases.append(place)
            found += mine
    return Places(
        cases=tuple(cases) or (f"{prefix}/{_free_place(within)}",),
        depends=tuple(place for place in depends if place not in cases),
        found=tuple(found),
    )


def _relative(entry: Declared, candidates: Candidates) -> list[tuple[str, Sequence[Fields] | None]]:
    """Return (path from the skill's folder, cases) of the files below the skills' ``evals``."""
    return [
        (path.removeprefix(folder + "/"), found)
        for folder in entry.agents.values()
        for path, found in candidates.items()
        if path.startswith(f"{folder}/{FOLDER}/")
    ]


def _by_place(
    files: Iterable[tuple[str, Sequence[Fields] | None]],
) -> dict[str, list[Fields] | None]:
    """Return glob → cases, None where one of its files is no case that guard can read."""
    places: dict[str, list[Fields] | None] = {}
    for path, found in files:
        folder, _, name = path.rpartition("/")
        place = f"{literal(folder)}/*.{name.rpartition('.')[2]}"
        before = places.setdefault(place, [])
        places[place] = None if before is None or found is None else [*before, *found]
    return places


def _free_place(files: Iterable[tuple[str, Sequence[Fields] | None]]) -> str:
    taken = {place for place, found in _by_place(files).items() if found is None}
    first, second = f"{FOLDER}/*.md", f"{ELSEWHERE}/*.md"
    return second if first in taken else first
