"""State that would leak from one run into the next: every trial begins as the first one did."""

from __future__ import annotations

import uuid

import pytest

from guard.trials.sandbox import probe_namespaces
from tests.corpus.story import CONFIG, FIXED, Build, Story, fix, history, start
from tests.scratch_repo import ScratchRepo

RIGHT, WRONG = "echo Which currency?", "echo Booked"
ONE_BY_ONE = ("verify", "--jobs", "1")


def remembered(place: str, *, first: str = RIGHT, later: str = WRONG, end: str = "") -> Build:
    """Return an agent whose answer would be another once a run has left a file there."""
    script = f"if [ -e {place} ]; then {later}; else {first}; fi\nmkdir -p $(dirname {place})\n"
    script += f"touch {place}\n{end}"
    return history(start(script), fix(script + "# carefully\n"))


def rewritten(change: str) -> Build:
    """Return an agent that changes what it read, and gives it its old time again."""
    script = f"grep -q 400 budget.md && {RIGHT} || {WRONG}\ntouch -r budget.md .time\n"
    script += f"{change}\ntouch -h -r .time budget.md\nrm .time\n"
    return history(start(script), fix(script + "# carefully\n"))


def in_shared_folder(repo: ScratchRepo) -> None:
    """Build an agent that leaves a file where all programs write theirs."""
    if problem := probe_namespaces():
        pytest.skip(f"trials share /tmp: {problem}")
    name = f"/tmp/guard-corpus-{uuid.uuid4().hex}"
    remembered(name, first=WRONG, later=RIGHT)(repo)


STORIES = (
    Story("a file in HOME, were it kept, would turn it red", remembered("$HOME/seen"), "VACUOUS"),
    Story(
        "a file in HOME, were it kept, would turn it green",
        remembered("$HOME/.config/seen", first=WRONG, later=RIGHT),
        "BROKEN_NOW",
    ),
    Story("a temporary file would turn it red", remembered("$TMPDIR/seen"), "VACUOUS"),
    Story("a file in the cache would turn it red", remembered("$XDG_CACHE_HOME/a/seen"), "VACUOUS"),
    Story("a file of the workspace would turn it red", remembered("./seen"), "VACUOUS"),
    Story(
        "a file below a folder that nobody may enter would turn it red",
        remembered("closed/seen", end="chmod 000 closed\n"),
        "VACUOUS",
        command=ONE_BY_ONE,
    ),
    Story(
        "a file that is written in place, of the same size and time, would turn it red",
        rewritten("printf 'taxi 457\\n' > budget.md"),
        "VACUOUS",
        command=ONE_BY_ONE,
    ),
    Story(
        "a file that was replaced by a link would turn it red",
        rewritten("ln -sf act.sh budget.md"),
        "VACUOUS",
        command=ONE_BY_ONE,
    ),
    Story(
        "an agent that writes over itself would be green in its second run",
        history(
            start(f"{WRONG}\necho '{RIGHT}' > act.sh\n"),
            fix(f"{WRONG}\necho '{RIGHT}' > act.sh\n# carefully\n"),
        ),
        "BROKEN_NOW",
        command=ONE_BY_ONE,
    ),
    Story("a file in /tmp would turn it green", in_shared_folder, "BROKEN_NOW", command=ONE_BY_ONE),
    Story(
        "a daemon of the broken side would answer for the fixed one",
        history(
            start(f"(sleep 9; {RIGHT}) > /dev/null 2>&1 &\n{WRONG}\n"),
            fix("echo Booked\n"),
        ),
        "BROKEN_NOW",
    ),
    Story(
        "the broken side leaves what the fixed one reads",
        history(
            start(f"echo currency > $HOME/asks\n{WRONG}\n"),
            fix(f"[ -e $HOME/asks ] && {RIGHT} || {WRONG}\n"),
        ),
        "BROKEN_NOW",
    ),
    Story(
        "a variable of the one who calls would turn it green",
        history(
            start(f'[ -n "$OFFICE" ] && {RIGHT} || {WRONG}\n'),
            fix(f'[ -n "$OFFICE" ] && {RIGHT} || {WRONG} crowns\n'),
        ),
        "BROKEN_NOW",
    ),
    Story(
        "a variable that it asks for is not set",
        history(start(config=CONFIG + "    env: [TAXI_TOKEN]\n"), fix()),
        "SKIP",
        "TAXI_TOKEN is not set",
    ),
    Story(
        "a program that it needs is missing here",
        history(
            start(config=CONFIG + "    prerequisites: [program:no-such-program]\n"), fix(FIXED)
        ),
        "SKIP",
        "no-such-program",
        twin=history(start(config=CONFIG + "    prerequisites: [program:sh]\n"), fix(FIXED)),
    ),
)
