from __future__ import annotations

from pathlib import Path

import pytest

from guard.globs import compile_globs
from guard.trials.loaded import Loaded, OwnFiles, find_loaded
from guard.trials.manifest import FILE
from guard.trials.template import Piece, Template

FILES = (
    "agent/pkg/__init__.py",
    "agent/pkg/core.py",
    "agent/pkg/deep/__init__.py",
    "agent/pkg/deep/er.py",
    "agent/tool.py",
    "agent/src/spaced/name.py",
    "agent/data/note.md",
    "agent/other/__init__.py",
)
OWN = compile_globs(["agent/pkg/**", "agent/tool.py", "agent/src/**", "agent/data/**"])
SITE = "/env/lib/site-packages"


def own_files() -> OwnFiles:
    pieces = [Piece(name.removeprefix("agent/").encode(), FILE, False, b"", "") for name in FILES]
    return OwnFiles(Template(pieces), "agent", OWN)


class Trial:
    """A workspace, and the byte-code that a run left in its cache."""

    def __init__(self, folder: Path) -> None:
        self.workspace = str(folder / "ws")
        self.cache = folder / "cache"

    def load(self, *files: str) -> None:
        """Leave what Python leaves when it loads files."""
        for file in files:
            source = Path(file if file.startswith("/") else f"{self.workspace}/{file}")
            place = self.cache / str(source.parent).lstrip("/")
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{source.stem}.cpython-311.pyc").touch()

    def found(self, *argv: str) -> Loaded:
        call = ("python", *argv)
        places = [SITE, "/repo/agent", "", "/gone"]
        cache = str(self.cache)
        return find_loaded(own_files(), self.workspace, cache, call, ["/repo"], places)


@pytest.fixture
def trial(tmp_path: Path) -> Trial:
    return Trial(tmp_path)


def test_files_have_the_names_by_which_they_are_imported() -> None:
    own = own_files()
    assert "other/__init__.py" not in own.files
    assert own.by_name.keys() == {
        "pkg/__init__.py",
        "pkg/core.py",
        "pkg/deep/__init__.py",
        "pkg/deep/er.py",
        "tool.py",
        "name.py",
        "spaced/name.py",
    }
    assert own.top_names == {"pkg", "tool", "name", "spaced"}
    own.add_roots(["agent/pkg", "elsewhere", ""])
    assert own.by_name["deep/er.py"] == "pkg/deep/er.py"
    assert own.by_name["agent/tool.py"] == "tool.py"
    assert not any("elsewhere" in name for name in own.by_name)
    assert own.told("agent/tool.py", "/x").endswith("(`workspace: .` mends that)")


def test_a_package_in_every_folder_up_to_the_root_has_a_name_too() -> None:
    pieces = [Piece(name, FILE, False, b"", "") for name in (b"__init__.py", b"a/__init__.py")]
    own = OwnFiles(Template(pieces), "", compile_globs(["**"]))
    assert "a/__init__.py" in own.by_name


def test_what_the_workspace_gave_is_told(trial: Trial) -> None:
    assert trial.found() == Loaded()
    trial.load("/usr/lib/python3.11/encodings/__init__.py", f"{SITE}/yaml/__init__.py")
    assert trial.found() == Loaded()
    trial.load("pkg/core.py")
    assert trial.found() == Loaded(True)


@pytest.mark.parametrize("name", ["pkg/core.py", "pkg/deep/er.py", "tool.py", "spaced/name.py"])
def test_an_installed_copy_is_told(trial: Trial, name: str) -> None:
    trial.load("pkg/__init__.py", f"{SITE}/{name}")
    found = trial.found()
    assert found.from_workspace is False
    assert f"was loaded from {SITE}/{name}, not from the workspace" in found.elsewhere
    mends = "src" if name == "spaced/name.py" else "."
    assert f"PYTHONPATH: {mends}}}" in found.elsewhere


@pytest.mark.parametrize(
    "name", ["core.py", "deep/er.py", "pkg/new.py", "tools/tool.py", "other/__init__.py"]
)
def test_another_file_of_a_like_name_is_none(trial: Trial, name: str) -> None:
    trial.load("pkg/core.py", f"{SITE}/{name}")
    assert trial.found() == Loaded(True)


def test_a_module_that_both_hold_was_the_workspaces_for_the_agent(trial: Trial) -> None:
    trial.load("tool.py", f"{SITE}/tool.py")
    assert trial.found() == Loaded(True)


def test_a_file_of_the_users_checkout_is_never_the_trials(trial: Trial) -> None:
    trial.load("pkg/core.py", "/repo/agent/other/__init__.py")
    assert trial.found() == Loaded(True)
    trial.load("/repo/agent/pkg/core.py")
    assert "loaded from /repo/agent/pkg/core.py" in trial.found().elsewhere


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["tool.py"], True),
        (["./tool.py", "x"], True),
        (["-m", "tool"], True),
        (["-m", "pkg.core"], True),
        (["-m", "json"], None),
        (["-c", "1"], None),
        (["other/__init__.py"], None),
        (["data/note.md"], None),
        (["-m"], None),
        ([], None),
    ],
)
def test_the_program_itself_leaves_no_byte_code(
    trial: Trial, argv: list[str], told: bool | None
) -> None:
    assert trial.found(*argv) == Loaded()
    trial.load("/usr/lib/python3.11/encodings/__init__.py")
    assert trial.found(*argv) == Loaded(told)
