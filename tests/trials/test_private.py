from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Generator
from pathlib import Path

import pytest

from guard.trials import private, sandbox
from guard.trials.private import PrivateFolders, make_private_folders
from guard.trials.runfolder import RunPlace
from guard.trials.sandbox import CONTROLLED, Layout, Sandbox, open_sandbox
from guard.trials.trial import run_trial
from tests.conftest import ScratchRepo
from tests.staging import FILES, case_of, staged
from tests.trials.test_sandbox import needs_namespaces, sh

REMEMBERS = "cat {0} 2>/dev/null; echo been here >{0}"


@pytest.fixture
def place(tmp_path: Path) -> RunPlace:
    (tmp_path / "runs").mkdir()
    return RunPlace(str(tmp_path / "runs"))


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A folder that stands for ``/tmp``."""
    folder = tmp_path / "shared"
    (folder / "tools").mkdir(parents=True)
    (folder / "note").write_text("before\n")
    (folder / "link").symlink_to("note")
    return folder


@pytest.fixture
def opened(shared: Path, place: RunPlace) -> Generator[Sandbox]:
    """A sandbox in which that folder is the slot's own."""
    box = open_sandbox(Layout((), (), make_private_folders(place, [str(shared)])))
    yield box
    box.starter.close()


def state_file(folder: str) -> Path:
    return Path(folder, f"guard-test-{os.getpid()}-{os.urandom(4).hex()}")


@needs_namespaces
@pytest.mark.parametrize("folder", ["/tmp", "/var/tmp", "/dev/shm"])
def test_what_one_trial_writes_there_is_gone_in_the_next(repo: ScratchRepo, folder: str) -> None:
    if not os.path.isdir(folder):
        pytest.skip(f"no {folder} here")
    state = state_file(folder)
    repo.write(FILES)
    with staged(repo, REMEMBERS.format(state)) as stage:
        said = [run_trial(stage, case_of(), number).observation.stdout for number in (1, 2)]
    assert said == ["", ""]
    assert not state.exists()


def test_without_a_namespace_it_is_there_and_the_report_says_so(
    repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "_no_namespaces", "switched off in this test")
    state = state_file("/tmp")
    repo.write(FILES)
    try:
        with staged(repo, REMEMBERS.format(state)) as stage:
            found = [run_trial(stage, case_of(), number) for number in (1, 2)]
    finally:
        state.unlink()
    assert [trial.observation.stdout for trial in found] == ["", "been here\n"]
    assert all("not controlled" in trial.isolation for trial in found)


@needs_namespaces
def test_what_lay_there_stays_in_reach(shared: Path, tmp_path: Path, opened: Sandbox) -> None:
    assert opened.isolation == CONTROLLED
    assert sh(opened, f"cat {shared}/note {shared}/link; ls {shared}", tmp_path) == (
        "before\nbefore\nlink\nnote\ntools\n"
    )
    sh(opened, f"echo x >{shared}/tools/x; echo after >{shared}/note; rm {shared}/link", tmp_path)
    assert (shared / "tools/x").exists()
    assert (shared / "note").read_text() == "before\n"
    assert (shared / "link").is_symlink()
    assert opened.clean()
    assert sh(opened, f"cat {shared}/note {shared}/link", tmp_path) == "before\nbefore\n"


@needs_namespaces
def test_sockets_there_still_answer(tmp_path: Path, place: RunPlace) -> None:
    shared = tmp_path / "s"
    shared.mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(shared / "agent"))
        server.listen()
        box = open_sandbox(Layout((), (), make_private_folders(place, [str(shared)])))
        call = "import socket; socket.socket(socket.AF_UNIX).connect('agent'); print('there')"
        try:
            assert sh(box, f'cd {shared} && python3 -c "{call}"', tmp_path) == "there\n"
            assert box.clean()
            assert sh(box, f'cd {shared} && python3 -c "{call}"', tmp_path) == "there\n"
        finally:
            box.starter.close()


@needs_namespaces
def test_what_is_hidden_below_stays_hidden(tmp_path: Path, place: RunPlace) -> None:
    (tmp_path / "s/x/repo/slot").mkdir(parents=True)
    (tmp_path / "s/x/repo/secret").touch()
    repo = tmp_path / "s/x/repo"
    folders = make_private_folders(place, [str(tmp_path / "s")])
    layout = Layout((str(repo), place.root), ((str(repo / "slot"), False),), folders)
    box = open_sandbox(layout)
    try:
        assert sh(box, "ls ..; echo x >x", repo / "slot") == "slot\n"
        assert (repo / "slot/x").exists()
        assert sh(box, f"echo x >{tmp_path}/s/new; ls {place.root}", repo / "slot") == ""
    finally:
        box.starter.close()
    assert not (tmp_path / "s/new").exists()


@needs_namespaces
def test_where_they_cannot_be_had_the_report_says_so(tmp_path: Path, place: RunPlace) -> None:
    (folder,) = make_private_folders(place, [str(tmp_path)]).made
    shutil.rmtree(folder.backing)
    with pytest.raises(FileNotFoundError):
        folder.clean()
    os.mkdir(folder.backing)
    gone = folder._replace(path=str(tmp_path / "gone"))
    box = open_sandbox(Layout((), (), PrivateFolders((gone,))))
    try:
        assert box.isolation == f"{CONTROLLED} + {gone.path}: not controlled"
    finally:
        box.starter.close()


def test_large_files_and_pipes_are_the_users_own(shared: Path, place: RunPlace) -> None:
    (shared / "large").write_bytes(b"x" * (private.COPIED_BYTES + 1))
    os.mkfifo(shared / "pipe")
    (folder,) = make_private_folders(place, [str(shared), str(shared / "gone")]).made
    assert folder.seen == {"large", "pipe", "tools"}
    assert set(folder.copied) == {"note", "link"}


def test_a_folder_with_too_many_entries_is_left_as_it_is(
    shared: Path, place: RunPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private, "MOST_ENTRIES", 2)
    folders = make_private_folders(place, [str(shared)])
    assert (folders.made, folders.shared) == ((), (str(shared),))
    box = open_sandbox(Layout((), (), folders))
    assert "not controlled" in box.isolation
    box.starter.close()


def test_only_what_was_touched_is_made_anew(shared: Path, place: RunPlace) -> None:
    (folder,) = make_private_folders(place, [str(shared)]).made
    backing = Path(folder.backing)
    kept = (backing / "note").stat().st_ino
    (backing / "new").mkdir()
    (backing / "new/er").touch()
    (backing / "link").unlink()
    folder.clean()
    assert sorted(os.listdir(backing)) == ["link", "note", "tools"]
    assert (backing / "note").stat().st_ino == kept
