"""Python environments in tests, with packages installed in the shapes that installers write."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

FINDER = """\
from __future__ import annotations
import sys
from importlib.machinery import all_suffixes as module_suffixes
from importlib.util import spec_from_file_location
from itertools import chain
from pathlib import Path

MAPPING: dict[str, str] = {mapping!r}
NAMESPACES: dict[str, list[str]] = {{}}


class _EditableFinder:
    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        for pkg, pkg_path in reversed(list(MAPPING.items())):
            if fullname == pkg or fullname.startswith(f"{{pkg}}."):
                rest = fullname.replace(pkg, "", 1).strip(".").split(".")
                return cls._find_spec(fullname, Path(pkg_path, *rest))
        return None

    @classmethod
    def _find_spec(cls, fullname, candidate_path):
        init = candidate_path / "__init__.py"
        candidates = (candidate_path.with_suffix(x) for x in module_suffixes())
        for candidate in chain([init], candidates):
            if candidate.exists():
                return spec_from_file_location(fullname, candidate)
        return None


def install():
    if not any(finder == _EditableFinder for finder in sys.meta_path):
        sys.meta_path.append(_EditableFinder)
"""
REDIRECTOR = """\
import importlib.abc
import importlib.util
import sys


class RedirectingFinder(importlib.abc.MetaPathFinder):
    _redirections = {}

    @classmethod
    def map_module(cls, name, path):
        cls._redirections[name] = path

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if "." in fullname or path is not None or fullname not in cls._redirections:
            return None
        return importlib.util.spec_from_file_location(fullname, cls._redirections[fullname])

    @classmethod
    def install(cls):
        if cls not in sys.meta_path:
            sys.meta_path.append(cls)
"""


def make_environment(folder: Path) -> Path:
    """Make what ``python -m venv --without-pip`` makes; return its interpreter."""
    base = Path(sys.base_prefix) / "bin" / f"python{version()}"
    (folder / "bin").mkdir(parents=True)
    (folder / f"lib/python{version()}/site-packages").mkdir(parents=True)
    (folder / "pyvenv.cfg").write_text(
        f"home = {base.parent}\ninclude-system-site-packages = false\n"
    )
    for name in ("python", "python3"):
        (folder / "bin" / name).symlink_to(base)
    return folder / "bin/python"


def version() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def packages_of(python: Path) -> Path:
    """Return the folder that an environment's packages lie in."""
    return python.parent.parent / f"lib/python{version()}/site-packages"


def by_path(python: Path, package: Path) -> None:
    """Install as hatchling, flit, poetry and uv do: a line in a .pth file."""
    (packages_of(python) / f"_{package.name}.pth").write_text(f"{package.parent}\n")


def by_finder(python: Path, package: Path) -> None:
    """Install as setuptools does: a finder that knows where each package lies."""
    name = f"__editable___{package.name}_1_0_finder"
    place = packages_of(python)
    (place / f"{name}.py").write_text(FINDER.format(mapping={package.name: str(package)}))
    line = f"import {name}; {name}.install()"
    (place / f"__editable__.{package.name}-1.0.pth").write_text(line)


def by_redirection(python: Path, package: Path) -> None:
    """Install as the library ``editables`` does, which hatchling and pdm can be told to use."""
    place = packages_of(python)
    (place / "editables").mkdir()
    (place / "editables/__init__.py").touch()
    (place / "editables/redirector.py").write_text(REDIRECTOR)
    name = f"_editable_impl_{package.name}"
    (place / f"{name}.py").write_text(
        "from editables.redirector import RedirectingFinder as F\n"
        "F.install()\n"
        f"F.map_module({package.name!r}, {str(package / '__init__.py')!r})\n"
    )
    (place / f"{package.name}.pth").write_text(f"import {name}")


def by_link(python: Path, package: Path) -> None:
    """Install as ``flit install --symlink`` does."""
    (packages_of(python) / package.name).symlink_to(package)


def by_links_in_a_build(python: Path, package: Path) -> None:
    """Install as setuptools does in strict mode: a folder of links to each file."""
    build = package.parent.parent / "build/__editable__.x-1.0"
    (build / package.name).mkdir(parents=True)
    for file in package.glob("*.py"):
        (build / package.name / file.name).symlink_to(file)
    (packages_of(python) / f"__editable__.{package.name}-1.0.pth").write_text(f"{build}\n")


def copied(python: Path, package: Path) -> None:
    """Install a copy, as a plain ``pip install .`` does."""
    (place := packages_of(python) / package.name).mkdir()
    for file in package.glob("*.py"):
        (place / file.name).write_bytes(file.read_bytes())


EDITABLE: dict[str, Callable[[Path, Path], None]] = {
    kind.__name__: kind
    for kind in (by_path, by_finder, by_redirection, by_link, by_links_in_a_build)
}
