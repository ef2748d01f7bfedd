"""Which hooks an installed plugin implements, remembered: a hook then imports only those
that have a say."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from guard.plugin.entrypoints import EntryPoint
from guard.store import Store

FORMAT = "plugin-hooks-1"


def hooks_of(store: Store, point: EntryPoint) -> frozenset[str]:
    """Return the names of the hooks that a plugin implements; imports it the first time."""
    key = f"{point.name} {identity_of(point)}"
    known = store.get_parsed(FORMAT, key)
    if known is None:
        from guard.plugin.manager import import_plugin

        plugin = import_plugin(point)
        known = sorted(name for name in dir(plugin) if name.startswith("guard_"))
        store.put_parsed(FORMAT, {key: known})
    return frozenset(known)


def identity_of(point: EntryPoint) -> str:
    """Return what differs when the plugin's code does."""
    return f"{point.module} {point.distribution} {point.stamp} {_written(point)}"


def digest_of(points: Iterable[EntryPoint]) -> str:
    """Return a digest of plugins' code: the same on every machine that has the same."""
    from hashlib import sha256

    digest = sha256()
    for point in sorted(points):
        digest.update(f"{point.name} {point.module} {point.distribution}\n".encode())
        for file in files_of(point):
            if file.endswith(".py"):
                with open(file, "rb") as code:
                    digest.update(code.read())
    return digest.hexdigest()


def files_of(point: EntryPoint) -> list[str]:
    """Return a plugin's Python files, those of a package after its folder.

    Empty where they aren't found on ``sys.path``.
    """
    package = point.module.partition(":")[0].partition(".")[0]
    for folder in sys.path:
        module, inside = os.path.join(folder, package + ".py"), os.path.join(folder, package)
        files = [module] if os.path.exists(module) else []
        try:
            names = [name for name in os.listdir(inside) if name.endswith(".py")]
        except OSError:
            names = []
        if names:
            files += [inside, *(os.path.join(inside, name) for name in sorted(names))]
        if files:
            return files
    return []


def _written(point: EntryPoint) -> int:
    """Return when a plugin's files were last written, in ns: an author edits without installing.

    0 where they aren't found; then the installation's own stamp has to do.
    """
    files = [file for file in files_of(point) if file.endswith(".py")]
    return max((os.stat(file).st_mtime_ns for file in files), default=0)
