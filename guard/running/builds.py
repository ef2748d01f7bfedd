"""Which build of a program it is: by what it holds, wherever and whenever it was put there.

A start script of a Python package is the same in every version of it: what is installed beside
its interpreter belongs to its build.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, NamedTuple

from guard.running.installed import installed_in
from guard.store import Store
from guard.trials.environment import find_program, virtual_environment

#: Under which the store keeps what large files come to.
KIND: Final = "build-1"
#: Bytes above which a digest is kept; below, reading is as fast as asking.
_LARGE: Final = 1 << 18
_PYTHON: Final = re.compile(r"(?:python|pypy)[\d.]*\Z")
#: How a script begins whose interpreter lies at a place that is too long, or has a blank in it.
_BY_SHELL: Final = re.compile("/bin/sh\\n'''exec' [\"']?(/[^\"'\\n]+?)[\"']? \"\\$0\"")
#: A line that names the interpreter is no longer, on any system.
_LONGEST: Final = 4096

_known: dict[str, str] = {}


class _Place(NamedTuple):
    """The repository that is asked for, and what is known in it."""

    root: str = "/"
    store: Store | None = None


_NOWHERE: Final = _Place()
_place: ContextVar[_Place] = ContextVar("place", default=_NOWHERE)


@contextmanager
def builds_kept(root: str, store: Store) -> Generator[None]:
    """Keep meanwhile what files come to, so that a large program is read once and not each time."""
    token = _place.set(_Place(root, store))
    try:
        yield
    finally:
        _place.reset(token)


def build_of(path: str, by: str = "") -> str:
    """Return one word that is another where a program's file is; empty where there is none.

    It is the same for the same program on another machine. No program is started. ``by``: the
    program that is started with the file, where it isn't started by itself.
    """
    real = os.path.realpath(path)
    try:
        found = _content_of(real, by)
    except OSError:
        return _unread(real)
    return f"sha256:{found}"


def _unread(real: str) -> str:
    """Return what can be told of a file that may be executed and not read."""
    try:
        stat = os.stat(real)
    except OSError:
        return ""
    return f"unread:{stat.st_size}.{stat.st_mtime_ns}"


def _content_of(real: str, by: str) -> str:
    with open(real, "rb") as file:
        stat = os.fstat(file.fileno())
        stamp = [stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns]
        if stat.st_size > _LARGE:
            key = hashlib.sha256(json.dumps([real, stamp]).encode()).hexdigest()
            return _recalled(key) or _kept(key, hashlib.file_digest(file, "sha256").hexdigest())
        content = file.read()
    interpreter = by if _is_python(by) else _interpreter_of(content)
    if not interpreter:
        return hashlib.sha256(content).hexdigest()
    # The script names where its interpreter lies on this machine.
    content = content.replace(os.fsencode(interpreter), os.fsencode(os.path.basename(interpreter)))
    lines = [hashlib.sha256(content).hexdigest(), *_beside(interpreter, real)]
    return hashlib.sha256(json.dumps(lines).encode()).hexdigest()


def _recalled(key: str) -> str:
    store = _place.get().store
    if key not in _known and store is not None:
        _known[key] = str(store.get_parsed(KIND, key) or "")
    return _known.get(key, "")


def _kept(key: str, digest: str) -> str:
    _known[key] = digest
    store = _place.get().store
    if store is not None:
        store.put_parsed(KIND, {key: digest})
    return digest


def _interpreter_of(content: bytes) -> str:
    """Return the Python that a script names to run it, as it names it; empty for anything else."""
    if not content.startswith(b"#!"):
        return ""
    head = os.fsdecode(content[2:_LONGEST])
    words = head.partition("\n")[0].split()
    if started := _BY_SHELL.match(head):
        words = [started[1]]
    elif words and os.path.basename(words[0]) == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return words[0] if words and _is_python(words[0]) else ""


def _is_python(program: str) -> bool:
    return bool(_PYTHON.match(os.path.basename(program)))


def _beside(interpreter: str, script: str) -> list[str]:
    """Return what a script may import: the packages of its environment, or of its site."""
    place = _place.get()
    path = interpreter if "/" in interpreter else find_program(interpreter) or ""
    prefixes = [virtual_environment(path)]
    if not prefixes[0]:
        # Of a system's Python: /usr/local/bin and ~/.local/bin have their packages beside them.
        prefixes = [os.path.dirname(os.path.dirname(one)) for one in (path, script)]
    found = dict.fromkeys(prefix for prefix in prefixes if prefix)
    return [line for prefix in found for line in installed_in(prefix, place.root, place.store)]
