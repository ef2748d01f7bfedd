"""Whether globs match all that others do: decided by their automata, not by samples.

Only paths count that a tree can hold: no empty part between two slashes.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from guard.globs import ANYTHING, BELOW, FOLDERS, PART, pieces

Bytes = frozenset[int]
#: The places reached: the number of a glob, and of its step.
State = frozenset[tuple[int, int]]
#: States of a search; globs that need more are taken for different.
MOST_STATES: Final = 2_000
_SLASH: Final = ord("/")
_ALL: Final[Bytes] = frozenset(range(1, 256))
#: The state of several, and whether a part of the path begins there.
Reached = tuple[tuple[State, ...], bool]


class Item(NamedTuple):
    """One step of a glob: reads a byte, and goes on or stays; or is passed over."""

    reads: Bytes = frozenset()
    stays: Bytes = frozenset()
    """Bytes that it reads and stays at."""
    skips: tuple[int, ...] = ()
    """How far it may go on without reading."""


_CONSTANTS: Final = {
    ANYTHING: (Item(stays=_ALL, skips=(1,)),),
    PART: (Item(stays=_ALL - {_SLASH}, skips=(1,)),),
    FOLDERS: (Item(skips=(1, 2)), Item(reads=frozenset({_SLASH}), stays=_ALL)),
    BELOW: (
        Item(skips=(1, 3)),
        Item(reads=frozenset({_SLASH})),
        Item(stays=_ALL, skips=(1,)),
    ),
}


class Union:
    """Several globs as one automaton."""

    def __init__(self, globs: Iterable[str]) -> None:
        self.globs = [tuple(_items(glob)) for glob in dict.fromkeys(globs)]
        self.start = self._closed((number, 0) for number in range(len(self.globs)))

    def after(self, state: State, byte: int) -> State:
        """Return the state after one byte more."""
        reached: set[tuple[int, int]] = set()
        for number, at in state:
            if at < len(self.globs[number]):
                item = self.globs[number][at]
                reached.update([(number, at)] if byte in item.stays else [])
                reached.update([(number, at + 1)] if byte in item.reads else [])
        return self._closed(reached)

    def matches(self, state: State) -> bool:
        """Tell whether a path may end here."""
        return any(at == len(self.globs[number]) for number, at in state)

    def _closed(self, places: Iterable[tuple[int, int]]) -> State:
        found: set[tuple[int, int]] = set()
        waiting = list(places)
        while waiting:
            number, at = waiting.pop()
            if (number, at) not in found:
                found.add((number, at))
                items = self.globs[number]
                waiting += [(number, at + n) for n in (items[at].skips if at < len(items) else ())]
        return frozenset(found)


def find_path(*unions: Iterable[str], outside: Iterable[str] = ()) -> bytes | None:
    """Return a shortest path that each of the unions matches and ``outside`` doesn't, or None.

    Where that takes too long to tell, the beginning of one.
    """
    wanted, unwanted = [Union(globs) for globs in unions], Union(outside)
    machines = [*wanted, unwanted]
    alphabet = _alphabet(machines)
    start: Reached = (tuple(machine.start for machine in machines), True)
    seen: set[Reached] = {start}
    waiting = deque[tuple[Reached, bytes]]([(start, b"")])
    while waiting:
        (states, begins), path = waiting.popleft()
        ends = not begins and all(m.matches(s) for m, s in zip(wanted, states, strict=False))
        if (ends and not unwanted.matches(states[-1])) or len(seen) > MOST_STATES:
            return path
        for byte in alphabet:
            if begins and byte == _SLASH:
                continue
            reached = tuple(m.after(s, byte) for m, s in zip(machines, states, strict=True))
            following = (reached, byte == _SLASH)
            if all(reached[:-1]) and following not in seen:
                seen.add(following)
                waiting.append((following, path + bytes((byte,))))
    return None


def _items(glob: str) -> Iterator[Item]:
    for piece in pieces(glob):
        yield from _CONSTANTS.get(piece) or (Item(reads=_read_by(piece)),)


@lru_cache(maxsize=512)
def _read_by(piece: bytes) -> Bytes:
    one = re.compile(piece, re.DOTALL)
    return frozenset(byte for byte in _ALL if one.fullmatch(bytes((byte,))))


def _alphabet(machines: Iterable[Union]) -> list[int]:
    """Return one byte for each set of bytes that no item tells apart; letters where it may be."""
    items = {item for machine in machines for globs in machine.globs for item in globs}
    sets = {read for item in items for read in (item.reads, item.stays)} | {frozenset({_SLASH})}
    by_sets: dict[frozenset[Bytes], int] = {}
    for byte in sorted(_ALL, key=lambda byte: (not bytes((byte,)).isalnum(), byte)):
        by_sets.setdefault(frozenset(one for one in sets if byte in one), byte)
    return list(by_sets.values())
