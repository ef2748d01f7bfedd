"""What a change of guard.yaml no longer guards, in words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from guard.git import bytes_of, text_of
from guard.glob_sets import find_path
from guard.globs import WILDCARDS, compile_globs
from guard.model import Agent
from guard.project import Project
from guard.rules.enforcement import RULES, deadline
from guard.tree import EXECUTABLE

_FILE, _FOLDER = "file", "folder"
_FILE_MODES = ("100644", EXECUTABLE)


def narrowings(base: Project, new: Project) -> Iterator[str]:
    """Yield what ``new`` guards less than ``base``, each a sentence of a few words."""
    yield from _removed_agents(base, new)
    for name, agent in new.agents.items():
        if name in base.agents:
            yield from _of_agent(base, new, base.agents[name], agent)
    yield from _missing("served", base.config.served, new.config.served)
    yield from _moved_away("plugins", base.config.plugins, new.config.plugins, "/")
    yield from _of_fix(base.config.fix, new.config.fix)
    yield from _of_enforcement(base, new)
    yield from _of_hooks(base.config.hooks, new.config.hooks)
    yield from _of_receipts(base.config.receipts, new.config.receipts)


def _removed_agents(base: Project, new: Project) -> Iterator[str]:
    for name in base.agents:
        if name in new.agents:
            continue
        # A skill of a pattern whose folder is gone is not guarded less: there is nothing left.
        if name in base.config.agents or _has_files(new, base.agents[name]):
            yield f"agent {name} is gone"
    for name, declared in base.config.agents.items():
        pattern = declared.get("each")
        now = [d["each"] for d in new.config.agents.values() if "each" in d]
        if pattern and pattern not in now and not _covers_folders(now, pattern):
            yield f"agents.{name}.each no longer covers {pattern}"


def _has_files(project: Project, agent: Agent) -> bool:
    inside = compile_globs(agent.paths)
    return any(inside(path) for path in project.tree.entries())


def _of_agent(base: Project, new: Project, before: Agent, now: Agent) -> Iterator[str]:
    where = f"agents.{now.name}"
    sides = (base, new)
    yield from _lost_globs(f"{where}.paths", before.paths, now.paths, sides)
    yield from _lost_globs(f"{where}.cases", before.cases, now.cases, sides)
    yield from _of_depends(where, base, new, before, now)
    yield from _moved_away(f"{where}.evaluators", before.evaluators, now.evaluators, ":")
    yield from _missing(f"{where}.claims", before.claims, now.claims)
    yield from _missing(f"{where}.seams", before.seams, now.seams)
    ages = [a.max_age or p.config.receipts["max_age"] for a, p in ((before, base), (now, new))]
    if (before.max_age or now.max_age) and _seconds(ages[1]) > _seconds(ages[0]):
        yield f"{where}.max_age was {ages[0]} and is {ages[1]}"
    if now.deterministic and not before.deterministic:
        yield f"{where}.deterministic is true, so that two trials are enough"
    owned, owns = base.own_paths(before), new.own_paths(now)
    lost = [path for path in new.tree.entries() if owned(path) and not owns(path)]
    if lost:
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        yield f"{text_of(lost[0])}{more} no longer belongs to agent {now.name}"


def _of_depends(
    where: str, base: Project, new: Project, before: Agent, now: Agent
) -> Iterator[str]:
    """Yield what the checks need and is no longer watched, and what is taken out of the agent."""
    old, depends = base.depends_of(before), new.depends_of(now)
    for glob in _not_covered(old, (*depends, *now.paths), (base, new)):
        # What is nowhere any more has moved, or went with the check that needed it.
        if any(map(compile_globs([glob]), new.tree.entries())):
            yield f"{where}.depends no longer covers {glob}"
    for glob in depends:
        known = (*old, *base.case_globs)
        path = None if glob in old else find_path([glob], before.paths, outside=known)
        if path is not None:
            yield f"{where}.depends takes {glob} from its paths"


def _lost_globs(
    where: str, before: Collection[str], now: Collection[str], sides: Collection[Project]
) -> Iterator[str]:
    for glob in _not_covered(before, now, sides):
        yield f"{where} no longer covers {glob}"


def _not_covered(
    before: Collection[str], now: Collection[str], sides: Collection[Project]
) -> Iterator[str]:
    for glob in before:
        if glob not in now and not covers(now, glob, sides):
            yield glob


def covers(globs: Collection[str], glob: str, sides: Collection[Project]) -> bool:
    """Tell whether all that ``glob`` matches one of the globs matches too.

    A name without wildcards is a file or a folder: which one, the trees of both sides tell.
    """
    name = glob.removeprefix("./").rstrip("/")
    if WILDCARDS.intersection(name):
        return find_path([glob], outside=globs) is None
    kinds = {kind for side in sides for kind in _kinds(side, bytes_of(name))}
    if kinds == {_FILE}:
        return compile_globs(globs)(bytes_of(name))
    inside = f"{name}/**" if kinds == {_FOLDER} else name
    return find_path([inside], outside=globs) is None


def _kinds(project: Project, path: bytes) -> Iterator[str]:
    """Yield what a tree has at a path: a file, a folder, something else; or nothing."""
    entry = project.tree.get(path)
    if entry is not None:
        yield _FILE if entry.mode in _FILE_MODES else "other"
    elif project.tree.below(path):
        yield _FOLDER


def _covers_folders(patterns: Collection[str], pattern: str) -> bool:
    """Tell whether all folders that a pattern matches other patterns match too."""
    if not WILDCARDS.intersection(pattern):
        return compile_globs(patterns)(bytes_of(pattern.rstrip("/")))
    return find_path([pattern], outside=patterns) is None


def _missing(where: str, before: Iterable[Any], now: Collection[Any]) -> Iterator[str]:
    for item in before:
        if item not in now:
            yield f"{where} lost {item}"


def _moved_away(where: str, before: Iterable[str], now: Iterable[str], mark: str) -> Iterator[str]:
    """Yield what is gone; a file that only lies elsewhere is the same by what follows ``mark``."""
    left = {item.rpartition(mark)[2] for item in now}
    yield from _missing(where, [i for i in before if i.rpartition(mark)[2] not in left], ())


def _of_receipts(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for kind in now["accept"]:
        if kind not in before["accept"]:
            yield f"receipts.accept got {kind}"
    if _seconds(now["max_age"]) > _seconds(before["max_age"]):
        yield f"receipts.max_age was {before['max_age']} and is {now['max_age']}"


def _of_fix(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for key in ("types", "patterns", "trailers"):
        yield from _missing(f"fix.{key}", before[key], now[key])
    for key, strict in (("closing_keywords", True), ("unit", "commit"), ("cosmetic", "refuse")):
        if before[key] == strict != now[key]:
            yield f"fix.{key} was {_word(strict)} and is {_word(now[key])}"


def _of_enforcement(base: Project, new: Project) -> Iterator[str]:
    for rule in RULES:
        before, now = deadline(base.config, rule), deadline(new.config, rule)
        if now > before:
            yield f"enforce.{rule} was {before or 'block'} and is {now}"


def _of_hooks(
    before: Mapping[str, Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    for stage, budget in before.items():
        for key, value in budget.items():
            after = now[stage][key]
            if (key == "owed" and (value, after) == ("block", "ci")) or (
                key != "owed" and after < value
            ):
                yield f"hooks.{stage}.{key} was {value} and is {after}"


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _seconds(text: str) -> int:
    """Return the seconds of a duration such as 30d, 12h or 45m."""
    return int(text[:-1]) * {"d": 86400, "h": 3600, "m": 60}[text[-1]]
