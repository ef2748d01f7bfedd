"""Which hooks an installed plugin implements, remembered: a hook then imports only those
that have a say."""

from __future__ import annotations

import os
import sys

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


def _written(point: EntryPoint) -> int:
    """Return when a plugin's files were last written, in ns: an author edits without installing.

    0 where they aren't found on ``sys.path``; then the installation's own stamp has to do.
    """
    package = point.module.partition(":")[0].partition(".")[0]
    for folder in sys.path:
        files = [os.path.join(folder, package + ".py")]
        try:
            names = os.listdir(os.path.join(folder, package))
            files += [os.path.join(folder, package, n) for n in names if n.endswith(".py")]
        except OSError:
            pass
        times = [os.stat(file).st_mtime_ns for file in files if os.path.exists(file)]
        if times:
            return max(times)
    return 0
