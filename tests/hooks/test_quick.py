"""Commits of nothing guarded: both hooks let them through without starting Python."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from guard_hooks.quick import quick_text
from tests.conftest import ScratchRepo
from tests.hooks.installed import BAD_TALK, CONFIG, FILES, GOOD_TALK, TALK, TALK_CASE, case
from tests.hooks.quick_repo import BOTH, QuickRepo, make_quick, write_program
from tests.invariants import unchanged


def test_plain_commit(quick: QuickRepo) -> None:
    quick.stage({"README.md": "more\n", "docs/new.md": "1\n"})
    assert quick.starts() == []
    assert quick.git("show", "--format=", "--name-only", "HEAD").split() == [
        "README.md",
        "docs/new.md",
    ]


def test_touched_skill_starts_it(quick: QuickRepo) -> None:
    quick.stage({"README.md": "more\n", TALK: GOOD_TALK + "Again.\n"})
    assert quick.starts("-m", "feat(talk): say more") == BOTH


def test_broken_skill_is_refused_as_ever(quick: QuickRepo) -> None:
    quick.stage({TALK: BAD_TALK})
    assert quick.try_commit("-m", "feat(talk): say less").returncode == 1
    assert quick.started() == ["pre-commit"]


def test_all_that_is_changed(quick: QuickRepo) -> None:
    quick.write({"README.md": "more\n"})
    assert quick.starts("-a", "-m", "docs: say more") == []
    quick.write({"README.md": "less\n", TALK: GOOD_TALK + "Again.\n"})
    assert quick.starts("-a", "-m", "feat(talk): say more") == BOTH


def test_paths(quick: QuickRepo) -> None:
    """What is staged besides them isn't committed."""
    quick.stage({TALK: GOOD_TALK + "Again.\n"})
    quick.write({"README.md": "more\n"})
    assert quick.starts("-m", "docs: say more", "README.md") == []
    assert quick.starts("-m", "feat(talk): say more") == BOTH


def test_subdirectory(quick: QuickRepo) -> None:
    quick.stage({"skills/other/notes.txt": "1\n"})
    assert quick.starts() == []
    quick.write({"skills/other/notes.txt": "2\n"})
    assert quick.starts("-am", "docs: b", cwd=quick.root / "skills" / "talk") == []
    quick.write({TALK: GOOD_TALK + "Again.\n"})
    assert quick.starts("-am", "feat: c", cwd=quick.root / "skills" / "other") == BOTH


def test_linked_worktree_has_a_list_of_its_own(quick: QuickRepo) -> None:
    quick.git("worktree", "add", "-q", "../linked", "-b", "other")
    linked = ScratchRepo(quick.folder / "linked")
    for number, expected in enumerate([["pre-commit"], [], []]):
        linked.write({"README.md": f"{number}\n"})
        assert quick.starts("-am", "docs: say more", cwd=linked.root) == expected
    linked.write({TALK: GOOD_TALK + "Again.\n"})
    assert quick.starts("-am", "feat(talk): say more", cwd=linked.root) == BOTH
    quick.stage({"README.md": "more\n"})
    assert quick.starts() == []


def test_folder_given_to_git(quick: QuickRepo) -> None:
    quick.stage({"README.md": "more\n"})
    call = ["git", "-C", str(quick.root), "commit", "-q", "-m", "docs: say more"]
    assert ScratchRepo(quick.folder).run(*call, env=quick.env).returncode == 0
    assert quick.started() == []


def test_alias(quick: QuickRepo) -> None:
    quick.git("config", "--global", "alias.ci", "commit -q")
    quick.stage({"README.md": "more\n"})
    assert quick.run("git", "ci", "-m", "docs: say more").returncode == 0
    assert quick.started() == []
    quick.git("config", "--global", "alias.fold", "commit -q --amend --no-edit")
    quick.stage({"README.md": "less\n"})
    assert quick.run("git", "fold").returncode == 0
    assert quick.started() == BOTH


def test_editor_and_long_messages(quick: QuickRepo) -> None:
    quick.stage({"README.md": "more\n"})
    assert quick.starts("-v", env={"GIT_EDITOR": "echo 'docs: say more' >"}) == []
    quick.stage({"README.md": "less\n"})
    assert quick.starts("-m", "docs: words\n\nmany\n\n" + "of them\n" * 500) == []


def test_detached_head_and_other_branches(quick: QuickRepo) -> None:
    quick.git("checkout", "-q", "--detach")
    quick.stage({"README.md": "more\n"})
    assert quick.starts() == []
    quick.git("checkout", "-q", "-b", "other", "HEAD~2")
    quick.stage({"README.md": "less\n"})
    assert quick.starts() == []


def test_squash_merge_of_nothing_guarded(quick: QuickRepo) -> None:
    quick.git("checkout", "-q", "-b", "topic")
    quick.bypass("docs: a", {"docs/a.md": "1\n"})
    quick.git("checkout", "-q", "main")
    quick.git("merge", "-q", "--squash", "topic")
    assert quick.starts("-m", "docs: all of topic") == []


def test_submodule_of_another_repository(quick: QuickRepo, tmp_path: Path) -> None:
    outer = ScratchRepo(tmp_path / "outer")
    outer.root.mkdir()
    outer.git("init", "-q")
    outer.git("submodule", "--quiet", "add", str(quick.root), "inner")
    hooks = str(quick.root / ".git" / "hooks")
    inner = ScratchRepo(outer.root / "inner")
    inner.git("config", "core.hooksPath", hooks)
    for number, expected in enumerate([["pre-commit"], [], []]):
        inner.write({"README.md": f"{number}\n"})
        assert quick.starts("-am", "docs: say more", cwd=inner.root) == expected


def test_sha256(tmp_path: Path) -> None:
    quick = make_quick(tmp_path / "long", object_format="sha256")
    quick.warm()
    quick.stage({TALK: GOOD_TALK + "Again.\n"})
    assert quick.starts("-m", "feat(talk): say more") == BOTH


def test_nothing_of_the_users_is_changed(quick: QuickRepo) -> None:
    write_program(quick.root / ".git" / "hooks" / "prepare-commit-msg", "#!/bin/sh\nexit 1\n")
    quick.stage({"README.md": "more\n", "untracked.txt": "1\n"})
    quick.git("reset", "-q", "untracked.txt")
    quick.write({"README.md": "not staged\n"})
    # Git itself writes the index the first time.
    assert quick.try_commit("-m", "docs: x").returncode == 1
    with unchanged(quick):
        assert quick.try_commit("-m", "docs: x").returncode == 1
    assert quick.started() == []


def test_earlier_hook_is_called_first(quick: QuickRepo) -> None:
    quick.install('#!/bin/sh\necho earlier >>"$RECORD"\nexit ${ENDS_IN:-0}\n')
    quick.stage({"README.md": "more\n"})
    assert quick.starts() == ["earlier", "earlier"]
    quick.stage({"README.md": "less\n"})
    assert quick.try_commit("-m", "docs: x", env={"ENDS_IN": "7"}).returncode != 0


def test_what_an_earlier_hook_stages_is_seen(quick: QuickRepo) -> None:
    quick.install(f"#!/bin/sh\n[ $# = 1 ] || {{ echo more >>{TALK}; git add {TALK}; }}\n")
    quick.stage({"README.md": "more\n"})
    assert quick.starts() == BOTH


def test_change_of_the_agent_costs_one_start_afterwards(quick: QuickRepo) -> None:
    quick.stage({TALK: GOOD_TALK + "Again.\n"})
    assert quick.starts("-m", "feat(talk): say more") == BOTH
    for number, expected in enumerate([["pre-commit"], []]):
        quick.stage({"README.md": f"{number}\n"})
        assert quick.starts() == expected


def test_paths_that_a_shell_reads_otherwise(tmp_path: Path) -> None:
    odd = 'it\'s a "skill" $HOME `x`\n-dash ü\x81 *'
    config = CONFIG.replace("skills/talk/**", "ODD").replace("evals/talk/*.md", "-e/*.md")
    listed = f'"{escaped(odd)}"'
    files = {**FILES, "guard.yaml": config.replace("ODD", listed), f"{odd}/SKILL.md": GOOD_TALK}
    files["-e/x.md"] = case("odd", "say hello")
    files.pop(TALK)
    files.pop(TALK_CASE)
    quick = make_quick(tmp_path / "quick", files)
    quick.warm()
    quick.stage({f"{odd}/notes.txt": "1\n"})
    assert quick.starts("-m", "feat(talk): note") == BOTH


def escaped(path: str) -> str:
    """Return a folder's name as a literal glob in a quoted YAML text, with all below."""
    glob = path.replace("*", "[*]")
    for plain, written in (('"', '\\"'), ("\n", "\\n"), ("\x81", "\\x81")):
        glob = glob.replace(plain, written)
    return f"{glob}/**"


@pytest.mark.parametrize("shell", ["dash", "bash"])
@pytest.mark.parametrize("stage", BOTH)
def test_is_plain_posix_shell(stage: str, shell: str) -> None:
    try:
        done = subprocess.run([shell, "-n"], input=quick_text(stage), text=True, check=False)
    except FileNotFoundError:
        pytest.skip(f"no {shell} here")
    assert done.returncode == 0


def test_other_shell_takes_the_list_alike(quick: QuickRepo) -> None:
    for stage in BOTH:
        hook = quick.root / ".git" / "hooks" / stage
        write_program(hook, hook.read_text().replace("#!/bin/sh", "#!/usr/bin/env bash", 1))
    quick.stage({"README.md": "more\n"})
    assert quick.starts() == []
    quick.stage({TALK: GOOD_TALK + "Again.\n"})
    assert quick.starts("-m", "feat(talk): say more") == BOTH
