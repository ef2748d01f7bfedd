"""The commits of a range, read in bulk, and each judged by the offline rules.

A few git processes for any number of commits: one walk, and one for the differences of each
five hundred; objects come through the reader that is open anyway. What a commit leaves alone is
known from its parent (`guard.judging.successor`), and no more is held than the latest need.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from guard.change import DIFF_OPTIONS, Change, DiffEntry, parse_raw
from guard.config import Config
from guard.errors import ConfigError, GuardError, UnreadableError, UsageError
from guard.git import Repo
from guard.judging.guarded import concerns, guarded_globs, reach_of
from guard.judging.judge import (
    RANGE,
    Judgement,
    joined,
    judge,
    judge_commit,
    judge_merge,
    readable,
)
from guard.judging.merges import MergeCommit, Parent, missing_commit
from guard.judging.record_texts import RecordTexts
from guard.judging.successor import RECORDS, NextTree, Successor
from guard.messages.message import parse_message, stored_message
from guard.project import Project
from guard.rules import fix_needs_case, fix_needs_record
from guard.rules.commit import JudgedCommit
from guard.store import Store
from guard.tree import GITLINK, Tree

#: Commits whose differences are held at once.
AT_ONCE = 500
#: Commits whose blobs are held at once.
READ_AHEAD = 50
#: Projects that are held: a branch may go on from one that is some commits back.
MOST_PROJECTS = 64
#: Rules whose demand a later commit may meet (``fix.unit: range``).
_MAY_FOLLOW = (fix_needs_case.RULE, fix_needs_record.RULE)
#: Digits of a commit's id that people are shown.
SHORT = 10


class CommitInfo(NamedTuple):
    """One commit, as its object tells: no replacement, graft or configuration in between."""

    id: str
    tree: str
    parents: tuple[str, ...]
    message: str

    @property
    def subject(self) -> str:
        """The first line of the message that isn't empty."""
        return parse_message(self.message).header

    @property
    def title(self) -> str:
        """The short id and the subject."""
        return f"{self.id[:SHORT]} {self.subject}"


def own_commits(repo: Repo, tips: Iterable[str], not_in: Sequence[str]) -> list[CommitInfo]:
    """Return the commits of the tips, without those in ``not_in``, the oldest first.

    ``not_in`` takes what rev-list does: ids, refs, ``--remotes=NAME``, ``--all``.
    Raises `UnreadableError` where history is missing.
    """
    options = [word for word in not_in if word.startswith("-")]
    # As many refs as there are don't fit on a command line.
    lines = [*tips, *(f"^{word}" for word in not_in if not word.startswith("-"))]
    listed = repo.out(
        *("rev-list", "--topo-order", "--reverse", "--stdin", "--not", *options),
        input="".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"),
    )
    oids = listed.decode().split()
    read = repo.objects.read_many(oids)
    return [_parsed(oid, read[oid]) for oid in oids]


def read_commit(repo: Repo, oid: str) -> CommitInfo:
    """Return one commit. Raises `UnreadableError` where it is missing."""
    item = repo.objects.read(oid)
    if item is None or item.kind != "commit":
        raise missing_commit(oid)
    return _parsed(item.oid, item.data)


def _parsed(oid: str, data: bytes) -> CommitInfo:
    headers = [line.split(b" ", 1) for line in data.partition(b"\n\n")[0].split(b"\n")]
    tree = next(value for key, *rest in headers for value in rest if key == b"tree")
    parents = tuple(v.decode() for key, *rest in headers for v in rest if key == b"parent")
    return CommitInfo(oid, tree.decode(), parents, stored_message(data))


def shallow_commits(repo: Repo) -> frozenset[str]:
    """Return the commits at which a shallow clone ends: a walk shows them without parents."""
    try:
        with open(os.path.join(repo.common_dir, "shallow"), encoding="ascii") as file:
            return frozenset(file.read().split())
    except OSError:
        return frozenset()


def judge_range(
    repo: Repo,
    commits: Sequence[CommitInfo],
    store: Store,
    disabled: frozenset[str] = frozenset(),
    *,
    today: str = "",
    project_of: Callable[[Tree], Project] | None = None,
) -> Judgement:
    """Judge each commit against its first parent, a merge by what it loses of its parents.

    ``commits`` are in the order of `own_commits`. Violations name the commit. With ``fix.unit:
    range`` in the last one's guard.yaml, what a fix lacks may come in a later commit.
    ``project_of`` a tree is what judges it, where that isn't the tree's own guard.yaml.
    """
    judging = RangeJudge(repo, commits, store, disabled, today=today)
    if project_of is not None:
        judging.project_of = project_of
        judging.by_difference = False
    return judging.judge()


class RangeJudge:
    """Judges a range; a caller may listen to what is judged, and go on after an error."""

    by_difference = True
    """Whether a tree's project may be told from its parent's."""

    def __init__(
        self,
        repo: Repo,
        commits: Sequence[CommitInfo],
        store: Store,
        disabled: frozenset[str] = frozenset(),
        *,
        today: str = "",
        heard: Callable[[JudgedCommit], None] = lambda judged: None,
        failed: Callable[[GuardError], None] | None = None,
    ) -> None:
        """Make ready.

        ``heard`` is told of each commit that may concern an agent and is no merge; ``failed``
        of what keeps one from being judged, which else ends it all.
        """
        self.repo = repo
        self.commits = commits
        self.project_of: Callable[[Tree], Project]
        self.project_of = lambda tree: Project(repo, tree, store, disabled)
        self._today = today
        self._heard = heard
        self._failed = failed
        self._texts = RecordTexts()
        self._projects: dict[str, Project] = {}
        self._trees = {commit.id: commit.tree for commit in commits}
        self._differences: Mapping[tuple[str, str], tuple[DiffEntry, ...]] = {}
        self._found: dict[int, Judgement] = {}
        self._reaches: Callable[[DiffEntry], bool] | None = None
        """What of a change the tip's guard.yaml speaks of."""
        self._tests: dict[str, Callable[[DiffEntry], bool]] = {}
        self._lacking: dict[int, JudgedCommit] = {}
        self._bringing: dict[int, JudgedCommit] = {}

    def judge(self) -> Judgement:
        """Judge all of it. Raises `UnreadableError` where the history of the range is missing."""
        ends = shallow_commits(self.repo)
        cut_off = next((commit for commit in self.commits if commit.id in ends), None)
        if cut_off is not None:
            raise _cut_off(cut_off.id)
        by_range = bool(self.commits) and self._is_by_range()
        for start in range(0, len(self.commits), AT_ONCE):
            several = self.commits[start : start + AT_ONCE]
            self._differences = differences(self.repo, self._pairs(several))
            for place, commit in enumerate(several, start):
                if place % READ_AHEAD == 0:
                    self._read_ahead(self.commits[place : place + READ_AHEAD])
                with self._naming(commit):
                    self._judge_at(place, commit, by_range=by_range)
        self.repo.objects.hold(())
        for place, lacking in self._lacking.items():
            with self._naming(self.commits[place]):
                self._judge_again(place, lacking)
        return joined(self._found[place] for place in sorted(self._found))

    def _read_ahead(self, commits: Iterable[CommitInfo]) -> None:
        """Read what the next commits change of guarded files, in one go, as far as it is known."""
        if self._reaches is None:
            return
        wanted: list[str] = []
        for before, after in self._pairs(commits):
            for entry in filter(self._reaches, self._differences.get((before, after), ())):
                wanted += (side.oid for side in entry[1:] if side and side.mode != GITLINK)
        self.repo.objects.hold(wanted)

    def _is_by_range(self) -> bool:
        tip = self.project_of(Tree(self.repo, self.commits[-1].tree))
        try:
            self._reaches = reach_of(list(guarded_globs(tip)))
            return bool(tip.policy.fix["unit"] == "range")
        except UsageError:
            return False  # the commit that brought it says what is wrong with it

    def _judge_at(self, place: int, commit: CommitInfo, *, by_range: bool) -> None:
        change, base, new = self._change(commit)
        if len(commit.parents) > 1:
            merge = self._merge(commit, change, base, new)
            self._keep(place, commit, self._judge_kind(merge))
            if by_range:
                self._note_lacking(place, merge)
        elif self._may_concern(change, base, new):
            judged = self._judge(place, commit, change, base, new)
            if by_range and judged is not None:
                self._note(place, judged)

    @contextmanager
    def _naming(self, commit: CommitInfo) -> Generator[None]:
        """Say of what keeps a commit from being judged which one it is, and how it is mended."""
        try:
            yield
        except GuardError as error:
            error.message = f"commit {commit.title}: {error.message}"
            if isinstance(error, ConfigError):
                error.hint = self._to_mend(commit)
            if self._failed is None:
                raise
            self._failed(error)

    def _to_mend(self, commit: CommitInfo) -> str:
        """Return the command that opens a commit again whose own files are wrong."""
        if self.repo.resolve("HEAD") == commit.id:
            return "git commit --amend    # with that mended and staged"
        onto = f"{commit.id[:SHORT]}^" if commit.parents else "--root"
        return f"git rebase -i {onto}    # edit {commit.id[:SHORT]}"

    def _may_concern(self, change: Change, base: Project, new: Project) -> bool:
        return any(self._concerns(side, change.entries) for side in (base, new))

    def _concerns(self, project: Project, entries: Sequence[DiffEntry]) -> bool:
        """Tell as `concerns` does, with one test for each guard.yaml that can be read."""
        config: Config | None = vars(project).get("config")
        if not (config and config.blob) or project.plugins_with("guard_agents") is not None:
            return concerns(project, entries)
        if config.blob not in self._tests:
            self._tests[config.blob] = reach_of(list(guarded_globs(project)))
        return any(map(self._tests[config.blob], entries))

    def _judge(
        self, place: int, commit: CommitInfo, change: Change, base: Project, new: Project
    ) -> JudgedCommit | None:
        message = parse_message(commit.message)
        if readable(base) is None:
            found = judge_commit(base, new, change, message, stage=RANGE, today=self._today)
            self._keep(place, commit, found)
            return None
        judged = JudgedCommit(base, new, change, message, stage=RANGE)
        self._keep(place, commit, judge(judged, self._today))
        self._heard(judged)
        return judged

    def _merge(
        self, commit: CommitInfo, change: Change, base: Project, new: Project
    ) -> MergeCommit:
        message = parse_message(commit.message)
        return MergeCommit(self._parents(commit), base, new, change, message, stage=RANGE)

    def _keep(self, place: int, commit: CommitInfo, found: Judgement) -> None:
        if found == _NOTHING:
            return
        title = commit.title
        self._found[place] = found._replace(
            violations=tuple(v._replace(commit=title) for v in found.violations),
            notes=tuple(f"{title}: {note}" for note in found.notes),
            cosmetic=tuple(f"{title}: {reason}" for reason in found.cosmetic),
        )

    def _note(self, place: int, judged: JudgedCommit) -> None:
        """Note what lacks something that may follow, and what may bring it."""
        self._note_lacking(place, judged)
        paths = judged.change.paths
        if RECORDS in paths or judged.new.case_paths(paths):
            self._bringing[place] = judged

    def _note_lacking(self, place: int, judged: JudgedCommit) -> None:
        found = self._found.get(place, _NOTHING)
        if any(violation.rule in _MAY_FOLLOW for violation in found.violations):
            self._lacking[place] = judged

    def _judge_again(self, place: int, judged: JudgedCommit) -> None:
        followers = [one for at, one in self._bringing.items() if at > place]
        if followers:
            judged.followers = followers
            self._found.pop(place, None)
            self._keep(place, self.commits[place], self._judge_kind(judged))

    def _judge_kind(self, judged: JudgedCommit) -> Judgement:
        if isinstance(judged, MergeCommit):
            return judge_merge(judged, self._today)
        return judge(judged, self._today)

    def _change(self, commit: CommitInfo) -> tuple[Change, Project, Project]:
        """Return what a commit changes of its first parent, and both sides."""
        before = self._tree_of(commit.parents[0]) if commit.parents else self.repo.empty_tree
        entries = self._differences.get((before, commit.tree), ())
        base = self._project(before)
        new = self._next(base, commit.tree, entries)
        message = commit.message.encode("utf-8", "surrogateescape")
        change = Change(base.tree, new.tree, entries, message, commit.id, commit.parents)
        return change, base, new

    def _parents(self, commit: CommitInfo) -> list[Parent]:
        found: list[Parent] = []
        for oid in commit.parents:
            tree = self._tree_of(oid)
            entries = self._differences.get((tree, commit.tree), ())
            found.append(Parent(oid, self._project(tree), entries))
        return found

    def _project(self, tree: str) -> Project:
        known = self._projects.get(tree)
        return known or self._hold(tree, self.project_of(Tree(self.repo, tree)))

    def _next(self, base: Project, tree: str, entries: Sequence[DiffEntry]) -> Project:
        """Return the project of a tree that differs from the base's by the entries."""
        if not self.by_difference or tree in self._projects:
            return self._project(tree)
        following = NextTree(base.tree, tree, entries)
        return self._hold(tree, Successor(base, following, entries, self._texts))

    def _hold(self, tree: str, project: Project) -> Project:
        while len(self._projects) >= MOST_PROJECTS:
            del self._projects[next(iter(self._projects))]
        self._projects[tree] = project
        return project

    def _pairs(self, commits: Iterable[CommitInfo]) -> Iterator[tuple[str, str]]:
        for commit in commits:
            if not commit.parents:
                yield self.repo.empty_tree, commit.tree
            for parent in commit.parents:
                yield self._tree_of(parent), commit.tree

    def _tree_of(self, oid: str) -> str:
        if oid not in self._trees:
            self._trees[oid] = read_commit(self.repo, oid).tree
        return self._trees[oid]


_NOTHING = Judgement()


def _cut_off(commit: str) -> UnreadableError:
    return UnreadableError(
        f"what came before commit {commit[:SHORT]} is missing: a shallow clone",
        "git fetch --unshallow",
    )


def differences(
    repo: Repo, pairs: Iterable[tuple[str, str]]
) -> Mapping[tuple[str, str], tuple[DiffEntry, ...]]:
    """Return (old tree, new tree) → what differs, for those that differ at all."""
    wanted = [pair for pair in dict.fromkeys(pairs) if pair[0] != pair[1]]
    if not wanted:
        return {}
    lines = "".join(f"{old} {new}\n" for old, new in wanted).encode()
    said = repo.out("diff-tree", "--stdin", "-r", *DIFF_OPTIONS, input=lines)
    return dict(_split_differences(said))


def _split_differences(said: bytes) -> Iterator[tuple[tuple[str, str], tuple[DiffEntry, ...]]]:
    """Part the answer at its headings, ``OLD NEW`` and a line feed: no NUL stands behind one."""
    pair, fields = ("", ""), list[bytes]()
    for field in said.split(b"\0"):
        *headings, rest = field.split(b"\n") if len(fields) % 2 == 0 else (field,)
        for heading in headings:
            if pair[0]:
                yield pair, parse_raw(b"\0".join(fields))
            old, _, new = heading.decode().partition(" ")
            pair, fields = (old, new), []
        fields.append(rest)
    if pair[0]:
        yield pair, parse_raw(b"\0".join(fields))
