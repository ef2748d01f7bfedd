from __future__ import annotations

from pathlib import Path

import pytest

from guard.git import find_repo
from guard.snapshot import head_tree
from guard.trials import export
from guard.trials.names import Folding, find_twins, folding
from tests.conftest import ScratchRepo

PLAIN = Folding()
CASE, COMPOSED = Folding(case=True), Folding(composition=True)
NFC, NFD = "cs/\u00e9".encode(), "cs/e\u0301".encode()


def test_this_file_system_is_tried_and_left_as_it_was(tmp_path: Path) -> None:
    found = folding(str(tmp_path))
    (tmp_path / "Name").touch()
    assert found.case == (tmp_path / "nAME").exists()
    (tmp_path / "Name").unlink()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("paths", "folds", "twins"),
    [
        ([b"A/x", b"a/x"], CASE, {b"a/x": b"A/x"}),
        ([b"B/x", b"b/y"], CASE, {b"b/y": b"B"}),
        ([b"B", b"b/y"], CASE, {b"b/y": b"B"}),
        ([b"README", b"Readme", b"readme"], CASE, {b"Readme": b"README", b"readme": b"README"}),
        ([NFC, NFD], COMPOSED, {NFD: NFC}),
        ([NFC, NFD], CASE, {}),
        ([b"a/x", b"A/x"], COMPOSED, {}),
        ([b"a/x", b"A/x", NFC, NFD], PLAIN, {}),
        ([b"a/x", b"a/y", b"b/x", b"\xff", b"\xfe"], Folding(case=True, composition=True), {}),
    ],
)
def test_twins_are_found_where_the_file_system_has_one_name_for_them(
    paths: list[bytes], folds: Folding, twins: dict[bytes, bytes]
) -> None:
    assert find_twins(paths, folds) == twins


@pytest.mark.parametrize(
    ("folds", "lacking"),
    [(CASE, [b"b"]), (COMPOSED, ["\u00e9".encode()]), (PLAIN, [])],
)
def test_twins_are_not_written_over_each_other(
    repo: ScratchRepo,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    folds: Folding,
    lacking: list[bytes],
) -> None:
    repo.commit("twins", {"B": "1\n", "b": "2\n", "\u00e9": "3\n", "e\u0301": "4\n"})

    def told(folder: str) -> Folding:
        return folds

    monkeypatch.setattr(export, "folding", told)
    work = tmp_path / "work"
    work.mkdir()
    with find_repo(str(repo.root)) as found:
        tree = head_tree(found)
        done = export.check_out(tree, sorted(tree.entries()), str(tmp_path / "s"), str(work))
    assert [one.path for one in done.lacking] == lacking
    assert all("are one name on this file system" in one.why for one in done.lacking)
    assert len(list(work.iterdir())) == 4 - len(lacking)
