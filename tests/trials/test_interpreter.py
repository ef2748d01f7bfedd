from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from guard.trials.interpreter import ask_interpreter, find_environment, find_interpreter
from tests.environments import EDITABLE, copied, make_environment

ENV = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"}


def nothing(path: str) -> bytes | None:
    return None


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package in a src layout."""
    folder = tmp_path / "repo/src/pkg"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    return folder


def program(place: Path, head: str) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(head)
    place.chmod(0o755)
    return place


@pytest.mark.parametrize("name", ["python", "python3", "python3.11", "pypy3"])
def test_an_interpreter_is_known_by_its_name(tmp_path: Path, name: str) -> None:
    place = program(tmp_path / name, "#!/bin/sh\n")
    assert find_interpreter([name, "-m", "x"], str(tmp_path), "", nothing) == str(place)
    assert find_interpreter([str(place)], "", "", nothing) == str(place)


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ("#!{python}\n", True),
        ("#! {python} -I\n", True),
        ("#!/usr/bin/env python3\n", True),
        ("#!/usr/bin/env -S python3 -u\n", True),
        ("#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''\n", True),
        ("#!/bin/sh\n'''exec' {python} \"$0\" \"$@\"\n' '''\n", True),
        ("#!/bin/sh\npython3 x.py\n", False),
        ("#!/usr/bin/env pythonista\n", False),
        ("#!\n", False),
        ("#!/usr/bin/env\n", False),
        ("\x7fELF", False),
        ("", False),
    ],
)
def test_or_by_the_first_line_of_a_program(tmp_path: Path, head: str, found: bool) -> None:
    python = program(tmp_path / "python3", "#!/bin/sh\n")
    text = head.format(python=python)
    program(tmp_path / "agent", text)
    expected = str(python) if found else ""
    assert find_interpreter(["agent"], str(tmp_path), "", nothing) == expected
    laid = {"bin/agent": text.encode()}
    assert find_interpreter(["./bin/agent"], str(tmp_path), "", laid.get) == expected


def test_the_agents_own_stands_for_what_is_not_told(tmp_path: Path) -> None:
    own = "/somewhere/python"
    for argv in ([], ["no-such-program"], ["sh", "-c", "x"], ["{repo}/run"], ["gone/agent"]):
        assert find_interpreter(argv, "/usr/bin:/bin", own, nothing) == own


@pytest.mark.parametrize("kind", EDITABLE)
def test_each_kind_of_install_is_told_by_the_interpreter(
    tmp_path: Path, package: Path, kind: str
) -> None:
    EDITABLE[kind](python := make_environment(tmp_path / "venv"), package)
    answer = ask_interpreter(str(python), ENV, ["pkg"])
    assert answer is not None
    assert answer.version == sys.version_info[:2]
    places = [*answer.path, *(os.path.realpath(place) for _, place in answer.modules)]
    assert any(place.startswith(str(package.parent)) for place in places)
    assert not any(place.endswith(f"/lib/python3.{sys.version_info[1]}") for place in answer.path)


def test_an_environment_that_prints_and_breaks_is_understood_as_far_as_it_goes(
    tmp_path: Path, package: Path
) -> None:
    python = make_environment(tmp_path / "venv")
    place = python.parent.parent / f"lib/python3.{sys.version_info[1]}/site-packages"
    (place / "loud.pth").write_text("import sys; print('[1]'); sys.path.append(3)\n")
    (place / "odd").mkdir()
    (place / "odd/__init__.py").write_text("raise SystemExit(5)\n")
    answer = ask_interpreter(str(python), ENV, ["odd", "no_such_module", "sys"])
    assert answer is None or answer.path
    assert ask_interpreter(str(tmp_path / "gone"), ENV, []) is None
    assert ask_interpreter("/bin/true", ENV, []) is None
    assert ask_interpreter("/bin/echo", ENV, []) is None


@pytest.mark.parametrize("kind", EDITABLE)
def test_an_environment_that_leads_into_a_checkout_is_found_without_a_start(
    tmp_path: Path, package: Path, kind: str
) -> None:
    root = str(package.parent.parent)
    EDITABLE[kind](python := make_environment(tmp_path / "venv"), package)
    path = f"{python.parent}:/usr/bin"
    assert find_environment(path, [root]) == str(python.parent / "python3")
    assert find_environment(path, [str(tmp_path / "another")]) == ""
    assert find_environment("/usr/bin", [root]) == ""


def test_one_that_does_not_is_left_alone(tmp_path: Path, package: Path) -> None:
    copied(python := make_environment(tmp_path / "venv"), package)
    assert find_environment(str(python.parent), [str(package.parent.parent)]) == ""
