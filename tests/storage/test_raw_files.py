from __future__ import annotations

import os
from pathlib import Path

from guard.storage.raw_files import RawFiles, file_name


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    files = RawFiles(str(tmp_path / "raw"))
    path = files.put("run-1/taxi#1.jsonl", b"\x00data")
    assert Path(path).parent == tmp_path / "raw"
    assert files.get("run-1/taxi#1.jsonl") == b"\x00data"
    assert files.get("other") is None


def test_nothing_is_made_by_reading(tmp_path: Path) -> None:
    assert RawFiles(str(tmp_path / "raw")).get("x") is None
    assert not (tmp_path / "raw").exists()


def test_no_name_leads_out_of_the_folder(tmp_path: Path) -> None:
    names = ["../evil", "/etc/passwd", "..", ".hidden", "a/b", "a_b", "x" * 300, "ü", "u\udcff"]
    files = RawFiles(str(tmp_path / "raw"))
    for name in names:
        assert Path(files.put(name, name.encode("utf-8", "surrogateescape"))).parent.name == "raw"
    assert len({file_name(name) for name in names}) == len(names)
    for name in names:
        assert files.get(name) == name.encode("utf-8", "surrogateescape")


def test_the_oldest_go_when_there_is_too_much(tmp_path: Path) -> None:
    files = RawFiles(str(tmp_path / "raw"), limit=1000)
    for number in range(10):
        path = files.put(f"f{number}", b"x" * 100)
        os.utime(path, ns=(number, number))
    assert len(os.listdir(files.folder)) == 10
    files.put("new", b"x" * 100)
    left = sorted(os.listdir(files.folder))
    assert "new" in left
    assert "f0" not in left
    assert "f9" in left
    assert sum(os.path.getsize(os.path.join(files.folder, name)) for name in left) <= 750


def test_one_huge_file_is_kept_alone(tmp_path: Path) -> None:
    files = RawFiles(str(tmp_path / "raw"), limit=1000)
    files.put("small", b"x")
    files.put("huge", b"x" * 5000)
    assert os.listdir(files.folder) == ["huge"]


def test_a_folder_that_cannot_be_made_is_no_crash(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert RawFiles(str(tmp_path / "file" / "raw")).put("x", b"data") == ""
