"""Judge what nobody has reviewed by what somebody has: `Policy`.

The policy is a tree that is trusted: a server's protected branch, the base of a pull request.
guard.yaml, plugins, evaluators, ``depends`` and what an argv names come from it; from the
tree that is judged come its agents' text, its cases and its records. Nothing of the latter is
imported or run, whatever its own guard.yaml says: that is read as data, and may only ask more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from guard import config as config_file
from guard.config import Config
from guard.errors import ConfigError
from guard.git import Repo, bytes_of
from guard.globs import Matcher, compile_globs, literal
from guard.judging.judge import Judgement
from guard.judging.merges import tree_of
from guard.judging.ranges import CommitInfo, judge_range
from guard.model import Agent, Case, Violation
from guard.project import Project
from guard.rules import case_weakened, fix_needs_case, fix_needs_record
from guard.tree import Entry, Tree

if TYPE_CHECKING:
    from guard.plugin.api import Evaluator
    from guard.plugin.manager import Plugins

_CONFIG: Final = bytes_of(config_file.FILE)
#: Where guard.yaml differs these are by the policy; whether a tree fits together, by its own.
_BY_POLICY: Final = (fix_needs_case.RULE, fix_needs_record.RULE, case_weakened.RULE)
#: What ``depends`` covers may still be a case where its name says that it is data.
_DATA: Final = (b".md", b".markdown", b".json")


class Policy:
    """A trusted tree, and how others are judged by it."""

    def __init__(self, project: Project, where: str) -> None:
        self.project = project
        self.where = where
        """What people call it, such as the name of its branch."""

    def judge(self, commits: Sequence[CommitInfo], *, today: str = "") -> Judgement:
        """Judge commits by the policy and, where their own guard.yaml differs, by that as well.

        Its own tells what the policy can't know: what guard.yaml loses, what is new in it.
        Raises `ConfigError` where a commit's guard.yaml, cases or records are wrong.
        """
        if not self.project.has_config:
            return self._judge(commits, self.as_data, today)
        judged = self._judge(commits, self.judged, today)
        if not self._has_others(commits):
            return judged
        return _joined(judged, self._judge(commits, self.as_data, today), self.where, commits)

    def _judge(
        self, commits: Sequence[CommitInfo], project_of: Callable[[Tree], Project], today: str
    ) -> Judgement:
        repo, store, off = self.project.repo, self.project.store, self.project.disabled
        return judge_range(repo, commits, store, off, today=today, project_of=project_of)

    def judged(self, tree: Tree) -> Project:
        """Return a tree's agents, cases and records, as the policy's guard.yaml and code say."""
        return _Judged(self, tree)

    def as_data(self, tree: Tree) -> Project:
        """Return a tree as its own guard.yaml describes it, read with the policy's code.

        What is a fix, and whether a broken rule blocks, is the policy's to say all the same.
        """
        return _AsData(self, tree)

    def may_run(self, case: Case) -> bool:
        """Tell whether a case's checkers are called as the policy's tree calls them."""
        known = self.project.cases.get(case.id)
        before = known.expected.get("command") if known else None
        return case.expected.get("command") in (None, before)

    @cached_property
    def decides(self) -> Matcher:
        """Test a path: what says how a tree is judged, and so is the policy's own."""
        agents = [*_patterns(self.project.config), *self.project.agents.values()]
        code = [*map(literal, self.project.config.plugins)]
        code += [e.rpartition(":")[0] for a in agents for e in a.evaluators if ".py:" in e]
        is_code = compile_globs(file.rpartition("/")[0] or "." for file in code)
        depends = compile_globs(glob for a in agents for glob in self.project.depends_of(a))
        is_case = compile_globs(glob for a in agents for glob in a.cases)

        def decides(path: bytes) -> bool:
            if path == _CONFIG or (path.endswith(b".py") and is_code(path)):
                return True
            return depends(path) and not (path.endswith(_DATA) and is_case(path))

        return decides

    def _has_others(self, commits: Iterable[CommitInfo]) -> bool:
        """Tell whether a commit, or what it stands on, has another guard.yaml."""
        repo, own = self.project.repo, self.project.tree.get(_CONFIG)
        return any(Tree(repo, tree).get(_CONFIG) != own for tree in _trees(repo, commits))


class _Judged(Project):
    """A tree below the policy's guard.yaml."""

    def __init__(self, policy: Policy, tree: Tree) -> None:
        trusted = policy.project
        overlaid = _Overlaid(trusted.tree, tree, policy)
        super().__init__(trusted.repo, overlaid, trusted.store, trusted.disabled)
        self._by = policy
        self._differs = tree.get(_CONFIG) != trusted.tree.get(_CONFIG)

    def at(self, tree: Tree) -> Project:
        return self._by.judged(tree)

    @cached_property
    def config(self) -> Config:
        return self._by.project.config

    def plugins_with(self, *hooks: str) -> Plugins | None:
        return self._by.project.plugins_with(*hooks)

    def load_cases(self, paths: Iterable[bytes]) -> list[Case]:
        """Return the cases; below another guard.yaml what is none by the policy is left out.

        It may be of an agent that the policy doesn't know: its own guard.yaml tells.
        """
        wanted = list(paths)
        try:
            return super().load_cases(wanted)
        except ConfigError:
            if not self._differs:
                raise
        return [case for path in wanted for case in self._cases_in(path)]

    def _cases_in(self, path: bytes) -> list[Case]:
        try:
            return super().load_cases([path])
        except ConfigError:
            return []


class _AsData(Project):
    """A tree with its own guard.yaml, and none of its own code."""

    def __init__(self, policy: Policy, tree: Tree) -> None:
        trusted = policy.project
        super().__init__(trusted.repo, tree, trusted.store, trusted.disabled)
        self._by = policy

    def at(self, tree: Tree) -> Project:
        return self._by.as_data(tree)

    @property
    def policy(self) -> Config:
        return self._by.project.config

    def plugins_with(self, *hooks: str) -> Plugins | None:
        return self._by.project.plugins_with(*hooks)

    def evaluators_of(self, agent: Agent) -> tuple[Evaluator, ...]:
        return self._by.project.evaluators_of(agent)


class _Overlaid(Tree):
    """A tree in which the files that decide are the trusted tree's."""

    def __init__(self, trusted: Tree, tree: Tree, policy: Policy) -> None:
        super().__init__(tree.repo, tree.oid)
        self._trusted = trusted
        self._given = tree
        self._policy = policy

    def entries(self) -> Mapping[bytes, Entry]:
        if self._entries is None:
            decides = self._policy.decides
            own = {p: e for p, e in self._given.entries().items() if not decides(p)}
            ruling = {p: e for p, e in self._trusted.entries().items() if decides(p)}
            self._entries = dict(sorted({**own, **ruling}.items()))
        return self._entries

    def get(self, path: bytes) -> Entry | None:
        return (self._trusted if self._policy.decides(path) else self._given).get(path)

    def below(self, folder: bytes) -> dict[bytes, Entry]:
        self.entries()
        return super().below(folder)


def _patterns(config: Config) -> Iterator[Agent]:
    """Yield each pattern agent as one: a folder that is new has no trusted files of its own."""
    for name, declared in config.agents.items():
        if "each" in declared:
            cases, depends, evaluators = (
                tuple(
                    text.replace("{dir}", declared["each"]).replace("{name}", "*")
                    for text in declared.get(key, ())
                )
                for key in ("cases", "depends", "evaluators")
            )
            yield Agent(name, cases=cases, depends=depends, evaluators=evaluators)


def _trees(repo: Repo, commits: Iterable[CommitInfo]) -> Iterator[str]:
    """Yield the trees of the commits, and of those they stand on."""
    seen: set[str] = set()
    for commit in commits:
        seen.add(commit.id)
        yield commit.tree
        for parent in commit.parents:
            if parent not in seen:
                seen.add(parent)
                yield tree_of(repo, parent).oid


def _joined(
    policy: Judgement, own: Judgement, where: str, commits: Sequence[CommitInfo]
) -> Judgement:
    """Join what the policy says of commits and what their own guard.yaml does."""
    said = {_subject(violation) for violation in own.violations}
    why = f"by guard.yaml of {where}: to change that, push guard.yaml there first"
    alone = [
        violation._replace(detail=(why, *violation.detail))
        for violation in policy.violations
        if violation.rule in _BY_POLICY and _subject(violation) not in said
    ]
    order = {commit.title: place for place, commit in enumerate(commits)}
    told = sorted((*alone, *own.violations), key=lambda one: order.get(one.commit, 0))
    return own._replace(
        violations=tuple(told),
        notes=tuple(dict.fromkeys((*own.notes, *policy.notes))),
        exempt=tuple(dict.fromkeys((*own.exempt, *policy.exempt))),
    )


def _subject(violation: Violation) -> tuple[str, str, bool]:
    return violation.rule, violation.commit, violation.warning
