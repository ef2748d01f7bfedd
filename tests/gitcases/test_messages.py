"""docs/git.md D: messages as git writes, cleans and folds them."""

from __future__ import annotations

from pathlib import Path

import pytest

from guard.messages.message import stored_message
from tests.gitcases.stories import BETTER_TALK, WITHOUT_CASE
from tests.hooks.installed import TALK, Done, Installed, skill

#: A skill whose diff holds all that a message may hold.
TALKATIVE = skill("talk", 'say hello\nfix: x\nFixes #12\nFixes: 0123456789ab ("x")')
MODES = ("strip", "whitespace", "verbatim", "scissors", "default")


def commit_with_editor(watched: Installed, typed: str, *options: str) -> Done:
    """Commit with an editor that writes this above what git put there."""
    (watched.root.parent / "typed").write_text(typed)
    editor = 'sh -c \'cat ../typed "$1" >../edited && cat ../edited >"$1"\' -'
    return watched.try_commit(*options, GIT_EDITOR=editor)


def stored(watched: Installed) -> str:
    return stored_message(watched.git("cat-file", "commit", "HEAD").encode())


@pytest.mark.parametrize("mode", MODES)
def test_049_the_diff_of_commit_v_is_no_message(watched: Installed, mode: str) -> None:
    """`commit -v` shows the diff below the message: it is cut as git cuts it, in each mode."""
    watched.git("config", "commit.cleanup", mode)
    watched.stage({TALK: TALKATIVE})
    done = commit_with_editor(watched, "fix: say more\n", "-v")
    assert done.returncode == 1
    assert WITHOUT_CASE in done.stderr
    done = commit_with_editor(watched, "docs: say more\n", "-v")
    assert done.returncode == 0, done.stderr
    assert "Fixes #12" not in stored(watched)


@pytest.mark.parametrize("mode", MODES)
def test_049_a_comment_counts_where_git_keeps_it(watched: Installed, mode: str) -> None:
    """A line that begins with `#` is a comment only in the modes that strip comments."""
    watched.stage({TALK: BETTER_TALK})
    done = commit_with_editor(
        watched, "docs: say more\n\n# Fixes #12\n", f"--cleanup={mode}", "--no-status"
    )
    is_kept = mode in ("whitespace", "verbatim", "scissors")
    assert done.returncode == (1 if is_kept else 0), done.stderr
    assert (WITHOUT_CASE in done.stderr) is is_kept
    if not is_kept:
        assert stored(watched) == "docs: say more\n"


def test_049_another_comment_character(watched: Installed) -> None:
    """With `core.commentChar=auto` git takes a character that begins no line: `#12` is kept."""
    watched.git("config", "core.commentChar", "auto")
    watched.git("config", "commit.cleanup", "strip")
    watched.stage({TALK: BETTER_TALK})
    assert WITHOUT_CASE in watched.refuse("docs: say more\n\n#12\n# Fixes #12")
    watched.git("config", "core.commentChar", "#")
    watched.accept("docs: say more\n\n#12\n# Fixes #12")
    assert stored(watched) == "docs: say more\n"


HEADERS = {
    "fix": ("fix!: a", "FIX(a): b", "fix(@x/y): c", "Fixed #12"),
    "noted": ("fixup! fix: a", "amend! fix: a"),
    "near": (
        *("fix:a", "fix : a", "fix(): a", "hotfix: a", " fix: a", "[a] fix: b", "fixup!fix: a"),
        *("fix\N{FULLWIDTH COLON}a", "f\N{CYRILLIC SMALL LETTER BYELORUSSIAN-UKRAINIAN I}x: a"),
    ),
    "other": ('Revert "fix: a"', "revert: fix: a", "Merge branch fix: a", "prefix: a"),
}


@pytest.mark.parametrize("kind", HEADERS)
def test_053_headers_and_what_only_looks_like_one(watched: Installed, kind: str) -> None:
    """Upper case, bang, odd scopes, look-alikes: a fix owes its case, a near miss is named."""
    watched.stage({TALK: BETTER_TALK})
    file = watched.root.parent / "message"
    for header in HEADERS[kind]:
        file.write_text(f"{header}\n", encoding="utf-8")
        done = watched.call_hook("commit-msg", str(file))
        assert done.returncode == (1 if kind == "fix" else 0), (header, done.stderr)
        assert (WITHOUT_CASE in done.stderr) is (kind in ("fix", "noted")), header
        assert ("looks like a fix" in done.stderr) is (kind == "near"), header
        assert not (kind == "other" and done.stderr), done.stderr


def test_053_a_near_miss_is_broken_under_strict(watched: Installed) -> None:
    """A near miss passes with the header that would do; `--strict` refuses it later."""
    base = watched.git("rev-parse", "HEAD").strip()
    watched.stage({TALK: BETTER_TALK})
    said = watched.accept("fix:say more")
    assert 'write "fix: say more" (near-miss-header)' in said
    assert watched.guard("check", "--base", base).returncode == 0
    done = watched.guard("check", "--base", base, "--strict")
    assert done.returncode == 1
    assert "near-miss-header" in done.stdout


@pytest.mark.parametrize(
    ("message", "is_refused"),
    [
        ("\n\n  \nfix: a\ndocs: b\n\nbody\n", True),
        ('docs: a\nFixes: 0123456789ab ("x")\n', True),
        ("\n\n  \ndocs: a\nfix: b\n\nbody\n", False),
    ],
)
def test_055_the_header_is_one_line(watched: Installed, message: str, is_refused: bool) -> None:
    """`%s` folds the first paragraph: the header is its first line, a trailer any below."""
    watched.stage({TALK: BETTER_TALK})
    (watched.root.parent / "m").write_text(message)
    done = watched.try_commit("-F", "../m")
    assert (done.returncode != 0) is is_refused, done.stderr
    assert (WITHOUT_CASE in done.stderr) is is_refused
    assert ("without a blank line" in done.stderr) is not is_refused


def test_056_the_file_of_the_message(watched: Installed, tmp_path: Path) -> None:
    """The file's path is relative in the main worktree, absolute in a linked one: both are read."""
    linked = Installed(tmp_path / "linked")
    watched.git("worktree", "add", "-q", str(linked.root))
    for place, folder in ((watched, watched.root / "skills"), (linked, linked.root / "evals")):
        place.stage({TALK: BETTER_TALK})
        done = place.try_commit("-m", "fix: say more", cwd=folder)
        assert done.returncode == 1
        assert WITHOUT_CASE in done.stderr
        assert place.accept("docs: say more", cwd=folder).count("near-miss") == 0
