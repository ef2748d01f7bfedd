"""``guard sync``: shows the steps, does them, and says what is done however it ends."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.blocks import ROOT
from tests.commands.calling import Outcome, call_guard
from tests.conftest import ScratchRepo
from tests.guard_command import cases, config

#: A copy in a folder, a file for each case; the file ``how`` beside it says what is wrong with it.
PLUGIN = """\
import os
from pathlib import Path
from guard.plugin import Skip, Step, Sync, TargetError, hookimpl

HOME = Path({home!r})

def how():
    file = HOME / "how"
    return file.read_text() if file.exists() else ""

def put(path, text):
    if how() == f"fails at {{path.name}}":
        raise TargetError("the folder is locked")
    if how() == f"raises at {{path.name}}":
        raise KeyError(path.name)
    if how() == f"interrupted at {{path.name}}":
        raise KeyboardInterrupt
    if how() != "forgets":
        path.write_text(text) if text is not None else path.unlink()

def plan(agents, cases):
    if how() == "no plan":
        return ["+ nothing"]
    if how() == "no key":
        raise Skip("the folder wants a key")
    there = {{path.name: path.read_text() for path in (HOME / "copy").iterdir()}}
    wanted = {{case.id: case.utterance for case in cases}}
    steps = []
    for name, text in wanted.items():
        if there.get(name) != text:
            sign = "~" if name in there else "+"
            path = HOME / "copy" / name
            steps.append(Step(sign, f"file {{name}}", lambda p=path, t=text: put(p, t)))
    for name in sorted(there.keys() - wanted.keys()):
        steps.append(Step("-", f"file {{name}}", lambda p=HOME / "copy" / name: put(p, None)))
    return steps

@hookimpl
def guard_syncs():
    missing = lambda: "the folder is not mounted" if how() == "missing" else None
    return [Sync("folder", plan, missing, lambda: "here")]
"""


class Copy:
    """A repository, and the folder that is its remote copy."""

    def __init__(self, repo: ScratchRepo, home: Path) -> None:
        self.repo = repo
        self.home = home
        (home / "copy").mkdir(parents=True)

    @property
    def files(self) -> dict[str, str]:
        return {path.name: path.read_text() for path in (self.home / "copy").iterdir()}

    def put(self, **files: str) -> None:
        for name, text in files.items():
            (self.home / "copy" / name).write_text(text)

    def breaks(self, how: str) -> None:
        (self.home / "how").write_text(how)

    def sync(self, *options: str) -> Outcome:
        return call_guard(self.repo.root, "sync", *options)


@pytest.fixture
def copy(repo: ScratchRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Copy:
    monkeypatch.setattr("guard.commands.sync.PAUSES", (0.0, 0.0))
    home = tmp_path / "remote"
    files: dict[str, Any] = {**config(), **cases({"a": "echo a", "b": "echo b", "c": "echo c"})}
    document = json.loads(files["guard.yaml"])
    files["guard.yaml"] = json.dumps({**document, "plugins": ["sync.py"]})
    repo.commit("feat: begin", {**files, "sync.py": PLUGIN.format(home=str(home))})
    return Copy(repo, home)


WANTED = {"a": "echo a", "b": "echo b", "c": "echo c"}


def test_it_shows_its_steps_and_does_them(copy: Copy) -> None:
    copy.put(b="edited", z="added by hand")
    code, out, err = copy.sync("folder")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "folder (here) becomes what the repository says by 4 steps:",
        "+ file a",
        "~ file b",
        "+ file c",
        "- file z",
        "done: 4 steps",
        "folder holds what the repository says",
    ]
    assert copy.files == WANTED


def test_nothing_to_do_says_so(copy: Copy) -> None:
    copy.put(**WANTED)
    for options in ((), ("--dry-run",)):
        code, out, err = copy.sync("folder", *options)
        assert (code, err) == (0, "")
        assert out == "nothing to do: folder (here) holds what the repository says\n"


def test_a_dry_run_shows_the_steps_and_changes_nothing(copy: Copy) -> None:
    copy.put(b="edited")
    code, out, err = copy.sync("--dry-run", "folder")
    assert (code, err) == (0, "")
    assert out.splitlines()[1:] == [
        *("+ file a", "~ file b", "+ file c"),
        "nothing was changed: --dry-run",
    ]
    assert copy.files == {"b": "edited"}


def test_an_unknown_name_is_refused_with_the_nearest(copy: Copy) -> None:
    code, out, err = copy.sync("foldr")
    assert (code, out) == (2, "")
    assert "there is no sync 'foldr'; did you mean `folder`?" in err
    assert copy.sync("zzz").code == 2


def test_one_that_no_plugin_offers_is_refused(copy: Copy) -> None:
    code, _, err = call_guard(copy.repo.root, "-p", "no:langsmith", "sync", "langsmith")
    assert code == 2
    assert "there is no sync 'langsmith' (there is folder)" in err


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("missing", "guard: sync folder: the folder is not mounted\n"),
        ("no key", "guard: the folder wants a key\n"),
    ],
)
def test_what_is_missing_is_one_line_and_no_success(copy: Copy, how: str, said: str) -> None:
    copy.breaks(how)
    assert copy.sync("folder") == Outcome(3, "", said)
    assert copy.sync("folder", "--dry-run") == Outcome(3, "", said)


def test_a_remote_that_fails_in_the_middle_leaves_a_known_state(copy: Copy) -> None:
    copy.breaks("fails at b")
    code, out, err = copy.sync("folder")
    assert code == 3
    assert out.splitlines()[-2:] == [
        "done: 1 of 3 steps, in this order",
        "not done: + file b, nor the 1 step after it",
    ]
    assert err.splitlines() == [
        "guard: the folder is locked",
        "  do  guard sync folder    # safe to run again: it compares anew",
    ]
    assert copy.files == {"a": "echo a"}
    copy.breaks("")
    assert copy.sync("folder").code == 0
    assert copy.files == WANTED


def test_a_plugin_that_raises_is_named(copy: Copy) -> None:
    copy.breaks("raises at c")
    code, out, err = copy.sync("folder")
    assert code == 2
    assert out.splitlines()[-1] == "not done: + file c"
    assert "guard: sync folder: file c raised KeyError: 'c'" in err


def test_one_that_is_interrupted_says_how_far_it_came(copy: Copy) -> None:
    copy.breaks("interrupted at b")
    code, out, _ = copy.sync("folder")
    assert code == 130
    assert "done: 1 of 3 steps" in out


def test_a_remote_that_takes_all_and_keeps_nothing_is_no_success(copy: Copy) -> None:
    copy.breaks("forgets")
    code, out, err = copy.sync("folder")
    assert code == 3
    assert "holds what" not in out
    assert "it took that and still lacks + file a, + file b and + file c" in err


def test_a_plan_that_is_none_is_the_plugins_fault(copy: Copy) -> None:
    copy.breaks("no plan")
    code, _, err = copy.sync("folder")
    assert code == 2
    assert "its plan must be steps, signed + ~ or -" in err


def test_what_stands_in_the_working_tree_is_the_truth(copy: Copy) -> None:
    copy.put(**WANTED)
    copy.repo.write(cases({"a": "echo other"}))
    assert "~ file a" in copy.sync("folder", "--dry-run").out
    copy.repo.write({"evals/a.md": "---\nid: a\n"})
    assert copy.sync("folder").code == 2
    assert copy.files == WANTED


def test_the_example_s_copy_of_the_list(repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples/every-hook", repo.root, dirs_exist_ok=True)
    done = call_guard(repo.root, "sync", "letters")
    assert done == Outcome(3, "", "guard: sync letters: LETTERS_COPY names no file\n")
    listed = repo.root.parent / "letters.txt"
    monkeypatch.setenv("LETTERS_COPY", str(listed))
    assert "+ the list" in call_guard(repo.root, "sync", "letters").out
    assert listed.read_text() == "offer-ana\nshipped-bo\n"
    listed.write_text("offer-ana\n")
    assert "~ the list" in call_guard(repo.root, "sync", "letters").out
    assert "nothing to do" in call_guard(repo.root, "sync", "letters").out
