"""A scratch repository with two small agents and all of guard's hooks, called by real git."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.conftest import ScratchRepo
from tests.guard_process import run_guard

Done = subprocess.CompletedProcess[str]
Files = Mapping[str, str | bytes | None]

CONFIG = """\
version: 1
agents:
  talk:
    paths: [skills/talk/**]
    target: command
    options: {argv: [cat, SKILL.md], deterministic: true}
    cases: [evals/talk/*.md]
  walk:
    paths: [skills/walk/**]
    target: command
    options: {argv: [cat, SKILL.md], deterministic: true}
    cases: [evals/walk/*.md]
"""
TALK, WALK = "skills/talk/SKILL.md", "skills/walk/SKILL.md"
TALK_CASE, WALK_CASE = "evals/talk/greets.md", "evals/walk/stops.md"


def skill(name: str, text: str) -> str:
    """Return a skill's entry file."""
    return f"---\nname: {name}\ndescription: Does {name}.\n---\n{text}\n"


def case(name: str, expected: str, more: str = "") -> str:
    """Return a case that wants a text in the reply."""
    wanted = f"expected: {{reply_contains: [{expected}]}}"
    return f"---\nid: {name}\nutterance: go\n{wanted}\n{more}---\nWhy it is here.\n"


GOOD_TALK, GOOD_WALK = skill("talk", "say hello"), skill("walk", "stop at red")
BAD_TALK, BAD_WALK = skill("talk", "say nothing"), skill("walk", "run at red")
FILES: Files = {
    "guard.yaml": CONFIG,
    TALK: GOOD_TALK,
    WALK: GOOD_WALK,
    TALK_CASE: case("greets", "say hello"),
    WALK_CASE: case("stops", "stop at red"),
    "README.md": "A walk and a talk.\n",
}


class Installed(ScratchRepo):
    """A repository whose hooks `guard install` wrote."""

    def guard(self, *args: str, cwd: Path | None = None, **env: str) -> Done:
        """Call guard's command line."""
        return run_guard(args, cwd or self.root, env)

    def install(self) -> None:
        """Install the hooks."""
        done = self.guard("install")
        assert done.returncode == 0, done.stderr

    def stage(self, files: Files) -> None:
        """Write files and stage everything."""
        self.write(files)
        self.git("add", "--all")

    def bypass(self, message: str, files: Files) -> str:
        """Commit without hooks."""
        return self.commit(message, files, "--no-verify")

    def try_commit(self, *args: str, cwd: Path | None = None, **env: str) -> Done:
        """Run ``git commit`` with its hooks."""
        return ScratchRepo(cwd or self.root).run("git", "commit", "-q", *args, env=env)

    def accept(self, message: str, *args: str, cwd: Path | None = None) -> str:
        """Commit what is staged; fail where a hook refuses. Return what was said."""
        done = self.try_commit("-m", message, *args, cwd=cwd)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stderr

    def refuse(self, message: str, *args: str) -> str:
        """Commit what is staged; fail where the hooks accept. Return what was said."""
        before = self.git("rev-parse", "-q", "--verify", "HEAD", check=False)
        done = self.try_commit("-m", message, *args)
        assert done.returncode != 0, done.stdout + done.stderr
        assert self.git("rev-parse", "-q", "--verify", "HEAD", check=False) == before
        return done.stderr

    def call_hook(self, stage: str, *args: str, said: str = "", **env: str) -> Done:
        """Run an installed hook by itself."""
        folder = self.git("rev-parse", "--path-format=absolute", "--git-path", "hooks").strip()
        return self.run(f"{folder}/{stage}", *args, input=said, env=env)

    def trials(self, name: str) -> int:
        """Return how many trials of a case the store knows: the agent can't reach it."""
        path = self.git("rev-parse", "--path-format=absolute", "--git-common-dir").strip()
        file = Path(path) / "guard" / "store.sqlite3"
        if not file.exists():
            return 0
        database = sqlite3.connect(file)
        try:
            query = "SELECT count(*) FROM trials WHERE case_id = ?"
            return int(database.execute(query, [name.encode()]).fetchone()[0])
        finally:
            database.close()


def make_installed(repo: ScratchRepo, files: Files = FILES) -> Installed:
    """Return the repository with its first commit made past the hooks, and nothing yet run."""
    found = Installed(repo.root)
    found.bypass("feat: all", files)
    found.install()
    return found
