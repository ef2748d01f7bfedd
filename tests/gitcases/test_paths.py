"""docs/git.md E: paths that look like something else, and differences as git would show them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from guard import cli
from guard.globs import literal
from guard.trials import export
from guard.trials.names import Folding
from tests.conftest import ScratchRepo
from tests.gitcases.stories import (
    BETTER_TALK,
    RECORDS,
    SPARE,
    WITHOUT_CASE,
    record,
    records,
)
from tests.hooks.installed import (
    BAD_TALK,
    CONFIG,
    FILES,
    GOOD_WALK,
    TALK,
    TALK_CASE,
    Installed,
    case,
    make_installed,
)

MOVED = "evals/walk/greets.md"
NAMES = [
    b"HEAD",
    b"-rf",
    b"--output=x",
    b":(top)x",
    b":!x",
    b"[ab]",
    b"*",
    b"a b",
    b"tab\there",
    b"line\nbreak",
    b'"quoted"',
    b"back\\slash",
    b"$(touch x)",
    b"%s",
    b"#x",
    b"!x",
    b"\xff\xfe",
    "\u00fc".encode(),
    b"@{-1}",
    b"HEAD:x",
    b"0:x",
]


# Moves ------------------------------------------------------------------------------------


def test_058_a_case_that_moves_to_another_agent_is_lost_to_the_first(watched: Installed) -> None:
    """A case moves from one agent to the other, edited: the first lost it, the second gained it."""
    watched.git("mv", TALK_CASE, MOVED)
    watched.stage({MOVED: case("greets", "stop at red")})
    assert "agent talk" in watched.refuse("test: move a case")
    watched.stage({SPARE: case("named", "name")})
    said = watched.accept("test: move a case")
    assert "greets 2 of 2" in said


def test_058_a_retained_case_that_moves_is_missed(watched: Installed) -> None:
    """The moved case guards a regression of the first agent: its record guards nothing then."""
    kept = records(greets=record())
    watched.bypass("test: retain", {RECORDS: kept, SPARE: case("named", "name")})
    watched.git("mv", TALK_CASE, MOVED)
    moved = record(case=MOVED)
    watched.stage({MOVED: case("greets", "stop at red"), RECORDS: records(greets=moved)})
    assert "(record-invalid)" in watched.refuse("test: move a case")
    elsewhere = record(case=MOVED, agent="walk")
    watched.stage({RECORDS: records(greets=elsewhere)})
    assert "(case-weakened)" in watched.refuse("test: move a case")
    # Within its agent a case may move as it likes.
    watched.git("mv", MOVED, "evals/talk/hello.md")
    within = record(case="evals/talk/hello.md")
    watched.stage(
        {"evals/talk/hello.md": FILES[TALK_CASE], RECORDS: records(greets=within)},
    )
    watched.accept("test: rename a case")


@pytest.mark.parametrize("renames", ["false", "true", "copies"])
def test_058_a_skill_that_moves_away_is_a_change_of_both_agents(
    watched: Installed, renames: str
) -> None:
    """A skill's file moves below another agent: both change, whatever git is told of renames."""
    watched.git("config", "diff.renames", renames)
    watched.git("mv", TALK, "skills/walk/talk.md")
    said = watched.refuse("fix: move it")
    assert "agents talk, walk changed" in said


# Settings ---------------------------------------------------------------------------------

SETTINGS = {
    "diff.external": "sh -c 'echo EXT'",
    "diff.relative": "true",
    "diff.noprefix": "true",
    "diff.mnemonicPrefix": "true",
    "diff.ignoreSubmodules": "all",
    "diff.renames": "copies",
    "diff.algorithm": "histogram",
    "diff.wsErrorHighlight": "all",
    "color.ui": "always",
    "color.diff": "always",
    "core.quotePath": "true",
    "core.pager": "false",
    "core.abbrev": "4",
    "core.whitespace": "cr-at-eol",
    "status.relativePaths": "true",
}


def test_059_the_users_ways_to_see_a_difference_change_no_verdict(
    watched: Installed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """diff.* and color.* settings, an external diff, textconv: what is compared is objects."""
    for name, value in SETTINGS.items():
        watched.git("config", name, value)
    order = watched.root.parent / "order"
    order.write_text("*.nothing\n")
    watched.git("config", "diff.orderFile", str(order))
    watched.git("config", "diff.md.textconv", "echo same; true")
    watched.bypass("chore: attributes", {".gitattributes": "*.md diff=md\n"})
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    monkeypatch.setenv("GIT_DIFF_OPTS", "-u0")
    watched.stage({TALK: BAD_TALK})
    below = ScratchRepo(watched.root / "skills/walk")
    done = below.run("git", "commit", "-qm", "feat(talk): say less")
    assert (done.returncode, "✗ greets   0 of 2" in done.stderr) == (1, True), done.stderr
    watched.stage({TALK: BETTER_TALK})
    assert WITHOUT_CASE in watched.refuse("fix(talk): mean it")
    assert "greets 2 of 2" in watched.accept("feat(talk): mean it")


# Names ------------------------------------------------------------------------------------


def write_odd(folder: Path, text: str) -> None:
    for name in NAMES:
        place = os.path.join(os.fsencode(folder), name)
        os.makedirs(place, exist_ok=True)
        for file in (b"SKILL.md", name):
            with open(os.path.join(place, file), "w", encoding="utf-8") as opened:
                opened.write(text)


@pytest.fixture
def odd(watched: Installed) -> Installed:
    """Agent walk, whose folder is full of odd names."""
    talk, walk = CONFIG.split("  walk:")
    walk = walk.replace("[cat, SKILL.md]", "[sh, -c, 'cat ./*/* | sort -u']")
    write_odd(watched.root / "skills/walk", "stop at red\n")
    watched.bypass("feat: odd names", {"guard.yaml": f"{talk}  walk:{walk}"})
    return watched


def test_060_names_that_look_like_something_else_are_names(odd: Installed) -> None:
    """Files named like revisions, options, pathspec magic or globs, and with odd bytes."""
    write_odd(odd.root / "skills/walk", "stop at red, always\n")
    odd.git("add", "--all")
    said = odd.refuse("fix(walk): always")
    assert WITHOUT_CASE in said
    assert f"and {2 * len(NAMES) - 3} more" in said
    assert "stops 2 of 2" in odd.accept("feat(walk): always")
    write_odd(odd.root / "skills/walk", "run at red\n")
    odd.git("add", "--all")
    assert "✗ stops   0 of 2" in odd.refuse("feat(walk): never")
    done = odd.run("git", "push", "-q", "--dry-run", ".", "main:other")
    assert done.returncode == 0, done.stderr


#: guard.yaml is UTF-8 and knows no backslashes: these names are matched by a glob alone.
UNNAMED = (b"\xff\xfe", b"back\\slash")


@pytest.mark.parametrize("name", [name for name in NAMES if name not in UNNAMED], ids=repr)
def test_060_each_of_them_alone_is_seen(repo: ScratchRepo, name: bytes) -> None:
    """One file of such a name, at the root and as an agent's own path, is one path."""
    text = os.fsdecode(name)
    config = CONFIG.replace("skills/walk/**", json.dumps(literal(text)))
    installed = make_installed(repo, {**FILES, "guard.yaml": config, text: "x\n"})
    installed.stage({text: "y\n"})
    file = installed.root.parent / "message"
    file.write_text("fix: it\n")
    done = installed.call_hook("commit-msg", str(file))
    assert (done.returncode, WITHOUT_CASE in done.stderr) == (1, True), done.stderr
    assert "this fix changes agent walk" in done.stderr


# Twins ------------------------------------------------------------------------------------


def test_062_names_that_differ_by_case_or_form_are_two(watched: Installed) -> None:
    """A folder renamed by case alone, and two Unicode forms of a name: bytes, each on its own."""
    watched.git("mv", "skills/walk", "skills/moving")
    watched.git("mv", "skills/moving", "skills/Walk")
    assert WITHOUT_CASE in watched.refuse("fix: rename")
    watched.git("mv", "skills/Walk", "skills/moving")
    watched.git("mv", "skills/moving", "skills/walk")
    twins = ("\u00e9", "e\u0301", "skill.md")
    watched.stage({f"skills/walk/{name}": f"{name}\n" for name in twins})
    assert "stops 2 of 2" in watched.accept("feat(walk): twins")
    assert watched.git("ls-files", "-z", "skills/walk").count("\0") == 4


@pytest.mark.parametrize(
    ("twins", "folds"),
    [
        (("skills/walk/SKILL.md", "skills/walk/skill.md"), Folding(case=True)),
        (("skills/walk/\u00e9", "skills/walk/e\u0301"), Folding(composition=True)),
    ],
)
def test_062_twins_on_a_disk_that_folds_them_can_not_be_established(
    repo: ScratchRepo,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    twins: tuple[str, str],
    folds: Folding,
) -> None:
    """Two names that this disk takes for one: no trial, and both are named."""
    installed = make_installed(repo)
    installed.bypass("feat: twins", dict.fromkeys(twins, GOOD_WALK))
    monkeypatch.chdir(installed.root)

    def told(folder: str) -> Folding:
        return folds

    monkeypatch.setattr(export, "folding", told)
    assert cli.main(["run", "--at", "HEAD", "stops"]) == 3
    said = capsys.readouterr().out
    assert "are one name on this file system" in said
    # The other agent's folder holds no twins.
    assert cli.main(["run", "--at", "HEAD", "greets"]) == 0
    monkeypatch.undo()


# Many -------------------------------------------------------------------------------------


def stage_many(installed: Installed, folder: str, number: int = 40_000) -> None:
    """Stage files that are never written: all are one blob."""
    oid = installed.git("hash-object", "-w", "--stdin", input="x\n").strip()
    lines = (f"100644 {oid}\t{folder}/{'x' * 60}{i:06}\n" for i in range(number))
    installed.git("update-index", "--index-info", input="".join(lines))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "files"),
    [("data", {}), ("skills/talk/data", {}), ("evals/talk/fixtures", {TALK: BETTER_TALK})],
)
def test_063_forty_thousand_paths_go_onto_no_command_line(
    repo: ScratchRepo, folder: str, files: Mapping[str, str]
) -> None:
    """A commit of 40,000 paths is judged in seconds, guarded or not."""
    installed = make_installed(repo)
    installed.stage(dict(files))
    stage_many(installed, folder)
    message = installed.root.parent / "message"
    message.write_text("fix: big\n")
    began = time.monotonic()
    done = installed.call_hook("commit-msg", str(message))
    guarded = folder != "data"
    assert (done.returncode, WITHOUT_CASE in done.stderr) == (int(guarded), guarded), done.stderr
    done = installed.call_hook("pre-commit")
    assert done.returncode == 0, done.stderr
    assert ("greets 2 of 2" in done.stderr) == guarded
    assert time.monotonic() - began < 60
