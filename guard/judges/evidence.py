"""What a judge's score rests on, gathered as it comes in, also where no score comes of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, TypeGuard, cast

from guard.evaluators.reasons import bounded, shown
from guard.judges.stated import Stated
from guard.plugin.judges import Judge, Vote


def digest_of(text: str) -> str:
    """Return the digest by which a rubric or a prompt is recorded."""
    return "sha256:" + sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Evidence:
    """What one score rests on."""

    def __init__(self, judge: Judge, stated: Stated, endpoint: str) -> None:
        self.stated = stated
        self.endpoint = endpoint
        self.prompt = digest_of(judge.prompt)
        self.votes: list[Vote] = []
        self.canaries: Mapping[str, Any] = {}
        self._costs: list[float] = []
        self._models: set[str] = set()
        self._tokens: dict[str, int] = {}

    def pay(self, vote: object) -> None:
        """Count what an answer took, whether it makes a vote or not, canaries included."""
        cost, model = getattr(vote, "cost_usd", None), getattr(vote, "model", "")
        tokens: object = getattr(vote, "tokens", None)
        if is_amount(cost):
            self._costs.append(cost)
        if isinstance(model, str) and model:
            self._models.add(model)
        for name, number in _counts(tokens).items():
            self._tokens[name] = self._tokens.get(name, 0) + number

    def told(self) -> dict[str, Any]:
        """Return it as JSON values."""
        stated = self.stated
        return {
            "judge": stated.provider,
            "model": stated.model,
            "answered_by": sorted(self._models),
            "rubric": digest_of(stated.rubric),
            "prompt": self.prompt,
            "floor": stated.floor,
            "votes": [float(vote.score) for vote in self.votes],
            "reasons": [bounded(vote.reason) for vote in self.votes],
            "response_ids": [vote.response_id for vote in self.votes if vote.response_id],
            "canaries": dict(self.canaries),
            "cost_usd": math.fsum(self._costs) if self._costs else None,
            "tokens": self._tokens or None,
            "endpoint": self.endpoint,
            "live": not self.endpoint,
        }


def problem_of(vote: Vote) -> str:
    """Return what is wrong with a vote, in words; nothing where it is one."""
    score: object = vote.score
    if not _is_number(score) or not 0 <= score <= 1:
        said = "no score" if score is None else shown(score)
        return f"is off its scale: it answered {said}, not a number from 0 to 1"
    if vote.cost_usd is not None and not is_amount(vote.cost_usd):
        return f"says that a vote cost {shown(vote.cost_usd)}"
    texts = cast("list[object]", [vote.reason, vote.model, vote.response_id])
    odd = [shown(text) for text in texts if not isinstance(text, str)]
    return f"gave {odd[0]} for a reason, a model or a response id" if odd else ""


def is_amount(cost: object) -> TypeGuard[float]:
    """Tell whether a cost is one: a finite number from 0 on."""
    return _is_number(cost) and math.isfinite(cost) and cost >= 0


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _counts(tokens: object) -> dict[str, int]:
    if not isinstance(tokens, Mapping):
        return {}
    counted = cast("Mapping[object, object]", tokens)
    return {str(name): n for name, n in counted.items() if isinstance(n, int) and n >= 0}
