"""Runs one trial of a graph in the agent's own Python, and writes down what came of it.

Nothing of guard is there: this file and those beside it are laid into the trial's own folder. The
request is a JSON file, and so is the result.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sys
import traceback
import uuid
from collections.abc import Mapping
from importlib import metadata
from types import ModuleType
from typing import Any

from guard_langgraph.runner_loading import Finder, RefusedError, add_roots, load_module, part_of
from guard_langgraph.runner_values import (
    UnwritableError,
    is_dict,
    is_list,
    is_message,
    text_of,
    to_json,
)
from guard_langgraph.runner_watch import Watch

#: How the trial ended; the first four without a graph that ran.
MISSING, REFUSED, UNLOADABLE, UNWRITABLE = "missing", "refused", "unloadable", "unwritable"
RAISED, LIMIT, ENDED = "raised", "limit", "ended"


def main(request: str) -> None:
    """Run what a request asks for, and write the result beside it."""
    with open(request, encoding="utf-8") as file:
        asked = json.load(file)
    result = run(asked)
    written = json.dumps(result, allow_nan=False)
    with open(asked["result"] + ".part", "w", encoding="utf-8", errors="surrogatepass") as file:
        file.write(written)
    os.replace(asked["result"] + ".part", asked["result"])


def run(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what came of one trial."""
    # The byte-code of what is installed is read where it lies: a trial's own cache is empty, and to
    # compile all of LangGraph anew takes seconds.
    sys.pycache_prefix, sys.dont_write_bytecode = None, True
    for name, value in asked["env"].items():
        os.environ.setdefault(name, value)
    try:
        for name in ("langgraph.graph", "langgraph.checkpoint.memory", "langgraph.store.memory"):
            importlib.import_module(name)
    except ImportError as error:
        return {"end": MISSING, "said": str(error), "python": sys.executable}
    try:
        return _Trial(asked).run()
    except RefusedError as error:
        return {"end": REFUSED, "said": str(error)}
    except UnwritableError as error:
        return {"end": UNWRITABLE, "said": str(error), "pointer": error.pointer}


class _Trial:
    def __init__(self, asked: Mapping[str, Any]) -> None:
        from guard_langgraph.runner_calls import Calls

        self.asked = asked
        self.folder = asked["folder"]
        self.finder = Finder(asked["roots"], asked["workspace"])
        self.calls = Calls()
        self.doubles: list[Any] = []

    def run(self) -> dict[str, Any]:
        from guard_langgraph.runner_doubles import Double

        os.chdir(self.folder)
        add_roots(self.asked["roots"])
        sys.meta_path.insert(0, self.finder)
        watch = Watch(self.asked["workspace"])
        try:
            self.doubles = [Double(stated, self.finder) for stated in self.asked["doubles"]]
            for double in self.doubles:
                double.listen()
            for double in self.doubles:
                double.install()
            module = load_module(self.finder, self.asked["path"], self.asked["module"])
            named = _named(module, self.asked["attribute"], self.asked["entry"])
            for double in self.doubles:
                double.confirm()
        except RefusedError:
            raise
        except BaseException as error:  # a module may raise anything while it is imported
            return {"end": UNLOADABLE, "said": self._told(error)}
        return {**self._drive(module, named), "read": watch.names(), **self._standing()}

    def _standing(self) -> dict[str, Any]:
        return {
            "files": self.finder.files(),
            "elsewhere": self.finder.elsewhere(),
            "langgraph": metadata.version("langgraph"),
        }

    def _drive(self, module: ModuleType, named: Any) -> dict[str, Any]:
        from guard_langgraph.runner_driving import Run
        from guard_langgraph.runner_seal import Seal, parts_of

        allowed = [double.place for double in self.doubles]
        seal = Seal(module, self.asked["attribute"], allowed)
        seal.check_modules(self.finder.loaded)

        def look(graph: Any) -> Any:
            for double in self.doubles:
                double.check_apart({"what the manifest names": named, **dict(parts_of(graph))})
            return seal.look_at(graph)

        went = Run(self._asked(), self.calls)
        end, said = ENDED, ""
        try:
            asyncio.run(went.drive(named, look))
        except (RefusedError, UnwritableError):
            raise
        except part_of("langgraph.errors", "GraphRecursionError"):
            end, said = LIMIT, f"it was stopped after {went.steps} steps"
        except BaseException as error:  # a node may raise anything, or end the program
            _refuse_unwritable(error)
            end, said = RAISED, self._told(error)
        for double in self.doubles:
            double.check()
        went.seal()
        seal.check_modules(self.finder.loaded)
        return {"end": end, "said": said, **_told_of(went, self.calls), "doubles": self._facts()}

    def _asked(self) -> Any:
        from guard_langgraph.runner_driving import Asked

        asked = self.asked
        return Asked(asked["input"], asked["utterance"], asked["turns"], self._config())

    def _facts(self) -> dict[str, Any]:
        return {key: value for double in self.doubles for key, value in double.facts().items()}

    def _config(self) -> dict[str, Any]:
        given = {**self.asked["config"], "thread_id": str(uuid.uuid4())}
        config: dict[str, Any] = {"configurable": given}
        if self.asked["recursion_limit"]:
            config["recursion_limit"] = self.asked["recursion_limit"]
        return config

    def _told(self, error: BaseException) -> str:
        """Return file:line: what was raised, the deepest line in the workspace before others."""
        frames = traceback.extract_tb(error.__traceback__)
        places = [(frame.filename, frame.lineno) for frame in frames]
        if isinstance(error, SyntaxError) and error.filename:
            places.append((error.filename, error.lineno))
        inside = [place for place in places if self.finder.is_inside(place[0])]
        file, line = (inside or places or [("", 0)])[-1]
        if self.finder.is_inside(file):
            file = os.path.relpath(os.path.realpath(file), self.finder.workspace)
        said = " ".join(str(error.msg if isinstance(error, SyntaxError) else error).split())
        kind = type(error).__name__
        return f"{file}:{line}: {kind}: {said}"[:500] if said else f"{file}:{line}: {kind}"


def _refuse_unwritable(error: BaseException) -> None:
    """Raise `UnwritableError` where a checkpoint couldn't be made of the state."""
    frames = traceback.extract_tb(error.__traceback__)
    if frames and isinstance(error, TypeError) and "/checkpoint/serde/" in frames[-1].filename:
        raise UnwritableError("", f"held by no checkpoint: {error}") from None


def _named(module: ModuleType, attribute: str, entry: str) -> Any:
    try:
        return getattr(module, attribute)
    except AttributeError:
        raise RefusedError(f"{entry} names nothing: the file has no {attribute}") from None


def _told_of(went: Any, calls: Any) -> dict[str, Any]:
    """Return what is known of a run."""
    return {
        "values": to_json(went.values),
        "reply": _reply(went.values),
        "gates": [_without_id(gate) for gate in went.gates],
        "turns_left": went.turns_left,
        "paused": went.paused,
        "next": went.next,
        "nodes": went.nodes,
        "steps": went.steps,
        "channels": went.channels,
        "tools": calls.tools,
        "answers": calls.answers,
        "tokens": calls.tokens,
        "models": calls.models,
        "response_ids": calls.response_ids,
    }


def _without_id(gate: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in gate.items() if name != "id"}


def _reply(values: Any) -> str:
    """Return the text of the last message of the agent's that says something."""
    messages: Any = values.get("messages") if is_dict(values) else values
    for message in reversed(messages) if is_list(messages) else ():
        if is_message(message) and message.type.lower().startswith("ai"):
            text = text_of(message.content)
            if text:
                return text
    return ""
