"""Agents that answer by chance, with the chance taken out: a trial's number, or a counter.

What is flaky on both sides is never proven; what tells the two sides apart is, however late.
"""

from __future__ import annotations

from tests.corpus.story import (
    ASKS,
    CONFIG,
    VARYING,
    Build,
    Story,
    case,
    fix,
    history,
    start,
)
from tests.scratch_repo import ScratchRepo

RIGHT, WRONG = "echo Which currency?", "echo Booked 4600 crowns."


def by_trial(outcomes: str) -> str:
    """Return a script that passes and fails as the letters say, over and over."""
    passing = [n for n, outcome in enumerate(outcomes, start=1) if outcome == "P"]
    numbers = "|".join(map(str, passing)) or "none"
    turn = f"$(( (GUARD_TRIAL - 1) % {len(outcomes)} + 1 ))"
    return f"case {turn} in {numbers}) {RIGHT};; *) {WRONG};; esac\n"


def flaky(before: str, after: str, config: str = VARYING, more: str = "") -> Build:
    """Return an agent whose trials end so on either side."""
    fixed = by_trial(after) + "# carefully\n"
    return history(start(by_trial(before), config), fix(fixed, case(ASKS, more)))


def counted(test: str, config: str = VARYING) -> Build:
    """Return an agent that counts its runs outside of all that a trial has to itself."""

    def build(repo: ScratchRepo) -> None:
        counter = repo.root.parent / "runs"
        script = (
            f"echo run >> {counter}\nn=$(grep -c run {counter})\n"
            f"if [ {test} ]; then {RIGHT}; else {WRONG}; fi\n"
        )
        repo.commit("start", start(script, config))
        repo.commit("fix", fix(script + "# carefully\n"))

    return build


ONE_BY_ONE = ("verify", "--jobs", "1")
DISAGREE = "the target is declared deterministic, and its trials disagree"

STORIES = (
    Story(
        "three straight passes before",
        flaky("PPP" + "F" * 9, "P"),
        "VACUOUS",
        "(3 of 3)",
        twin=flaky("FFF" + "P" * 9, "P"),
    ),
    Story(
        "four passes of seven before",
        flaky("FPFPFPP", "P"),
        "VACUOUS",
        "(4 of 7)",
        twin=flaky("PFPFPFF", "P"),
    ),
    Story(
        "at half before, at half now",
        flaky("FFPFF", "FP"),
        "BROKEN_NOW",
    ),
    Story(
        "red before, and now and then now",
        flaky("F", "PFPF"),
        "BROKEN_NOW",
        twin=flaky("F", "PPPPF"),
    ),
    Story(
        "red before, and now it passes once, of the two that are asked for",
        flaky("F", "PF", more="trials: 2\n"),
        "BROKEN_NOW",
        twin=flaky("F", "PP", more="trials: 2\n"),
    ),
    Story(
        "a gate that is cut short can't tell now",
        flaky("F", "PPFPP", more="gate: strict\ntrials: 9\n"),
        "INCONCLUSIVE",
        "not enough to tell a good rate from a bad one",
    ),
    Story(
        "declared deterministic, and its trials disagree before",
        flaky("FP", "P", CONFIG),
        "INCONCLUSIVE",
        DISAGREE,
        twin=flaky("F", "P", CONFIG),
    ),
    Story(
        "declared deterministic, and its trials disagree now",
        flaky("F", "PF", CONFIG),
        "INCONCLUSIVE",
        DISAGREE,
    ),
    Story(
        "every other run passes, and the sides take turns",
        counted("$((n % 2)) = 0"),
        "VACUOUS",
        command=ONE_BY_ONE,
    ),
    Story(
        "every other run passes, of a target that is declared deterministic",
        counted("$((n % 2)) = 0", CONFIG),
        "INCONCLUSIVE",
        command=ONE_BY_ONE,
    ),
    Story(
        "the first run fails, and leaves a file that mends all others",
        counted("$n -gt 1", CONFIG),
        "INCONCLUSIVE",
        command=ONE_BY_ONE,
    ),
    Story(
        "the first run fails, and the gate sees it",
        counted("$n -gt 1"),
        "VACUOUS",
        command=ONE_BY_ONE,
    ),
    Story(
        "each side fails for another reason in turn",
        history(
            start(
                f"case $GUARD_TRIAL in 2) echo 457 > budget.md; {RIGHT};; *) {WRONG};; esac\n",
                VARYING,
            ),
            fix(asked=case('{reply_contains: ["Which currency"], no_changes: true}')),
        ),
        "WRONG_REASON",
        "no_changes",
    ),
)
