"""The ``langgraph`` target: the graph that the deploy manifest names, run in the agent's Python."""

from __future__ import annotations

import os
import posixpath
import shutil
from collections.abc import Mapping
from typing import Any, Final

from guard.plugin import Agent, Observation, Option, Project, Skip, Target, TargetError, Trial
from guard_langgraph.builds import fingerprint
from guard_langgraph.request import HERMETIC, Request
from guard_langgraph.seen import observe
from guard_langgraph.served import FILE, read_graphs
from guard_langgraph.workspace import find_manifest, find_named

REAL: Final = (
    "the graph that the deploy manifest names, compiled by the agent's own code, in its own Python"
)
OPTIONS: Final = (
    Option("graph", "text", help="the graph's name in the manifest; default: the agent's"),
    Option(
        "manifest", "text", help=f"the manifest, from the workspace's root; default: its {FILE}"
    ),
    Option("doubles", "texts", (), help="names of stand-ins for storage"),
    Option("config", "mapping", {}, help="what the graph is configured with (`configurable`)"),
    Option("recursion_limit", "integer", help="steps after which a graph is stopped, and FAILs"),
    Option("env", "mapping", {}, help="variables set for it"),
    Option("deterministic", "boolean", False, help="same input, same outcome"),
)


def run(trial: Trial) -> Observation:
    """Run the agent's graph once."""
    if not (trial.input or trial.utterance):
        raise TargetError(f"the case {trial.case} says nothing to the agent: state `input:`")
    limit = trial.options["recursion_limit"]
    if limit is not None and limit < 1:
        raise TargetError("options.recursion_limit must be 1 or more")
    named = find_named(trial)
    request = Request(trial)
    request.lay(trial, named)
    stated = {name: trial.fill(str(value)) for name, value in trial.options["env"].items()}
    hermetic = {name: value for name, value in HERMETIC.items() if name not in trial.env}
    done = trial.run_program([*_python(trial), *request.argv], env={**hermetic, **stated})
    result = request.result()
    if result is None:
        lines = done.stderr.strip().splitlines() or [""]
        ended = f"signal {done.signal}" if done.signal else f"exit {done.exit_status}"
        raise TargetError(
            f"the agent's Python ended before the graph {named.graph} did ({ended}): "
            f"{lines[-1][:300]}"
        )
    return observe(trial, named, done, result)


def _python(trial: Trial) -> tuple[str, ...]:
    """Return the argv of the Python to use. Raises `Skip` where it isn't there."""
    if not trial.python:
        found = shutil.which("python3", path=trial.env.get("PATH")) or "python3"
        return (found,)
    program = trial.python[0]
    if os.path.isabs(program) and not os.path.exists(program):
        folder = os.path.dirname(os.path.dirname(program))
        raise Skip(f"the agent's Python isn't there: python3 -m venv {folder}")
    return trial.python


def verify(agent: Agent, options: Mapping[str, Any], project: Project) -> str | None:
    """Say where an agent's options lead to another graph than the one that is served."""
    served = {m: graphs for m in project.served if (graphs := read_graphs(project, m)) is not None}
    if not served:
        return None
    inside = f"{agent.workspace}/" if agent.workspace else ""
    manifest = options["manifest"]
    if not manifest:
        paths = [p[len(inside) :] for p in project.paths() if p.startswith(inside)]
        try:
            manifest = find_manifest(paths)
        except TargetError as error:
            return error.message
    used = posixpath.normpath(inside + manifest)
    if used not in served:
        return f"its graphs come from {used}, and {', '.join(served)} says what is served"
    name = options["graph"] or agent.name
    names = [one for one in agent.serves or (agent.name,) if one in served[used]]
    if names and name not in names:
        return f"it serves {', '.join(names)}, and runs {name}"
    return None


TARGET: Final = Target(
    name="langgraph",
    run=run,
    real=REAL,
    options=OPTIONS,
    fingerprint=fingerprint,
    verify=verify,
)
