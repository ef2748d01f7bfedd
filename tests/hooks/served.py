"""A bare server repository with guard's pre-receive hook, and a clone that pushes to it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.conftest import ScratchRepo
from tests.guard_process import run_guard
from tests.hooks.installed import FILES, TALK, Files, case, skill

Done = subprocess.CompletedProcess[str]

RECORDS = "regressions.json"
BETTER_TALK = skill("talk", "say hello, and good bye")
FIX_MESSAGE = "fix(talk): say good bye"
BAD_FIX: Files = {TALK: BETTER_TALK}


def record(name: str, **changed: Any) -> dict[str, Any]:
    """Return the record of a case of the agent `talk`."""
    return {
        "agent": "talk",
        "case": f"evals/talk/{name}.md",
        "incident": {"summary": "it was rude", "date": "2031-07-10", "issue": None},
        "before": {"kind": "parent"},
        "fails_on": ["reply_contains"],
        "proof": None,
        "status": "active",
        "retirement": None,
        **changed,
    }


def records(*names: str) -> str:
    """Return a regressions.json with these records."""
    found = {name: record(name) for name in sorted(names)}
    document = {"schema": "guard.regressions.v1", "incidents": {}, "regressions": found}
    return json.dumps(document, indent=2) + "\n"


GOOD_FIX: Files = {
    **BAD_FIX,
    "evals/talk/parts.md": case("parts", "good bye"),
    RECORDS: records("parts"),
}
RETAINED: Files = {**FILES, RECORDS: records("greets")}
WEAK_CASE = case("greets", "say")


class Server(ScratchRepo):
    """A bare repository that others push to."""

    def guard(self, *args: str) -> Done:
        """Call guard's command line."""
        return run_guard(args, self.root)

    def install(self, *args: str) -> None:
        """Install the hook."""
        done = self.guard("install", *args)
        assert done.returncode == 0, done.stderr

    def refs(self) -> str:
        """Return all refs, and what HEAD names."""
        return self.git("for-each-ref") + self.git("symbolic-ref", "HEAD")

    def state(self) -> tuple[str, str, list[str]]:
        """Return refs, configuration and every file of the object store."""
        folder = Path(self.git("rev-parse", "--absolute-git-dir").strip())
        files = [str(path) for path in sorted((folder / "objects").rglob("*")) if path.is_file()]
        return self.refs(), (folder / "config").read_text(), files

    def call_hook(self, said: str, **env: str) -> Done:
        """Run the hook by itself, as git would: from the git directory, which GIT_DIR names."""
        folder = self.git("rev-parse", "--absolute-git-dir").strip()
        return subprocess.run(
            [f"{folder}/hooks/pre-receive"],
            cwd=folder,
            env={**os.environ, "GIT_DIR": ".", **env},
            input=said,
            capture_output=True,
            text=True,
            check=False,
        )


class Clone(ScratchRepo):
    """A repository without any hook, that pushes."""

    def __init__(self, root: Path, server: Server) -> None:
        super().__init__(root)
        self.server = server

    def push(self, *args: str, **env: str) -> Done:
        """Push what is named, by default the branch main; past local hooks."""
        call = ("git", "push", "--no-verify", str(self.server.root), *(args or ("main",)))
        return self.run(*call, env=env)

    def accept(self, *args: str, **env: str) -> str:
        """Push; fail where the server refuses. Return what it said, line by line."""
        done = self.push(*args, **env)
        assert done.returncode == 0, done.stderr
        return said(done)

    def refuse(self, *args: str, **env: str) -> str:
        """Push; fail where the server accepts, or was changed. Return what it said."""
        before = self.server.state()
        done = self.push(*args, **env)
        assert done.returncode == 1, done.stderr
        assert "pre-receive hook declined" in done.stderr
        assert self.server.state() == before
        assert self.server.git("fsck") == ""
        return said(done)


def said(done: Done) -> str:
    """Return the lines that came from the server, without what git puts around them."""
    lines = [line for line in done.stderr.splitlines() if line.startswith("remote:")]
    return "\n".join(line.removeprefix("remote:")[1:].rstrip() for line in lines)


def make_served(folder: Path, files: Files | None = FILES, *options: str) -> Clone:
    """Return a clone whose first commit is on a server that has the hook."""
    for name in ("server.git", "clone"):
        (folder / name).mkdir(parents=True)
    server = Server(folder / "server.git")
    server.git("init", "--quiet", "--bare", *options)
    clone = Clone(folder / "clone", server)
    clone.git("init", "--quiet", *options)
    if files is not None:
        clone.commit("feat: all", files)
        clone.accept()
    server.install()
    return clone
