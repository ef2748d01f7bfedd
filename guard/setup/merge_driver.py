"""The merge driver of regressions.json: named in .gitattributes, defined in each clone's config.

Where git finds no definition it merges as text, and so does ours where guard is gone.
"""

from __future__ import annotations

import os
import shlex
import sys

from guard.errors import UsageError
from guard.git import Repo, text_of
from guard.regressions import FILE

ATTRIBUTES = ".gitattributes"
NAME = "guard-regressions"
LINE = f"{FILE} merge={NAME}"
TITLE = "regressions.json, record by record"
#: What guard's own exit leaves marked is a conflict; anything else that failed did nothing yet.
_DRIVER = (
    "test -x {python} && {python} -E -P -m guard merge-driver %O %A %B %L %P"
    " || {{ grep -q '^<<<<<<<' %A && exit 1;"
    " git merge-file -L ours -L base -L theirs --marker-size=%L %A %O %B || exit 1; }}"
)


def driver_command(python: str) -> str:
    """Return what git runs: guard by this interpreter, and without it a merge as text."""
    return _DRIVER.format(python=shlex.quote(python).replace("%", "%%"))


def is_named(repo: Repo) -> bool:
    """Tell whether .gitattributes, or another file of attributes, names the driver."""
    told = repo.out("check-attr", "-z", "merge", "--", FILE).split(b"\0")
    return told[2:3] == [NAME.encode()]


def missing_attribute(repo: Repo) -> bytes:
    """Return what to append to .gitattributes; nothing where it has a say on the file already."""
    path = os.path.join(repo.root, ATTRIBUTES)
    try:
        with open(path, "rb") as stream:
            before = stream.read()
    except FileNotFoundError:
        before = b""
    except OSError as error:
        raise UsageError(f"{ATTRIBUTES} can't be read: {error.strerror}") from error
    if is_named(repo) or any(_decides(line) for line in before.splitlines()):
        return b""
    end = b"\r\n" if before.rpartition(b"\n")[0].endswith(b"\r") else b"\n"
    start = b"" if not before or before.endswith(b"\n") else end
    return start + LINE.encode() + end


def _decides(line: bytes) -> bool:
    """Tell whether a line says of this very file how it is merged: its owner knows why."""
    name, *attributes = line.split() or [b""]
    told = {attribute.lstrip(b"-!").partition(b"=")[0] for attribute in attributes}
    return name.removeprefix(b"/") == FILE.encode() and b"merge" in told


def append_attribute(repo: Repo, added: bytes) -> None:
    """Append to .gitattributes; what is there stays byte for byte."""
    try:
        with open(os.path.join(repo.root, ATTRIBUTES), "ab") as stream:
            stream.write(added)
    except OSError as error:
        raise UsageError(f"{ATTRIBUTES} can't be written: {error.strerror}") from error


def configured_driver(repo: Repo) -> str:
    """Return what this clone's config defines the driver as; empty where it doesn't."""
    asked = repo.run("config", "--get", f"merge.{NAME}.driver", ok=(0, 1))
    return text_of(asked.out.removesuffix(b"\n"))


def configure_driver(repo: Repo) -> bool:
    """Define the driver in this clone's config; return whether that changed anything."""
    wanted = driver_command(sys.executable)
    if configured_driver(repo) == wanted:
        return False
    for key, value in (("name", TITLE), ("driver", wanted)):
        repo.out("config", "--local", f"merge.{NAME}.{key}", value)
    return True


def remove_driver(repo: Repo) -> None:
    """Take the definition out of this clone's config."""
    repo.run("config", "--local", "--remove-section", f"merge.{NAME}", ok=None)


def driver_python(command: str) -> str:
    """Return the interpreter that a defined driver names; empty where it isn't one of ours."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    ours = words[:2] == ["test", "-x"] and words[5:9] == ["-E", "-P", "-m", "guard"]
    return words[2].replace("%%", "%") if ours else ""
