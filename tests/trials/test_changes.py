from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guard.results import FileChange
from guard.trials import changes
from guard.trials.changes import Changes, compare, content_of, count_edits, count_lines, summary_of
from guard.trials.manifest import scan_folder


def compared(tmp_path: Path) -> Changes:
    """Compare the folders before and after."""
    old, new = os.fsencode(tmp_path / "before"), os.fsencode(tmp_path / "after")
    items = scan_folder(old)
    return compare(items, scan_folder(new), lambda path: content_of(old, path, items[path]), new)


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    (tmp_path / "before").mkdir()
    (tmp_path / "after").mkdir()
    return tmp_path


lines = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n"]), max_size=12)


@settings(max_examples=300, deadline=None)
@given(lines, lines)
def test_edits_are_the_fewest_possible(old: list[bytes], new: list[bytes]) -> None:
    longest = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i, one in enumerate(old):
        for j, other in enumerate(new):
            longest[i + 1][j + 1] = (
                longest[i][j] + 1 if one == other else max(longest[i][j + 1], longest[i + 1][j])
            )
    common = longest[-1][-1]
    assert count_edits(old, new) == len(old) + len(new) - 2 * common
    assert count_lines(old, new) == (len(new) - common, len(old) - common)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        ("a\n", ""),
        ("", "a\nb"),
        ("a\nb", "a\nb\n"),
        ("a\r\nb\r\n", "a\nb\r\n"),
        ("x\n" * 50 + "y\n", "y\n" + "x\n" * 50),
        ("one\ntwo\n\nthree\n", "zero\none\n\n\nthree\nfour\n"),
    ],
)
def test_lines_are_counted_as_git_counts_them(folders: Path, old: str, new: str) -> None:
    (folders / "before/f").write_bytes(old.encode())
    (folders / "after/f").write_bytes(new.encode())
    found = compared(folders)
    said = subprocess.run(
        ["git", "diff", "--no-index", "--shortstat", "before", "after"],
        cwd=folders,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    assert summary_of(found.files) == said


def test_the_sentence_is_gits() -> None:
    one = FileChange("a", "M", 6, 0)
    assert summary_of([one]) == "1 file changed, 6 insertions(+)"
    assert summary_of([one, FileChange("b", "M", 0, 1)]) == (
        "2 files changed, 6 insertions(+), 1 deletion(-)"
    )
    assert summary_of([FileChange("a", "T")]) == "1 file changed, 0 insertions(+), 0 deletions(-)"


def test_a_mode_a_type_and_a_binary_file(folders: Path) -> None:
    for name in ("before", "after"):
        for file in ("mode", "type", "binary"):
            (folders / name / file).write_bytes(b"x\n")
    (folders / "after/mode").chmod(0o755)
    (folders / "after/type").unlink()
    (folders / "after/type").symlink_to("x")
    (folders / "after/binary").write_bytes(b"x\0\n")
    found = compared(folders)
    assert found.files == (
        FileChange("binary", "M"),
        FileChange("mode", "T"),
        FileChange("type", "T", 1, 1),
    )
    assert "a/binary and b/binary differ: binary, large or unreadable\n" in found.diff
    assert "100644 → 100755  mode\n" in found.diff
    assert "100644 → 120000  type\n" in found.diff


def test_a_diff_stops_growing(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "DIFF_CHARACTERS", 1000)
    for number in range(5):
        (folders / f"after/f{number}").write_text("line\n" * 60)
    found = compared(folders)
    assert len(found.files) == 5
    assert len(found.diff) < 1100
    assert found.diff.endswith("… the diff is cut here\n")


def test_texts_too_far_apart_or_too_large_are_not_searched(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folders / "before/f").write_text("".join(f"a{n}\n" for n in range(9000)))
    (folders / "after/f").write_text("".join(f"b{n}\n" for n in range(9000)))
    found = compared(folders)
    assert found.files == (FileChange("f", "M", 9000, 9000),)
    assert "differ in too many lines to show" in found.diff
    monkeypatch.setattr(changes, "TEXT_BYTES", 10)
    assert compared(folders).files == (FileChange("f", "M"),)


def test_the_same_is_no_change(folders: Path) -> None:
    for name in ("before", "after"):
        (folders / name / "f").write_text("x")
    assert compared(folders) == Changes()
