"""Fixtures that every test may use: a scratch repository, an isolated home, no user config."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.guard_command import GuardCommand

GIT_SETTINGS = """\
[user]
\tname = Test Author
\temail = author@example.com
[init]
\tdefaultBranch = main
[commit]
\tgpgsign = false
[core]
\tautocrlf = false
[protocol "file"]
\tallow = always
"""


class ScratchRepo:
    """A real git repository in a temporary folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def git(self, *args: str, check: bool = True, input: str | None = None) -> str:
        done = self.run("git", *args, input=input)
        if check:
            assert done.returncode == 0, f"git {args}: {done.stdout}{done.stderr}"
        return done.stdout

    def run(
        self, *argv: str, input: str | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            argv,
            cwd=self.root,
            input=input,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            env={**os.environ, **(env or {})},
            check=False,
        )

    def write(self, files: Mapping[str, str | bytes | None]) -> None:
        """Write files below the root; None removes one."""
        for name, content in files.items():
            path = self.root / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(
        self, message: str, files: Mapping[str, str | bytes | None] | None = None, *flags: str
    ) -> str:
        """Write files, stage everything, commit; return the commit's id."""
        self.write(files or {})
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message, *flags)
        return self.git("rev-parse", "HEAD").strip()


def isolate_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the folder HOME, with git's configuration; drop every variable of the user's."""
    (home / ".gitconfig").write_text(GIT_SETTINGS, encoding="utf-8")
    for name in list(os.environ):
        if name.startswith(("GIT_", "GUARD_", "PRE_COMMIT", "ANTHROPIC_", "XDG_")):
            monkeypatch.delenv(name)
    # Printed commands begin with a bare `guard` only where the shell finds it.
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    monkeypatch.setenv("PATH", path)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_TEMPLATE_DIR", "")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture(autouse=True)
def isolated_home(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Give every test its own HOME and git configuration, and no variable of the user's."""
    home = tmp_path_factory.mktemp("home")
    isolate_home(home, monkeypatch)
    return home


@pytest.fixture
def repo(tmp_path: Path) -> ScratchRepo:
    """An empty repository on branch main."""
    root = tmp_path / "repo"
    root.mkdir()
    scratch = ScratchRepo(root)
    scratch.git("init", "--quiet")
    return scratch


@pytest.fixture
def guard(repo: ScratchRepo) -> GuardCommand:
    """The command line, called in the scratch repository."""
    return GuardCommand(repo)
