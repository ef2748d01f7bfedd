"""The gates in words and curves: what each lets pass, and what it costs, by the true pass rate."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import groupby
from typing import Final, NamedTuple

from guard.running.gates import FAILS_BEFORE_CAP, Gate, Row, passes_needed
from guard.running.operation import (
    FAILS_BEFORE_ROWS,
    Operation,
    Rows,
    confirmed,
    fixed_rows,
    operate,
)
from guard.wording.plot import Column, Ink, plot, ticks
from guard.wording.table import GAP, plain_table

FAILS_BEFORE: Final = "fails-before"
#: True rates of the tables, in percent.
LISTED: Final = (30, 50, 60, 70, 80, 90, 95, 99, 100)
DETAILED: Final = (0, 10, 20, 30, 40, 50, 60, 70, 80, 85, 90, 95, 98, 99, 100)
#: Columns that a plot may take; more show nothing more.
NARROWEST, WIDEST = 21, 101
RESTS: Final = ("blocks", "undecided", "trials")
MARKS: Final = ("0 %", "25", "50", "75", "100 %")


class Rule(NamedTuple):
    """One stopping rule that can be drawn."""

    name: str
    rows: Rows
    most: int
    says: str
    """What it is for, in words."""

    def at(self, percent: float) -> Operation:
        """Return what it does at a true pass rate in percent."""
        return operate(self.rows, self.most, percent / 100)


def rule_of(gate: Gate) -> Rule:
    """Return a named gate."""
    told = (
        f"tells a true rate of {_percent(gate.bad)} (bad) from {_percent(gate.good)} (good);\n"
        f"it passes at most {_percent(gate.false_pass)} of the bad "
        f"and blocks at most {_percent(gate.false_block)} of the good"
    )
    return Rule(gate.name, gate.rows, gate.cap, told)


def cut_rule(gate: Gate, trials: int) -> Rule:
    """Return a gate that a case cuts short by `trials`."""
    told = f"`gate: {gate.name}` with `trials: {trials}`; where it is cut it is undecided"
    return Rule(f"{gate.name}, {trials}", gate.rows, trials, told)


def fixed_rule(trials: int, min_pass_rate: float) -> Rule:
    """Return fixed trials of which a share must pass."""
    needed = passes_needed(trials, min_pass_rate)
    told = f"`trials: {trials}` with `min_pass_rate: {min_pass_rate:g}`: no gate, all are run"
    return Rule(f"{needed} of {trials}", fixed_rows(trials, min_pass_rate), trials, told)


def fails_before_rule() -> Rule:
    """Return the gate of a proof's broken side."""
    told = (
        "for the side of a proof without its fix;\n"
        "a block is the red that is wanted there, a pass rejects the case (VACUOUS)"
    )
    return Rule(FAILS_BEFORE, FAILS_BEFORE_ROWS, FAILS_BEFORE_CAP, told)


# All together ------------------------------------------------------------------------------


def compare(rules: Sequence[Rule], width: int, ink: Ink) -> list[str]:
    """Return the curves of several rules, one below the other, and two tables."""
    label = max(len(rule.name) for rule in rules)
    columns = _columns(width - label - 2)
    lines = ["chance to pass, by the true pass rate (what isn't filled is blocked)", ""]
    for rule in rules:
        labels = [text.ljust(label) for text in ("", rule.name, "")]
        lines += plot(_areas(rule, columns), 3, labels, ink)
    lines += [" " * (label + 2) + ticks(MARKS, columns), ""]
    return [*lines, *_passing(rules, width), "", *_lasting(rules, width)]


def _passing(rules: Sequence[Rule], width: int) -> list[str]:
    rows = [[rule.name, *(_chance(rule.at(p).passes) for p in LISTED)] for rule in rules]
    return _table(("passes, in %, at", *map(_rate, LISTED)), rows, width)


def _lasting(rules: Sequence[Rule], width: int) -> list[str]:
    rows = [[rule.name, *(f"{rule.at(p).trials:.1f}" for p in LISTED)] for rule in rules]
    return _table(("mean trials at", *map(_rate, LISTED)), rows, width)


# One in detail -----------------------------------------------------------------------------


def describe(rule: Rule, width: int, ink: Ink, *, hooks: bool = True) -> list[str]:
    """Return one rule's curve, its table, and where it stops; ``hooks``: what they make of it."""
    columns = _columns(width - 7)
    marks = [f"{mark:>5}" for mark in ("100 %", "", "", "", "50 %", "", "", "")]
    lines = [*f"{rule.name}: {rule.says}".splitlines(), ""]
    lines += plot(_areas(rule, columns), len(marks), marks, ink)
    lines += [" " * 7 + ticks(MARKS, columns)]
    lines += [f"filled: passes, {ink.shade} undecided, empty: blocks; by the true pass rate", ""]
    return [*lines, *_detail(rule, width, hooks=hooks), "", *_stops(rule)]


def _detail(rule: Rule, width: int, *, hooks: bool) -> list[str]:
    rows: list[list[str]] = []
    for percent in DETAILED:
        once = rule.at(percent)
        row = [_rate(percent), _chance(once.passes), *_rest(once)]
        rows.append([*row, *_rest(confirmed(once))] if hooks else row)
    heads = ["in %, at", "passes", *RESTS]
    of_hook = [f"hook: {RESTS[0]}", *RESTS[1:]] if hooks else []
    whole = _table([*heads, *of_hook], rows)
    if len(whole[0]) <= width:
        return whole
    return _table([*heads, *(f"hook: {rest}" for rest in RESTS if hooks)], rows, width)


def _rest(found: Operation) -> list[str]:
    return [_chance(found.blocks), _chance(found.undecided), f"{found.trials:.1f}"]


def _stops(rule: Rule) -> list[str]:
    """Return after which trials it ends; numbers with the same boundary share a line."""
    groups = groupby(sorted(n for n in rule.rows if n <= rule.most), key=rule.rows.__getitem__)
    return [_stop(list(numbers), row) for row, numbers in groups]


def _stop(numbers: Sequence[int], row: Row) -> str:
    span = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
    passes = "" if row.passes is None else f"passes with {row.passes} passed"
    blocks = "" if row.failures is None else f"blocks with {row.failures} failed"
    return f"after {span}: {', '.join(filter(None, (passes, blocks)))}"


def _areas(rule: Rule, columns: int) -> list[Column]:
    found = [rule.at(100 * column / (columns - 1)) for column in range(columns)]
    return [Column(one.passes, one.undecided) for one in found]


def _columns(room: int) -> int:
    return max(NARROWEST, min(WIDEST, room))


def _table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], width: int = sys.maxsize
) -> list[str]:
    """Return a table whose numbers, all but the first column, end below each other.

    Columns that a narrow terminal has no room for follow below, each row with its name again.
    """
    widths = [max(map(len, cells)) for cells in zip(heads, *rows, strict=True)]

    def part(columns: Sequence[int]) -> list[str]:
        def flush(line: Sequence[str]) -> list[str]:
            return [line[0], *(line[column].rjust(widths[column]) for column in columns)]

        return plain_table(flush(heads), [flush(row) for row in rows])

    first, *others = map(part, _fitting(widths, width))
    return [*first, *(line for other in others for line in ("", *other))]


def _fitting(widths: Sequence[int], width: int) -> list[list[int]]:
    """Return the numbers of the columns but the first, in groups that fit beside it."""
    found: list[list[int]] = [[]]
    left = room = width - widths[0]
    for column in range(1, len(widths)):
        needed = widths[column] + len(GAP)
        if needed > left and found[-1]:
            found.append([])
            left = room
        found[-1].append(column)
        left -= needed
    return found


def _rate(percent: int) -> str:
    return f"{percent} %"


def _percent(share: float) -> str:
    return f"{100 * share:g} %"


def _chance(share: float) -> str:
    """Return a chance in percent; what is rounded to 0 or 100 and isn't says so."""
    percent = 100 * share
    if 0 < percent < 0.05 or 99.95 <= percent < 100:
        return "<0.1" if percent < 1 else ">99.9"
    return f"{percent:.1f}" if 0 < percent < 100 else f"{percent:.0f}"
