"""What happens in the repository of `watched`: a bug in agent talk, its fix, its retirement."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.conftest import ScratchRepo
from tests.hooks.installed import (
    BAD_TALK,
    FILES,
    GOOD_TALK,
    TALK,
    TALK_CASE,
    Done,
    Files,
    Installed,
    case,
    skill,
)

#: An edit of the skill that breaks no case.
BETTER_TALK = skill("talk", "say hello, and mean it")
#: A second case, so that the agent has one left where the other goes.
SPARE = "evals/talk/named.md"
RECORDS = "regressions.json"
WITHOUT_CASE = "brings no case that fails without it (fix-needs-case)"
ZERO = "0" * 40


def record(**changed: Any) -> dict[str, Any]:
    """Return the record of the case greets."""
    return {
        "agent": "talk",
        "case": TALK_CASE,
        "incident": {"summary": "said nothing", "date": "2031-07-10", "issue": None},
        "before": {"kind": "parent"},
        "fails_on": ["reply_contains"],
        "proof": None,
        "status": "active",
        "retirement": None,
        **changed,
    }


def records(**found: dict[str, Any]) -> str:
    """Return a regressions.json with these records."""
    return json.dumps({"schema": "guard.regressions.v1", "regressions": found}, indent=2) + "\n"


#: All that a fix of the bug brings.
FIX: Files = {
    TALK: GOOD_TALK,
    TALK_CASE: FILES[TALK_CASE],
    RECORDS: records(greets=record()),
}
RETIRED = record(
    status="retired", retirement={"reason": "we say goodbye now", "date": "2031-08-01"}
)
RETIREMENT: Files = {RECORDS: records(greets=RETIRED), TALK_CASE: None}


def break_talk(watched: Installed) -> None:
    """Commit the bug, which nobody has noticed yet."""
    files = {TALK: BAD_TALK, TALK_CASE: None, SPARE: case("named", "name")}
    watched.bypass("feat(talk): say less", files)


def add_remote(watched: Installed, folder: Path, name: str = "up") -> Path:
    """Give the repository a remote that has main; return its folder."""
    place = folder / name
    watched.git("init", "-q", "--bare", str(place))
    watched.git("remote", "add", name, str(place))
    watched.git("push", "-q", "--no-verify", name, "main")
    return place


def accept_push(watched: ScratchRepo, *words: str) -> str:
    """Push; fail where the hook refuses. Return what was said."""
    done = watched.run("git", "push", *words)
    assert done.returncode == 0, done.stderr[:2000]
    return done.stderr


def refuse_push(watched: ScratchRepo, *words: str) -> str:
    """Push; fail where the hook accepts. Return what guard said."""
    done = watched.run("git", "push", *words)
    assert done.returncode != 0, done.stderr[:2000]
    assert "guard: not pushed: " in done.stderr, done.stderr[:2000]
    return done.stderr


def commit_in(place: Path, *words: str) -> Done:
    """Run ``git`` with these words in a folder."""
    return ScratchRepo(place).run("git", *words)
