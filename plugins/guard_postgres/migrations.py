"""Which files of the tree a schema is made of, and the child that makes it of them by Alembic."""

from __future__ import annotations

import configparser
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.util import find_spec
from typing import Final, NamedTuple

from guard.plugin import Ground, TargetError
from guard_postgres import alembic_runner
from guard_postgres.connections import Login

#: Seconds that all migrations may take.
LIMIT: Final = 240
#: Besides the migrations, what they may import or read.
_CODE: Final = (".py", ".sql")
_LACKING: Final = "alembic is in neither the agent's Python nor guard's own: "
_MEND: Final = "pip install 'regression-guard[postgres]'"


class Layout(NamedTuple):
    """Where an alembic.ini says that its migrations are, from the repository's root."""

    folder: str
    """What Alembic is to be run in; empty for the root."""
    places: tuple[str, ...]


def layout_of(path: str, content: bytes) -> Layout:
    """Return what an alembic.ini says. Raises `TargetError` where it can't be read."""
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(content.decode("utf-8-sig"))
        stated = dict(parser.items("alembic"))
    except (configparser.Error, UnicodeDecodeError) as error:
        said = " ".join(str(error).split())
        raise TargetError(f"{path} is no alembic.ini: {said}") from error
    folder = path.rpartition("/")[0]
    named = [stated.get("script_location", ""), *stated.get("version_locations", "").split()]
    return Layout(folder, tuple(_place(name, folder) for name in named if name))


def _place(name: str, folder: str) -> str:
    name = name.strip().replace("%(here)s", folder or ".")
    if ":" in name:  # a folder of a package
        package, _, inside = name.partition(":")
        name = f"{package.replace('.', '/')}/{inside}"
    elif not name.startswith((folder or ".") + "/"):
        name = f"{folder}/{name}"
    return os.path.normpath(name.lstrip("/"))


def migration_globs(path: str, content: bytes | None) -> list[str]:
    """Return globs of an alembic.ini and its migrations."""
    if content is None:
        return [path]
    try:
        places = layout_of(path, content).places
    except TargetError:
        places = ()
    return [path, *(f"{place}/**" for place in places if place != ".")]


def digest_of(path: str, ground: Ground, server: str) -> str:
    """Return what differs where a schema may. Raises `TargetError` without an alembic.ini.

    ``server``: whose it is, of which version.
    """
    content = ground.read(path)
    if content is None:
        raise TargetError(f"{path} is not in the tree", f"git add {path}")
    below = tuple(f"{place}/" for place in layout_of(path, content).places)
    files = ground.files()
    of_schema = {
        name: oid
        for name, oid in files.items()
        if name == path or name.startswith(below) or name.endswith(_CODE)
    }
    facts = [path, server, list(ground.python), sorted(of_schema.items())]
    return sha256(json.dumps(facts).encode("utf-8", "surrogateescape")).hexdigest()


def migrate(path: str, ground: Ground, login: Login, database: str) -> str:
    """Bring a database to the newest schema; return what is wrong where it can't be.

    Raises `TargetError` where Alembic isn't to be had.
    """
    root = ground.lay()
    place = os.path.join(root, path)
    env = {**ground.env, **login.variables(database), "PYTHONDONTWRITEBYTECODE": "1"}
    own = [sys.executable] if find_spec("alembic") else []
    for python in filter(None, (list(ground.python), own)):
        said = _run(python, place, root, env, login)
        if said is not None:
            return said
    raise TargetError(_LACKING + _MEND)


def _run(
    python: Sequence[str], place: str, root: str, env: Mapping[str, str], login: Login
) -> str | None:
    """Run Alembic; return what is wrong, nothing where all is well, None where there is none."""
    folder = os.path.dirname(place)
    call = [*python, "-c", alembic_runner.program(), place, root]
    try:
        done = subprocess.run(
            call,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"the migrations of {os.path.relpath(place, root)} took more than {LIMIT} s"
    except OSError as error:
        raise TargetError(f"{python[0]} can't be started: {error.strerror}") from error
    if done.returncode in (0, alembic_runner.LACKING):
        return None if done.returncode else ""
    return f"the migrations fail: {_said(done.stderr, login, root)}"


def _said(stderr: str, login: Login, root: str) -> str:
    lines = [line for line in stderr.strip().splitlines() if line.strip()]
    said = lines[-1] if lines else "Alembic said nothing"
    for secret in login.secrets:
        said = said.replace(secret, "…")
    return said.replace(root + "/", "")
