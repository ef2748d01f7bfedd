"""What commit-msg reads is what git stores, for whichever git command makes the commit."""

from __future__ import annotations

import json
import sys

import pytest

from guard.messages.message import stored_message
from tests.conftest import ScratchRepo

#: The hook's own reading, with the command line that it finds above it.
PROGRAM = """\
import json, sys
from guard.git import find_repo
from guard.judging.amend import git_command_line
from guard_hooks.commit_msg import begin_settings, read_message
with find_repo() as repo:
    message = read_message(begin_settings(repo)(), sys.argv[1], git_command_line())
with open("../read.jsonl", "a") as stream:
    stream.write(json.dumps([message.text, message.cleaned.decode("latin-1")]) + "\\n")
"""
EDITOR = "sed -i '1i more words\\n# a note'"


@pytest.fixture
def reading(repo: ScratchRepo) -> ScratchRepo:
    """A repository with two branches whose commit-msg hook writes down what it reads."""
    (repo.root.parent / "hook.py").write_text(PROGRAM)
    hook = repo.root / ".git" / "hooks" / "commit-msg"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f'#!/bin/sh\nexec {sys.executable} -P ../hook.py "$1"\n')
    hook.chmod(0o755)
    repo.git("config", "core.editor", EDITOR)
    for number in range(3):
        repo.commit(
            f"fix: {number}\n\n# kept\nFixes #{number}", {f"{number}": "x\n"}, "--no-verify"
        )
    repo.git("branch", "topic")
    repo.commit("docs: main", {"main": "x\n"}, "--no-verify")
    repo.git("checkout", "-q", "topic")
    repo.commit("fix: topic\n\n; kept", {"topic": "x\n"}, "--no-verify")
    repo.git("checkout", "-q", "main")
    return repo


REBASE = ("rebase", "-q", "-i", "HEAD~2")
#: Name → the words of git, what goes before, and variables.
COMMANDS: dict[str, tuple[tuple[str, ...], str, dict[str, str]]] = {
    "revert": (("commit",), "revert -n HEAD~1", {}),
    "revert, no editor": (("commit", "--no-edit"), "revert -n HEAD~1", {}),
    "revert --reference": (("commit", "-v"), "-c revert.reference=true revert -n HEAD~1", {}),
    "cherry-pick": (("commit", "--cleanup=scissors"), "cherry-pick -n topic", {}),
    "cherry-pick -x": (("commit", "-C", "topic"), "cherry-pick -n -x topic", {}),
    "merge --squash": (("commit", "-e", "-F", ".git/SQUASH_MSG"), "merge --squash topic", {}),
    "merge": (("merge", "--no-ff", "-m", "fix: merge\n\n# kept", "topic"), "", {}),
    "merge --edit": (("merge", "--no-ff", "--edit", "topic"), "", {}),
    "merge, scissors": (("merge", "--no-ff", "--edit", "--cleanup=scissors", "topic"), "", {}),
    "merge, verbatim": (("merge", "--no-ff", "--edit", "--cleanup=verbatim", "topic"), "", {}),
    "merge, continued": (("commit", "--cleanup=strip"), "merge --no-ff --no-commit topic", {}),
    "rebase, reword": (REBASE, "", {"GIT_SEQUENCE_EDITOR": "sed -i 2s/pick/reword/"}),
    "an alias": (("-c", "alias.ci=commit -v", "ci", "--allow-empty"), "", {}),
    "a shell alias": (("-c", "alias.ci=!git commit --allow-empty -vF ../m #", "ci"), "", {}),
    "another comment": (
        ("-c", "core.commentChar=auto", "-c", "commit.verbose=2", "commit", "-eF", "../m"),
        "revert -n HEAD~1",
        {},
    ),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_is_what_the_hook_read(reading: ScratchRepo, name: str) -> None:
    words, first, env = COMMANDS[name]
    (reading.root.parent / "m").write_text("fix: m\n#12\n# c\n")
    reading.git(*(first or "status").split())
    before = reading.git("rev-parse", "HEAD")
    done = reading.run("git", *words, env=env)
    assert done.returncode == 0, done.stderr
    assert reading.git("rev-parse", "HEAD") != before
    read, _ = json.loads((reading.root.parent / "read.jsonl").read_text().splitlines()[-1])
    assert read == stored_message(reading.git("cat-file", "commit", "HEAD").encode())
