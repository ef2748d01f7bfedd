"""What git will make of the message file: every case here is asked of a real git."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.errors import UsageError
from guard.messages.message import (
    Cleanup,
    clean_message,
    clean_raw,
    decode_message,
    effective_cleanup,
    parse_message,
    stored_message,
)

if TYPE_CHECKING:
    from tests.conftest import ScratchRepo

SCISSORS = b"# ------------------------ >8 ------------------------\n"
MODES = ("strip", "whitespace", "verbatim", "scissors", "default")
MESSAGES = (
    b"fix: a\n\nbody\n",
    b"fix: no final newline\n\nbody",
    b"# fix: x\nfeat: b\n# c\n\n\n\nbody # kept\n  # kept too\n",
    b"\n\n  \nfeat: blanks\t \n\n\n \n\nbody  \n\n\n",
    b"\r\nfix: CRLF  \r\n\r\n\r\nbody\t\r\n# c\r\n",
    b"\xef\xbb\xbffix: BOM\n",
    b"feat: a form feed \x0c\n\x0c\nbody\x0b\n",
    b"feat: scissors inside\n" + SCISSORS + b"fix: below\n\nFixes: 0123456789ab\n",
    b"feat: scissors with CRLF\n" + SCISSORS.replace(b"\n", b"\r\n") + b"kept\n",
    b"feat: scissors not at the start of a line\nx " + SCISSORS + b"kept\n",
    b"feat: other scissors\n; " + SCISSORS[2:] + b"kept\n",
    SCISSORS + b"fix: all is cut\n",
    b'feat: looks like a diff\n\ndiff --git a/x b/x\n@@ -1 +1 @@\nFixes: 0123456789ab ("x")\n',
    b"fix: stray Latin-1 caf\xe9, and \xc3\xa9 in UTF-8\n",
)
#: Writes what was typed above what git put into the file.
EDITOR = 'cat ../typed "$1" >../edited && cat ../edited >"$1"'
HOOK = """#!/bin/sh
cat "$1" >../seen
printf %s "${GIT_EDITOR-unset}" >../editor
"""


class Committer:
    """Commits through a real git, and keeps what its hook saw."""

    def __init__(self, repo: ScratchRepo) -> None:
        self.root = repo.root
        self.config: dict[str, str] = {}
        hook = self.root / ".git/hooks/commit-msg"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(HOOK, encoding="utf-8")
        hook.chmod(0o755)
        repo.git("config", "core.editor", EDITOR + " #")
        repo.write({"a": "1\n"})
        repo.git("add", "a")
        repo.git("commit", "--quiet", "--no-verify", "-m", "feat: base")

    def set(self, key: str, value: str) -> None:
        self.git("config", key, value)
        self.config[key.lower()] = value

    def git(self, *args: str) -> bytes:
        done = subprocess.run(["git", *args], cwd=self.root, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def commit(self, typed: bytes, *options: str) -> tuple[Cleanup, bytes, bytes]:
        """Return how guard would clean, the file that the hook saw, the commit stored."""
        (self.root / "../typed").write_bytes(typed)
        (self.root / "a").write_bytes(b"+" + typed)
        self.git("add", "a")
        args = ("commit", "--quiet", "--allow-empty", "--allow-empty-message", *options)
        self.git(*args)
        editor = Path(self.root / "../editor").read_text(encoding="utf-8")
        seen = (self.root / "../seen").read_bytes()
        cleanup = effective_cleanup(
            seen, self.config, ("git", *args), None if editor == "unset" else editor
        )
        return cleanup, seen, self.git("cat-file", "commit", "HEAD")


@pytest.fixture
def committer(repo: ScratchRepo) -> Committer:
    return Committer(repo)


def assert_same(cleanup: Cleanup, seen: bytes, commit: bytes, encoding: str = "") -> None:
    cleaned = clean_message(
        seen,
        mode=cleanup.mode,
        comment_char=cleanup.comment_char,
        verbose_scissors=cleanup.verbose_scissors,
        encoding=encoding,
    )
    assert cleaned == stored_message(commit), (cleanup, seen)
    assert parse_message(cleaned) == parse_message(stored_message(commit))


WAYS = {
    "file": ("-F", "../typed"),
    "editor": (),
    "editor-verbose": ("-v",),
    "file-verbose": ("-vF../typed",),
    "file-editor": ("-F", "../typed", "--edit", "-qv"),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("way", WAYS)
def test_reads_the_file_as_git_stores_it(committer: Committer, mode: str, way: str) -> None:
    committer.set("commit.cleanup", mode)
    for typed in MESSAGES:
        assert_same(*committer.commit(typed, *WAYS[way]))


@pytest.mark.parametrize("mode", MODES)
def test_the_command_line_outranks_the_configuration(committer: Committer, mode: str) -> None:
    committer.set("commit.cleanup", "strip" if mode == "verbatim" else "verbatim")
    committer.set("commit.verbose", "true")
    for options in (
        ("--cleanup", mode),
        (f"--cleanup={mode}", "--no-verbose"),
        (f"--clean={mode}",),
    ):
        assert_same(*committer.commit(MESSAGES[2], *options))
        assert_same(*committer.commit(MESSAGES[7], "-F", "../typed", *options))


@pytest.mark.parametrize("comment", [";", "%", "auto"])
@pytest.mark.parametrize("options", [(), ("-v",)])
def test_knows_other_comment_characters(
    committer: Committer, comment: str, options: tuple[str, ...]
) -> None:
    committer.set("core.commentChar", comment)
    for typed in (*MESSAGES, b"fix: a\n#12 is kept by auto\n; and\n% not\n"):
        assert_same(*committer.commit(typed, *options))


@pytest.mark.parametrize("options", [("-e",), ("-e", "-v")])
def test_auto_takes_the_character_that_git_took(
    committer: Committer, options: tuple[str, ...]
) -> None:
    committer.set("core.commentChar", "auto")
    cleanup, seen, commit = committer.commit(b"x", "-m", "fix: a\n#12\n;13\n", *options)
    assert_same(cleanup, seen, commit)
    assert commit.endswith(b"#12\n;13\n")
    assert b"\n@ " in seen


@pytest.mark.parametrize("char", ["|", ";", "$", "@"])
def test_auto_takes_no_row_of_a_table_for_a_comment(char: str) -> None:
    rows = f"fix: a\n\n{char} a {char} b\n{char} c {char} d\n".encode()
    assert clean_raw(rows, Cleanup("strip", "auto")) == rows
    passed = "".join(f"{one}1\n" for one in "#;@!$%^&|:".partition(char)[0]).encode()
    kept = b"fix: a\n\n" + passed
    commented = kept + f"\n{char} Please enter\n{char} On branch\n".encode()
    assert clean_raw(commented, Cleanup("strip", "auto")) == kept


def test_an_editor_of_the_user_that_does_nothing_is_an_editor(
    committer: Committer, monkeypatch: pytest.MonkeyPatch
) -> None:
    committer.commit(b"feat: a\n# kept, there was no editor\n", "-F", "../typed")
    monkeypatch.setenv("GIT_EDITOR", ":")
    for options in (("--amend",), ("--amend", "-v"), ("--amend", "--no-edit"), ("-C", "HEAD")):
        assert_same(*committer.commit(b"", *options))
    for options in (("-F../typed", "-e"), ("-m", "-v\n# x"), ("--fixup", "HEAD")):
        assert_same(*committer.commit(b"fix: a\n# x\n", *options))


def test_reads_a_declared_encoding(committer: Committer) -> None:
    committer.set("i18n.commitEncoding", "ISO-8859-1")
    cleanup, seen, commit = committer.commit("fix: café\n".encode("latin-1"), "-F", "../typed")
    assert b"\nencoding ISO-8859-1\n" in commit
    assert stored_message(commit) == "fix: café\n"
    assert_same(cleanup, seen, commit, "ISO-8859-1")


@pytest.mark.parametrize("mode", ["default", "scissors", "whitespace"])
def test_reads_the_message_of_a_merge(committer: Committer, mode: str) -> None:
    committer.set("commit.cleanup", mode)
    committer.set("commit.verbose", "true")
    committer.git("checkout", "--quiet", "-b", "side")
    committer.commit(b"feat: side\n", "-F", "../typed")
    committer.git("checkout", "--quiet", "main")
    (committer.root / "../typed").write_bytes(b"fix: merged\n# comment\n")
    for options in (("--edit",), ("-m", "fix: merged\n# x\n" + SCISSORS.decode() + "kept?")):
        args = ("merge", "--quiet", "--no-ff", *options, "side")
        committer.git(*args)
        editor = (committer.root / "../editor").read_text(encoding="utf-8")
        seen = (committer.root / "../seen").read_bytes()
        cleanup = effective_cleanup(
            seen, committer.config, ("git", *args), None if editor == "unset" else editor
        )
        assert_same(cleanup, seen, committer.git("cat-file", "commit", "HEAD"))
        committer.git("reset", "--quiet", "--hard", "HEAD^")


def test_without_a_command_line_the_diff_itself_tells_verbose(committer: Committer) -> None:
    for options, cut in (((), False), (("-v",), True)):
        _, seen, commit = committer.commit(b"fix: a %d\n" % cut, *options)
        cleanup = effective_cleanup(seen, {}, (), None)
        assert cleanup.verbose_scissors is cut
        assert_same(cleanup, seen, commit)


def test_a_fix_in_the_diff_part_is_none(committer: Committer) -> None:
    (committer.root / "a").write_text("fix: x\nFixes #12\n", encoding="utf-8")
    cleanup, seen, _ = committer.commit(b"feat: a\n\nFixes #12\n", "-v")
    assert seen.count(b"Fixes #12") == 2
    assert parse_message(clean_raw(seen, cleanup).decode()).closing == (("fixes", "#12"),)


def test_refuses_an_unknown_mode() -> None:
    with pytest.raises(UsageError, match=r"commit\.cleanup: 'strap' is none of strip"):
        clean_raw(b"", Cleanup("strap"))


@pytest.mark.parametrize("encoding", ["utf-16", "UTF-16LE", "utf_16_be", "cp037", "cp1140"])
def test_an_encoding_that_cannot_be_a_header_s_is_not_believed(encoding: str) -> None:
    """Git stores such a message as it stands, and the name of the encoding beside it."""
    message = "fix(talk): say bye für\n"
    assert decode_message(message.encode(), encoding) == message


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        *(("shift_jis", "fix: 修正"), ("euc-jp", "fix: 修正"), ("iso-2022-jp", "fix: 修正")),
        *(("gb18030", "fix: 修正"), ("koi8-r", "fix: жлю"), ("windows-1252", "fix: für “x”")),
    ],
)
def test_an_encoding_that_can_is(encoding: str, text: str) -> None:
    assert decode_message(text.encode(encoding), encoding) == text


@pytest.mark.parametrize("encoding", ["", "no-such", "hex", "ascii", "a\0b"])
def test_falls_back_to_latin_1_byte_by_byte(encoding: str) -> None:
    assert decode_message(b"caf\xe9 \xc3\xa9 \xe2\x82", encoding) == "café é â\x82"


@pytest.mark.parametrize(
    ("message", "encoding"),
    [
        (b"chore: a +2AA-", "utf-7"),
        (b"chore: \\ud800", "unicode_escape"),
        (b"chore: \\ud800", "Raw-Unicode-Escape"),
        (b"chore: \\x66ix", "unicode-escape"),
        (b"chore: a-9ca", "punycode"),
    ],
)
def test_what_git_cannot_convert_is_read_as_it_stands(message: bytes, encoding: str) -> None:
    assert decode_message(message, encoding) == message.decode()
    assert decode_message(b"caf+AOk-", "utf-7") == "café"


def test_nothing_is_read_behind_a_nul() -> None:
    commit = b"tree 1\n\nfix: ask\0\n\nGuard-Exempt: a reason that is hidden\n"
    assert stored_message(commit) == "fix: ask"
    assert parse_message(stored_message(commit)).trailers == ()


def test_reads_a_commit_with_a_signature_and_without_a_message() -> None:
    commit = (
        b"tree 1\ngpgsig -----BEGIN\n encoding x\n \n END\nencoding latin-1\n\nfix: \xe9\n\nb\n"
    )
    assert stored_message(commit) == "fix: é\n\nb\n"
    assert stored_message(b"tree 1\n\n") == ""


@given(
    st.binary(), st.sampled_from(MODES), st.booleans(), st.sampled_from(["#", ";", "auto", "//"])
)
def test_cleans_any_bytes_and_cleans_once(
    raw: bytes, mode: str, verbose: bool, comment: str
) -> None:
    cleanup = Cleanup(mode, comment, verbose)
    once = clean_raw(raw, cleanup)
    if comment != "auto" and mode != "scissors" and not verbose:
        assert clean_raw(once, cleanup) == once
    assert isinstance(decode_message(once), str)
