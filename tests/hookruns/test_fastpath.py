"""What a list depends on beside the repository, and its text; the rest is tried in tests/hooks."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from guard.git import find_repo
from guard.hookruns import fastpath
from guard.hookruns.fastpath import files_that_decide, keep_list, list_text
from guard.hookruns.pathspecs import Pathspecs
from guard.plugin.entrypoints import EntryPoint
from guard.plugin.facts import files_of
from guard.session import Session
from tests.conftest import ScratchRepo

#: Puts every argument that git is given into a file of its own line.
GIT = '#!/bin/sh\nfor word in "$@"; do printf "%s\\0" "$word" >>"$SAID"; done\n'


def test_folders_of_installed_distributions_decide() -> None:
    found = files_that_decide()
    assert found is not None
    assert sysconfig.get_path("purelib") in found
    assert {os.path.abspath(folder) for folder in sys.path if folder} <= set(found)


def test_files_that_lead_to_other_folders_decide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / "own.pth").write_text("/elsewhere\n")
    assert str(tmp_path / "own.pth") in (files_that_decide() or ())


def test_plugin_in_the_making_decides_by_each_of_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "own_plugin"
    package.mkdir()
    for name in ("__init__.py", "more.py", "notes.txt"):
        (package / name).write_text("")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    point = EntryPoint("own", "own_plugin", "own", "1")
    assert files_of(point) == [
        str(package),
        *(str(package / n) for n in ("__init__.py", "more.py")),
    ]
    monkeypatch.setattr("guard.plugin.entrypoints.installed_points", lambda: [point])
    assert str(package / "more.py") in (files_that_decide() or ())
    for number in range(fastpath.MOST_FILES):
        (package / f"part{number}.py").write_text("")
    assert files_that_decide() is None


def test_other_start_than_a_hooks_writes_none(repo: ScratchRepo) -> None:
    """By hand another environment counts, which may have other plugins."""
    repo.commit("feat: all", {"guard.yaml": "version: 1\n", "a": "1\n"})
    with Session.open(str(repo.root)) as session:
        assert keep_list(session.project("HEAD")) == ""
    with find_repo(str(repo.root)) as found:
        assert not os.path.exists(os.path.join(found.git_dir, "guard", fastpath.FILE))


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_every_byte_of_a_path_reaches_git(tmp_path: Path, shell: str) -> None:
    odd = bytes(byte for byte in range(1, 256) if byte != ord("/"))
    text = list_text("1" * 40, "x", Pathspecs((b"-a b", odd), True, ()), ["/it's"])
    (tmp_path / "list").write_bytes(text)
    (tmp_path / "git").write_text(GIT)
    (tmp_path / "git").chmod(0o755)
    said = tmp_path / "said"
    path = f"{tmp_path}:{os.environ['PATH']}"
    subprocess.run(
        [shell, "-c", ". ./list && untouched && at_head"],
        cwd=tmp_path,
        env={"PATH": path, "SAID": str(said)},
        check=True,
    )
    words = said.read_bytes().split(b"\0")
    assert words.count(b":(top,literal)" + odd) == 2
    assert words.count(b":(top,literal)-a b") == 2
    assert words.count(b":(top,glob)*") == 2
    assert words.count(b":(top,glob)**/SKILL.md") == 1
