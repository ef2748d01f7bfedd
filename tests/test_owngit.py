from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from guard.errors import UnreadableError
from guard.git import find_repo
from guard.owngit import OwnGit
from tests.conftest import ScratchRepo


@pytest.fixture
def own(repo: ScratchRepo, tmp_path: Path) -> Iterator[OwnGit]:
    repo.commit("base", {"f": "x\n"})
    (tmp_path / "own").mkdir()
    with find_repo(str(repo.root)) as found:
        yield OwnGit(found, str(tmp_path / "own"))


def test_it_reads_the_objects_and_nothing_of_the_configuration(
    repo: ScratchRepo, own: OwnGit, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.git("config", "filter.x.smudge", "false")
    repo.git("config", "--global", "core.autocrlf", "true")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.eol")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "crlf")
    blob = repo.git("rev-parse", "HEAD:f").strip()
    assert own.run("cat-file", "blob", blob).out == b"x\n"
    listed = own.run("config", "--list").out.decode()
    assert "filter" not in listed
    assert "core.autocrlf=false" in listed
    assert "core.eol=lf" in listed
    assert own.run("rev-parse", "--verify", "-q", "HEAD", ok=None).code != 0


def test_a_call_that_fails_says_what_git_says(own: OwnGit) -> None:
    with pytest.raises(UnreadableError, match=r"git cat-file ended in 128: .*bad file"):
        own.run("cat-file", "blob", "1" * 40)
    assert own.run("cat-file", "blob", "1" * 40, ok=None).code == 128


def test_objects_that_come_later_are_read_too(repo: ScratchRepo, own: OwnGit) -> None:
    own.repo.use_scratch()
    oid = own.repo.out("hash-object", "-w", "--stdin", input=b"later\n").decode().strip()
    assert own.run("cat-file", "blob", oid).out == b"later\n"
    assert not os.path.exists(repo.root / ".git/objects" / oid[:2] / oid[2:])
