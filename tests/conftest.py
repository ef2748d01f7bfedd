"""Fixtures that every test may use: a scratch repository, an isolated home, no user config."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from tests.guard_command import GuardCommand
from tests.scratch_repo import ScratchRepo

__all__ = ["ScratchRepo"]

# Ignored in the background of a script, or under nohup: what a test starts would inherit it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# The same examples in every run; HYPOTHESIS_PROFILE=explore looks for others.
settings.register_profile("same", derandomize=True, database=None)
settings.register_profile("explore", max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

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


#: How variables of the user's begin that would change what a test sees.
NOT_OURS = (
    *("GIT_", "GUARD_", "PRE_COMMIT", "XDG_"),
    *("ANTHROPIC_", "LANGSMITH_", "LANGCHAIN_"),
)


def isolate_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the folder HOME, with git's configuration; drop every variable of the user's."""
    (home / ".gitconfig").write_text(GIT_SETTINGS, encoding="utf-8")
    for name in list(os.environ):
        if name.startswith(NOT_OURS):
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
