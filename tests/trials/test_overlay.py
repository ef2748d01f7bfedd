"""What an upper folder tells is what a look at all of the workspace tells."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from guard.trials import own_mounts
from guard.trials.manifest import scan_folder
from guard.trials.overlay import OverlayWay, scan_upper
from guard.trials.runfolder import RunPlace
from guard.trials.template import Template, text_piece
from guard.workspace import FreshWay, Reuse, lay_workspace
from tests.own_mounts import in_own_mounts, need_overlays

PATHS = ["a", "b", "d/a", "d/b", "d/e/a", "d/e/b", "f/a", "f/g/h/a"]
FOLDERS = ["d", "d/e", "f", "f/g", "f/g/h", "n", "d/n", "f/n", "n/m"]
SEEDS = range(60)


def write(root: Path, draw: random.Random) -> None:
    path = root / draw.choice(PATHS + [f"{folder}/new" for folder in FOLDERS])
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(draw.choice(["a\n", "b\n", "more\n"]))


def remove(root: Path, draw: random.Random) -> None:
    path = root / draw.choice(PATHS + FOLDERS)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def make_folder(root: Path, draw: random.Random) -> None:
    (root / draw.choice(FOLDERS)).mkdir(parents=True)


def rename(root: Path, draw: random.Random) -> None:
    os.rename(root / draw.choice([*FOLDERS, *PATHS]), root / draw.choice(["n", "d/n", "a", "d"]))


def link(root: Path, draw: random.Random) -> None:
    (root / draw.choice(PATHS)).symlink_to(draw.choice(PATHS))


def make_executable(root: Path, draw: random.Random) -> None:
    (root / draw.choice(PATHS)).chmod(draw.choice([0o755, 0o644]))


def touch(root: Path, draw: random.Random) -> None:
    os.utime(root / draw.choice(PATHS))


CHANGES: list[Callable[[Path, random.Random], None]] = [
    write, remove, make_folder, rename, link, make_executable, touch,
]  # fmt: skip


def change(root: Path, seed: int) -> None:
    """Do some things at random; what can't be done isn't."""
    draw = random.Random(seed)
    for _ in range(draw.randint(0, 9)):
        try:
            draw.choice(CHANGES)(root, draw)
        except OSError:
            continue


def overlay_way(place: RunPlace) -> OverlayWay:
    """A way over a folder that holds the paths."""
    template_folder = Path(place.new_folder("template"))
    for path in PATHS:
        file = template_folder / "ws" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("a\n")
    pieces = [text_piece(path.encode(), "a\n") for path in PATHS]
    template = Template(pieces, folder=os.fsencode(template_folder))
    options, problem = own_mounts.probe_overlay(place.new_path("probe"))
    assert not problem
    return OverlayWay(template, place, options, FreshWay(template), template.folder)


def test_the_upper_folder_tells_all(tmp_path: Path) -> None:
    need_overlays(tmp_path)
    unclear: list[int] = []

    def run() -> None:
        place = RunPlace(str(tmp_path))
        way = overlay_way(place)
        slot = place.new_folder("slot")
        template = Template([text_piece(path.encode(), "a\n") for path in PATHS])
        given = [text_piece(b"d/a", "given\n"), text_piece(b"n/given", "given\n")]
        base = scan_folder(template_ws(way))
        for seed in SEEDS:
            laid = given if seed % 3 == 0 else []
            workspace = lay_workspace(slot, f"t{seed}", template, laid, way)
            change(Path(workspace.path), seed)
            root = os.fsencode(workspace.path)
            whole = {path: item.content for path, item in scan_folder(root).items()}
            upper = find_upper(place)
            quick = scan_upper(upper, root, workspace.before, base)
            if quick is None:
                unclear.append(seed)
            else:
                assert {p: item.content for p, item in quick.items()} == whole, seed
            after = workspace.scan(time.time_ns())
            assert {p: item.content for p, item in after.items()} == whole, seed
            workspace.remove(Reuse.AS_LISTED)
            assert os.listdir(slot) == []
        assert scan_folder(template_ws(way)) == base

    in_own_mounts(run)
    # Of most the upper folder alone tells, and not of all: folders were moved.
    assert 0 < len(unclear) < len(SEEDS) / 2


def template_ws(way: OverlayWay) -> bytes:
    return os.fsencode(way.lower) + b"/ws"


def find_upper(place: RunPlace) -> bytes:
    """Return the upper folder of the only overlay there is."""
    (found,) = Path(place.path).glob("overlay*/*/upper")
    return os.fsencode(found) + b"/ws"


def mount(folder: Path) -> None:
    lower, upper, work, target = (str(folder / n) for n in ("lower", "upper", "work", "target"))
    own_mounts.mount_overlay(lower, upper, work, target, own_mounts.OPTIONS[-1])


def test_outside_a_namespace_of_its_own_nothing_is_mounted(tmp_path: Path) -> None:
    for name in ("lower", "upper", "work", "target"):
        (tmp_path / name).mkdir()
    with pytest.raises(PermissionError):
        mount(tmp_path)


def test_mounts_of_its_own_are_gone_with_the_thread_and_seen_by_nobody(tmp_path: Path) -> None:
    need_overlays(tmp_path)
    names = ("lower", "upper", "work", "target")
    for name in names:
        (tmp_path / name).mkdir()
    (tmp_path / "lower/f").touch()

    def run() -> None:
        mount(tmp_path)
        assert (tmp_path / "target/f").exists()
        with open("/proc/self/mounts", encoding="utf-8") as file:
            assert str(tmp_path / "target") not in file.read()

    in_own_mounts(run)
    assert not (tmp_path / "target/f").exists()
    assert not own_mounts.is_entered()


def test_a_program_that_uses_guard_keeps_its_namespace() -> None:
    assert not own_mounts.is_own_process()
    assert "another program" in own_mounts.enter_if_own()
