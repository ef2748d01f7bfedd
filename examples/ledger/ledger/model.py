"""The one place that makes a model: the served app and every trial ask what this returns."""

from __future__ import annotations

from typing import Final

from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel

#: It stands here and not in the environment: another model is a change of the agents that ask it,
#: and their cases run again.
MODEL: Final = "claude-haiku-4-5"


def make_model() -> BaseChatModel:
    """Return the model. The key, and an endpoint that isn't the provider's, come by environment."""
    return ChatAnthropic(model_name=MODEL, max_tokens_to_sample=1024, timeout=60, stop=None)
