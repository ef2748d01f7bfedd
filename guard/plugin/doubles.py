"""Stand-ins for storage, behind the agent's own interface."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class StorageDouble(NamedTuple):
    """Stands in for one storage side effect, so that every decision still runs the real code.

    An agent names it in its target's ``doubles`` option. In the agent's own Python, before the
    agent is imported, ``factory`` takes the place of what ``replaces`` names; the agent reaches
    it as it reaches the real one.
    """

    name: str
    replaces: str
    """What of the agent opens the storage, as ``module:attribute``: ``shop.store:open_queue``."""
    factory: Callable[..., Any]
    """A function or class at the top of a module of its own, whose text is run in the agent's
    Python: it imports the standard library and the agent, nothing of guard."""
    why: str
    """Why the real one isn't used, for `guard agents --real`."""
