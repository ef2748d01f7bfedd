"""The rules of the folders, read from the source text: who imports whom, and what is shipped."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
ADAPTERS = sorted((ROOT / "plugins").glob("guard_*"))
PACKAGES = [ROOT / "guard", ROOT / "hooks" / "guard_hooks", *ADAPTERS]
OURS = ("guard", "guard_hooks", *(path.name for path in ADAPTERS))
DEMO_FILES = ROOT / "guard" / "demo" / "files"
NO_HOMES = ("utils", "util", "helpers", "misc", "common")


def names_of(paths: Iterable[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


def sources(package: Path) -> list[Path]:
    """Return the Python files of a package, or the one file it is; what the demo lays is data."""
    if not package.is_dir():
        return [package]
    return sorted(path for path in package.rglob("*.py") if DEMO_FILES not in path.parents)


def imports_of(path: Path) -> Iterator[str]:
    """Yield every module that a file imports, at its top or later, ``a.b`` of ``from a import b``.

    Whether b is a module or a name in one can't be told from the text; both are looked at.
    """
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            inside = "." * node.level + (node.module or "")
            yield from (f"{inside}.{alias.name}" for alias in node.names)


def ours(path: Path) -> set[str]:
    """Return what a file imports of ours; a relative import counts as a step out of line."""
    return {name for name in imports_of(path) if name.split(".")[0] in (*OURS, "")}


def is_below(name: str, module: str) -> bool:
    return name == module or name.startswith(module + ".")


def foreign(package: Path, allowed: Iterable[str]) -> dict[str, set[str]]:
    """Return file → what it imports of ours that isn't below any of the allowed modules."""
    may = tuple(allowed)
    found = {
        path.name: {name for name in ours(path) if not any(is_below(name, one) for one in may)}
        for path in sources(package)
    }
    return {name: wrong for name, wrong in found.items() if wrong}


# Imports --------------------------------------------------------------------------------------


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda path: path.name)
def test_an_adapter_uses_the_public_plugin_api_alone(adapter: Path) -> None:
    assert foreign(adapter, ["guard.plugin", adapter.name]) == {}
    # Of the API itself, not of a module inside it.
    public = {name for path in sources(adapter) for name in ours(path)}
    assert {name.count(".") for name in public if is_below(name, "guard.plugin")} <= {2}


def test_the_core_knows_no_adapter_and_only_cli_names_the_hooks() -> None:
    assert foreign(ROOT / "guard", ["guard"]) in ({}, {"cli.py": {"guard_hooks.run.hook"}})
    assert set(foreign(ROOT / "guard", ["guard"])) <= {"cli.py"}


def test_the_hooks_know_guard_and_no_adapter() -> None:
    assert foreign(ROOT / "hooks" / "guard_hooks", ["guard", "guard_hooks"]) == {}


@pytest.mark.parametrize("name", ["model.py", "errors.py"])
def test_the_vocabulary_imports_nothing_of_ours(name: str) -> None:
    assert ours(ROOT / "guard" / name) == set()


def test_tests_are_imported_by_no_package() -> None:
    wrong = {n for p in PACKAGES for f in sources(p) for n in imports_of(f) if is_below(n, "tests")}
    assert wrong == set()


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("from guard.plugin import Target, hookimpl\n", set[str]()),
        ("import json\nfrom pathlib import Path\n", set[str]()),
        ("from guard_new import other\n", set[str]()),
        ("from guard import engine\n", {"guard.engine"}),
        ("import guard.engine\n", {"guard.engine"}),
        ("def late():\n    from guard.git import Repo\n", {"guard.git.Repo"}),
        ("from guard_command import run\n", {"guard_command.run"}),
        ("import guard_hooks.run as run\n", {"guard_hooks.run"}),
        ("from . import other\n", {"..other"}),
        ("if TYPE_CHECKING:\n    import guard\n", {"guard"}),
    ],
)
def test_a_wrong_import_would_be_seen(tmp_path: Path, text: str, wrong: set[str]) -> None:
    (tmp_path / "new.py").write_text(text)
    found = foreign(tmp_path, ["guard.plugin", "guard_new"])
    assert found == ({"new.py": wrong} if wrong else {})


# Packaging ------------------------------------------------------------------------------------


def project_file() -> Mapping[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def unshipped(config: Mapping[str, Any], adapters: Iterable[str]) -> set[str]:
    """Return adapters that the wheel or the entry points lack, or that aren't there."""
    packages = config["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    shipped = {Path(path).name for path in packages if path.startswith("plugins/")}
    points = config["project"]["entry-points"]["guard"].values()
    registered = {point.partition(":")[0].partition(".")[0] for point in points}
    return (shipped ^ set(adapters)) | (registered ^ set(adapters))


def test_every_adapter_is_shipped_and_registered() -> None:
    assert unshipped(project_file(), [path.name for path in ADAPTERS]) == set()
    assert ADAPTERS


def test_a_forgotten_adapter_would_be_seen() -> None:
    names = [path.name for path in ADAPTERS]
    assert unshipped(project_file(), [*names, "guard_new"]) == {"guard_new"}
    assert unshipped(project_file(), names[1:]) == {names[0]}


def test_the_wheel_holds_every_package_of_ours() -> None:
    packages = project_file()["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert sorted(packages) == sorted(names_of(PACKAGES))


def test_each_console_script_names_a_function_that_is_there() -> None:
    scripts: Mapping[str, str] = project_file()["project"]["scripts"]
    assert scripts["guard"] == scripts["regression-guard"]
    for script in scripts.values():
        module, _, function = script.partition(":")
        package = ROOT / ("hooks" if module.startswith("guard_hooks") else ".")
        path = package / (module.replace(".", "/") + ".py")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert function in defined, script


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_every_package_says_that_it_is_typed(package: Path) -> None:
    assert (package / "py.typed").is_file()
    assert (package / "__init__.py").is_file()


def test_every_folder_of_python_files_is_a_package() -> None:
    folders = {path.parent for package in PACKAGES for path in sources(package)}
    assert names_of(folder for folder in folders if not (folder / "__init__.py").is_file()) == []


# Names ----------------------------------------------------------------------------------------


def test_no_module_is_a_drawer_for_odds_and_ends() -> None:
    stems = {path.stem for package in PACKAGES for path in sources(package)}
    folders = {path.parent.name for package in PACKAGES for path in sources(package)}
    assert not (stems | folders).intersection(NO_HOMES)


def test_no_file_is_longer_than_can_be_read_at_once() -> None:
    lengths = {path: path.read_text().count("\n") for p in PACKAGES for path in sources(p)}
    assert names_of(path for path, lines in lengths.items() if lines > 400) == []


def test_every_module_says_what_it_is_for_and_postpones_annotations() -> None:
    for package in PACKAGES:
        for path in sources(package):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            assert ast.get_docstring(tree), path
            later = [n for n in tree.body if not isinstance(n, ast.Expr)]
            if later and any(isinstance(n, (ast.FunctionDef, ast.ClassDef)) for n in later):
                first = later[0]
                assert isinstance(first, ast.ImportFrom), path
                assert first.module == "__future__", path


def public_names(path: Path) -> set[str]:
    """Return what type checkers find in a module whose names are imported when asked for."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    guarded = [node for node in tree.body if isinstance(node, ast.If)]
    imports = [n for block in guarded for n in block.body if isinstance(n, ast.ImportFrom)]
    return {alias.name for node in imports for alias in node.names}


def test_the_plugin_api_exports_what_it_says_and_nothing_more() -> None:
    import guard.plugin as api

    assert api.__all__ == sorted(api.__all__)
    assert public_names(ROOT / "guard" / "plugin" / "__init__.py") == set(api.__all__)
    for name in api.__all__:
        assert getattr(api, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = api.nothing


def test_asking_for_a_marker_alone_imports_pluggy() -> None:
    import subprocess
    import sys

    program = (
        "import sys, guard.plugin as api; before = 'pluggy' in sys.modules; api.hookimpl;"
        "print(before, 'pluggy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False True\n"
