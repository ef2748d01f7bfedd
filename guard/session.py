"""One call of the command line: the repository, the store, and the trees it looks at."""

from __future__ import annotations

import os
from collections.abc import Mapping

from guard.closing import Closing
from guard.errors import UsageError
from guard.git import Repo, find_repo
from guard.project import Project
from guard.store import Store
from guard.tree import Tree

WORKTREE = "worktree"
INDEX = "index"
HEAD = "HEAD"


class Session(Closing):
    """What one command works on; everything it opens is closed with it."""

    def __init__(self, repo: Repo, disabled: frozenset[str] = frozenset()) -> None:
        self.repo = repo
        self.store = Store.open(repo.common_dir)
        self.store.made_by = _job
        self.disabled = disabled

    @classmethod
    def open(cls, start: str | None = None, disabled: frozenset[str] = frozenset()) -> Session:
        """Open the repository around ``start``. Raises `UsageError` where there is none."""
        return cls(find_repo(start), disabled)

    def tree(self, at: str) -> Tree:
        """Return the tree named ``worktree``, ``index`` or by a revision."""
        from guard.snapshot import index_tree, revision_tree, worktree_tree

        if at == WORKTREE:
            return worktree_tree(self.repo)
        if at == INDEX:
            return index_tree(self.repo)
        return revision_tree(self.repo, at)

    def project(self, at: str = WORKTREE) -> Project:
        """Return the project of a tree."""
        return self.project_of(self.tree(at))

    def guarded_project(self, at: str = WORKTREE) -> Project:
        """Return the project of a tree that must have a guard.yaml."""
        project = self.project(at)
        if not project.has_config:
            raise UsageError("there is no guard.yaml here: nothing is guarded", "guard init")
        return project

    def project_of(self, tree: Tree) -> Project:
        """Return the project of a tree at hand."""
        return Project(self.repo, tree, self.store, self.disabled)

    def head_project(self) -> Project:
        """Return the project of HEAD; of the empty tree before the first commit."""
        from guard.snapshot import head_tree

        return self.project_of(head_tree(self.repo))

    def base_project(self, rev: str) -> Project:
        """Return the project that a tree is compared with."""
        return self.head_project() if rev == HEAD else self.project(rev)

    def close(self) -> None:
        """End helper processes and remove scratch objects."""
        self.store.close()
        self.repo.close()


def _job() -> Mapping[str, str]:
    """Return the job of CI that runs here; nothing outside of any."""
    from guard.ci.jobs import job_here

    job = job_here(os.environ)
    return job._asdict() if job else {}
