"""``guard gates``: how sure each gate is, and what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.errors import ExitCode, UsageError
from guard.model import Policy
from guard.output import out
from guard.running.gates import GATES, unreachable
from guard.schema import nearest
from guard.wording.gates import (
    FAILS_BEFORE,
    Rule,
    compare,
    cut_rule,
    describe,
    fails_before_rule,
    fixed_rule,
    rule_of,
)
from guard.wording.plot import ink

if TYPE_CHECKING:
    import argparse

HELP = "show how sure each gate is, and how many trials it takes"
#: Of fixed trials; what more of them do takes long to compute, and is bought by nobody.
MOST_TRIALS = 300

CLOSING = (
    "A hook repeats a block by a second, fresh gate: it stands if that blocks too.",
    "A case chooses by `gate: firm`, guard.yaml for all by `defaults: {gate: firm}`.",
    "One in detail: `guard gates NAME`",
    "Fixed trials beside them: `guard gates --trials 10 --min-pass-rate 0.9`",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``guard gates``."""
    names = ", ".join((*GATES, FAILS_BEFORE))
    parser.add_argument("name", nargs="?", metavar="NAME", help=f"one in detail: {names}")
    parser.add_argument("--trials", type=int, metavar="N", help="fixed trials beside them")
    parser.add_argument(
        "--min-pass-rate", type=float, metavar="R", help="the share of --trials that must pass"
    )


def gates(
    *,
    name: str | None = None,
    trials: int | None = None,
    min_pass_rate: float | None = None,
    disabled: frozenset[str] = frozenset(),
) -> int:
    """Show the curves and costs of all gates; of one in detail."""
    fixed = _fixed(trials, min_pass_rate)
    width, drawn = _width(), ink()
    if name is None:
        rules = [*map(rule_of, GATES.values()), fails_before_rule(), *fixed]
        out("\n".join([*compare(rules, width, drawn), "", *CLOSING]))
        return ExitCode.OK
    for position, rule in enumerate((*_named(name, trials), *fixed)):
        hooks = rule.name != FAILS_BEFORE and rule not in fixed
        out("\n".join([*([""] if position else []), *describe(rule, width, drawn, hooks=hooks)]))
    return ExitCode.OK


def _fixed(trials: int | None, min_pass_rate: float | None) -> list[Rule]:
    """Return the fixed policy asked for. Raises `UsageError` for one that nothing satisfies."""
    if trials is None and min_pass_rate is None:
        return []
    rate = 1.0 if min_pass_rate is None else min_pass_rate
    refused = unreachable(Policy(None, trials, rate))
    if trials is None and refused is None:
        refused = "--min-pass-rate takes --trials beside it"
    if trials is not None and trials > MOST_TRIALS:
        refused = f"--trials: at most {MOST_TRIALS} are drawn"
    if trials is None or refused is not None:
        raise UsageError(refused or "", "guard gates --help")
    return [fixed_rule(trials, rate)]


def _named(name: str, trials: int | None) -> list[Rule]:
    """Return a gate, and the same cut short where a case would cut it by so many trials."""
    if name == FAILS_BEFORE:
        return [fails_before_rule()]
    if name not in GATES:
        known = (*GATES, FAILS_BEFORE)
        near = nearest(name, known)
        said = f"there is no gate {name!r}{near} (there are: {', '.join(known)})"
        raise UsageError(said, "guard gates")
    gate = GATES[name]
    if trials is None or not gate.fewest <= trials < gate.cap:
        return [rule_of(gate)]
    return [rule_of(gate), cut_rule(gate, trials)]


def _width() -> int:
    import shutil

    return shutil.get_terminal_size().columns
