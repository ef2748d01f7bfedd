"""One vote of a judge: a question in words, an answer in JSON by a schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from guard.plugin import Question, Vote
from guard_anthropic.client import Answer, stream_answer
from guard_anthropic.prices import cost_of

#: Models that always think spend tokens on it before they answer.
MOST_TOKENS: Final = 8_000
#: An output format, and no forced tool: newer models refuse to have a tool forced on them. The
#: API takes no minimum and maximum in it; the scale is checked by guard.
FORMAT: Final[Mapping[str, Any]] = {
    "type": "json_schema",
    "schema": {
        "type": "object",
        "properties": {"reason": {"type": "string"}, "score": {"type": "number"}},
        "required": ["reason", "score"],
        "additionalProperties": False,
    },
}


def ask(question: Question) -> Vote:
    """Ask for one vote. Raises `TargetError` where none comes in time."""
    request = {
        "model": question.model,
        "max_tokens": MOST_TOKENS,
        "system": question.prompt,
        "messages": [{"role": "user", "content": question.shown}],
        "output_config": {"format": FORMAT},
    }
    answer = stream_answer(request, question.timeout)
    fields = _read(answer)
    return Vote(
        score=fields.get("score"),
        reason=str(fields.get("reason", "")),
        model=answer.model,
        response_id=answer.id,
        cost_usd=cost_of(answer.model, answer.tokens),
        tokens=answer.tokens,
    )


def _read(answer: Answer) -> Mapping[str, Any]:
    """Return what was answered; what is no answer stands for the score, which guard refuses.

    It was paid for, so it isn't raised.
    """
    if answer.stop != "end_turn":
        return {"score": f"nothing whole, and stopped for {answer.stop or 'no reason'}"}
    try:
        found: object = json.loads(answer.text)
    except (ValueError, RecursionError):
        return {"score": answer.text}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {"score": answer.text}
