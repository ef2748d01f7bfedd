"""``guard prove`` called twice: what was red must be red for the reason that was mended."""

from __future__ import annotations

import os

from tests.commands.calling import Outcome, call_guard
from tests.corpus.story import (
    BROKEN,
    CASE,
    CONFIG,
    FIXED,
    SCRIPT,
    Build,
    Files,
    Story,
    case,
    history,
    start,
)
from tests.scratch_repo import ScratchRepo

PROVE = ("prove", "taxi")
NEEDS_TOKEN = CONFIG + "    env: [TAXI_TOKEN]\n"
CHECKS_TOKEN = '[ "$TAXI_TOKEN" = good ] && echo Which currency? || echo Booked\n'
READS_DATA = "grep -q euro budget.md && echo Which currency? || echo Booked\n"
COSMETIC = "# carefully\n"


def red(repo: ScratchRepo, *command: str) -> Outcome:
    """Call guard before the edit: it must see the bug."""
    outcome = call_guard(repo.root, *(command or PROVE))
    assert outcome.code in (1, 3), outcome
    return outcome


def red_then(
    first: Files, edit: Files, *command: str, before: dict[str, str] | None = None
) -> Build:
    """Return what is red first, and then edited."""

    def build(repo: ScratchRepo) -> None:
        repo.commit("start", {**start(), CASE: case(), **first})
        os.environ.update(before or {})
        red(repo, *command)
        repo.write(edit)

    return build


def with_token(token: str, fixed: str) -> Build:
    """Return an agent whose token was bad when it was red, and is another now."""
    first = {"guard.yaml": NEEDS_TOKEN, SCRIPT: CHECKS_TOKEN}

    def build(repo: ScratchRepo) -> None:
        red_then(first, {SCRIPT: fixed}, before={"TAXI_TOKEN": "bad"})(repo)
        os.environ["TAXI_TOKEN"] = token

    return build


STORIES = (
    Story(
        "red for a bad token, and then the token is changed",
        with_token("good", CHECKS_TOKEN + COSMETIC),
        "VACUOUS",
        command=PROVE,
        twin=with_token("bad", FIXED),
    ),
    Story(
        "red for want of data, and then the data is there",
        red_then(
            {SCRIPT: READS_DATA}, {SCRIPT: READS_DATA + COSMETIC, "agent/budget.md": "euro\n"}
        ),
        "VACUOUS",
        command=PROVE,
        twin=red_then({SCRIPT: READS_DATA}, {SCRIPT: FIXED}),
    ),
    Story(
        "red by a run for want of data, and then the data is there",
        red_then(
            {SCRIPT: READS_DATA},
            {SCRIPT: READS_DATA + COSMETIC, "agent/budget.md": "euro\n"},
            "run",
        ),
        "VACUOUS",
        command=PROVE,
    ),
    Story(
        "red by an option that is mended",
        red_then(
            {SCRIPT: 'echo "$1"\n', "guard.yaml": CONFIG.replace("act.sh]", "act.sh, Booked]")},
            {
                SCRIPT: 'echo "$1"\n' + COSMETIC,
                "guard.yaml": CONFIG.replace("act.sh]", 'act.sh, "Which currency?"]'),
            },
        ),
        "VACUOUS",
        command=PROVE,
    ),
    Story(
        "red by a case that is weakened",
        red_then({}, {SCRIPT: BROKEN + COSMETIC, CASE: case('{reply_contains: ["Booked"]}')}),
        "VACUOUS",
        command=PROVE,
    ),
    Story(
        "red, and the edit mends nothing",
        red_then({}, {SCRIPT: BROKEN + COSMETIC}),
        "BROKEN_NOW",
        command=PROVE,
    ),
    Story(
        "red, and nothing was edited",
        red_then({}, {}),
        "PENDING",
        "RED, as it should be before a fix",
        command=PROVE,
        code=3,
    ),
    Story(
        "never red",
        history({**start(FIXED), CASE: case()}),
        "VACUOUS",
        "it passes on the skill as it is",
        command=PROVE,
    ),
    Story(
        "the agent is deleted for a fix",
        red_then({}, {SCRIPT: None}),
        "INCONCLUSIVE",
        command=PROVE,
    ),
)
