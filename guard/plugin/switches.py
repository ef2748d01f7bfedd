"""How a plugin is switched off: GUARD_DISABLED_PLUGINS and ``-p no:NAME``."""

from __future__ import annotations

import os
from collections.abc import Iterable


def disabled_plugins(names: Iterable[str] = ()) -> frozenset[str]:
    """Return the names that are switched off, by the variable or by ``names``."""
    listed = os.environ.get("GUARD_DISABLED_PLUGINS", "").split(",")
    return frozenset(name.strip() for name in (*listed, *names) if name.strip())
