"""Honest repositories: what became of the record, of its file, and of the commits behind it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.clerk import record, regressions
from tests.commands.calling import call_guard
from tests.corpus.honest_repos import (
    BROKEN,
    CASE,
    CONFIG,
    FIXED,
    LATER,
    RECORDS,
    SKILL,
    Stories,
    case,
    clone_of,
    fix,
    merge,
    polish,
    start,
)
from tests.scratch_repo import ScratchRepo

KEPT = Stories()
CAPSULE = "regressions/taxi/before.capsule"
RECEIPT = FIXED.replace("Say what", "Name the receipt.\n\nSay what")


def guard(repo: ScratchRepo, *arguments: str) -> None:
    outcome = call_guard(repo.root, *arguments)
    assert outcome.code == 0, outcome


def document(repo: ScratchRepo) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((repo.root / RECORDS).read_text())
    return found


# The file ----------------------------------------------------------------------------------


@KEPT.told(taxi="live", other="live")
def file_reformatted_and_sorted(repo: ScratchRepo) -> None:
    """Another order, another indent, a byte order mark, other line ends: no record came in."""
    start(repo)
    fix(repo)
    both = regressions(
        zebra=record(status="retired", retirement={"reason": "x", "date": "2026-07-01"}),
        taxi=record(),
        other=record(case="evals/other.md"),
    )
    more = {SKILL: RECEIPT, "evals/other.md": case("Receipt 7", "other")}
    repo.commit("fix(clerk): receipts", {**more, RECORDS: both})
    shuffled = document(repo)
    kept: dict[str, dict[str, Any]] = shuffled["regressions"]
    del kept["zebra"]
    shuffled["regressions"] = {
        name: dict(reversed(list(fields.items()))) for name, fields in reversed(list(kept.items()))
    }
    packed = json.dumps(shuffled, separators=(",", ":"), ensure_ascii=True)
    repo.commit("style: packed", {RECORDS: packed})
    spread = "\ufeff" + json.dumps(shuffled, indent=8).replace("\n", "\r\n")
    repo.commit("style: spread", {RECORDS: spread})


@KEPT.told(taxi="live")
def file_once_unparsable(repo: ScratchRepo) -> None:
    start(repo)
    fix(repo)
    whole = (repo.root / RECORDS).read_text()
    repo.commit("oops", {RECORDS: f"<<<<<<< HEAD\n{whole}=======\n{{}}\n>>>>>>> topic\n"})
    repo.commit("chore: mend the file", {RECORDS: whole})
    polish(repo)


@KEPT.told(taxi="live")
def unparsable_where_it_came_in(repo: ScratchRepo) -> None:
    """The fix's own commit left conflict markers: the next one is where the record came in."""
    start(repo)
    whole = regressions(taxi=record())
    repo.commit("fix(clerk): ask", {SKILL: FIXED, CASE: case(), RECORDS: f"<<<<<<<\n{whole}"})
    repo.commit("fix(clerk): ask, as it should be", {RECORDS: whole, SKILL: FIXED + "\nFine.\n"})
    repo.git("reset", "-q", "--soft", "HEAD~2")
    repo.commit("fix(clerk): ask (#1)")


@KEPT.told(taxi="live")
def readded_after_a_bad_merge(repo: ScratchRepo) -> None:
    """A merge took the wrong side of the file; the record was put back without its fix."""
    start(repo)
    fix(repo)
    repo.git("checkout", "-qb", "topic", "HEAD~1")
    repo.commit("topic", {RECORDS: regressions(), "README.md": "1\n"})
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "topic", check=False)
    repo.commit("Merge branch 'topic'", {RECORDS: regressions()})
    repo.commit("chore: put it back", {RECORDS: regressions(taxi=record())})
    polish(repo)


@KEPT.told(taxi="live")
def moved_by_a_rename_of_its_case(repo: ScratchRepo) -> None:
    start(repo)
    fix(repo)
    moved = regressions(taxi=record(case="evals/money/taxi.md"))
    config = CONFIG.replace("evals/*.md", "evals/**/*.md")
    files = {CASE: None, "evals/money/taxi.md": case(), RECORDS: moved, "guard.yaml": config}
    repo.commit("refactor: sort the cases", files)


@KEPT.told(taxi="live")
def retired_and_reopened(repo: ScratchRepo) -> None:
    """Reopened with no edit of the skill: its fix is still the one that is taken back."""
    start(repo)
    fix(repo)
    guard(repo, "regressions", "retire", "taxi", "--reason", "no more taxis")
    repo.commit("chore: retire it")
    guard(repo, "regressions", "reopen", "taxi", "--reason", "taxis again")
    repo.commit("chore: guard it again")


# The record --------------------------------------------------------------------------------


@KEPT.told(taxi="live")
def proven_by_hand_of_its_author(repo: ScratchRepo) -> None:
    """Red, then green, then the commit, as the README says."""
    start(repo)
    repo.write({CASE: case()})
    assert call_guard(repo.root, "prove", "taxi").code == 3
    repo.write({SKILL: FIXED})
    guard(repo, "prove", "taxi")
    repo.commit("fix(clerk): ask first")


@KEPT.told(taxi="live")
def fixed_again_after_it_was_lost(repo: ScratchRepo) -> None:
    """Proven again, which reopens it: the second fix is the one that is taken back."""
    start(repo)
    fix(repo)
    repo.commit("feat(clerk): anew", {SKILL: BROKEN.replace(*LATER)})
    assert call_guard(repo.root, "prove", "taxi").code == 3
    repo.write({SKILL: FIXED.replace(*LATER)})
    guard(repo, "prove", "taxi")
    repo.commit("fix(clerk): ask first, again")


@KEPT.told(taxi="live", other="live")
def two_fixed_one_after_the_other(repo: ScratchRepo) -> None:
    """Each one's before is its own: the other's sentence stays."""
    start(repo)
    fix(repo)
    kept = regressions(taxi=record(), other=record(case="evals/other.md"))
    more = {SKILL: RECEIPT, "evals/other.md": case("Receipt 7", "other")}
    repo.commit("fix(clerk): receipts", {**more, RECORDS: kept})


@KEPT.told(taxi="patch")
def case_committed_later_than_the_fix(repo: ScratchRepo) -> None:
    before = start(repo)
    repo.commit("feat(clerk): ask first", {SKILL: FIXED})
    repo.commit("test: a case", {CASE: case()})
    polish(repo)
    guard(repo, "prove", "taxi", "--before", before)
    repo.commit("test: keep it")


@KEPT.told(taxi="patch")
def commit_that_is_gone(repo: ScratchRepo) -> None:
    """The branch was squashed and collected: a patch outlives its commits."""
    start(repo)
    repo.git("checkout", "-qb", "topic")
    before = repo.commit("wip", {SKILL: BROKEN.replace(*LATER)})
    repo.commit("wip", {SKILL: FIXED.replace(*LATER), CASE: case()})
    guard(repo, "prove", "taxi", "--before", before)
    repo.commit("wip")
    repo.git("checkout", "-q", "main")
    merge(repo, "--squash", "topic")
    repo.commit("fix(clerk): ask first (#1)")
    repo.git("branch", "-qD", "topic")
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "-q", "--prune=now")
    assert repo.run("git", "cat-file", "-e", before).returncode != 0


@KEPT.told(taxi="patch")
def root_commit_holds_all(repo: ScratchRepo) -> None:
    """A project's first commit brings the skill fixed, with a patch that breaks it."""
    start(repo)
    repo.write({SKILL: FIXED})
    patch = repo.git("diff", "-R", "--", SKILL)
    named = record(before={"kind": "patch", "path": "regressions/taxi/before.patch"})
    files = {CASE: case(), RECORDS: regressions(taxi=named), "regressions/taxi/before.patch": patch}
    repo.write(files)
    repo.git("checkout", "-q", "--orphan", "fresh")
    repo.commit("start anew")
    repo.git("branch", "-qD", "main")


@KEPT.told(taxi="revision")
def tag_of_the_bug(repo: ScratchRepo) -> None:
    start(repo)
    repo.git("tag", "bug-7")
    repo.commit("feat(clerk): ask first", {SKILL: FIXED})
    named = record(before={"kind": "revision", "rev": "bug-7"})
    repo.commit("test: keep it", {CASE: case(), RECORDS: regressions(taxi=named)})
    polish(repo)


@KEPT.told(taxi="command")
def command_that_shows_it(repo: ScratchRepo) -> None:
    """The bug lies in what no state of the agent rebuilds: a command stands for it."""
    start(repo)
    shown = {"kind": "command", "argv": ["sh", "{repo}/evals/broken.sh"], "expect_exit": 3}
    named = record(before={**shown, "expect_output": "caught"})
    fix(repo, {RECORDS: regressions(taxi=named), "evals/broken.sh": "echo caught\nexit 3\n"})


# Capsules ----------------------------------------------------------------------------------


def with_capsule(repo: ScratchRepo) -> None:
    start(repo)
    fix(repo)
    polish(repo)
    guard(repo, "regressions", "add", "taxi", "--capsule")
    repo.commit("test: keep the broken side")


@KEPT.told(taxi="capsule")
def clone_of_depth_one(repo: ScratchRepo) -> Path:
    with_capsule(repo)
    return clone_of(repo, "--depth=1").root


@KEPT.told(taxi="capsule", own="agent/skills/teller/")
def clone_of_depth_one_renamed_since(repo: ScratchRepo) -> Path:
    with_capsule(repo)
    repo.git("mv", "agent/skills/clerk", "agent/skills/teller")
    repo.commit("refactor: teller", {"guard.yaml": CONFIG.replace("clerk/**", "teller/**")})
    return clone_of(repo, "--depth=1").root


@KEPT.told(taxi="live", own="agent/skills/teller/")
def capsule_beside_a_renamed_folder(repo: ScratchRepo) -> None:
    """The state is merged with the capsule lying there: it is never taken for the file."""
    with_capsule(repo)
    repo.git("mv", "agent/skills/clerk", "agent/skills/teller")
    repo.commit("refactor: teller", {"guard.yaml": CONFIG.replace("clerk/**", "teller/**")})


@KEPT.told(taxi="pinned", own="agent/skills/teller/")
def copy_beside_a_renamed_folder(repo: ScratchRepo) -> None:
    """Someone kept the text elsewhere: git takes that for the file, and the state is not used."""
    start(repo)
    fix(repo)
    repo.git("mv", "agent/skills/clerk", "agent/skills/teller")
    moved = {"guard.yaml": CONFIG.replace("clerk/**", "teller/**"), "docs/old-skill.md": FIXED}
    text = FIXED.replace("name: clerk", "name: teller").replace(*LATER)
    repo.commit("refactor: teller", {**moved, "agent/skills/teller/SKILL.md": text})


@KEPT.told(taxi="capsule")
def capsule_added_in_a_clone_of_depth_one(repo: ScratchRepo) -> Path:
    """There the broken side is at hand by its patch alone; then the patch went."""
    before = start(repo)
    repo.commit("feat(clerk): ask first", {SKILL: FIXED, CASE: case()})
    guard(repo, "prove", "taxi", "--before", before)
    repo.commit("test: keep it")
    clone = clone_of(repo, "--depth=1")
    guard(clone, "regressions", "add", "taxi", "--capsule")
    clone.commit("test: keep the broken side")
    clone.commit("chore: the patch no more", {"regressions/taxi/before.patch": None})
    return clone.root
