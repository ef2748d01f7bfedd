"""What models and tools did while a graph ran, as LangChain tells its listeners.

Runs in the agent's own Python.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from guard_langgraph.runner_values import UnwritableError, is_dict, text_of, to_json


class Calls:
    """Notes each answer of a model and each use of a tool."""

    def __init__(self) -> None:
        from langchain_core.callbacks import BaseCallbackHandler

        calls = self

        class Handler(BaseCallbackHandler):
            # In turn with what it listens to, whatever thread that is on.
            run_inline = True

            def on_llm_end(self, response: Any, **more: Any) -> None:
                calls.note_answer(response)

            def on_tool_start(
                self,
                serialized: Any,
                input_str: str,
                *,
                run_id: Any,
                inputs: Any = None,
                **more: Any,
            ) -> None:
                known: Mapping[str, Any] = serialized or {}
                name = more.get("name") or known.get("name") or "tool"
                calls.start_tool(run_id, str(name), inputs, input_str)

            def on_tool_end(self, output: Any, *, run_id: Any, **more: Any) -> None:
                calls.end_tool(run_id, output)

            def on_tool_error(self, error: BaseException, *, run_id: Any, **more: Any) -> None:
                calls.end_tool(run_id, f"{type(error).__name__}: {error}")

        self.handler = Handler()
        self.tools: list[dict[str, Any]] = []
        self.tokens: dict[str, int] = {}
        self.models: list[str] = []
        self.response_ids: list[str] = []
        self.answers = 0
        self._running: dict[Any, dict[str, Any]] = {}
        self._asked: list[dict[str, Any]] = []

    def note_answer(self, response: Any) -> None:
        """Note one answer of a model: who answered, its id, and what it took."""
        self.answers += 1
        several: list[list[Any]] = getattr(response, "generations", None) or []
        for generations in several:
            for generation in generations:
                message = getattr(generation, "message", None)
                if message is not None:
                    self._note_message(message)

    def _note_message(self, message: Any) -> None:
        metadata: Mapping[str, Any] = getattr(message, "response_metadata", None) or {}
        usage: Mapping[str, Any] = getattr(message, "usage_metadata", None) or {}
        for kind in ("input_tokens", "output_tokens", "total_tokens"):
            if isinstance(usage.get(kind), int):
                self.tokens[kind] = self.tokens.get(kind, 0) + usage[kind]
        requests: list[Any] = getattr(message, "tool_calls", None) or []
        for asked in requests:
            # Noted even where the agent runs its tools by itself, so that no listener hears it.
            call = {"name": asked["name"], "input": _written(asked["args"]), "result": ""}
            self.tools.append(call)
            self._asked.append(call)
        model = metadata.get("model_name") or metadata.get("model")
        if isinstance(model, str) and model not in self.models:
            self.models.append(model)
        # LangChain makes up an id of its own where the provider gives none.
        found = metadata.get("id") or getattr(message, "id", None)
        if isinstance(found, str) and not found.startswith(("run-", "lc_run-")):
            self.response_ids.append(found)

    def start_tool(self, run: Any, name: str, inputs: Any, text: str) -> None:
        """Note that a tool is used."""
        given: Mapping[str, Any] = inputs if is_dict(inputs) else {"input": text}
        call = next((asked for asked in self._asked if asked["name"] == name), None)
        if call is not None:
            self._asked.remove(call)
        else:
            call = {"name": name, "input": _written(given), "result": ""}
            self.tools.append(call)
        self._running[run] = call

    def end_tool(self, run: Any, output: Any) -> None:
        """Note what a tool said."""
        call = self._running.pop(run, None)
        if call is not None:
            content = getattr(output, "content", output)
            call["result"] = text_of(content) or str(content)


def _written(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool's arguments; of what is no JSON value its text."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        try:
            found[str(name)] = to_json(value)
        except UnwritableError:
            found[str(name)] = str(value)
    return found
