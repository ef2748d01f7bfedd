"""The markers that bind hook specifications and implementations."""

from __future__ import annotations

import pluggy

hookspec = pluggy.HookspecMarker("guard")
hookimpl = pluggy.HookimplMarker("guard")
