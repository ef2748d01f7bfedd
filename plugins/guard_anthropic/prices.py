"""What Anthropic's models cost at list price, where that is known; never a guess.

Source: https://platform.claude.com/docs/en/about-claude/pricing and the models' own pages, as
published in October 2026. A model whose price depends on more than the tokens isn't here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

#: Model → US dollars for a million tokens in, and out.
PRICES: Final[Mapping[str, tuple[float, float]]] = {
    "claude-fable-5-1": (10.0, 50.0),
    "claude-opus-5-5": (4.0, 20.0),
    "claude-opus-5": (5.0, 25.0),
    "claude-opus-4-6": (5.0, 25.0),
    "claude-opus-4-5": (5.0, 25.0),
    "claude-sonnet-5-5": (2.0, 10.0),
    "claude-sonnet-5": (2.0, 10.0),
    "claude-sonnet-4-6": (3.0, 15.0),
    "claude-sonnet-4-5": (3.0, 15.0),
    "claude-haiku-4-5": (1.0, 5.0),
}
#: What is kept in or read from a cache has prices of its own.
_CACHED: Final = ("cache_creation_input_tokens", "cache_read_input_tokens")


def cost_of(model: str, tokens: Mapping[str, int]) -> float | None:
    """Return US dollars at list price; None where the price or the tokens aren't known."""
    price = PRICES.get(re.sub(r"-\d{8}\Z", "", model))
    if price is None or any(tokens.get(name) for name in _CACHED):
        return None
    if not {"input_tokens", "output_tokens"} <= tokens.keys():
        return None
    return (tokens["input_tokens"] * price[0] + tokens["output_tokens"] * price[1]) / 1e6
