"""What is installed in a Python environment: each distribution, and what its files hold.

Told by the lists that installers write (RECORD), not by the files: a thousand packages are
read in milliseconds. Where this machine put something is left out, so that the same packages
come to the same elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from guard.store import Store

#: Under which the store keeps what lists come to.
KIND: Final = "installed-1"
#: Lists of a distribution's files, with a digest each; and where it was taken from.
RECORD, ORIGIN = "RECORD", "direct_url.json"
#: What an installer writes of itself, beside what it installs.
_WRITTEN: Final = ("INSTALLER", "REQUESTED", ORIGIN, "uv_cache.json")
_NOTES: Final = tuple(f"-info/{name},".encode() for name in _WRITTEN)
#: Bytes below which a program is a start script, which names its interpreter's place.
_START_SCRIPT: Final = 1024
#: The second is Debian's, for what doesn't lie in an environment.
_PACKAGES: Final = ("site-packages", "dist-packages")
_METADATA: Final = (".dist-info", ".egg-info")


def installed_in(venv: str, root: str, store: Store | None = None) -> list[str]:
    """Return each distribution by its name, its version and a digest of what it brought.

    ``root``: of the repository, in which editable installs are named by their folder. What
    ``store`` knows of lists that are as they were is not read again.
    """
    stamps = sorted(_stamps(venv))
    written = json.dumps([os.path.abspath(venv), root, stamps]).encode()
    key = hashlib.sha256(written).hexdigest()
    known = store.get_parsed(KIND, key) if store else None
    if known is None:
        named = {os.path.basename(metadata): metadata for metadata, _ in stamps}
        known = [f"{name} {_digest(metadata, root)}".rstrip() for name, metadata in named.items()]
        known.sort()
        if store:
            store.put_parsed(KIND, {key: known})
    return list(known)


def _stamps(venv: str) -> Iterator[tuple[str, list[list[int]]]]:
    """Yield the metadata folder of each distribution, and when its lists were written."""
    library = os.path.join(venv, "lib")
    for python, folder in product(_listed(library), _PACKAGES):
        packages = os.path.join(library, python, folder)
        for name in _listed(packages):
            if name.endswith(_METADATA):
                metadata = os.path.join(packages, name)
                yield metadata, [_stamp(os.path.join(metadata, each)) for each in (RECORD, ORIGIN)]


def _stamp(path: str) -> list[int]:
    try:
        found = os.stat(path)
    except OSError:
        return []
    return [found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino]


def _digest(metadata: str, root: str) -> str:
    """Return what tells one copy of a version from another; nothing where no list is kept."""
    record, origin = (_read(os.path.join(metadata, name)) for name in (RECORD, ORIGIN))
    if not (record or origin):
        return ""
    lines = sorted(_contents(record))
    return hashlib.sha256(b"\n".join([*lines, _origin(origin, root)])).hexdigest()


def _contents(record: bytes) -> list[bytes]:
    """Return the lines of a RECORD that are the same wherever the same is installed."""
    # Without a digest: byte-code, made at any time, and the list itself.
    lines = [line for line in record.splitlines() if line[-2:] != b",,"]
    lines = [line for line in lines if not (b"-info/" in line and _is_note(line))]
    if b"__editable__" in record:
        # It names the folder, which is told of by itself.
        lines = [line for line in lines if b"__editable__" not in line]
    if b"-info/entry_points.txt," in record:
        lines = [line for line in lines if line[:3] != b"../" or not _is_start_script(line)]
    return lines


def _is_note(line: bytes) -> bool:
    return any(note in line for note in _NOTES)


def _is_start_script(line: bytes) -> bool:
    size = line.rpartition(b",")[2]
    return b"/bin/" in line and size.isdigit() and int(size) < _START_SCRIPT


def _origin(content: bytes, root: str) -> bytes:
    """Return where a distribution that came from no index was taken from."""
    try:
        told: Any = json.loads(content) if content else None
    except ValueError:
        return content
    if not isinstance(told, dict):
        return content
    fields = cast("dict[str, Any]", told)
    return json.dumps({**fields, "url": _place(str(fields.get("url", "")), root)}).encode()


def _place(url: str, root: str) -> str:
    """Return an address; of a folder on this machine no more than is needed."""
    parts = urlsplit(url)
    if parts.scheme != "file":
        return url
    path = os.path.realpath(unquote(parts.path))
    top = os.path.realpath(root)
    return os.path.relpath(path, top) if f"{path}/".startswith(f"{top}/") else path


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
