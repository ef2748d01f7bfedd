"""What a gate does in the long run: its operating curve, exact, by dynamic programming.

Each stopping rule is a table of boundaries (`guard.running.gates`), so that the state after n
trials is the number of passes alone, and the chances of all states sum to one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from guard.running.gates import FAILS_BEFORE_CAP, FIRST_TO, STRAIGHT, Row, passes_needed

Rows = Mapping[int, Row]

#: The gate of a broken state: GREEN with so many passes, RED with so many failures.
FAILS_BEFORE_ROWS: Final[Rows] = {
    STRAIGHT: Row(STRAIGHT, STRAIGHT),
    **{number: Row(FIRST_TO, FIRST_TO) for number in range(FIRST_TO, FAILS_BEFORE_CAP + 1)},
}
_OPEN: Final = Row(None, None)


class Operation(NamedTuple):
    """What comes of a case whose trials pass at one true rate; the first three sum to 1."""

    passes: float
    blocks: float
    undecided: float
    trials: float
    """Expected number of trials."""


def fixed_rows(trials: int, min_pass_rate: float) -> Rows:
    """Return the boundaries of fixed trials: all are run, unless the rate is out of reach."""
    needed = passes_needed(trials, min_pass_rate)
    too_many = trials - needed + 1
    last = {trials: Row(needed, too_many)}
    return {**{number: Row(None, too_many) for number in range(too_many, trials)}, **last}


def operate(rows: Rows, most: int, rate: float) -> Operation:
    """Return what a table of boundaries makes of a true pass rate, in at most so many trials."""
    open_states = {0: 1.0}
    passes = blocks = trials = 0.0
    for number in range(1, most + 1):
        row = rows.get(number, _OPEN)
        reached: dict[int, float] = {}
        for passed, chance in open_states.items():
            trials += chance
            reached[passed + 1] = reached.get(passed + 1, 0.0) + chance * rate
            reached[passed] = reached.get(passed, 0.0) + chance * (1 - rate)
        open_states = {}
        for passed, chance in reached.items():
            if row.passes is not None and passed >= row.passes:
                passes += chance
            elif row.failures is not None and number - passed >= row.failures:
                blocks += chance
            else:
                open_states[passed] = chance
    return Operation(passes, blocks, sum(open_states.values()), trials)


def confirmed(once: Operation) -> Operation:
    """Return what hooks make of it: a FAIL blocks only if a second, fresh gate fails too."""
    return Operation(
        once.passes,
        once.blocks**2,
        once.undecided + once.blocks * (1 - once.blocks),
        once.trials * (1 + once.blocks),
    )
