"""State that would leak from one run into the next: every trial begins as the first one did."""

from __future__ import annotations

from tests.corpus.story import CONFIG, FIXED, Build, Story, fix, history, start

RIGHT, WRONG = "echo Which currency?", "echo Booked"


def remembered(place: str, *, first: str = RIGHT, later: str = WRONG) -> Build:
    """Return an agent whose answer would be another once a run has left a file there."""
    script = f"if [ -e {place} ]; then {later}; else {first}; fi\nmkdir -p $(dirname {place})\n"
    script += f"touch {place}\n"
    return history(start(script), fix(script + "# carefully\n"))


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
