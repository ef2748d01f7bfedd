"""Which build of a program it is: its content, and what a start script imports."""

from __future__ import annotations

import hashlib
import os
from io import BufferedReader
from pathlib import Path

import pytest

from guard.running import builds
from guard.running.builds import build_of, builds_kept
from guard.session import Session
from tests.conftest import ScratchRepo

STUB = "#!{python}\nfrom brew import main\nmain()\n"
BY_SHELL = "#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''\nfrom brew import main\nmain()\n"
PACKAGES = "lib/python3.12/site-packages"


def write(path: Path, content: str | bytes) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    path.chmod(0o755)
    return str(path)


def environment(folder: Path, stub: str = STUB, version: str = "1.0") -> str:
    """Return the start script of a package that is installed in an environment of its own."""
    write(folder / "pyvenv.cfg", "version = 3.12.1\n")
    (folder / PACKAGES / f"brew-{version}.dist-info").mkdir(parents=True)
    return write(folder / "bin/brew", stub.format(python=folder / "bin/python"))


def test_the_content_tells_and_no_date(tmp_path: Path) -> None:
    program = write(tmp_path / "brew", b"\x7fELF 1")
    before, status = build_of(program), os.stat(program)
    assert before.startswith("sha256:")
    os.utime(program, (1, 1))
    assert build_of(program) == before
    assert build_of(write(tmp_path / "elsewhere/brew", b"\x7fELF 1")) == before
    write(tmp_path / "brew", b"\x7fELF 2")
    os.utime(program, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert build_of(program) != before
    assert build_of(str(tmp_path / "none")) == ""


def test_a_large_program_is_read_once(
    repo: ScratchRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = write(tmp_path / "brew", b"a" * (1 << 20))
    read: list[str] = []
    digest = hashlib.file_digest

    def counted(file: BufferedReader, name: str) -> object:
        read.append(name)
        return digest(file, name)

    monkeypatch.setattr(hashlib, "file_digest", counted)

    def in_another_process() -> str:
        monkeypatch.setattr(builds, "_known", {})
        with Session.open(str(repo.root)) as session, builds_kept(str(repo.root), session.store):
            return build_of(program)

    before = in_another_process()
    assert in_another_process() == before
    assert len(read) == 1
    status = os.stat(program)
    write(Path(program), b"b" * (1 << 20))
    os.utime(program, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert in_another_process() != before
    assert len(read) == 2


@pytest.mark.parametrize("stub", [STUB, BY_SHELL, BY_SHELL.replace('"{python}"', "{python}")])
def test_a_start_script_is_what_it_imports(tmp_path: Path, stub: str) -> None:
    script = environment(tmp_path / "venv", stub)
    before = build_of(script)
    # The same elsewhere, and through a link, as installers of tools make them.
    assert build_of(environment(tmp_path / "other", stub)) == before
    (tmp_path / "brew").symlink_to(script)
    assert build_of(str(tmp_path / "brew")) == before
    packages = tmp_path / "venv" / PACKAGES
    (packages / "brew-1.0.dist-info").rename(packages / "brew-1.1.dist-info")
    after = build_of(script)
    assert after != before
    assert after == build_of(environment(tmp_path / "third", stub, "1.1"))


@pytest.mark.parametrize("interpreter", ["/usr/bin/env python3", "python3"])
def test_a_script_of_the_system_s_python_has_its_packages_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interpreter: str
) -> None:
    python = write(tmp_path / "usr/bin/python3", "x")
    monkeypatch.setenv("PATH", str(tmp_path / "usr/bin"))
    stub = STUB.format(python=python if interpreter == "python3" else interpreter)
    script = write(tmp_path / "local/bin/brew", stub)
    before = build_of(script)
    (tmp_path / "local" / PACKAGES / "brew-1.0.dist-info").mkdir(parents=True)
    after = build_of(script)
    assert after != before
    (tmp_path / "usr/lib/python3/dist-packages/jug-1.0.dist-info").mkdir(parents=True)
    assert build_of(script) not in (before, after)


def test_a_script_is_what_it_is_started_with(tmp_path: Path) -> None:
    environment(tmp_path / "venv")
    script, python = (
        write(tmp_path / "agent.py", "import brew\n"),
        str(tmp_path / "venv/bin/python"),
    )
    plain, before = build_of(script, "/bin/sh"), build_of(script, python)
    assert plain == build_of(script)
    (tmp_path / "venv" / PACKAGES / "jug-1.0.dist-info").mkdir()
    assert build_of(script, python) != before
    assert build_of(script) == plain


@pytest.mark.parametrize("content", ["#!", "#!/bin/sh", "#!/bin/sh\n", "#!/usr/bin/env\n", ""])
def test_other_scripts_are_their_content(tmp_path: Path, content: str) -> None:
    script = write(tmp_path / "venv/bin/brew", content)
    before = build_of(script)
    environment(tmp_path / "venv", content)
    assert build_of(script) == before


def test_what_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = write(tmp_path / "brew", "x")

    def refuse(*given: object) -> None:
        raise PermissionError

    monkeypatch.setattr("builtins.open", refuse)
    assert build_of(program).startswith("unread:1.")
