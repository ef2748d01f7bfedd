"""Honest repositories: what git's history became since the fix."""

from __future__ import annotations

from pathlib import Path

from tests.clerk import record, regressions
from tests.corpus.honest_repos import (
    BROKEN,
    CASE,
    FIXED,
    RECORDS,
    SENTENCE,
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

HISTORIES = Stories()
HALF = FIXED.replace("Say what", "Round up.\n\nSay what")


@HISTORIES.told(taxi="live")
def bare_minimum(repo: ScratchRepo) -> None:
    """Two commits: the bug, and its fix with case and record."""
    start(repo)
    fix(repo)


@HISTORIES.told(taxi="live")
def prose_only_fix_with_later_edits(repo: ScratchRepo) -> None:
    start(repo)
    fix(repo)
    polish(repo)
    repo.commit("chore: elsewhere", {"README.md": "1\n"})


@HISTORIES.told(taxi="live")
def not_committed_yet(repo: ScratchRepo) -> None:
    start(repo)
    repo.write({SKILL: FIXED, CASE: case(), RECORDS: regressions(taxi=record())})


@HISTORIES.told(taxi="live")
def rebased(repo: ScratchRepo) -> None:
    start(repo)
    repo.git("checkout", "-qb", "topic")
    fix(repo)
    repo.git("checkout", "-q", "main")
    polish(repo)
    repo.git("checkout", "-q", "topic")
    repo.git("rebase", "-q", "main")


@HISTORIES.told(taxi="live")
def amended(repo: ScratchRepo) -> None:
    start(repo)
    fix(repo)
    repo.write({SKILL: FIXED.replace("before you", "first, before you")})
    repo.git("commit", "-qam", "fix(clerk): ask first, amended", "--amend")


@HISTORIES.told(taxi="live")
def squashed(repo: ScratchRepo) -> None:
    start(repo)
    repo.git("checkout", "-qb", "topic")
    repo.commit("wip", {SKILL: FIXED})
    fix(repo)
    repo.git("checkout", "-q", "main")
    repo.commit("chore: meanwhile", {"README.md": "1\n"})
    merge(repo, "--squash", "topic")
    repo.commit("fix(clerk): ask first (#1)")
    repo.git("branch", "-qD", "topic")


@HISTORIES.told(taxi="live")
def merged(repo: ScratchRepo) -> None:
    """One commit does it all, and a merge brings it to the main branch."""
    start(repo)
    repo.git("checkout", "-qb", "topic")
    fix(repo)
    repo.git("checkout", "-q", "main")
    repo.commit("chore: meanwhile", {"README.md": "1\n"})
    merge(repo, "--no-ff", "topic")
    polish(repo)


@HISTORIES.told(taxi="live")
def fixed_in_the_merge_itself(repo: ScratchRepo) -> None:
    """Neither parent has the sentence: it was written while their conflict was resolved."""
    start(repo)
    repo.git("checkout", "-qb", "topic")
    repo.commit("topic", {"README.md": "topic\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("main", {"README.md": "main\n"})
    repo.git("merge", "-q", "topic", check=False)
    repo.write({"README.md": "both\n", SKILL: FIXED, CASE: case()})
    repo.commit("Merge branch 'topic'", {RECORDS: regressions(taxi=record())})


@HISTORIES.told(taxi="live")
def octopus(repo: ScratchRepo) -> None:
    start(repo)
    for name in ("one", "two"):
        repo.git("checkout", "-qb", name, "main")
        repo.commit(name, {f"{name}.txt": "1\n"})
    repo.git("checkout", "-qb", "topic", "main")
    fix(repo)
    repo.git("checkout", "-q", "main")
    repo.commit("chore: meanwhile", {"README.md": "1\n"})
    merge(repo, "one", "two", "topic")


@HISTORIES.told(taxi="live")
def cherry_picked(repo: ScratchRepo) -> None:
    """The branch it came from is still there, and is not this one's history."""
    start(repo)
    repo.git("checkout", "-qb", "topic")
    repo.commit("feat: another idea", {"agent/skills/clerk/more.md": "Be kind.\n"})
    picked = fix(repo)
    repo.git("checkout", "-q", "main")
    repo.commit("chore: meanwhile", {"README.md": "1\n"})
    repo.git("cherry-pick", picked)


@HISTORIES.told(taxi="live")
def reverted_and_applied_again(repo: ScratchRepo) -> None:
    """The second time is the one that counts: the record came back with its sentence."""
    start(repo)
    fix(repo)
    repo.git("revert", "--no-edit", "HEAD")
    polish(repo)
    repo.git("revert", "--no-edit", "HEAD^")


@HISTORIES.told(taxi="branch")
def spread_over_a_branch(repo: ScratchRepo) -> None:
    """The first commit of the branch hides the bug; the record came with the second."""
    start(repo)
    repo.git("checkout", "-qb", "topic")
    repo.commit("feat(clerk): half of it", {SKILL: FIXED})
    fix(repo, {SKILL: HALF})
    repo.git("checkout", "-q", "main")
    repo.commit("chore: meanwhile", {"README.md": "1\n"})
    merge(repo, "--no-ff", "topic")


@HISTORIES.told(taxi="branch")
def spread_over_an_unmerged_branch(repo: ScratchRepo) -> Path:
    start(repo)
    work = clone_of(repo)
    work.git("checkout", "-qb", "topic")
    work.commit("feat(clerk): half of it", {SKILL: FIXED})
    work.commit("wip", {"agent/skills/clerk/more.md": "Be kind.\n"})
    fix(work, {SKILL: HALF})
    return work.root


@HISTORIES.told(taxi="branch")
def record_committed_after_its_fix_on_a_branch(repo: ScratchRepo) -> None:
    """Case and record came with a commit of their own: it changes nothing of the agent."""
    start(repo)
    repo.git("checkout", "-qb", "topic")
    repo.commit("wip", {SKILL: FIXED})
    repo.commit("test: keep it", {CASE: case(), RECORDS: regressions(taxi=record())})
    repo.git("checkout", "-q", "main")
    merge(repo, "--no-ff", "topic")


@HISTORIES.told(taxi="pinned")
def fixed_line_edited_again(repo: ScratchRepo) -> None:
    start(repo)
    fix(repo)
    again = FIXED.replace("Ask which currency before", "Always. Ask which currency before")
    repo.commit("docs(clerk): be firm", {SKILL: again})


@HISTORIES.told(taxi="pinned")
def neighbour_rewrapped(repo: ScratchRepo) -> None:
    start(repo, {SKILL: BROKEN.replace("crowns.\n\nKeep", "crowns.\nKeep")})
    fix(repo, {SKILL: FIXED.replace("crowns.\n\n", "crowns.\n")})
    rewrapped = FIXED.replace("Book every amount in crowns.\n\n", "Book every amount\nin crowns.\n")
    repo.commit("style(clerk): rewrap", {SKILL: rewrapped})


@HISTORIES.told(taxi="pinned")
def other_line_ends(repo: ScratchRepo) -> None:
    start(repo)
    fix(repo)
    repo.commit("style: CRLF", {SKILL: FIXED.replace("\n", "\r\n")})


@HISTORIES.told(taxi="live")
def detached(repo: ScratchRepo) -> None:
    start(repo)
    fix(repo)
    polish(repo)
    repo.git("checkout", "-q", "--detach", "HEAD~1")


@HISTORIES.told(taxi="live")
def linked_worktree(repo: ScratchRepo) -> Path:
    start(repo)
    fix(repo)
    repo.git("branch", "topic")
    polish(repo)
    place = repo.root.parent / "linked tree"
    repo.git("worktree", "add", "-q", str(place), "topic")
    return place


@HISTORIES.told(taxi="live")
def borrowed_objects(repo: ScratchRepo) -> Path:
    """A clone that keeps no objects of its own: they are in the repository it came from."""
    start(repo)
    fix(repo)
    polish(repo)
    place = repo.root.parent / "borrower"
    repo.git("clone", "-q", "--shared", str(repo.root), str(place))
    return place


@HISTORIES.told(taxi="live")
def called_below_the_root(repo: ScratchRepo) -> Path:
    start(repo)
    fix(repo)
    return repo.root / "agent" / "skills"


@HISTORIES.told(taxi="live")
def other_edits_not_committed(repo: ScratchRepo) -> None:
    """A working tree as it is while people work: staged, edited, not added."""
    start(repo, {"README.md": "1\n"})
    fix(repo)
    repo.write({"README.md": "2\n", SKILL: FIXED.replace("Say what", "Tell us what")})
    repo.git("add", SKILL)
    repo.write({SKILL: FIXED + "\nBe kind.\n", "agent/skills/clerk/draft.md": "Be kind.\n"})


@HISTORIES.told(taxi="live")
def unrelated_history_merged(repo: ScratchRepo) -> None:
    """Another project came in with a root and records of its own."""
    start(repo)
    fix(repo)
    repo.git("checkout", "-q", "--orphan", "other")
    repo.git("rm", "-qrf", ".")
    repo.commit("their start", {"theirs.txt": "1\n", RECORDS: regressions()})
    repo.git("checkout", "-q", "main")
    merge(repo, "--allow-unrelated-histories", "-s", "ours", "other")
    polish(repo)


@HISTORIES.told(taxi="live")
def moved_into_a_folder_of_a_larger_skill(repo: ScratchRepo) -> None:
    """The sentence lies in a file that was renamed and edited since, beside its like."""
    rules = "agent/skills/clerk/rules.md"
    text = "".join(f"{number}. A rule that stays as it is.\n\n" for number in range(9))
    start(repo, {rules: text})
    fix(repo, {SKILL: BROKEN, rules: text.replace("4. A", f"{SENTENCE}\n4. A")})
    repo.git("mv", rules, "agent/skills/clerk/house-rules.md")
    moved = (repo.root / "agent/skills/clerk/house-rules.md").read_text()
    repo.commit("refactor", {"agent/skills/clerk/house-rules.md": moved + "10. Be kind.\n"})
