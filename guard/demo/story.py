"""The story: what is run at each station, how it has to end, and what it has to say."""

from __future__ import annotations

from typing import Final, NamedTuple

#: The files that the repository begins with.
AGENT: Final = ("guard.yaml", "agent/SKILL.md", "agent/expense.py", "agent/trips/london.md")
CASE: Final = "evals/cases/eur-taxi.md"
SKILL: Final = "agent/SKILL.md"
SAID: Final = "EuroStar taxis were 400 euro"
#: The fix. The dice of agent/expense.py look for its words.
SENTENCE: Final = "If an amount is in another currency, ask for the rate and change nothing."
FIX: Final = "fix(expense): ask about foreign currency, change nothing"


class Run(NamedTuple):
    """A line of shell, and how it has to end."""

    command: str
    code: int = 0
    says: tuple[str, ...] = ()
    """What its output has to hold."""


class Bring(NamedTuple):
    """Files of the demo that appear in the repository: what a person wrote."""

    paths: tuple[str, ...]
    remark: str = ""


class Edit(NamedTuple):
    """A text of a file, replaced by another one; shown as git sees it."""

    path: str
    old: str
    new: str


Step = Run | Bring | Edit


class Station(NamedTuple):
    """One part of the story."""

    title: str
    steps: tuple[Step, ...]


ADD_SENTENCE: Final = Run(f'echo "{SENTENCE}" >> {SKILL}')

STATIONS: Final = (
    Station(
        "An agent with a skill, in a repository with guard's hooks",
        (
            Bring(AGENT),
            Run('git init -q && git add -A && git commit -q -m "An expense agent"'),
            Run("git init -q --bare ../remote.git && git remote add origin ../remote.git"),
            Run("git push -q origin main"),
            Run("guard install", says=("commit-msg", "pre-commit", "pre-push")),
            Run(f"tail -n 1 {SKILL}"),
        ),
    ),
    Station(
        "The bug: nobody agreed on a rate, and the agent books one",
        (
            Run(f'cd agent && python3 expense.py "{SAID}"', says=("EuroStar taxis",)),
            Run("git diff -U0 agent/trips | tail -n +6", says=("+| EuroStar taxis |",)),
            Run("git checkout -q HEAD -- agent"),
        ),
    ),
    Station(
        "A fix that brings no case: refused",
        (
            ADD_SENTENCE,
            Run(f'git commit -q -a -m "{FIX}"', 1, ("refused", "fix-needs-case")),
            Run("git checkout -q HEAD -- agent"),
        ),
    ),
    Station(
        "The case: what was said, and what must not happen",
        (
            Run(f'guard new-case eur-taxi --agent expense --utterance "{SAID}"', says=(CASE,)),
            Bring((CASE,), "(filled in by hand)"),
            Run(f"cat {CASE}"),
        ),
    ),
    Station(
        "Before the fix: red, so the case sees the bug",
        (Run("guard prove eur-taxi --trials 10", 3, ("RED", "0 of 10")),),
    ),
    Station(
        "One sentence in the skill: green, and the commit is accepted",
        (
            ADD_SENTENCE,
            Run("guard prove eur-taxi --trials 10", says=("PROVEN", "10 of 10")),
            Run(f'git add -A && git commit -q -m "{FIX}"'),
            Run("git log -1 --stat --format=%s", says=(FIX, "regressions.json")),
        ),
    ),
    Station(
        "Later someone tidies up and loses the sentence: stopped before the commit",
        (
            Edit(SKILL, SENTENCE, "Other currencies go in as dollars."),
            Run('git commit -q -a -m "docs(expense): say it shorter"', 1, ("refused", "eur-taxi")),
            Run("git checkout -q HEAD -- agent"),
        ),
    ),
    Station(
        "Someone loosens the case so that it can't fail: seen, and refused",
        (
            Edit(CASE, "excludes: EuroStar", "excludes: 400 euro"),
            Run("guard verify eur-taxi", 1, ("VACUOUS",)),
            Run(
                'git commit -q -a -m "test(expense): forbid the wrong amount"',
                1,
                ("refused", "grader-proof"),
            ),
            Run("git checkout -q HEAD -- evals"),
        ),
    ),
    Station(
        "The push: its commits, the suite and the proof are judged once more",
        (
            Run("git push -q origin main"),
            Run("git log -1 --format=%s origin/main", says=(FIX,)),
        ),
    ),
)
