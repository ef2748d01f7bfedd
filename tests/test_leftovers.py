"""Temporary folders: gone when their maker is, and never before."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from guard.leftovers import YOUNG, in_repository, make_folder, remove_folder, sweep
from tests.conftest import ScratchRepo
from tests.guard_command import GuardCommand, case, config

MAKER = (
    "from guard.leftovers import make_folder; print(make_folder('objects'), flush=True); input()"
)


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The temporary folder of this test, and guard's own below it."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path / f"guard-{os.getuid()}"


def grow_old(path: str | Path) -> None:
    then = time.time() - 2 * YOUNG
    os.utime(path, (then, then))


def test_a_folder_is_made_for_its_user_alone_and_removed(root: Path) -> None:
    path = make_folder("objects")
    assert os.path.dirname(path) == str(root)
    assert root.stat().st_mode & 0o077 == 0
    (Path(path) / "a" / "b").mkdir(parents=True)
    remove_folder(path)
    assert list(root.iterdir()) == []
    remove_folder(path)


def test_what_a_living_process_holds_is_left_alone_and_then_swept(root: Path) -> None:
    maker = subprocess.Popen(
        [sys.executable, "-P", "-c", MAKER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert maker.stdout is not None
    path = Path(maker.stdout.readline().strip())
    (path / "object").write_text("x")
    grow_old(path)
    sweep(str(root))
    assert path.exists()
    maker.kill()
    maker.communicate()
    sweep(str(root))
    assert not path.exists()


def test_a_young_folder_may_not_be_locked_yet(root: Path) -> None:
    young, old, other = (root / name for name in ("index-a", "index-b", "something-else"))
    for path in (young, old, other):
        path.mkdir(parents=True)
    (root / "objects-link").symlink_to(other)
    grow_old(old)
    grow_old(other)
    sweep(str(root))
    assert sorted(path.name for path in root.iterdir()) == [
        "index-a",
        "objects-link",
        "something-else",
    ]


@pytest.mark.parametrize("kind", ["link", "open", "file"])
def test_a_folder_that_is_not_ours_alone_is_not_used(root: Path, kind: str) -> None:
    if kind == "link":
        (root.parent / "elsewhere").mkdir(mode=0o700)
        root.symlink_to("elsewhere")
    elif kind == "open":
        root.mkdir()
        root.chmod(0o777)
    else:
        root.write_text("x")
    path = make_folder("scratch")
    assert os.path.dirname(path) == str(root.parent)
    remove_folder(path)


def test_a_folder_inside_a_repository_is_not_used(
    repo: ScratchRepo, guard: GuardCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit("feat: clerk", {**config(), **case(trials=1)})
    inside = repo.root / "deep" / "tmp"
    inside.mkdir(parents=True)
    monkeypatch.setenv("TMPDIR", str(inside))
    monkeypatch.setattr("tempfile.tempdir", None)
    path = make_folder("objects")
    assert not path.startswith(str(repo.root))
    remove_folder(path)
    guard("run").ends_in(0)
    assert list(inside.iterdir()) == []
    assert in_repository(str(inside))
    assert in_repository(str(inside), str(repo.root / "deep"))
    assert not in_repository(str(repo.root.parent))
    assert in_repository(str(repo.root.parent), str(repo.root.parent))


def test_commands_leave_nothing_and_clear_what_others_left(
    repo: ScratchRepo, guard: GuardCommand, root: Path
) -> None:
    repo.commit("feat: clerk", {**config(), **case(trials=1)})
    left = root / "objects-left"
    left.mkdir(parents=True)
    root.chmod(0o700)
    grow_old(left)
    for call in (["run"], ["affected"], ["status"], ["run", "--at", "index"], ["run", "nosuch"]):
        guard(*call)
        assert list(root.iterdir()) == []
