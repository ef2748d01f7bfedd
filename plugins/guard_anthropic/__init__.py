"""Anthropic's models, asked by Anthropic's own client: the judge ``anthropic``."""

from __future__ import annotations

from guard.plugin import Judge, hookimpl
from guard_anthropic.client import find_missing, own_endpoint
from guard_anthropic.judge import ask


@hookimpl
def guard_judges() -> list[Judge]:
    """Offer the judge ``anthropic``; a case names its model as ``anthropic:MODEL``."""
    return [Judge("anthropic", ask, missing=find_missing, endpoint=own_endpoint)]
