from __future__ import annotations

import os
import time
from pathlib import Path

from guard.trials.manifest import (
    FILE,
    LINK,
    SPECIAL,
    TICK_NS,
    digest_of,
    same_content,
    scan_folder,
)


def test_every_kind_is_listed_and_nothing_is_opened_that_hangs(tmp_path: Path) -> None:
    (tmp_path / "d/e").mkdir(parents=True)
    (tmp_path / "d/f").write_text("x")
    (tmp_path / "d/f").chmod(0o755)
    (tmp_path / "link").symlink_to("d")
    os.mkfifo(tmp_path / "pipe")
    found = scan_folder(os.fsencode(tmp_path))
    assert {path: (item.kind, item.executable) for path, item in found.items()} == {
        b"d/f": (FILE, True),
        b"link": (LINK, False),
        b"pipe": (SPECIAL, False),
    }


def test_a_digest_is_of_names_kinds_modes_and_contents(tmp_path: Path) -> None:
    root = os.fsencode(tmp_path)

    def digest() -> str:
        return digest_of(scan_folder(root))

    seen = {digest()}
    (tmp_path / "f").write_text("x")
    seen.add(first := digest())
    (tmp_path / "f").chmod(0o755)
    seen.add(digest())
    (tmp_path / "f").unlink()
    (tmp_path / "f").symlink_to("x")
    seen.add(digest())
    (tmp_path / "f").rename(tmp_path / "g")
    seen.add(digest())
    assert len(seen) == 5
    (tmp_path / "g").unlink()
    (tmp_path / "f").write_text("x")
    (tmp_path / "empty").mkdir()
    assert digest() == first


def test_a_file_is_read_again_unless_it_is_older_than_the_trial(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("400")
    root = os.fsencode(tmp_path)
    before = scan_folder(root)
    later = time.time_ns() + 10 * TICK_NS
    # What is known is only believed where neither stamp nor clock speak against it.
    forged = {b"f": before[b"f"]._replace(digest="forged")}
    assert scan_folder(root, forged, later)[b"f"].digest == "forged"
    assert scan_folder(root, forged, before[b"f"].stamp[1])[b"f"] == before[b"f"]
    (tmp_path / "f").write_text("457")
    assert not same_content(before, scan_folder(root, before, later))


def test_a_modification_time_set_back_is_seen(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("400")
    status = os.stat(tmp_path / "f")
    root = os.fsencode(tmp_path)
    before = scan_folder(root)
    time.sleep(0.05)
    (tmp_path / "f").write_text("457")
    os.utime(tmp_path / "f", ns=(status.st_atime_ns, status.st_mtime_ns))
    after = scan_folder(root, before, time.time_ns() + 10 * TICK_NS)
    assert not same_content(before, after)


def test_a_folder_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert scan_folder(os.fsencode(tmp_path / "none")) == {}
