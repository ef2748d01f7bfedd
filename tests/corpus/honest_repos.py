"""What all honest repositories of the corpus share: a small agent, its bug, its fix, its record.

The agent is a shell script that does what its skill says: a sentence added or taken away changes
what it answers. A story is a function that builds one repository; what `guard verify` must say of
it stands beside its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from tests import clerk
from tests.clerk import record, regressions
from tests.scratch_repo import ScratchRepo

Files = Mapping[str, str | bytes | None]
NO_FILES: Files = {}

SCRIPT = """\
# Answers as the skills in this folder say.
text=$(cat skills/*/*.md)
case $text in
*"Ask which currency"*) echo "Which currency?" ;;
*) echo "Booked 4600 crowns." ;;
esac
case $text in
*"Name the receipt"*) echo "Receipt 7." ;;
*) echo "No receipt." ;;
esac
case $text in
*"Round up"*) echo "Rounded." ;;
esac
"""
CONFIG = """\
version: 1
agents:
  clerk:
    paths: [agent/skills/clerk/**]
    workspace: agent
    target: command
    options: {argv: [sh, act.sh], deterministic: true}
    cases: [evals/*.md]
"""
SKILL, CASE = clerk.SKILL_PATH, clerk.CASE_PATH
SENTENCE, BROKEN, FIXED = clerk.FIX, clerk.BROKEN, clerk.FIXED
RECORDS = "regressions.json"
#: The tail of the skill, far from the fix, in other words.
LATER = ("Say what you did.", "Say what you did, in one line.")


class Story(NamedTuple):
    """One honest repository, and what is true of it."""

    build: Callable[[ScratchRepo], Path | None]
    """Returns the folder to verify in, where it isn't the repository's root."""
    states: Mapping[str, str]
    """Record → the rung that decides."""
    own: tuple[str, ...]
    """What the paths of its agent begin with: nothing else may differ between the two sides."""


Build = Callable[[ScratchRepo], Path | None]


class Stories(dict[str, Story]):
    """The stories of one file, by name."""

    def told(
        self, *, own: str | tuple[str, ...] = "agent/skills/clerk/", **states: str
    ) -> Callable[[Build], Build]:
        """Enter a story; keywords are ids of records, an underscore for a dash."""

        def enter(build: Build) -> Build:
            named = {name.replace("_", "-"): state for name, state in states.items()}
            places = (own,) if isinstance(own, str) else own
            self[build.__name__] = Story(build, named, places)
            return build

        return enter


def case(reply: str = "Which currency", name: str = "taxi", more: str = "") -> str:
    """Return a case file; ``more`` are further lines of its front matter."""
    return (
        f"---\nid: {name}\nutterance: the taxi was 400 euro\n"
        f'expected: {{reply_contains: ["{reply}"]}}\n{more}---\n'
        "It converted 400 euro on its own authority. Nobody had asked for that.\n"
    )


def start(repo: ScratchRepo, files: Files = NO_FILES) -> str:
    """Commit the agent with its bug, before anyone knows of it."""
    base = {"guard.yaml": CONFIG, "agent/act.sh": SCRIPT, "agent/notes.md": "empty\n"}
    given = {**base, SKILL: BROKEN, **files}
    return repo.commit("start", {path: text for path, text in given.items() if text is not None})


def fix(repo: ScratchRepo, files: Files = NO_FILES, message: str = "fix(clerk): ask first") -> str:
    """Commit the fix with its case and its record."""
    fixed = {SKILL: FIXED, CASE: case(), RECORDS: regressions(taxi=record()), **files}
    return repo.commit(message, {path: text for path, text in fixed.items() if text is not None})


def polish(repo: ScratchRepo, skill: str = SKILL) -> str:
    """Edit the skill far from the fix, so that today's text is neither of the two."""
    text = (repo.root / skill).read_text()
    return repo.commit("docs(clerk): be brief", {skill: text.replace(*LATER)})


def merge(repo: ScratchRepo, *arguments: str) -> None:
    repo.git("merge", "-q", "--no-edit", *arguments)


def clone_of(repo: ScratchRepo, *arguments: str) -> ScratchRepo:
    """Return a clone beside the repository, over a transport that honours a depth."""
    place = repo.root.parent / "clone"
    repo.git("clone", "-q", *arguments, f"file://{repo.root}", str(place))
    return ScratchRepo(place)
