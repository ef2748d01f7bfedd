"""`guard hook STAGE`: one way in for every stage, and what a hook starts."""

from __future__ import annotations

import sys

import pytest

from tests.conftest import ScratchRepo
from tests.hooks.installed import BAD_TALK, TALK, Installed, make_installed

#: What a commit that touches nothing guarded must not pay for.
HEAVY = {
    "argparse",
    "asyncio",
    "dataclasses",
    "git",
    "guard.engine",
    "guard.judging.judge",
    "importlib.metadata",
    "logging",
    "pathlib",
    "pluggy",
    "psutil",
    "rich",
    "shutil",
    "tempfile",
    "yaml",
}
MODULES = """\
import sys
from guard.cli import main
code = main(["hook", "pre-commit"])
print("\\n".join(sys.modules))
sys.exit(code)
"""


@pytest.fixture
def installed(repo: ScratchRepo) -> Installed:
    return make_installed(repo)


@pytest.mark.parametrize("stage", ["pre-commit", "pre-merge-commit"])
def test_stages_that_judge_the_index(installed: Installed, stage: str) -> None:
    installed.stage({TALK: BAD_TALK})
    done = installed.guard("hook", stage)
    assert done.returncode == 1
    assert "greets fails" in done.stderr


def test_commit_msg(installed: Installed) -> None:
    installed.stage({TALK: BAD_TALK})
    installed.write({".git/COMMIT_EDITMSG": "fix(talk): say less\n"})
    done = installed.guard("hook", "commit-msg", ".git/COMMIT_EDITMSG")
    assert done.returncode == 1
    assert "(fix-needs-case)" in done.stderr


def test_pre_push_reads_standard_input(installed: Installed) -> None:
    tip = installed.bypass("feat(talk): say less", {TALK: BAD_TALK})
    said = f"refs/heads/main {tip} refs/heads/main {'0' * 40}\n"
    argv = [sys.executable, "-P", "-m", "guard", "hook", "pre-push", "up", "url"]
    done = installed.run(*argv, input=said)
    assert done.returncode == 1
    assert "greets fails in main" in done.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["post-commit"], "guard: guard hook: there is no stage 'post-commit'"),
        ([], "guard: guard hook: which stage?"),
        (["commit-msg"], "guard: refused: commit-msg takes the file of the message"),
    ],
)
def test_other_stages_are_refused_in_one_line(
    installed: Installed, args: list[str], said: str
) -> None:
    done = installed.guard("hook", *args)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == said
    assert len(done.stderr.splitlines()) <= 2


def test_outside_a_repository(
    installed: Installed, tmp_path_factory: pytest.TempPathFactory
) -> None:
    done = installed.guard("hook", "pre-commit", cwd=tmp_path_factory.mktemp("outside"))
    assert done.returncode == 2
    assert "git repository" in done.stderr


def test_unguarded_commit_imports_little(installed: Installed) -> None:
    installed.guard("affected")  # the store knows guard.yaml and the cases from here on
    installed.stage({"README.md": "other\n"})
    done = installed.run(sys.executable, "-E", "-P", "-c", MODULES)
    assert (done.returncode, done.stderr) == (0, "")
    assert HEAVY.isdisjoint(done.stdout.split())


def test_guarded_commit_imports_more(installed: Installed) -> None:
    """Or else the test above would not see what it is for."""
    installed.stage({TALK: BAD_TALK})
    done = installed.run(sys.executable, "-E", "-P", "-c", MODULES)
    assert done.returncode == 1
    assert "guard.engine" in done.stdout.split()
