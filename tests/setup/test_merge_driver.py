"""Naming the merge driver for all, and defining it in one clone."""

from __future__ import annotations

import sys

import pytest

from guard.git import Repo, find_repo
from guard.setup.merge_driver import (
    ATTRIBUTES,
    LINE,
    append_attribute,
    configure_driver,
    configured_driver,
    driver_command,
    driver_python,
    is_named,
    missing_attribute,
    remove_driver,
)
from tests.conftest import ScratchRepo


@pytest.fixture
def found(repo: ScratchRepo) -> Repo:
    return find_repo(str(repo.root))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, f"{LINE}\n"),
        (b"", f"{LINE}\n"),
        (b"*.png binary\n", f"*.png binary\n{LINE}\n"),
        (b"*.png binary", f"*.png binary\n{LINE}\n"),
        (b"a text\r\nb text\r\n", f"a text\r\nb text\r\n{LINE}\r\n"),
        (b"*.json merge=union\n", f"*.json merge=union\n{LINE}\n"),
        (b"regressions.json text eol=lf\n", f"regressions.json text eol=lf\n{LINE}\n"),
        (b"# regressions.json merge=guard-regressions\n", None),
    ],
    ids=["none", "empty", "lines", "no end", "windows", "a glob's", "other words", "a comment"],
)
def test_the_line_is_appended_and_nothing_else_changes(
    repo: ScratchRepo, found: Repo, before: bytes | None, after: str | None
) -> None:
    path = repo.root / ATTRIBUTES
    if before is not None:
        path.write_bytes(before)
    append_attribute(found, missing_attribute(found))
    wanted = after if after is not None else f"{(before or b'').decode()}{LINE}\n"
    assert path.read_bytes() == wanted.encode()
    assert is_named(found)
    assert missing_attribute(found) == b""


def test_bytes_that_are_no_text_stay(repo: ScratchRepo, found: Repo) -> None:
    (repo.root / ATTRIBUTES).write_bytes(b"caf\xe9 text\n")
    append_attribute(found, missing_attribute(found))
    assert (repo.root / ATTRIBUTES).read_bytes() == b"caf\xe9 text\n" + LINE.encode() + b"\n"


@pytest.mark.parametrize(
    "line", ["regressions.json merge=ours", "/regressions.json -merge", "regressions.json !merge"]
)
def test_what_its_owner_decided_stays(repo: ScratchRepo, found: Repo, line: str) -> None:
    repo.write({ATTRIBUTES: f"{line}\n"})
    assert missing_attribute(found) == b""
    assert not is_named(found)


def test_it_may_be_named_elsewhere(repo: ScratchRepo, found: Repo) -> None:
    repo.write({".git/info/attributes": f"{LINE}\n"})
    assert is_named(found)
    assert missing_attribute(found) == b""


def test_defined_once_and_taken_out_again(repo: ScratchRepo, found: Repo) -> None:
    before = (repo.root / ".git/config").read_bytes()
    assert configured_driver(found) == ""
    assert configure_driver(found)
    assert not configure_driver(found)
    assert driver_python(configured_driver(found)) == sys.executable
    remove_driver(found)
    assert configured_driver(found) == ""
    remove_driver(found)
    assert (repo.root / ".git/config").read_bytes() == before


@pytest.mark.parametrize("python", ["/usr/bin/python3", "/a b/100%/pythön", "/it's/python"])
def test_any_path_of_an_interpreter(python: str) -> None:
    assert driver_python(driver_command(python)) == python


@pytest.mark.parametrize("command", ["", "git merge-file %A %O %B", "it's torn", "x -E"])
def test_a_driver_that_is_not_ours_names_no_interpreter(command: str) -> None:
    assert driver_python(command) == ""
