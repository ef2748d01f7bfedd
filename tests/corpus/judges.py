"""Evaluators and checkers that can't judge, and keys that name the wrong one."""

from __future__ import annotations

from tests.corpus.story import (
    ASKS,
    BROKEN,
    CONFIG,
    Build,
    Story,
    asked_of,
    case,
    fix,
    history,
    start,
)

CHECKS = "evals/checks.py"
CHECKED = CONFIG + f"    evaluators: [{CHECKS}:asks]\n"
#: An evaluator's head: it reads what it is asked for, so that only its score is at fault.
CHECK = "def asks(observation, expectations):\n    assert expectations['asks']\n"
HONEST = "    return {'key': 'asks', 'score': int('currency' in observation.reply)}\n"

EVERY_OTHER = """\
CALLS = []


def asks(observation, expectations):
    CALLS.append(expectations["asks"])
    return len(CALLS) % 2 == 0
"""


def judged_by(evaluator: str) -> Build:
    """Return a repository whose case an evaluator of its own judges."""
    code = CHECK + evaluator
    first = start(config=CHECKED, **{CHECKS: code})
    return history(first, fix(asked=case("{asks: true}"), fails_on=["asks"]))


STORIES = (
    Story(
        "an evaluator that can't fail",
        judged_by("    return {'key': 'asks', 'score': 1.0}\n"),
        "VACUOUS",
        twin=judged_by(HONEST),
    ),
    Story(
        "an evaluator that can't pass",
        judged_by("    return {'key': 'asks', 'score': 0.0}\n"),
        "BROKEN_NOW",
        "it fails before the fix and now",
        hint="guard show taxi#after-1",
    ),
    Story(
        "an evaluator that always breaks",
        judged_by("    return 1 / 0\n"),
        "INCONCLUSIVE",
        "evaluator",
    ),
    Story(
        "an evaluator that breaks on the broken side",
        judged_by("    assert 'currency' in observation.reply\n" + HONEST),
        "INCONCLUSIVE",
        "before the fix ERROR: evaluator",
    ),
    Story(
        "an evaluator that says nothing",
        judged_by("    return None\n"),
        "INCONCLUSIVE",
        "before the fix",
    ),
    Story(
        "an evaluator that says nothing of the broken side",
        judged_by("    if 'currency' not in observation.reply:\n        return None\n" + HONEST),
        "INCONCLUSIVE",
        "before the fix UNGRADED: no score for what is expected: asks",
    ),
    Story(
        "an evaluator scores off its scale",
        judged_by("    return {'key': 'asks', 'score': -1.0}\n"),
        "INCONCLUSIVE",
        "a number from 0 to 1",
    ),
    Story(
        "an evaluator that says yes every other time",
        history(
            start(config=CHECKED, **{CHECKS: EVERY_OTHER}),
            fix("echo Booked\n", asked=case("{asks: true}"), fails_on=["asks"]),
        ),
        "INCONCLUSIVE",
        "its trials disagree",
        command=("verify", "--jobs", "1"),
    ),
    Story(
        "a checker that isn't there",
        asked_of(BROKEN, "{command: {argv: [reconcile-the-books]}}", "command"),
        "INCONCLUSIVE",
        "reconcile-the-books can't be started",
    ),
    Story(
        "a checker is killed on the broken side",
        asked_of(
            "echo Booked > said\n",
            '{command: {argv: [sh, -c, "grep -q currency said || kill -9 $$"]}}',
            "command",
            fixed="echo Which currency > said\n",
        ),
        "INCONCLUSIVE",
        "signal 9",
        twin=asked_of(
            "echo Booked > said\n",
            "{command: {argv: [grep, -q, currency, said]}}",
            "command",
            fixed="echo Which currency > said\n",
        ),
    ),
    Story(
        "another key fails than the one recorded",
        asked_of(BROKEN, '{reply_contains: ["Which currency"], no_changes: true}', "no_changes"),
        "WRONG_REASON",
        "(no_changes): reply_contains",
        hint="guard show taxi#before-1",
        twin=asked_of(
            BROKEN, '{reply_contains: ["Which currency"], no_changes: true}', "reply_contains"
        ),
    ),
    Story(
        "only one of the two recorded keys fails",
        asked_of(
            BROKEN,
            '{reply_contains: ["Which currency"], no_changes: true}',
            "no_changes",
            "reply_contains",
        ),
        "WRONG_REASON",
    ),
    Story(
        "a key that is nobody's",
        asked_of(BROKEN, ASKS, "replies_contain"),
        "WRONG_REASON",
        "replies_contain",
    ),
    Story("no key at all", asked_of(BROKEN, ASKS), "WRONG_REASON", "names no key"),
)
