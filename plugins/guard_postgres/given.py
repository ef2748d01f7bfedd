"""``given: {postgres: {seed: […], faults: […]}}``: what is in the database, and what goes wrong.

Seeds and faults run on connections of their own, never on the agent's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from guard.plugin import TargetError
from guard_postgres.values import is_list, is_mapping

#: What a fault may state together.
_SHAPES: Final = (
    {"sql"},
    {"hold"},
    {"hold", "seconds"},
    {"sql", "after"},
    {"sql", "when"},
)
_FAULT: Final = (
    "a fault is {sql: …}, {hold: …} or {hold: …, seconds: N}, {after: SECONDS, sql: …} or "
    "{when: QUERY, sql: …}"
)


class Fault(NamedTuple):
    """One thing that goes wrong while the agent runs."""

    sql: str
    hold: bool = False
    """The transaction stays open, with the locks it took."""
    seconds: float | None = None
    """How long it is held; None until the agent has ended."""
    after: float | None = None
    """Seconds after which it comes; None: before the agent starts."""
    when: str = ""
    """The query that it waits for to give true."""

    @property
    def label(self) -> str:
        """How the case names it."""
        if self.hold:
            return f"hold: {_short(self.sql)}"
        if self.after is not None:
            return f"after: {self.after:g}"
        return f"when: {_short(self.when)}" if self.when else f"sql: {_short(self.sql)}"


class Given(NamedTuple):
    """What a case gives its database."""

    seeds: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()


def check_given(value: Any) -> str | None:
    """Say what is wrong with what a case gives, or None."""
    if not is_mapping(value):
        return "must be {seed: […], faults: […]}"
    unknown = [name for name in value if name not in ("seed", "faults")]
    if unknown:
        return f"{unknown[0]} is not known: it is seed and faults"
    for name, check in (("seed", _wrong_seed), ("faults", _wrong_fault)):
        items: object = value.get(name, [])
        if not is_list(items):
            return f"{name} must be a list"
        for number, item in enumerate(items):
            wrong = check(item)
            if wrong:
                return f"{name}[{number}]: {wrong}"
    return None


def _wrong_seed(item: Any) -> str | None:
    if is_mapping(item):
        is_source = set(item) == {"from"} and _is_text(item["from"])
        return None if is_source else "must be {from: path.sql}"
    return None if _is_text(item) else "must be SQL, or {from: path.sql}"


def _wrong_fault(item: Any) -> str | None:
    if not is_mapping(item) or set(item) not in _SHAPES:
        return _FAULT
    texts = [item[name] for name in ("sql", "hold", "when") if name in item]
    numbers = [item[name] for name in ("after", "seconds") if name in item]
    if not all(map(_is_text, texts)):
        return "what it runs must be SQL"
    return None if all(map(_is_time, numbers)) else "after and seconds are numbers from 0 to 3600"


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_time(value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and 0 <= value <= 3600


def given_of(value: Any, read: Callable[[str], bytes | None]) -> Given:
    """Return what a case gives, checked before. Raises `TargetError` for a file not in the tree."""
    stated: dict[str, Any] = value or {}
    seeds = tuple(_seed(item, read) for item in stated.get("seed", []))
    return Given(seeds, tuple(map(_fault, stated.get("faults", []))))


def _seed(item: Any, read: Callable[[str], bytes | None]) -> str:
    if isinstance(item, str):
        return item
    content = read(item["from"])
    if content is None:
        raise TargetError(f"the seed {item['from']} is not in the tree", f"git add {item['from']}")
    return content.decode("utf-8-sig", "replace")


def _fault(item: dict[str, Any]) -> Fault:
    return Fault(
        sql=item["hold"] if "hold" in item else item["sql"],
        hold="hold" in item,
        seconds=item.get("seconds"),
        after=item.get("after"),
        when=item.get("when", ""),
    )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:59] + "…"
