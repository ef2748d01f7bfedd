from __future__ import annotations

from pathlib import Path

import pytest

from guard.errors import UnreadableError
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
        ([b"a/x", b"A/x"], CASE, (b"A/x", b"a/x")),
        ([b"B/x", b"b/y"], CASE, (b"B", b"b")),
        ([b"README", b"readme"], CASE, (b"README", b"readme")),
        ([NFC, NFD], COMPOSED, (NFC, NFD)),
        ([NFC, NFD], CASE, None),
        ([b"a/x", b"A/x"], COMPOSED, None),
        ([b"a/x", b"A/x", NFC, NFD], PLAIN, None),
        ([b"a/x", b"a/y", b"b/x", b"\xff", b"\xfe"], Folding(case=True, composition=True), None),
    ],
)
def test_twins_are_found_where_the_file_system_has_one_name_for_them(
    paths: list[bytes], folds: Folding, twins: tuple[bytes, bytes] | None
) -> None:
    found = find_twins(paths, folds)
    assert (found and set(found[:2])) == (twins and set(twins))


@pytest.mark.parametrize("folds", [CASE, COMPOSED, PLAIN])
def test_twins_are_not_written_over_each_other(
    repo: ScratchRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folds: Folding
) -> None:
    repo.commit("twins", {"B": "1\n", "b": "2\n", "\u00e9": "3\n", "e\u0301": "4\n"})

    def told(folder: str) -> Folding:
        return folds

    monkeypatch.setattr(export, "folding", told)
    work = tmp_path / "work"
    work.mkdir()
    with find_repo(str(repo.root)) as found:
        tree = head_tree(found)
        call = (tree, sorted(tree.entries()), str(tmp_path / "scratch"), str(work))
        if folds == PLAIN:
            assert not export.check_out(*call).lacking
            assert len(list(work.iterdir())) == 4
            return
        with pytest.raises(UnreadableError, match="are one name on this file system"):
            export.check_out(*call)
    assert list(work.iterdir()) == []
