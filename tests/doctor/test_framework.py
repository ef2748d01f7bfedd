"""What in the framework's file would keep guard's hooks from judging."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from guard.doctor.framework import check_framework
from guard.doctor.swallowed import SWALLOWED
from guard.setup.framework import FILE, Source, add_hooks

PUBLISHED = add_hooks("", Source("https://git.example.org/rg", "v1"))


@pytest.fixture(autouse=True)
def programs_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SKIP", raising=False)
    folder = os.path.dirname(sys.executable)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def found_in(folder: Path, text: str) -> list[tuple[str, str]]:
    (folder / FILE).write_text(text, encoding="utf-8")
    return [(finding.mark, finding.text) for finding in check_framework(str(folder))]


@pytest.mark.parametrize("text", [PUBLISHED, add_hooks("", None)], ids=["published", "local"])
def test_what_init_writes_is_fine(tmp_path: Path, text: str) -> None:
    assert found_in(tmp_path, text) == [("✓", f"{FILE}: 3 hooks of guard's, unfiltered")]


def test_without_the_file_or_guard_in_it_there_is_nothing_to_say(tmp_path: Path) -> None:
    assert list(check_framework(str(tmp_path))) == []
    assert found_in(tmp_path, "repos: []\nfiles: ^src/\n") == []


def test_what_cannot_be_read(tmp_path: Path) -> None:
    ((mark, text),) = found_in(tmp_path, "repos: [\n")
    assert mark == "?"
    assert "can't be read" in text


@pytest.mark.parametrize("key", ["files", "exclude", "types", "types_or", "exclude_types"])
def test_a_filter_on_a_hook(tmp_path: Path, key: str) -> None:
    text = PUBLISHED.replace("guard-commit-msg\n", f"guard-commit-msg\n      {key}: [x]\n")
    ((mark, told),) = found_in(tmp_path, text)
    assert mark == "✗"
    assert f"guard-commit-msg: `{key}`" in told


@pytest.mark.parametrize(
    ("line", "hides"),
    [
        ("files: ^src/", True),
        ("files: .*", False),
        ("exclude: ^\\.git/", True),
        ("exclude: ^vendor/", False),
        ("exclude: '['", False),
    ],
)
def test_a_filter_on_all_hooks_that_hides_the_message(
    tmp_path: Path, line: str, hides: bool
) -> None:
    marks = [mark for mark, _ in found_in(tmp_path, f"{PUBLISHED}{line}\n")]
    assert marks == ["✗" if hides else "✓"]


def test_a_stage_that_is_taken_away(tmp_path: Path) -> None:
    text = PUBLISHED.replace("guard-affected\n", "guard-affected\n      stages: [pre-commit]\n")
    ((mark, told),) = found_in(tmp_path, text)
    assert mark == "✗"
    assert "isn't called at pre-merge-commit" in told


def test_stages_by_their_old_names(tmp_path: Path) -> None:
    old = "guard-affected\n      stages: [commit, merge-commit]\n"
    assert found_in(tmp_path, PUBLISHED.replace("guard-affected\n", old))[0][0] == "✓"


@pytest.mark.parametrize(
    ("hook", "line", "told"),
    [
        ("guard-suite", "always_run: false", "isn't called for every commit"),
        ("guard-commit-msg", "pass_filenames: false", "is given no message"),
    ],
)
def test_a_setting_that_takes_away_what_it_needs(
    tmp_path: Path, hook: str, line: str, told: str
) -> None:
    text = PUBLISHED.replace(f"{hook}\n", f"{hook}\n      {line}\n")
    ((mark, said),) = found_in(tmp_path, text)
    assert (mark, told in said) == ("✗", True)
    turned = line.replace("false", "true")
    assert found_in(tmp_path, text.replace(line, turned))[0][0] == "✓"


def test_a_hook_and_a_type_that_are_missing(tmp_path: Path) -> None:
    text = PUBLISHED.replace("    - id: guard-suite\n", "").replace(", pre-push]", "]")
    assert [mark for mark, _ in found_in(tmp_path, text)] == ["✗", "!"]


@pytest.mark.parametrize(
    ("call", "swallows"),
    [
        ("guard-suite || true", True),
        ("sh -c 'guard-suite || :'", True),
        ("guard-suite ; true", True),
        ("sh -c 'guard-suite; exit 0'", True),
        ("guard-suite || echo fine", True),
        ("sh -c 'guard-suite | tee log'", True),
        ("guard-suite &", True),
        ("guard-suite || exit 1", False),
        ("guard-suite 2>&1", False),
        ("guard-suite --x=true", False),
        ("guard-suite; trueish", False),
    ],
)
def test_a_call_that_swallows_a_refusal(tmp_path: Path, call: str, swallows: bool) -> None:
    assert bool(SWALLOWED.search(call)) == swallows
    text = add_hooks("", None).replace("entry: guard-suite", f"entry: {call}")
    found = found_in(tmp_path, text)
    assert any("turns every refusal" in told for _, told in found) == swallows


def test_a_program_that_is_not_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    ((mark, told),) = found_in(tmp_path, add_hooks("", None))
    assert mark == "✗"
    assert told.endswith("not on PATH: guard-commit-msg, guard-affected, guard-suite")
    assert found_in(tmp_path, PUBLISHED)[0][0] == "✓"


def test_hooks_that_a_variable_skips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKIP", "other, guard-suite")
    ((mark, told),) = found_in(tmp_path, PUBLISHED)
    assert (mark, told) == ("✗", "SKIP switches off guard-suite")
