"""Judge what is staged, or the last commit, of a scratch repository in this process."""

from __future__ import annotations

from collections.abc import Mapping

from guard.change import staged_change
from guard.git import Repo
from guard.judging.judge import COMMIT, Judgement, judge_commit
from guard.messages.message import parse_message
from guard.project import Project
from guard.store import Store
from guard.tree import Tree
from tests.conftest import ScratchRepo

Files = Mapping[str, str | bytes | None]
FIX_MESSAGE = "fix(expense): ask about foreign currency"


class Bench:
    """One repository, opened once, whose staged change is judged again and again."""

    def __init__(self, repo: ScratchRepo, opened: Repo) -> None:
        self.repo = repo
        self.opened = opened

    def judge(
        self,
        files: Files,
        message: str = FIX_MESSAGE,
        *,
        stage: str = COMMIT,
        today: str = "2031-01-01",
    ) -> Judgement:
        """Stage the files and judge them as a commit of this message."""
        self.repo.write(files)
        self.repo.git("add", "--all", "--force")
        return self.judge_index(message, stage=stage, today=today)

    def judge_index(
        self, message: str = FIX_MESSAGE, *, stage: str = COMMIT, today: str = "2031-01-01"
    ) -> Judgement:
        """Judge what is staged already."""
        change = staged_change(self.opened, "HEAD")
        base, new = self.project(change.base), self.project(change.new)
        return judge_commit(base, new, change, parse_message(message), stage=stage, today=today)

    def rules(self, files: Files, message: str = FIX_MESSAGE) -> list[str]:
        """Stage the files; return the names of the rules that block the commit."""
        return [violation.rule for violation in self.judge(files, message).blocking]

    def project(self, tree: Tree | None = None) -> Project:
        """Return the project of a tree; by default of the staged one."""
        found = tree or staged_change(self.opened, "HEAD").new
        return Project(self.opened, found, Store.open(self.opened.common_dir))
