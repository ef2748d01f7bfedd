"""Records that name what isn't theirs, and those that ask for nothing to be run."""

from __future__ import annotations

import json
from typing import Any

from tests.commands.calling import call_guard
from tests.corpus.story import (
    BROKEN,
    CASE,
    CONFIG,
    FIXED,
    RECORDS,
    SCRIPT,
    Build,
    Story,
    case,
    fix,
    history,
    records,
    start,
)
from tests.scratch_repo import ScratchRepo

OTHER = """\
  cashier:
    paths: [cash/act.sh]
    workspace: cash
    target: command
    options: {argv: [sh, act.sh], deterministic: true}
    cases: [cash/evals/*.md]
"""
BOTH = CONFIG + OTHER
CASH = {"cash/act.sh": FIXED}
MADE_UP = {
    "before": {"passed": 0, "trials": 10},
    "after": {"passed": 10, "trials": 10},
    "date": "2026-07-12",
    "receipts": ["sha256:" + "0" * 64, "sha256:" + "f" * 64],
}
VACUOUS = '{reply_contains: ["o"]}'
GREEN = "echo Booked, o yes\n"


def shallow(**changes: Any) -> Build:
    """Return a clone of depth one; what it was cloned from lies beside it."""

    def build(repo: ScratchRepo) -> None:
        source = ScratchRepo(repo.root.parent / "source")
        source.root.mkdir()
        source.git("init", "--quiet")
        history(start(), fix(**changes))(source)
        repo.git("remote", "add", "origin", f"file://{source.root}")
        repo.git("fetch", "--quiet", "--depth=1", "origin", "main")
        repo.git("checkout", "--quiet", "-B", "main", "FETCH_HEAD")

    return build


def unshallowed(repo: ScratchRepo) -> None:
    """Build the clone, and do what the report says."""
    shallow()(repo)
    repo.git("fetch", "--quiet", "--unshallow")


def with_receipts_of_another(repo: ScratchRepo) -> None:
    """Build a record that was proven in a repository of its own, whose case sees the bug there."""
    elsewhere = ScratchRepo(repo.root.parent / "elsewhere")
    elsewhere.root.mkdir()
    elsewhere.git("init", "--quiet")
    elsewhere.commit("start", start(GREEN))
    elsewhere.write({SCRIPT: FIXED, CASE: case()})
    assert call_guard(elsewhere.root, "prove", "taxi").code == 0
    repo.commit("start", start(GREEN))
    taken = (elsewhere.root / RECORDS).read_text()
    document = json.loads(taken)
    document["regressions"]["taxi"]["fails_on"] = ["reply_contains"]
    files = {SCRIPT: FIXED, CASE: case(VACUOUS), RECORDS: json.dumps(document)}
    repo.commit("fix", files)


def unfinished(repo: ScratchRepo) -> None:
    history(start(), fix())(repo)


def retired(**retirement: str) -> Build:
    return history(start(), fix(BROKEN, status="retired", retirement=retirement or None))


STORIES = (
    Story(
        "numbers and receipts typed by hand",
        history(start(GREEN), fix(FIXED, case(VACUOUS), proof=MADE_UP)),
        "VACUOUS",
        twin=history(start(), fix(proof=MADE_UP)),
    ),
    Story("a record copied from another repository", with_receipts_of_another, "VACUOUS"),
    Story(
        "a budget ended first",
        unfinished,
        "PENDING",
        command=("verify", "--max-seconds", "0"),
        hint="guard verify taxi",
    ),
    Story(
        "the case is gone",
        history(start(), fix(), {CASE: None}),
        "UNPROTECTED",
        f"its case {CASE} is not there",
        hint="edit regressions.json",
    ),
    Story(
        "the case was renamed",
        history(start(), fix(), {CASE: None, "evals/cab.md": case()}),
        "UNPROTECTED",
        "a case of that id is in evals/cab.md",
        hint="guard regressions move taxi evals/cab.md",
    ),
    Story(
        "the case's file holds another case by now",
        history(start(), fix(case=f"{CASE}#taxi"), {CASE: case(name="cab")}),
        "UNPROTECTED",
        "holds no case 'taxi'",
    ),
    Story(
        "the case was moved to another agent",
        history(
            {**start(config=BOTH), **CASH},
            fix(),
            {CASE: None, "cash/evals/taxi.md": case()},
        ),
        "UNPROTECTED",
        "a case of that id is in cash/evals/taxi.md",
        hint="edit regressions.json",
    ),
    Story(
        "the case's globs leave it out by now",
        history(start(), fix(), {"guard.yaml": CONFIG.replace("evals/*.md", "cases/*.md")}),
        "UNPROTECTED",
        "no longer among the cases of agent clerk",
    ),
    Story(
        "the record is for the wrong agent",
        history({**start(config=BOTH), **CASH}, fix(agent="cashier")),
        "UNPROTECTED",
        "its case is agent clerk's, no longer cashier's",
        twin=history({**start(config=BOTH), **CASH}, fix()),
    ),
    Story(
        "its agent is gone",
        history(start(), fix(), {"guard.yaml": CONFIG.replace("  clerk:", "  cashier:")}),
        "UNPROTECTED",
        "agent clerk is no longer in guard.yaml",
    ),
    Story(
        "the record names another agent's case",
        history(
            {**start(config=BOTH), "cash/act.sh": BROKEN},
            {
                **fix(case="cash/evals/cash.md"),
                "cash/act.sh": FIXED,
                "cash/evals/cash.md": case(name="cash"),
            },
        ),
        "UNPROTECTED",
        "its case is agent cashier's, no longer clerk's",
    ),
    Story(
        "the red is another case's",
        history(
            start(GREEN),
            {
                **fix(asked=case(VACUOUS)),
                "evals/cab.md": case(name="cab"),
            },
        ),
        "VACUOUS",
        twin=history(
            start(GREEN),
            {
                **fix(asked=case(VACUOUS), case="evals/cab.md"),
                "evals/cab.md": case(name="cab"),
            },
        ),
    ),
    Story(
        "the red is on another case's key",
        history(
            start("echo 457 > budget.md\n" + FIXED),
            {
                **fix(fails_on=["no_changes"]),
                "evals/cab.md": case("{no_changes: true}", name="cab"),
            },
        ),
        "WRONG_REASON",
        "fails_on names no_changes, which the case doesn't state",
    ),
    Story(
        "it is retired, and broken",
        history(
            start(),
            fix(
                BROKEN,
                status="retired",
                retirement={"reason": "no longer sold", "date": "2026-01-01"},
            ),
        ),
        "RETIRED",
        "no longer sold",
    ),
    Story(
        "a shallow clone",
        shallow(),
        "BLOCKED",
        "a shallow clone",
        hint="git fetch --unshallow",
        twin=unshallowed,
    ),
    Story(
        "a revision that a shallow clone lacks",
        shallow(before={"kind": "revision", "rev": "v1"}),
        "BLOCKED",
        "v1 is not here",
        hint="git fetch origin",
    ),
    Story(
        "a revision that was garbage",
        history(start(), fix(before={"kind": "revision", "rev": "deadbeef" * 5})),
        "BLOCKED",
        "is not here",
    ),
    Story(
        "a revision that is no different",
        history(
            start(), fix(), {"notes.md": ""}, records(before={"kind": "revision", "rev": "HEAD~1"})
        ),
        "DEGENERATE",
        twin=history(
            start(), fix(), {"notes.md": ""}, records(before={"kind": "revision", "rev": "HEAD~3"})
        ),
    ),
    Story(
        "a revision from before there was an agent",
        history({"notes.md": ""}, start(), fix(before={"kind": "revision", "rev": "HEAD~2"})),
        "STALE",
        "there was no agent before",
    ),
    Story(
        "a revision in which it couldn't be started",
        history(start("book-it\n"), start(), fix(before={"kind": "revision", "rev": "HEAD~2"})),
        "INCONCLUSIVE",
        "can't be started (127)",
        twin=history(
            start("book-it\n"), start(), fix(before={"kind": "revision", "rev": "HEAD~1"})
        ),
    ),
)
