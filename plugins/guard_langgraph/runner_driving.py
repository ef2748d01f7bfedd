"""Runs a graph to its end, answering where it waits, and notes what it did on the way.

Runs in the agent's own Python. All is run as LangGraph's server runs it: asynchronously, with a
checkpointer and a thread of its own.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any, NamedTuple

from guard_langgraph.runner_calls import Calls
from guard_langgraph.runner_loading import (
    RefusedError,
    call_factory,
    is_builder,
    is_graph,
    part_of,
)
from guard_langgraph.runner_values import kind_of, to_json


class Asked(NamedTuple):
    """What the graph is asked."""

    input: Mapping[str, Any]
    utterance: str
    turns: Sequence[Any]
    config: Mapping[str, Any]
    """The run's configuration, the fresh thread in it."""


class Run:
    """One run of a graph, and what is known of it so far, also where it ends in an error."""

    def __init__(self, asked: Asked, calls: Calls) -> None:
        self.asked = asked
        self.calls = calls
        self.nodes: list[str] = []
        self.steps = 0
        self._tasks: set[str] = set()
        self.gates: list[dict[str, Any]] = []
        self.turns_left = len(asked.turns)
        self.next: list[str] = []
        self.values: Any = None
        self.channels: list[str] = []
        self.seal: Callable[[], None] = lambda: None
        """Checks that the graph is still the one that was loaded."""

    @property
    def paused(self) -> bool:
        """Whether it waits for an answer."""
        return bool(self.gates) and "answer" not in self.gates[-1]

    async def drive(self, named: Any, look: Callable[[Any], Callable[[], None]]) -> None:
        """Make the graph of what the manifest names, and run it.

        ``look`` is given the graph, and returns what checks in the end that it is still the same.
        """
        async with self._graph(named) as graph:
            self.seal = look(graph)
            self.channels = [name for name in _channels(graph) if not name.startswith("__")]
            _complete(graph)
            asynchronous = not _saves_in_sync_only(graph.checkpointer)
            await self._to_the_end(graph, asynchronous)

    async def _to_the_end(self, graph: Any, asynchronous: bool) -> None:
        pending: Any = self._input()
        while True:
            config = {**self.asked.config, "callbacks": [self.calls.handler]}
            try:
                await self._stream(graph, pending, config, asynchronous)
            finally:
                state: Any = await _state(graph, config, asynchronous)
                self.values, self.next = state.values, list(state.next)
                metadata: Mapping[str, Any] = state.metadata or {}
                self.steps = max(0, metadata.get("step", 0))
            waiting = _waiting(state)
            if not waiting:
                return
            pending = self._answer(waiting)
            if pending is None:
                return

    async def _stream(self, graph: Any, pending: Any, config: Any, asynchronous: bool) -> None:
        given: dict[str, Any] = {"stream_mode": "tasks", "subgraphs": True}
        if getattr(graph, "context_schema", None) is not None:
            given["context"] = _context(graph.context_schema, config)
        pending = pending.resumed if isinstance(pending, _Resumed) else pending
        if not asynchronous:
            for event in graph.stream(pending, config, **given):
                self._note(*event)
            return
        async for event in graph.astream(pending, config, **given):
            self._note(*event)

    def _note(self, namespace: tuple[str, ...], task: Mapping[str, Any]) -> None:
        """Note a node that starts; one that goes on after a pause was noted before."""
        if "triggers" in task and task["id"] not in self._tasks:
            self._tasks.add(task["id"])
            outer = [part.partition(":")[0] for part in namespace]
            self.nodes.append("/".join([*outer, str(task["name"])]))

    def _input(self) -> Any:
        asked, given = self.asked, dict(self.asked.input)
        if not asked.utterance or asked.utterance in given.values():
            return given
        if not given and self.channels and "messages" not in self.channels:
            raise RefusedError(
                "the graph takes no `messages`: state what it takes under the case's `input` "
                f"({', '.join(self.channels[:8])})"
            )
        if given and ("messages" not in self.channels or "messages" in given):
            raise RefusedError(
                "the case's `utterance` would never be said: put it into `input`, by the name that "
                "the graph reads it by"
            )
        return {**given, "messages": [{"role": "user", "content": asked.utterance}]}

    def _answer(self, waiting: Sequence[tuple[str, Any, str]]) -> _Resumed | None:
        """Note what it waits for; return the answers that there are, None where there is none."""
        shown = [
            {"node": node, "value": to_json(value, "/__interrupt__"), "id": key}
            for node, value, key in waiting
        ]
        known = {gate["id"] for gate in self.gates if "answer" not in gate}
        self.gates += [gate for gate in shown if gate["id"] not in known]
        answers: dict[str, Any] = {}
        for gate in self.gates:
            if "answer" not in gate and self.turns_left:
                gate["answer"] = self.asked.turns[len(self.asked.turns) - self.turns_left]
                answers[gate["id"]] = gate["answer"]
                self.turns_left -= 1
        if not answers:
            return None
        if "" in answers:
            if answers[""] is not None:
                node = self.gates[-1]["node"]
                raise RefusedError(
                    f"the graph waits at a breakpoint before {node}, which takes no answer: the "
                    "turn that goes on there is `null`"
                )
            return _Resumed(None)
        return _Resumed(part_of("langgraph.types", "Command")(resume=answers))

    @contextlib.asynccontextmanager
    async def _graph(self, named: Any) -> AsyncGenerator[Any]:
        async with contextlib.AsyncExitStack() as stack:
            found = named
            if not (is_graph(found) or is_builder(found)) and callable(found):
                found = call_factory(found, self.asked.config)
            if inspect.isawaitable(found):
                found = await found
            if hasattr(found, "__aenter__"):
                found = await stack.enter_async_context(found)
            elif hasattr(found, "__enter__"):
                found = stack.enter_context(found)
            if is_builder(found):
                found = found.compile()
            if not is_graph(found):
                raise RefusedError(
                    f"it is {_kind(found)}, and no graph: a compiled graph, a StateGraph, or a "
                    "function or context manager that makes one"
                )
            yield found


class _Resumed(NamedTuple):
    """What a graph that waits is given."""

    resumed: Any


def _complete(graph: Any) -> None:
    """Give a graph what the platform gives it where it brings none: a checkpointer and a store."""
    if graph.checkpointer is None or isinstance(graph.checkpointer, bool):
        graph.checkpointer = part_of("langgraph.checkpoint.memory", "InMemorySaver")()
    if graph.store is None:
        graph.store = part_of("langgraph.store.memory", "InMemoryStore")()


def _saves_in_sync_only(saver: Any) -> bool:
    saves: Any = part_of("langgraph.checkpoint.base", "BaseCheckpointSaver")
    return getattr(kind_of(saver), "aget_tuple", None) is saves.aget_tuple


async def _state(graph: Any, config: Any, asynchronous: bool) -> Any:
    return await graph.aget_state(config) if asynchronous else graph.get_state(config)


def _waiting(state: Any) -> list[tuple[str, Any, str]]:
    """Return node, what it shows and the id of each place where the graph waits."""
    found = [
        (task.name, interrupt.value, interrupt.id)
        for task in state.tasks
        for interrupt in task.interrupts
    ]
    if found or not state.next or any(task.error for task in state.tasks):
        return found
    # It was compiled with a breakpoint, at which nothing is shown.
    return [(state.next[0], None, "")]


def _channels(graph: Any) -> list[str]:
    channels: Mapping[str, Any] = graph.channels
    inner = {*graph.nodes, "__root__"}
    return [name for name in channels if name not in inner and not name.startswith("branch:")]


def _context(schema: Any, config: Any) -> dict[str, Any]:
    """Return those of the configured values that the graph's context has a place for."""
    given = dict(config.get("configurable", {}))
    places = getattr(schema, "model_fields", None) or getattr(schema, "__annotations__", {})
    return {name: value for name, value in given.items() if name in places}


def _kind(value: Any) -> str:
    name = type(value).__name__
    return f"an {name}" if name[:1].lower() in "aeiou" else f"a {name}"
