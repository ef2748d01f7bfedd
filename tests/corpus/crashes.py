"""The broken side ends badly, or not at all, or elsewhere: none of that is a red."""

from __future__ import annotations

from tests.corpus.story import (
    ASKS,
    BROKEN,
    CONFIG,
    FIXED,
    SCRIPT,
    VARYING,
    Build,
    Story,
    case,
    fix,
    history,
    start,
)
from tests.scratch_repo import ScratchRepo

PYTHON = CONFIG.replace("act.sh", "act.py").replace("[sh,", "[python3,")
GRADES_EXIT = "{exit_code: 0}"
GRADES_BOTH = '{exit_code: 0, reply_contains: ["Which currency"]}'
QUICK = "timeout: 1\n"


def in_python(broken: str, fixed: str = "print('Which currency?')\n") -> Build:
    """Return the two commits of an agent in Python."""
    fixing = {**fix(), "agent/act.py": fixed, SCRIPT: None}
    return history(start(config=PYTHON, **{"agent/act.py": broken}), fixing)


def red_by(
    broken: str, asked: str = ASKS, *keys: str, more: str = "", config: str = CONFIG
) -> Build:
    """Return the two commits of an agent whose broken script is the one given."""
    fails_on = list(keys or ("reply_contains",))
    return history(start(broken, config), fix(FIXED, case(asked, more), fails_on=fails_on))


def not_to_be_started(broken: str) -> Build:
    """Return an agent that is a program of its own, whose broken form can't be started."""

    def build(repo: ScratchRepo) -> None:
        config = CONFIG.replace("[sh, act.sh]", "[./act.sh]")
        repo.commit("start", start(broken, config))
        repo.write(fix("#!/bin/sh\n" + FIXED))
        (repo.root / SCRIPT).chmod(0o755)
        repo.commit("fix")

    return build


def executable(broken: str) -> Build:
    """Return the same agent, with a broken form that can be started."""

    def build(repo: ScratchRepo) -> None:
        repo.write(start(broken, CONFIG.replace("[sh, act.sh]", "[./act.sh]")))
        (repo.root / SCRIPT).chmod(0o755)
        repo.commit("start")
        repo.commit("fix", fix("#!/bin/sh\n" + FIXED))

    return build


def in_trial(**answers: str) -> str:
    """Return a script whose answer depends on the trial's number, as t1="…", other="…"."""
    arms = [f"{name[1:]}) {answer};;" for name, answer in answers.items() if name != "other"]
    return f"case $GUARD_TRIAL in {' '.join(arms)} *) {answers['other']};; esac\n"


STORIES = (
    Story(
        "an import error is taken for the red",
        in_python("import ledger_of_old\nprint('Booked')\n"),
        "INCONCLUSIVE",
        "before the fix ERROR: the program ended in 1, and the case states no exit_code: "
        "ModuleNotFoundError",
        twin=in_python("import json\nprint('Booked')\n"),
    ),
    Story(
        "a syntax error is taken for the red",
        in_python("print('Booked'\n"),
        "INCONCLUSIVE",
        "SyntaxError",
    ),
    Story(
        "the shell can't read the broken script",
        red_by("if true; then echo Booked\n"),
        "INCONCLUSIVE",
        "before the fix ERROR",
    ),
    Story(
        "a crash answers nothing, and the case grades the exit code beside the answer",
        red_by("exit 1\n", GRADES_BOTH),
        "WRONG_REASON",
        "exit_code",
        twin=red_by("exit 1\n", GRADES_BOTH, "exit_code", "reply_contains"),
    ),
    Story(
        "a missing command is taken for the red",
        red_by("book-a-taxi --now\n"),
        "INCONCLUSIVE",
        "can't be started (127)",
        twin=red_by("book-a-taxi --now\necho Booked\n"),
    ),
    Story(
        "a missing command is graded as an exit code",
        red_by("book-a-taxi --now\n", GRADES_EXIT, "exit_code"),
        "INCONCLUSIVE",
        "can't be started (127)",
        twin=red_by("exit 3\n", GRADES_EXIT, "exit_code"),
    ),
    Story(
        "a file that can't be executed is taken for the red",
        red_by("./budget.md\n", GRADES_EXIT, "exit_code"),
        "INCONCLUSIVE",
        "can't be started (126)",
    ),
    Story(
        "the program itself had no right to be executed",
        not_to_be_started("#!/bin/sh\n" + BROKEN),
        "INCONCLUSIVE",
        "Permission denied",
        twin=executable("#!/bin/sh\n" + BROKEN),
    ),
    Story(
        "the program's interpreter isn't there",
        executable("#!/nowhere/sh\n" + BROKEN),
        "INCONCLUSIVE",
        "can't be started",
    ),
    Story(
        "a signal is graded as an exit code",
        red_by("kill -9 $$\n", GRADES_EXIT, "exit_code"),
        "INCONCLUSIVE",
        "signal 9",
    ),
    Story(
        "the shell's word for a signal is graded as an exit code",
        red_by("sh -c 'kill -11 $$'\nexit $?\n", GRADES_EXIT, "exit_code"),
        "INCONCLUSIVE",
        "signal 11",
    ),
    Story(
        "a time-out is taken for the red",
        red_by("sleep 60\n", more=QUICK),
        "WRONG_REASON",
        "timeout: not done within 1 s",
        twin=red_by("sleep 60\n", ASKS, "timeout", more=QUICK),
    ),
    Story(
        "a time-out after a wrong answer is taken for the red",
        red_by("echo Booked\nsleep 60\n", more=QUICK),
        "WRONG_REASON",
        "timeout: not done within 1 s",
    ),
    Story(
        "a daemon is left running, and the answer is right",
        red_by("sleep 30 & echo Which currency?\n"),
        "WRONG_REASON",
        "orphans: left 1 process running",
        twin=red_by("sleep 30 & echo Which currency?\n", ASKS, "orphans"),
    ),
    Story(
        "it breaks more often than it is drawn again",
        red_by(in_trial(t1="echo Booked", other="exit 1"), config=VARYING),
        "INCONCLUSIVE",
        "before the fix ERROR",
        twin=red_by(in_trial(t2="exit 1", other="echo Booked"), config=VARYING),
    ),
    Story(
        "it writes beside its workspace",
        red_by("echo 4600 > ../booked\necho Booked\n"),
        "INCONCLUSIVE",
        "before the fix TAINTED: written outside the workspace",
        twin=red_by("echo 4600 > booked\necho Booked\n"),
    ),
    Story(
        "it writes into the repository",
        red_by('echo 4600 > "$1"/booked\n', config=CONFIG.replace("act.sh]", 'act.sh, "{repo}"]')),
        "INCONCLUSIVE",
        "before the fix",
    ),
    Story(
        "it looks for the fixed code in the repository",
        red_by('sh "$1/agent/act.sh"\n', config=CONFIG.replace("act.sh]", 'act.sh, "{repo}"]')),
        "INCONCLUSIVE",
        "before the fix ERROR",
    ),
    Story(
        "a service refuses it, as the case allows",
        red_by("echo quota exceeded\n", more="blocked_when_stdout_contains: [quota exceeded]\n"),
        "PENDING",
        'it said "quota exceeded"',
    ),
    Story(
        "the case's file isn't in the broken workspace",
        history(
            start(
                BROKEN, CONFIG.replace("[agent/act.sh]", '["agent/**"]'), **{"agent/budget.md": ""}
            ),
            {
                **fix(asked=case(more="preconditions:\n  - match: taxi 400\n")),
                "agent/budget.md": "taxi 400\n",
            },
        ),
        "STALE",
        "stale, needs review",
    ),
    Story(
        "it breaks now",
        history(start(), fix("echo Which currency?\nexit 1\n")),
        "INCONCLUSIVE",
        "now ERROR",
    ),
    Story(
        "it writes beside its workspace now",
        history(start(), fix("echo Which currency? > ../said\ncat ../said\n")),
        "INCONCLUSIVE",
        "now TAINTED",
    ),
    Story(
        "it takes too long now",
        history(start(), fix("echo Which currency?\nsleep 60\n", case(more=QUICK))),
        "BROKEN_NOW",
        "timeout",
    ),
)
