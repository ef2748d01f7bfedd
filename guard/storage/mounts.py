"""Whether a folder lies on a network file system, where SQLite's locks can't be trusted."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from typing import Final

MOUNTS: Final = "/proc/self/mounts"
NETWORK: Final = (
    r"(fuse\.)?(nfs\d?|cifs|smb\w*|afs|afpfs|davfs\d?|webdav|sshfs|ceph|glusterfs|lustre|beegfs|"
    r"gpfs|ncpfs|s3fs|rclone|gcsfuse)"
)


def network_filesystem(folder: str, creating: bool = False) -> str:
    """Return the type of the network file system that holds the folder; empty for a local one.

    Linux is asked by reading a file. Elsewhere it takes a process, so only when the store is
    made (``creating``): a git hook would pay for it on each commit.
    """
    if os.path.exists(MOUNTS):
        with open(MOUNTS, encoding="utf-8", errors="surrogateescape") as lines:
            return _network_type(os.path.realpath(folder), _read_linux(lines))
    if creating and sys.platform != "win32":
        return _network_type(os.path.realpath(folder), _ask_mount())
    return ""


def _network_type(folder: str, mounts: Iterable[tuple[str, str]]) -> str:
    """Return the type of the innermost mount; of two on the same point the later one counts."""
    found, depth = "", -1
    for point, kind in mounts:
        inside = folder == point or folder.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= depth:
            found, depth = kind, len(point)
    return found if re.fullmatch(NETWORK, found) else ""


def _read_linux(lines: Iterable[str]) -> list[tuple[str, str]]:
    fields = [line.split(" ") for line in lines]
    return [(_unescape(each[1]), each[2]) for each in fields if len(each) > 2]


def _unescape(point: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), point)


def _ask_mount() -> list[tuple[str, str]]:
    """Read ``mount`` as BSD and macOS print it: ``DEVICE on POINT (TYPE, OPTIONS)``."""
    from subprocess import run

    try:
        listed = run(["/sbin/mount"], capture_output=True, text=True, check=False, timeout=5)
    except (OSError, ValueError):
        return []
    return read_bsd(listed.stdout)


def read_bsd(text: str) -> list[tuple[str, str]]:
    """Return (mount point, type) of each line of BSD's ``mount``."""
    found = (re.match(r".*? on (.+) \((\w+)", line) for line in text.splitlines())
    return [(match[1], match[2]) for match in found if match]
