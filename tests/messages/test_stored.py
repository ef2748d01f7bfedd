"""The message is the same from the hook's file and from the stored commit, whatever the way."""

from __future__ import annotations

from collections.abc import Generator
from itertools import cycle, islice

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from guard.messages.message import fix_reason, near_miss, parse_message
from tests.conftest import ScratchRepo
from tests.messages.committer import Committer, Made

CUT = b" ------------------------ >8 ------------------------\n"
MODES = (None, "default", "strip", "whitespace", "verbatim", "scissors")
COMMENTS: dict[str, dict[str, str | None]] = {
    "none": {},
    ";": {"core.commentChar": ";"},
    "auto": {"core.commentChar": "auto"},
    "a string": {"core.commentString": "//"},
    "a string, then a character": {"core.commentString": "//", "core.commentChar": "%"},
    "a character, then a string": {"core.commentChar": "%", "core.commentString": "//"},
}
MESSAGES = (
    b"fix: a\n\nbody\n",
    b"# fix: x\nfeat: b\n#12 is kept, or not\n;c\n//d\n%e\n\n\n\nbody # kept\n  # kept too\n",
    b"#12\nfix: the first line\n#\nFixes #3",
    b"\xef\xbb\xbffix: BOM\n\n\xef\xbb\xbf# no comment\n",
    b"\r\nfix: CRLF  \r\n\r\n\r\nbody\t\r\n# c\r\n\r\nGuard-Exempt: no reason at all\r\n",
    b"feat: scissors\n#" + CUT + b"fix: below\n\nFixes: 0123456789ab\n",
    b"feat: others\n;" + CUT + b"fix: below\n//" + CUT + b"fix: below\n%" + CUT + b"Fixes #1\n",
    b'feat: a diff\n\ndiff --git a/x b/x\n@@ -1 +1 @@\nFixes: 0123456789ab ("x")\n',
    b"\n \n  fix: a blank before it\n\x0c\nfix: \x0b\n",
    b"@john wrote this\n\n: and this\n@ alone\n",
    b"fix: stray caf\xe9 \xc3\xa9 \xef\xbf\xbe \xed\xa0\x80 \xf4\x90\x80\x80 \xc0\xaf\n",
)
#: What `git commit` is called with; {m} is the message itself.
WAYS: dict[str, tuple[str, ...]] = {
    "-F": ("-F", "../typed"),
    "-F, abbreviated": ("--fil", "../typed"),
    "-F -v": ("-vF../typed",),
    "-F -e": ("-F", "../typed", "--edit"),
    "-F -e -v": ("-veF", "../typed"),
    "-m": ("-m", "{m}"),
    "-m --amend": ("--amend", "-m", "{m}"),
    "-m -m -s": ("-m", "{m}", "-m", "Fixes #12", "-s"),
    "-m --trailer": ("-m", "{m}", "--trailer", "Guard-Exempt: it is only the wording"),
    "editor": (),
    "editor -v": ("-v",),
    "editor --no-status": ("--no-status",),
    "-t": ("-t", "../template"),
    "--amend": ("--amend",),
    "--amend --no-edit": ("--amend", "--no-edit"),
    "-C": ("-C", "HEAD"),
    "-c": ("-c", "HEAD"),
    "--fixup": ("--fixup", "HEAD"),
    "--fixup=amend": ("--fixup=amend:HEAD",),
    "--squash": ("--squash", "HEAD", "-m", "{m}"),
}
TEMPLATE = b"# what a fix needs\n\nfix: in the template\n"


@pytest.fixture
def committer(repo: ScratchRepo) -> Generator[Committer]:
    found = Committer(repo)
    (repo.root.parent / "template").write_bytes(TEMPLATE)
    yield found
    found.opened.close()


def made(
    committer: Committer, way: str, typed: bytes, config: dict[str, str | None]
) -> Made | None:
    words = [typed if word == "{m}" else word for word in WAYS[way]]
    return committer.commit(typed, *words, config=config)


def assert_same(found: Made | None) -> int:
    """Return 1 where git made a commit at all."""
    if found is None:
        return 0
    assert found.text == found.stored, found
    file, stored = parse_message(found.text), parse_message(found.stored)
    assert file == stored
    assert (fix_reason(file), near_miss(file)) == (fix_reason(stored), near_miss(stored))
    return 1


@pytest.mark.parametrize("comment", COMMENTS)
@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_write_a_message(committer: Committer, way: str, comment: str) -> None:
    # Each cell of way, comment and mode meets another of the messages.
    first = len(MODES) * list(WAYS).index(way) + list(COMMENTS).index(comment)
    messages = islice(cycle(MESSAGES), first % len(MESSAGES), None)
    count = 0
    for mode, typed in zip(MODES, messages, strict=False):
        config = {"commit.cleanup": mode, **COMMENTS[comment]}
        count += assert_same(made(committer, way, typed, config))
    assert count == len(MODES)


ENCODED = {
    "ISO-8859-1": "fix: café\n\nÀ propos\n",
    "cp1251": "fix: исправить\n\nFixes #12\n",
    "EUC-JP": "fix: 修正\n\n修正しました\n",
    "UTF-8": "fix: 修正 café\n",
    "no-such": "fix: café\n",
}


@pytest.mark.parametrize("way", ["-F", "-F -e", "-m", "editor -v", "-t"])
@pytest.mark.parametrize("encoding", ENCODED)
def test_a_declared_encoding(committer: Committer, encoding: str, way: str) -> None:
    text = ENCODED[encoding]
    raw = text.encode("latin-1" if encoding == "no-such" else encoding)
    config: dict[str, str | None] = {"i18n.commitEncoding": encoding}
    for typed in (
        raw,
        raw + b"\xff\xfe\x8e broken\n",
        b"\xef\xbb\xbf" + raw,
        raw + b"\xef\xbf\xbf",
    ):
        found = made(committer, way, typed, config)
        assert found is not None
        assert_same(found)
        assert (b"\nencoding " in found.commit) is (encoding != "UTF-8")
    whole = made(committer, "-F", raw, config)
    assert whole is not None
    assert whole.text == text


def test_a_message_that_is_brought_along_from_another_encoding(committer: Committer) -> None:
    latin = {"i18n.commitEncoding": "ISO-8859-1"}
    made(committer, "-F", "fix: café\n".encode("latin-1"), {**latin})
    for way in ("-C", "--amend --no-edit", "--amend", "-c", "--fixup"):
        for config in ({}, {"i18n.commitEncoding": "EUC-JP"}, {"i18n.commitEncoding": "cp1251"}):
            assert_same(made(committer, way, b"more\n", {**config}))


def test_an_editor_of_the_user_that_does_nothing(
    committer: Committer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_EDITOR", ":")
    made(committer, "-F", b"fix: a\n# kept\n", {"commit.cleanup": "verbatim"})
    for way in WAYS:
        for mode in MODES:
            assert_same(made(committer, way, b"feat: b\n# c\n", {"commit.cleanup": mode}))


def test_options_of_git_before_the_command(committer: Committer) -> None:
    (committer.root.parent / "merge").mkdir()
    for words in (("-C", "."), ("--no-pager", "-c", "commit.cleanup=strip"), ("--git-dir", ".git")):
        typed = b"fix: a\n# c\n"
        (committer.root.parent / "typed").write_bytes(typed)
        call = ["git", *words, "commit", "--allow-empty", "-qF", "../typed"]
        done = committer.repo.run(*call)
        assert done.returncode == 0, done.stderr
        assert_same(committer.read(call, committer.root.parent))


PIECES = [
    *(b"fix: a", b"feat: b", b"\n", b"\n\n", b"\r\n", b" ", b"\t", b"#", b"# ", b";", b"//", b"%"),
    *(b"#" + CUT, b";" + CUT, b"Fixes #12", b"Guard-Exempt: some reason", b"\xef\xbb\xbf"),
    *(b"\xe9", b"\xc3\xa9", b"\xef\xbf\xbf", b"\x0c", b"@", b"diff --git a/x b/x\n"),
]


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    way=st.sampled_from(sorted(WAYS)),
    mode=st.sampled_from(MODES),
    comment=st.sampled_from(sorted(COMMENTS)),
    encoding=st.sampled_from([None, "ISO-8859-1", "UTF-8", "EUC-JP"]),
    typed=st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join),
)
def test_any_message_any_way(
    committer: Committer,
    way: str,
    mode: str | None,
    comment: str,
    encoding: str | None,
    typed: bytes,
) -> None:
    config = {"commit.cleanup": mode, "i18n.commitEncoding": encoding, **COMMENTS[comment]}
    assert_same(made(committer, way, typed, config))
