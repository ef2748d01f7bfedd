"""The Python that an agent is run by, and where it would find modules: asked once, not per trial.

An editable install leads imports into the user's checkout by a path, a finder or a link; only
the interpreter itself knows what its environment makes of them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from guard.trials.environment import virtual_environment

NAME: Final = re.compile(r"(?:python|pypy)[\d.]*\Z")
#: What installers write for an interpreter whose path is too long for a kernel.
LONG_SHEBANG: Final = re.compile(rb"'''exec' \"?([^\"\n]+?)\"? \"\$0\"")
HEAD_BYTES: Final = 4096
#: Seconds for one start.
PATIENCE: Final = 30.0
#: Files of an environment that are looked into for a checkout; larger ones are no such thing.
SMALL_BYTES: Final = 256 << 10

#: Run by the interpreter itself; its answer is its last line, whatever the environment prints.
QUESTION: Final = """
import json, sys, sysconfig
from importlib.util import find_spec
stdlib = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
sys.path = [entry for entry in sys.path if entry]
modules = []
for finder in sys.meta_path:
    module = sys.modules.get(getattr(finder, "__module__", None))
    for table in (getattr(module, "MAPPING", None), getattr(finder, "_redirections", None)):
        if isinstance(table, dict):
            modules += [[name, place] for name, place in table.items() if isinstance(place, str)]
for name in json.loads(sys.argv[1]):
    try:
        spec = find_spec(name)
    except Exception:
        continue
    if spec is not None:
        places = [*(spec.submodule_search_locations or ()), spec.origin]
        modules += [[name, place] for place in places if isinstance(place, str)]
version = list(sys.version_info[:2])
path = [entry for entry in sys.path if entry not in stdlib]
print()
print(json.dumps({"version": version, "path": path, "modules": modules}))
"""


class Answer(NamedTuple):
    """What an interpreter said of itself."""

    version: tuple[int, ...] = ()
    path: tuple[str, ...] = ()
    """Where it looks for modules, less the standard library."""
    modules: tuple[tuple[str, str], ...] = ()
    """Name, and the file or folder that it is loaded from."""


def find_interpreter(
    argv: Sequence[str], path: str, python: str, content: Callable[[str], bytes | None]
) -> str:
    """Return the Python that runs a program, by its name or its first line; nothing for no Python.

    ``content`` gives files of the workspace. ``python``: the agent's own interpreter, which
    stands for whatever isn't told by ``argv``.
    """
    name = argv[0] if argv else ""
    if "/" in name and not os.path.isabs(name):
        head = content(os.path.normpath(name)) or b""
        return _by_shebang(head, path) or python
    program = shutil.which(name, path=path) if name else None
    if program and NAME.match(os.path.basename(name)):
        return program
    return _by_shebang(_head_of(program), path) or python


def find_environment(path: str, roots: Iterable[str]) -> str:
    """Return the interpreter of a virtual environment on PATH that leads into a checkout.

    For a program that starts Python itself. Nothing is started: its small files are read.
    """
    for name in ("python3", "python"):
        found = shutil.which(name, path=path)
        if found and (venv := virtual_environment(found)):
            wanted = [os.fsencode(root) for root in roots]
            if any(root in text for text in _small_files(venv) for root in wanted):
                return found
            return ""
    return ""


def ask_interpreter(python: str, env: Mapping[str, str], names: Iterable[str]) -> Answer | None:
    """Return what an interpreter says of itself; None where it can't be asked.

    ``names``: modules that the agent is known to bring. Asked once in a process.
    """
    known = tuple(sorted(env.items()))
    return _ask(python, known, tuple(sorted(names)))


@lru_cache(maxsize=64)
def _ask(python: str, env: tuple[tuple[str, str], ...], names: tuple[str, ...]) -> Answer | None:
    try:
        done = subprocess.run(
            [python, "-c", QUESTION, json.dumps(names)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd="/",
            env=dict(env),
            timeout=PATIENCE,
            check=False,
        )
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        modules = tuple((str(name), str(place)) for name, place in found["modules"])
        return Answer(tuple(found["version"]), tuple(map(str, found["path"])), modules)
    except (OSError, subprocess.TimeoutExpired, ValueError, LookupError, TypeError):
        return None


def _head_of(program: str | None) -> bytes:
    if program is None:
        return b""
    try:
        with open(program, "rb") as file:
            return file.read(HEAD_BYTES)
    except OSError:
        return b""


def _by_shebang(head: bytes, path: str) -> str:
    if not head.startswith(b"#!"):
        return ""
    words = os.fsdecode(head[2:].partition(b"\n")[0]).split()
    if long := LONG_SHEBANG.search(head):
        words = [os.fsdecode(long[1])]
    if words and os.path.basename(words[0]) == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    if not words or not NAME.match(os.path.basename(words[0])):
        return ""
    return shutil.which(words[0], path=path) or ""


def _small_files(venv: str) -> Iterator[bytes]:
    """Return the content of what installers leave in an environment for an editable install."""
    lib = os.path.join(venv, "lib")
    for version in os.listdir(lib) if os.path.isdir(lib) else ():
        folder = os.path.join(lib, version, "site-packages")
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        for entry in entries:
            if entry.is_symlink():
                yield os.fsencode(os.path.realpath(entry.path))
            elif entry.name.endswith((".pth", ".egg-link")) or "editable" in entry.name:
                yield _content_of(entry)


def _content_of(entry: os.DirEntry[str]) -> bytes:
    try:
        if not entry.is_file() or entry.stat().st_size > SMALL_BYTES:
            return b""
        with open(entry.path, "rb") as file:
            return file.read()
    except OSError:
        return b""
