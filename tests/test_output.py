from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard import model, output
from guard.errors import UnreadableError, UsageError

#: Prints one report of four lines and one message.
PROGRAM = """
import sys
from guard import output
output.set_color(sys.argv[1])
output.out("✓ a PASS\\n✗ b FAIL\\n? c OWED\\n! d ERROR")
output.say("said")
"""


def run_program(
    mode: str = "auto", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, mode],
        capture_output=True,
        env={**os.environ, **(env or {})},
        check=False,
    )


def test_report_to_stdout_all_else_to_stderr() -> None:
    done = run_program()
    assert done.stdout.decode() == "✓ a PASS\n✗ b FAIL\n? c OWED\n! d ERROR\n"
    assert done.stderr.decode() == "said\n"


def test_marks_fall_back_where_the_encoding_has_none() -> None:
    done = run_program(env={"PYTHONIOENCODING": "ascii"})
    assert done.stdout == b"+ a PASS\nx b FAIL\n? c OWED\n! d ERROR\n"
    assert output.encode("✓ ü…", "latin-1") == b"+ \xfc..."
    assert output.encode("✓ \udcff", "utf-8") == "✓ \\udcff".encode()


def test_color_always_and_never() -> None:
    assert b"\x1b[32m\xe2\x9c\x93\x1b[0m a PASS" in run_program("always").stdout
    assert b"\x1b" not in run_program("never").stdout
    assert b"\x1b" not in run_program("auto").stdout


def read_terminal(mode: str, env: dict[str, str]) -> bytes:
    master, slave = pty.openpty()
    try:
        clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}
        subprocess.run(
            [sys.executable, "-c", PROGRAM, mode],
            stdout=slave,
            stderr=slave,
            env={**clean, "TERM": "xterm", **env},
            check=True,
        )
        return os.read(master, 4096)
    finally:
        os.close(slave)
        os.close(master)


def test_auto_colours_a_terminal_unless_told_not_to() -> None:
    assert b"\x1b[31m" in read_terminal("auto", {})
    assert b"\x1b" not in read_terminal("auto", {"NO_COLOR": "1"})
    assert b"\x1b" not in read_terminal("auto", {"TERM": "dumb"})
    assert b"\x1b[31m" in read_terminal("always", {"NO_COLOR": "1"})
    assert b"\x1b" not in read_terminal("never", {})


def test_only_a_mark_at_the_start_of_a_line_is_coloured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(output, "_color", "always")
    stream = io.StringIO()
    output.write(stream, "? a\nwhy? no ! here\n  ! indented\n")
    assert stream.getvalue() == "\x1b[33m?\x1b[0m a\nwhy? no ! here\n  ! indented\n"


def test_everything_arrives_through_a_non_blocking_pipe() -> None:
    code = "from guard import output; output.out('x' * 500_000); raise SystemExit(7)"
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    child = subprocess.Popen([sys.executable, "-c", code], stdout=writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        assert len(stream.read()) == 500_001
    assert child.wait() == 7


def test_a_reader_that_leaves_changes_no_exit_code() -> None:
    code = (
        "from guard import output\n"
        "for _ in range(200): output.out('x' * 10_000)\n"
        "raise SystemExit(1)"
    )
    reader, writer = os.pipe()
    child = subprocess.Popen([sys.executable, "-c", code], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    os.close(reader)
    assert child.stderr
    errors = child.stderr.read()
    child.stderr.close()
    assert (child.wait(), errors) == (1, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux alone has /dev/full")
def test_a_full_disk_is_an_error_for_the_report_and_none_for_messages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        monkeypatch.setattr(sys, "stderr", full)
        with pytest.raises(UnreadableError, match="No space left"):
            output.out("lost")
        output.say("lost, and no matter")


def test_no_stream_at_all_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    output.say("nobody hears")


def test_warnings_name_guard(capsys: pytest.CaptureFixture[str]) -> None:
    output.warn("the store is corrupt")
    assert capsys.readouterr().err == "guard: the store is corrupt\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain/ü.md", "plain/ü.md"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("bad\udcff.md", "bad\\xff.md"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\x9b2J", "\\x9b2J"),
        ("\ud800", "\\ud800"),
    ],
)
def test_printable(text: str, shown: str) -> None:
    assert output.printable(text) == shown
    output.printable(text).encode("utf-8")


def test_printable_keeps_what_it_is_told_to() -> None:
    assert output.printable("a\n\tb\x1b", keep="\n\t") == "a\n\tb\\x1b"


@pytest.mark.parametrize(
    ("path", "quoted"),
    [
        ("evals/cases/a.md", "evals/cases/a.md"),
        ("a b.md", "'a b.md'"),
        ("it's", "'it'\\''s'"),
        ("-rf", "./-rf"),
        ("~user", "'~user'"),
        ("$(rm)", "'$(rm)'"),
        ("", "''"),
        ("new\nline", "$'new\\012line'"),
        ("ü.md", "'ü.md'"),
    ],
)
def test_shell_path(path: str, quoted: str) -> None:
    assert output.shell_path(path) == quoted


@pytest.mark.parametrize(
    ("folder", "path", "told"),
    [
        (".", "a/b.md", "a/b.md"),
        ("a", "a/b.md", "b.md"),
        ("a", "c d/b.md", "'../c d/b.md'"),
        ("a/deep", "guard.yaml", "../../guard.yaml"),
        ("link", "a/b.md", "../b.md"),
    ],
)
def test_a_path_of_the_repository_is_told_from_where_guard_was_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, path: str, told: str
) -> None:
    (tmp_path / "a" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to("a/deep")
    monkeypatch.chdir(tmp_path / folder)
    assert output.path_from_here(str(tmp_path), path) == told


@pytest.mark.skipif(not os.path.exists("/bin/bash"), reason="checked against a real bash")
def test_a_pasted_path_names_the_same_file(tmp_path: Path) -> None:
    names = [b"a b", b"it's", b"-x", b"\xff\xfe", b"n\nl", b"\x1b1", b"\\'\n", "\u202eé".encode()]
    for name in names:
        (tmp_path / os.fsdecode(name)).write_bytes(name)
        quoted = output.shell_path(name.decode("utf-8", "surrogateescape"))
        script = f"cat {quoted}".encode("utf-8", "surrogateescape")
        done = subprocess.run(
            ["/bin/bash", "-c", script], cwd=tmp_path, capture_output=True, check=False
        )
        assert done.stdout == name, (name, quoted, done.stderr)


@given(st.text(st.characters(), max_size=30))
def test_any_text_can_be_written_in_any_encoding(text: str) -> None:
    for encoding in ("utf-8", "ascii", "latin-1", "cp1252"):
        output.encode(text, encoding)
    output.printable(text).encode("utf-8")


# -- files ----------------------------------------------------------------------------------------


def test_a_file_is_written_whole_and_replaces_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    target.write_text("old", encoding="utf-8")
    link = tmp_path / "link.json"
    link.symlink_to(target)
    output.write_file(str(link), "ü \udcff\n")
    assert target.read_bytes() == "ü \\udcff\n".encode()
    assert link.is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.json", "report.json"]


def test_a_missing_folder_is_the_users_to_mend(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file or directory") as caught:
        output.write_file(str(tmp_path / "absent" / "r.json"), "text")
    assert caught.value.hint == f"mkdir -p {tmp_path}/absent"


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "r.json").mkdir()
    with pytest.raises(UsageError, match="Is a directory"):
        output.write_file(str(tmp_path / "r.json"), "text")
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


def test_a_pipe_is_written_to_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    output.write_file(str(pipe), "through\n")
    assert reader.communicate()[0] == b"through\n"
    assert pipe.is_fifo()


def test_a_report_on_stdout_is_utf8_whatever_the_locale() -> None:
    code = "from guard import output; output.write_file('-', '✓ ü\\n')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=True,
    )
    assert done.stdout.decode() == "✓ ü\n"


def test_a_report_on_a_captured_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    output.write_file("-", "one\ntwo\n")
    assert capsys.readouterr().out == "one\ntwo\n"


def test_marks_of_verdicts() -> None:
    assert [output.mark_of(v) for v in (model.PASS, model.FAIL, model.OWED, model.ERROR)] == [
        "✓",
        "✗",
        "?",
        "!",
    ]
    assert output.mark_of("unheard of") == "?"


@pytest.mark.parametrize(
    ("encoding", "shown"), [("utf-8", True), ("ascii", False), ("cp437", False), ("latin-1", False)]
)
def test_what_a_stream_can_show(
    monkeypatch: pytest.MonkeyPatch, encoding: str, shown: bool
) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    assert output.can_show("▁█") == shown
    assert output.can_show("#")


def test_a_dumb_terminal_shows_nothing_special(monkeypatch: pytest.MonkeyPatch) -> None:
    master, slave = pty.openpty()
    with open(slave, "w", encoding="utf-8") as terminal, open(master, "rb"):
        monkeypatch.setattr(sys, "stdout", terminal)
        monkeypatch.setenv("TERM", "dumb")
        assert not output.can_show("█")
        monkeypatch.setenv("TERM", "xterm")
        assert output.can_show("█")
    monkeypatch.setattr(sys, "stdout", None)
    assert not output.can_show("█")


def test_import_loads_nothing_slow() -> None:
    code = "import sys, guard.output; sys.exit('rich' in sys.modules or 'shlex' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
