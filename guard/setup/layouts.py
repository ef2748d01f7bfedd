"""Where a repository keeps its skills, and the agents of guard.yaml that this makes.

A skill is a folder with a SKILL.md below a folder named ``skills``. Skills that lie alike
become one `each` block; where a glob would also match folders that are no skill, or give a
name twice, each skill is an agent of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from guard.git import text_of
from guard.globs import literal
from guard.patterns import matching_folders
from guard.skills import FILE

#: Skills of one layout from which on they share a block.
MANY = 3
#: Folders of what others wrote, or of what tests are fed with.
NOT_OURS = frozenset({"node_modules", "vendor", "third_party", "fixtures", "testdata"})
LOOKED_FOR = (
    ".claude/skills/*/SKILL.md",
    "skills/*/SKILL.md",
    "plugins/*/skills/*/SKILL.md",
)


class Layout(NamedTuple):
    """Skills that lie alike."""

    glob: str
    """What their folders match, such as ``plugins/*/skills/*``."""
    folders: tuple[str, ...]

    @property
    def in_client(self) -> bool:
        """Whether the client finds them where they lie."""
        return ".claude" in self.glob.split("/")


class Declared(NamedTuple):
    """One entry of `agents` in guard.yaml."""

    name: str
    glob: str
    """A glob of folders with `each`, else the skill's own folder, literally."""
    each: bool
    agents: Mapping[str, str]
    """Name → folder of the agents that it declares."""
    layout: Layout


def find_layouts(paths: Iterable[bytes]) -> tuple[list[Layout], int]:
    """Return the layouts among the paths, and how many skills were left out as not ours."""
    found: dict[str, list[str]] = {}
    left_out = 0
    for folder in _outermost(_skill_folders(paths)):
        parts = folder.split("/")
        if NOT_OURS.intersection(parts) or not _is_text(folder):
            left_out += 1
            continue
        found.setdefault(_glob_of(parts), []).append(folder)
    return [Layout(glob, tuple(folders)) for glob, folders in sorted(found.items())], left_out


def _skill_folders(paths: Iterable[bytes]) -> list[str]:
    ending = b"/" + FILE
    folders = (text_of(path.removesuffix(ending)) for path in paths if path.endswith(ending))
    return sorted(folder for folder in folders if "skills" in folder.split("/")[:-1])


def _outermost(folders: Sequence[str]) -> Iterable[str]:
    """Leave out a skill that lies inside another one: it is a file of that one."""
    last = ""
    for folder in sorted(folders, key=lambda name: name.split("/")):
        if not last or not folder.startswith(last + "/"):
            last = folder
            yield folder


def _is_text(folder: str) -> bool:
    # A name that is no UTF-8 can't stand in a YAML file.
    return folder.isprintable()


def _glob_of(parts: Sequence[str]) -> str:
    below = parts.index("skills") + 1
    fixed = [literal(part) for part in parts[:below]]
    for position in range(1, len(fixed)):
        if fixed[position - 1] == "plugins":
            fixed[position] = "*"
    return "/".join([*fixed, *["*"] * (len(parts) - below)])


def declare_agents(layouts: Iterable[Layout], paths: Iterable[bytes]) -> list[Declared]:
    """Return the entries of `agents` for the skills."""
    listing = tuple(paths)
    taken: set[str] = set()
    declared: list[Declared] = []
    for layout in layouts:
        for entry in _shared(layout, listing, taken) or _single(layout, taken):
            declared.append(entry)
            taken.update(entry.agents)
    return [_named(entry, taken, position) for position, entry in enumerate(declared)]


def _shared(layout: Layout, listing: Sequence[bytes], taken: set[str]) -> list[Declared]:
    if len(layout.folders) < MANY:
        return []
    # Folders that hold what skills share are often named _shared or .common.
    for glob in (layout.glob, layout.glob.removesuffix("*") + "[!_.]*"):
        agents = matching_folders(glob, listing)
        is_exact = sorted(agents.values()) == sorted(layout.folders)
        if is_exact and not taken & agents.keys() and all(map(_is_plain, agents.values())):
            return [Declared("", glob, True, agents, layout)]
    return []


def _single(layout: Layout, taken: set[str]) -> list[Declared]:
    entries: list[Declared] = []
    used = set(taken)
    for folder in layout.folders:
        last = folder.rpartition("/")[2]
        name = _as_name(last if last not in used else folder)
        used.add(name)
        entries.append(Declared(name, literal(folder), False, {name: folder}, layout))
    return entries


def _named(entry: Declared, taken: set[str], position: int) -> Declared:
    if entry.name:
        return entry
    names = ["each-skill", *(f"each-skill-{number}" for number in range(2, position + 3))]
    name = next(name for name in names if name not in taken)
    taken.add(name)
    return entry._replace(name=name)


def _is_plain(folder: str) -> bool:
    """Tell whether a folder may stand for {dir} in a glob, and its parts for a name."""
    return _as_name(folder) == folder and not set("*?[{}").intersection(folder)


def _as_name(text: str) -> str:
    """Return the text as an agent's name: no comma, no #, single blanks."""
    return " ".join(text.replace("#", "-").replace(",", "-").split())
