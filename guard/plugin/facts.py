"""Which hooks an installed plugin implements, remembered: a hook then imports only those
that have a say."""

from __future__ import annotations

from guard.plugin.entrypoints import EntryPoint
from guard.store import Store

FORMAT = "plugin-hooks-1"


def hooks_of(store: Store, point: EntryPoint) -> frozenset[str]:
    """Return the names of the hooks that a plugin implements; imports it the first time."""
    key = f"{point.name} {point.module} {point.distribution} {point.stamp}"
    known = store.get_parsed(FORMAT, key)
    if known is None:
        from guard.plugin.manager import import_plugin

        plugin = import_plugin(point)
        known = sorted(name for name in dir(plugin) if name.startswith("guard_"))
        store.put_parsed(FORMAT, {key: known})
    return frozenset(known)
