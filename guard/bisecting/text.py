"""A bisection in words: one line for each commit that was tried, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Final

from guard.bisecting.bisection import Found
from guard.bisecting.oracle import STOPPED, Oracle, Tried
from guard.bisecting.search import BAD, GOOD, SKIPPED
from guard.change import DiffEntry, diff_trees
from guard.git import Repo, text_of
from guard.judging.ranges import SHORT, read_commit
from guard.output import BROKEN, HOLDS, UNKNOWN, printable
from guard.project import Project
from guard.proofs.past_agent import agent_in
from guard.tree import Tree
from guard.wording.reasons import one_line
from guard.wording.units import answered_by, count, list_price

MARKS: Final = {GOOD: HOLDS, BAD: BROKEN, SKIPPED: UNKNOWN, STOPPED: UNKNOWN}
#: Commits and files that are listed.
LISTED: Final = 20
#: Characters of a reason in a step's line, and of a subject.
REASON, SUBJECT = 100, 60


def say_start(oracle: Oracle, commits: int) -> str:
    """Return the lines before the first step."""
    steps = (commits - 1).bit_length()
    name = printable(oracle.case.id)
    return (
        f"bisecting {name}: {count(commits, 'commit')}, about {count(steps, 'step')} after both"
        " ends\nthe case and its checks are the working tree's, the agent's own files each commit's"
    )


def say_step(repo: Repo, tried: Tried) -> str:
    """Return one line: what a commit is, by which verdict, and why that is known."""
    kind = f"{tried.kind} again:" if tried.again else f"{tried.kind}:"
    commit = read_commit(repo, tried.commit)
    subject = printable(one_line(commit.subject, SUBJECT))
    return f"{MARKS[tried.kind]} {commit.id[:SHORT]} {kind} {_evidence(tried)}  [{subject}]"


def _evidence(tried: Tried) -> str:
    result = tried.result
    told = result.verdict
    if tried.same_as:
        return f"{told}, the agent is as in {tried.same_as[:SHORT]}"
    if result.graded_count:
        told += f", {result.passed} of {result.graded_count} passed"
    if result.reused:
        told += f" ({answered_by(result.reused)})"
    if tried.kind in (SKIPPED, STOPPED) and result.reason:
        told += f" ({printable(one_line(result.reason, REASON))})"
    return told


def say_end(project: Project, oracle: Oracle, found: Found) -> list[str]:
    """Return the first bad commit and what it changed; or what is left, and why."""
    repo = project.repo
    if found.commit:
        commit = read_commit(repo, found.commit)
        name = f"{commit.id[:SHORT]} of {author_date(repo, commit.id)}"
        head = f"{BROKEN} the first bad commit is {name}: {printable(commit.subject)}"
        return [head, *_changed(project, oracle, commit.id)]
    lines = [f"{UNKNOWN} the first bad commit is not known: {printable(found.reason)}"]
    if found.suspects and not found.stopped:
        lines.append(f"it is one of {len(found.suspects)}:")
        lines += [f"  {printable(read_commit(repo, c).title)}" for c in found.suspects[:LISTED]]
    if len(found.suspects) > 1 and found.stopped:
        lines.append(f"{len(found.suspects)} commits are left; the same command goes on from here")
    return lines


def say_cost(trials: int, known: int, cost: float) -> str:
    """Return how many trials were paid for, and how many were not."""
    paid = f", {list_price(cost)}" if cost else ""
    kept = f"; {known} more were known from earlier runs" if known else ""
    return f"{count(trials, 'trial was', 'trials were')} run{paid}{kept}"


def _changed(project: Project, oracle: Oracle, commit: str) -> list[str]:
    """Return the files of the agent that a commit changed, by its first parent."""
    files = agent_files(project, oracle.case.agent, commit)
    if not files:
        return ["  no file of the agent: guard.yaml says which are its own, and was changed"]
    shown = [f"  {_status(entry)} {printable(text_of(entry.path))}" for entry in files[:LISTED]]
    more = len(files) - len(shown)
    return [*shown, *([f"  and {count(more, 'more file')}"] if more else [])]


def agent_files(project: Project, agent: str, commit: str) -> Sequence[DiffEntry]:
    """Return what a commit changed of an agent's own paths, as they were before or after it."""
    repo = project.repo
    info = read_commit(repo, commit)
    before = read_commit(repo, info.parents[0]).tree if info.parents else repo.empty_tree
    trees = Tree(repo, before), Tree(repo, info.tree)
    past = [one for tree in trees if (one := agent_in(project, tree, (agent,)))]
    owners = [one.owns for one in past] or [project.own_paths(project.agents[agent])]
    return [e for e in diff_trees(repo, *trees) if any(owns(e.path) for owns in owners)]


def _status(entry: DiffEntry) -> str:
    if entry.old is None:
        return "A"
    return "D" if entry.new is None else "M"


def author_date(repo: Repo, commit: str) -> str:
    """Return the author's date, where the author was."""
    item = repo.objects.read(commit)
    header = item.data.partition(b"\n\n")[0] if item else b""
    line = next((line for line in header.split(b"\n") if line.startswith(b"author ")), b"")
    try:
        seconds, zone = line.split()[-2:]
        offset = timedelta(hours=int(zone[:3]), minutes=int(zone[:1] + zone[3:]))
        return datetime.fromtimestamp(int(seconds), timezone(offset)).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return "no date"
