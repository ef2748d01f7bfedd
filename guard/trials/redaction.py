"""Take secrets out of what is kept: the values of variables that were passed by name."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from guard.git import bytes_of
from guard.plugin.api import Evaluator, Expectations
from guard.results import Fingerprint, KeptFile, Observation, Score, ToolCall, TrialResult

#: A shorter value is no secret, and redacting it would garble every text.
LEAST_CHARACTERS = 4


class Redactor:
    """Replaces each secret by ``[redacted NAME]``."""

    def __init__(self, secrets: Mapping[str, str], further: Sequence[tuple[str, str]] = ()) -> None:
        """``secrets`` and ``further``: name and value; several values may have one name."""
        self._secrets = (*secrets.items(), *further)
        found: dict[str, str] = {}
        for name, value in self._secrets:
            for form in (value, value.strip(), json.dumps(value)[1:-1]):
                if len(form.strip()) >= LEAST_CHARACTERS:
                    found.setdefault(form, f"[redacted {name}]")
        # The longest first: one secret may hold another.
        self._found = sorted(found.items(), key=lambda item: -len(item[0]))

    def knowing(self, further: Sequence[tuple[str, str]]) -> Redactor:
        """Return one that takes out further secrets too, as name and value."""
        return Redactor({}, (*self._secrets, *further)) if further else self

    def text(self, text: str) -> str:
        """Return a text without secrets."""
        for value, replacement in self._found:
            text = text.replace(value, replacement)
        return text

    def any(self, value: Any) -> Any:
        """Return a JSON value without secrets."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            items = cast("Mapping[str, Any]", value).items()
            return {self.any(key): self.any(item) for key, item in items}
        if isinstance(value, (list, tuple)):
            return [self.any(item) for item in cast("list[Any]", value)]
        return value

    def result(self, result: TrialResult) -> TrialResult:
        """Return a trial's result without secrets."""
        if not self._found:
            return result
        return result._replace(
            reason=self.text(result.reason),
            diff=self.text(result.diff),
            scores=tuple(map(self.score, result.scores)),
            observation=self.observation(result.observation),
            files=tuple(map(self.file, result.files)),
            asked=Fingerprint(*map(self.text, result.asked)),
        )

    def score(self, score: Score) -> Score:
        """Return a score without secrets."""
        return score._replace(reason=self.text(score.reason), evidence=self.any(score.evidence))

    def file(self, kept: KeptFile) -> KeptFile:
        """Return a kept file without secrets."""
        if kept.base64 is not None:
            content = self._bytes(base64.b64decode(kept.base64))
            kept = kept._replace(base64=base64.b64encode(content).decode())
        text = None if kept.text is None else self.text(kept.text)
        return kept._replace(path=self.text(kept.path), text=text)

    def _bytes(self, content: bytes) -> bytes:
        for value, replacement in self._found:
            content = content.replace(bytes_of(value), replacement.encode())
        return content

    def observation(self, seen: Observation) -> Observation:
        """Return an observation without secrets."""
        calls, denials = seen.tool_calls, seen.permission_denials
        return seen._replace(
            changes=tuple(each._replace(path=self.text(each.path)) for each in seen.changes),
            permission_denials=denials and tuple(map(self.text, denials)),
            program=seen.program and self.text(seen.program),
            model=seen.model and self.text(seen.model),
            response_ids=tuple(map(self.text, seen.response_ids)),
            files_read=seen.files_read and tuple(map(self.text, seen.files_read)),
            reply=self.text(seen.reply),
            stdout=self.text(seen.stdout),
            stderr=self.text(seen.stderr),
            output=self.any(seen.output),
            facts=self.any(seen.facts),
            # By their names what they saw is found: a password may be the same word.
            services={name: self.any(found) for name, found in seen.services.items()},
            argv=tuple(map(self.text, seen.argv)),
            tool_calls=calls
            and tuple(
                ToolCall(self.text(call.name), self.any(call.input), self.text(call.result))
                for call in calls
            ),
        )


def without_secrets(evaluator: Evaluator, redactor: Redactor) -> Evaluator:
    """Return the evaluator as one that is shown no secret."""

    def evaluate(observation: Observation, expectations: Expectations) -> Iterable[Score]:
        return evaluator.evaluate(redactor.observation(observation), expectations)

    return evaluator._replace(evaluate=evaluate)
