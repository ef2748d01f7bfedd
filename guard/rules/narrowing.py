"""What a change of guard.yaml no longer guards, in words (DESIGN section 8)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from guard.git import bytes_of, text_of
from guard.globs import WILDCARDS, compile_globs
from guard.model import Agent
from guard.project import Project
from guard.rules.enforcement import RULES, deadline

#: What ``**`` and ``*`` may stand for: a narrower glob misses one of these samples.
_SAMPLES = (("x/y", "x"), ("x", "x"), ("a/b/c.md", "b.md"))


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
        if pattern and pattern not in now and not covers(now, pattern):
            yield f"agents.{name}.each no longer covers {pattern}"


def _has_files(project: Project, agent: Agent) -> bool:
    inside = compile_globs(agent.paths)
    return any(inside(path) for path in project.tree.entries())


def _of_agent(base: Project, new: Project, before: Agent, now: Agent) -> Iterator[str]:
    where = f"agents.{now.name}"
    yield from _lost_globs(f"{where}.paths", before.paths, now.paths)
    yield from _lost_globs(f"{where}.cases", before.cases, now.cases)
    yield from _moved_away(f"{where}.evaluators", before.evaluators, now.evaluators, ":")
    yield from _missing(f"{where}.claims", before.claims, now.claims)
    yield from _missing(f"{where}.seams", before.seams, now.seams)
    if now.deterministic and not before.deterministic:
        yield f"{where}.deterministic is true, so that two trials are enough"
    owned, owns = base.own_paths(before), new.own_paths(now)
    lost = [path for path in new.tree.entries() if owned(path) and not owns(path)]
    if lost:
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        yield f"{text_of(lost[0])}{more} no longer belongs to agent {now.name}"


def _lost_globs(where: str, before: Collection[str], now: Collection[str]) -> Iterator[str]:
    for glob in before:
        if glob not in now and not covers(now, glob):
            yield f"{where} no longer covers {glob}"


def covers(globs: Iterable[str], glob: str) -> bool:
    """Tell, by samples, whether all that ``glob`` matches one of the globs matches too."""
    matches = compile_globs(globs)
    if not WILDCARDS.intersection(glob):
        # A file or a folder: which one, the files that are there tell.
        plain = glob.rstrip("/")
        return any(matches(bytes_of(sample)) for sample in (plain, f"{plain}/x/y"))
    samples = {_sample(glob, deep, flat) for deep, flat in _SAMPLES}
    return all(matches(bytes_of(sample)) for sample in samples)


def _sample(glob: str, deep: str, flat: str) -> str:
    text = glob.removeprefix("./").rstrip("/")
    return text.replace("**", deep).replace("*", flat).replace("?", "x")


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
