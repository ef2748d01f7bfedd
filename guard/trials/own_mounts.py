"""A mount namespace for guard itself, so that a workspace can be an overlay.

What is mounted there is seen by guard's own threads and by the launchers that it starts later,
at the same plain path, and by nobody else; it is gone with the process, whatever ends it.
Only root can have an overlay in which a folder can be renamed as anywhere else: without
``trusted.*`` attributes `rename(2)` fails there, and an agent would be blamed for that.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any, Final

CLONE_NEWNS: Final = 0x00020000
MS_NOSUID, MS_NODEV = 2, 4
MS_REC, MS_SLAVE, MS_SHARED = 16384, 1 << 19, 1 << 20
MNT_DETACH: Final = 2
#: Each is tried until one will do: ``volatile`` (Linux 5.10) spares a sync of the disk.
OPTIONS: Final = (
    "redirect_dir=on,metacopy=off,index=off,volatile",
    "redirect_dir=on,metacopy=off,index=off",
)
OPAQUE: Final = "trusted.overlay.opaque"
REDIRECT: Final = "trusted.overlay.redirect"
#: What a process is called that is guard's own; in another one namespaces are not ours to change.
OWN_PROGRAMS: Final = ("guard", "regression-guard")

_namespace = ""


def is_own_process() -> bool:
    """Tell whether this process is a command or a hook of guard's, not a program that uses it."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    if spec is not None:
        return str(spec.name).split(".")[0] in ("guard", "guard_hooks")
    name = os.path.basename(getattr(main, "__file__", None) or "")
    return name in OWN_PROGRAMS or name.startswith("guard-")


def enter() -> str:
    """Give this thread, and those that it starts, mounts of their own; say why it can't be."""
    global _namespace
    if is_entered():
        return ""
    if not sys.platform.startswith("linux"):
        return "only Linux has it"
    if os.geteuid():
        return "only root can have one in which folders can be renamed"
    libc = _libc()
    try:
        _call(libc.unshare, CLONE_NEWNS)
        # What the user mounts later is seen here, and nothing of ours there.
        _call(libc.mount, b"none", b"/", None, MS_REC | MS_SLAVE, None)
        _call(libc.mount, b"none", b"/", None, MS_REC | MS_SHARED, None)
    except OSError as error:
        return f"no mount namespace: {error.strerror}"
    _namespace = _current_namespace()
    return ""


def enter_if_own() -> str:
    """Do so where this is guard's own process, on its main thread."""
    if is_entered():
        return ""
    if threading.current_thread() is not threading.main_thread() or not is_own_process():
        return "guard is a part of another program here"
    return enter()


def is_entered() -> bool:
    """Tell whether this thread is in the namespace that was made here."""
    return bool(_namespace) and _namespace == _current_namespace()


def _current_namespace() -> str:
    return os.readlink("/proc/thread-self/ns/mnt")


def mount_overlay(lower: str, upper: str, work: str, target: str, options: str) -> None:
    """Mount an overlay. Raises OSError; never outside the namespace of our own."""
    if not is_entered():
        raise PermissionError("not in a mount namespace of guard's own")
    if any(c in path for path in (lower, upper, work) for c in ",:\\"):
        raise OSError(0, "its path has a comma, colon or backslash in it")
    data = f"{options},lowerdir={lower},upperdir={upper},workdir={work}"
    libc = _libc()
    flags = MS_NOSUID | MS_NODEV
    _call(libc.mount, b"guard", os.fsencode(target), b"overlay", flags, os.fsencode(data))


def unmount(target: str) -> None:
    """Take an overlay away, also one that something still holds open. Raises OSError."""
    libc = _libc()
    _call(libc.umount2, os.fsencode(target), MNT_DETACH)


def probe_overlay(folder: str) -> tuple[str, str]:
    """Return the options of an overlay that does all that a folder does, or why there is none.

    ``folder`` doesn't exist yet; it is removed again.
    """
    from guard.workspace import remove_tree

    problem = ""
    for options in OPTIONS:
        try:
            problem = _try_overlay(folder, options)
        except OSError as error:
            problem = error.strerror or str(error)
        finally:
            remove_tree(folder)
        if not problem:
            return options, ""
    return "", problem


def _try_overlay(folder: str, options: str) -> str:
    lower, upper, work, merged = (f"{folder}/{name}" for name in ("lower", "upper", "work", "ws"))
    for path in (f"{lower}/moved", f"{lower}/again", upper, work, merged):
        os.makedirs(path)
    for path in (f"{lower}/moved/file", f"{lower}/again/file"):
        _write(path, "x")
    mount_overlay(lower, upper, work, merged, options)
    try:
        os.rename(f"{merged}/moved", f"{merged}/new")
        os.unlink(f"{merged}/again/file")
        os.rmdir(f"{merged}/again")
        os.mkdir(f"{merged}/again")
        _write(f"{merged}/new/file", "y")
        if os.listdir(f"{merged}/again") or not os.path.exists(f"{merged}/new/file"):
            return "what is deleted there comes back"
        if os.getxattr(f"{upper}/again", OPAQUE) != b"y":
            return "what is deleted there can't be told"
        os.getxattr(f"{upper}/new", REDIRECT)
    finally:
        unmount(merged)
    return ""


def _write(path: str, text: str) -> None:
    with open(path, "a", encoding="utf-8") as file:
        file.write(text)


def _libc() -> Any:
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


def _call(function: Any, *arguments: Any) -> None:
    import ctypes

    if function(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
