from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from guard.judging import amend
from guard.judging.amend import git_command_line, is_amend, is_git, read_process, takes_all
from tests.conftest import ScratchRepo

COMMIT = ("git", "commit")


@pytest.mark.parametrize(
    "words",
    [
        ("--amend",),
        ("--am",),
        ("--ame", "--no-edit"),
        ("-m", "x", "--amend"),
        ("-am", "x", "--amend"),
        ("--no-amend", "--amend"),
    ],
)
def test_amending(words: tuple[str, ...]) -> None:
    assert is_amend((*COMMIT, *words))


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("-m", "--amend"),
        ("-m--amend",),
        ("-F", "--amend"),
        ("--message", "--amend"),
        ("--message=--amend",),
        ("--author", "--amend"),
        ("--", "--amend"),
        ("--amend", "--no-amend"),
        ("--allow-empty",),
        ("-a",),
    ],
)
def test_not_amending(words: tuple[str, ...]) -> None:
    assert not is_amend((*COMMIT, *words))


def test_options_of_git_itself_come_before_the_command() -> None:
    assert is_amend(("git", "-c", "core.editor=true", "commit", "--amend"))
    assert not is_amend(("git", "-c", "alias.x=--amend", "commit"))


@pytest.mark.parametrize(
    ("words", "all_of_it"),
    [(("-a",), True), (("-am", "x"), True), (("--all",), True), (("-m", "-a"), False), ((), False)],
)
def test_staging_all(words: tuple[str, ...], all_of_it: bool) -> None:
    assert takes_all((*COMMIT, *words)) is all_of_it


def test_which_programs_are_git() -> None:
    assert is_git(("/usr/lib/git-core/git", "commit"))
    assert not is_git(("/usr/bin/python3", "git"))
    assert not is_git(())


def test_a_process_and_its_words() -> None:
    mine = read_process(os.getpid())
    assert mine is not None
    assert mine.parent == os.getppid()
    assert os.path.basename(mine.argv[0]).startswith("python")


def test_no_git_is_above_an_orphan() -> None:
    assert read_process(2**22 + 1) is None
    assert git_command_line(2**22 + 1) == ()


def test_git_is_found_through_shells_and_frameworks(repo: ScratchRepo) -> None:
    repo.commit("feat: base", {"a": "1\n"})
    seen = repo.root.parent / "seen"
    write = f"open({str(seen)!r}, 'w').write(repr(git_command_line()))"
    program = f"from guard.judging.amend import git_command_line; {write}"
    hook = repo.root / ".git" / "hooks" / "commit-msg"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(
        f'#!/bin/sh\nsh -c \'sh -c "$1"; true\' - "{sys.executable} -P -c \\"{program}\\""\n'
    )
    hook.chmod(0o755)
    repo.git("commit", "--allow-empty", "-m", "two words")
    found = seen.read_text()
    assert found == repr(("git", "commit", "--allow-empty", "-m", "two words"))


def no_folder(path: object) -> bool:
    return False


def test_without_proc_ps_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.path.isdir", no_folder)
    script = tmp_path / "ps"
    script.write_text("#!/bin/sh\necho ' 7 git commit --amend -m no --all'\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    process = read_process(2**22 + 1)
    assert process is not None
    assert process.parent == 7
    # What follows -m may be its text, for the quotes are lost.
    assert process.argv == ("git", "commit", "--amend", "-m")
    script.write_text("#!/bin/sh\nexit 1\n")
    assert read_process(2**22 + 1) is None


def test_the_system_s_own_ps_is_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        process = amend._asked_of_ps(child.pid)  # pyright: ignore[reportPrivateUsage]
    finally:
        child.communicate(b"\n")
    if process is not None:  # no ps on this machine
        assert process.parent == os.getpid()
        assert process.argv[-1] == "input()"
