"""A walk that is extended by new commits comes to what a whole one comes to, on any history."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from guard.git import Repo, find_repo
from guard.proofs.walk import Walk, extend, walk_all
from tests.clerk import record, regressions
from tests.conftest import ScratchRepo

GARBAGE = "<<<<<<< ours\n{}\n"
#: What the file is in a commit: nothing of its own, away, or a text, executable or not.
TEXTS = (
    GARBAGE,
    regressions(),
    regressions(a=record()),
    regressions(b=record()),
    regressions(a=record(), b=record()),
    regressions(a=record(reopened=1)),
    regressions(a=record(reopened=2), b=record(reopened=1)),
)
AWAY = -1
AS_PARENT = -2


class Step(NamedTuple):
    """One commit of a history."""

    parents: tuple[int, ...]
    text: int
    """Its number in `TEXTS`, `AWAY` or `AS_PARENT`: as in the first parent."""
    takes: int
    """Which parent's file a merge has, where it has one's."""
    mode: str
    minute: int


@st.composite
def histories(draw: st.DrawFn) -> list[Step]:
    """Return commits, parents before children, as nobody would make them on purpose."""
    steps: list[Step] = []
    for number in range(draw(st.integers(2, 9))):
        parents: list[int] = []
        if number:
            # Mostly of the last few: a history that falls apart has nothing to extend.
            near = st.integers(max(0, number - 3), number - 1)
            parents = draw(st.lists(near, min_size=1, max_size=min(number, 3), unique=True))
        steps.append(
            Step(
                tuple(parents),
                draw(st.sampled_from((AS_PARENT, AS_PARENT, AWAY, *range(len(TEXTS))))),
                draw(st.integers(0, 2)),
                draw(st.sampled_from(("100644", "100644", "100755"))),
                draw(st.integers(0, 3)),
            )
        )
    return steps


def stream(steps: Sequence[Step]) -> str:
    """Return the history for `git fast-import`, a ref for each commit."""
    lines: list[str] = []
    files: list[tuple[str, str] | None] = []
    for number, step in enumerate(steps):
        taken = step.parents[step.takes % len(step.parents)] if step.parents else None
        own = None if step.text < 0 else (step.mode, TEXTS[step.text])
        inherited = files[taken] if step.text == AS_PARENT and taken is not None else own
        files.append(inherited)
        stamp = 1_700_000_000 + 60 * step.minute
        lines += [f"commit refs/heads/c{number}", f"mark :{number + 1}"]
        lines += [f"committer A <a@b> {stamp} +0000", "data 0"]
        words = ("from", "merge", "merge")
        lines += [f"{w} :{p + 1}" for w, p in zip(words, step.parents, strict=False)]
        lines.append("deleteall")
        if inherited is not None:
            mode, text = inherited
            size = len(text.encode())
            lines += [f"M {mode} inline regressions.json", f"data {size}", text]
        lines.append("")
    return "\n".join(lines) + "\n"


@contextmanager
def imported(folder: Path, steps: Sequence[Step]) -> Generator[tuple[Repo, list[str]]]:
    repo = ScratchRepo(folder)
    for ref in repo.git("for-each-ref", "--format=delete %(refname)").splitlines():
        repo.git("update-ref", "--stdin", input=ref + "\n")
    repo.git("fast-import", "--quiet", "--force", input=stream(steps))
    names = [f"c{number}" for number in range(len(steps))]
    commits = repo.git("rev-parse", *names).split()
    with find_repo(str(folder)) as opened:
        yield opened, commits


def told(walk: Walk) -> tuple[Mapping[str, int], Mapping[str, Sequence[str]], set[str]]:
    """Return all of a walk that means anything."""
    return dict(walk.now), {n: list(c) for n, c in walk.origins.items()}, set(walk.listed)


EXTENDED = {"yes": 0, "no": 0}


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
@given(steps=histories())
def same_on(folder: Path, steps: list[Step]) -> None:
    with imported(folder, steps) as (repo, commits):
        whole = {commit: walk_all(repo, commit) for commit in commits}
        tip = commits[-1]
        below = repo.out("rev-list", tip).decode().split()[1:]
        for old in below:
            found = extend(repo, tip, old, whole[old])
            EXTENDED["no" if found is None else "yes"] += 1
            assert found is None or told(found) == told(whole[tip]), (old, steps)


def test_extended_or_walked_anew_is_the_same(repo: ScratchRepo) -> None:
    same_on(repo.root)
    assert EXTENDED["yes"] > EXTENDED["no"], EXTENDED


#: A root, two sides that each bring record a, the later one first, and a merge that is neither's.
SIDES = (
    Step((), 1, 0, "100644", 0),
    Step((0,), 2, 0, "100644", 3),
    Step((0,), 5, 0, "100644", 1),
    Step((1, 2), 6, 0, "100644", 3),
)


def test_of_two_sides_the_one_made_later_is_the_newer(repo: ScratchRepo) -> None:
    for minutes in ((3, 1), (1, 3)):
        steps = list(SIDES)
        for number, minute in enumerate(minutes, start=1):
            steps[number] = steps[number]._replace(minute=minute)
        with imported(repo.root, steps) as (opened, commits):
            whole = walk_all(opened, commits[-1])
            sides = commits[1:3] if minutes == (3, 1) else commits[2:0:-1]
            assert whole.origins["a"] == [commits[3], *sides]
            # Which of the two is newer an earlier walk can't tell: it knew one side alone.
            for old in commits[1:3]:
                assert extend(opened, commits[-1], old, walk_all(opened, old)) is None


def test_a_tip_of_another_branch_is_no_start(repo: ScratchRepo) -> None:
    with imported(repo.root, SIDES) as (opened, commits):
        other = walk_all(opened, commits[1])
        assert extend(opened, commits[2], commits[1], other) is None


def test_where_a_shallow_clone_ends_a_walk_ends_too(repo: ScratchRepo, tmp_path: Path) -> None:
    steps = [
        Step((n - 1,) if n else (), text, 0, "100644", n) for n, text in enumerate((2, 3, 4, 6))
    ]
    with imported(repo.root, steps):
        clone = ScratchRepo(tmp_path / "clone")
        source = ("--branch=c3", f"file://{repo.root}", str(clone.root))
        repo.git("clone", "-q", "--no-checkout", "--depth=3", *source)
    with find_repo(str(clone.root)) as opened:
        tip, old, oldest = clone.git("rev-list", "HEAD").split()
        extended = extend(opened, tip, old, walk_all(opened, old))
        assert extended is not None
        assert told(extended) == told(walk_all(opened, tip))
        # What came in before the end of the clone seems to come in with its last commit.
        assert extended.origins == {"a": [tip, old], "b": [tip, oldest]}
