from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from guard.nesting import ACTIVE, enter, inherited, marker_of

ASK = "from guard.nesting import enter; print(enter({!r}))"
#: A shell and another interpreter in between.
SHELL = '"$0" -c "$1"; exit $?'
BETWEEN = f"import subprocess, sys; subprocess.run(['sh', '-c', {SHELL!r}, *sys.argv[1:]])"


def asked_below(repository: str, said: str, *, between: bool = False) -> str:
    """Return what a process below this one says of a repository."""
    program = [sys.executable, "-c", ASK.format(repository)]
    call = [sys.executable, "-c", BETWEEN, sys.executable, program[-1]] if between else program
    env = {**os.environ, ACTIVE: said}
    done = subprocess.run(call, env=env, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_a_repository_that_is_judged_above_is_not_entered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ACTIVE, raising=False)
    assert inherited() == {}
    assert enter("/a/.git")
    said = inherited()[ACTIVE]
    for between in (False, True):
        assert asked_below("/a/.git", said, between=between) == "False"
        assert asked_below("/b/.git", said, between=between) == "True"


def test_several_repositories_are_judged_one_below_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(ACTIVE, raising=False)
    for repository in ("/a/.git", "/b b/.git", "/c\nc/.git"):
        assert enter(repository)
    said = inherited()[ACTIVE]
    for repository in ("/a/.git", "/b b/.git", "/c\nc/.git"):
        assert asked_below(repository, said) == "False"
    assert asked_below("b/.git", said) == "True"


def test_what_no_process_above_stands_for_is_not_believed() -> None:
    number, start, _ = marker_of("/a/.git").split(" ")
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for said in (
        "/a/.git",
        f"{number} /a/.git",
        f"{number} {start}0 /a/.git",
        f"{ended.pid} {start} /a/.git",
        "1 1 /a/.git",
        f"{number} {start} /b/.git",
        "\n",
    ):
        assert asked_below("/a/.git", said) == "True", said


def test_a_process_beside_is_not_above(tmp_path: Path) -> None:
    """What a hook in another terminal judges is no reason to leave this commit to it."""
    wait = f"{ASK.format('/a/.git')}; from guard.nesting import marker_of\n"
    wait += "print(marker_of('/a/.git'), flush=True); input()"
    env = {name: value for name, value in os.environ.items() if name != ACTIVE}
    call = (sys.executable, "-c", wait)
    pipe = subprocess.PIPE
    with subprocess.Popen(call, env=env, stdin=pipe, stdout=pipe, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "True\n"
        said = other.stdout.readline().strip()
        assert asked_below("/a/.git", said) == "True"
        other.communicate("\n")
