"""What the agent's own Python is asked, and with which program: laid into the trial's own folder.

guard itself may be out of sight there, and of no use: the program needs LangGraph alone.
"""

from __future__ import annotations

import ast
import inspect
import json
import os
import shutil
import sys
from collections.abc import Mapping
from typing import Any, Final

from guard.plugin import StorageDouble, TargetError, Trial
from guard_langgraph.workspace import Named

PACKAGE: Final = "guard_langgraph"
#: What runs in the agent's own Python, in files beside this one.
PROGRAM: Final = (
    *(
        "runner",
        "runner_calls",
        "runner_doubles",
        "runner_driving",
        "runner_loading",
        "runner_seal",
    ),
    *("runner_values", "runner_watch"),
)
#: Nothing is sent anywhere, unless the agent's own environment says so.
HERMETIC: Final = {
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGGRAPH_CLI_NO_ANALYTICS": "1",
}
_HERE: Final = os.path.dirname(os.path.abspath(__file__))
_START: Final = """\
import os, sys
here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [here, *(entry for entry in sys.path if entry != here)]
from guard_langgraph import runner, runner_calls, runner_doubles, runner_driving, runner_seal
sys.path.remove(here)
runner.main(sys.argv[1])
"""


class Request:
    """One request, as files in the trial's own temporary folder."""

    def __init__(self, trial: Trial) -> None:
        self.folder = os.path.join(trial.env["TMPDIR"], "guard-langgraph")
        self._request = os.path.join(self.folder, "request.json")
        self._result = os.path.join(self.folder, "result.json")
        self._start = os.path.join(self.folder, "start.py")

    @property
    def argv(self) -> tuple[str, ...]:
        """What is started behind the agent's own Python."""
        return (self._start, self._request)

    def lay(self, trial: Trial, named: Named) -> None:
        """Write the program and the request."""
        package = os.path.join(self.folder, PACKAGE)
        os.makedirs(package, exist_ok=True)
        for name in PROGRAM:
            shutil.copyfile(os.path.join(_HERE, f"{name}.py"), os.path.join(package, f"{name}.py"))
        _write(os.path.join(package, "__init__.py"), b"")
        _write(self._start, _START.encode())
        asked = json.dumps(self._asked(trial, named), default=str).encode("utf-8", "surrogatepass")
        _write(self._request, asked)

    def result(self) -> Mapping[str, Any] | None:
        """Return what the program wrote; None where it came to no end."""
        try:
            with open(self._result, "rb") as file:
                found: dict[str, Any] = json.loads(file.read().decode("utf-8", "surrogatepass"))
                return found
        except (OSError, ValueError):
            return None

    def _asked(self, trial: Trial, named: Named) -> dict[str, Any]:
        workspace, options = trial.workspace, trial.options
        manifest_folder = os.path.dirname(os.path.join(workspace, named.manifest))
        return {
            "result": self._result,
            "workspace": workspace,
            "folder": manifest_folder,
            "roots": [os.path.normpath(os.path.join(workspace, root)) for root in named.roots],
            "entry": named.entry,
            "path": os.path.join(workspace, named.path) if named.path else "",
            "module": named.module,
            "attribute": named.attribute,
            "env": dict(named.env),
            "input": dict(trial.input),
            "utterance": trial.utterance,
            "turns": [read_turn(turn) for turn in trial.turns],
            "config": dict(options["config"]),
            "recursion_limit": options["recursion_limit"],
            "doubles": [_shipped(double) for double in trial.doubles],
        }


def read_turn(turn: str) -> Any:
    """Return an answer: the value of a JSON document, and of anything else the text."""
    try:
        return json.loads(turn)
    except (ValueError, RecursionError):
        return turn


def _write(path: str, content: bytes) -> None:
    with open(path, "wb") as file:
        file.write(content)


def _shipped(double: StorageDouble) -> dict[str, str]:
    """Return a double as the agent's Python gets it: the text of its module."""
    factory = double.factory
    name = getattr(factory, "__qualname__", "")
    module = sys.modules.get(getattr(factory, "__module__", ""))
    try:
        text = inspect.getsource(module) if module else ""
    except (OSError, TypeError):
        text = ""
    if not text or not name.isidentifier():
        raise TargetError(
            f"double {double.name}: its factory must be a function or class at the top of a "
            f"module, whose text can be had, not {factory!r:.80}"
        )
    for imported in _imports(text):
        if imported.partition(".")[0] in ("guard", ""):
            raise TargetError(
                f"double {double.name}: its module imports {imported or 'relatively'}, which isn't "
                "there in the agent's Python: put it in a module of its own"
            )
    return {"name": double.name, "replaces": double.replaces, "factory": name, "text": text}


def _imports(text: str) -> list[str]:
    found: list[str] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append("" if node.level else node.module or "")
    return found
