"""The ``command`` target: any program is the agent, run in the trial's workspace.

Standard output is the reply, and the structured output where it is one JSON document.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from guard.plugin import (
    Fingerprint,
    Observation,
    Option,
    Target,
    TargetError,
    Trial,
    find_program,
    hookimpl,
)


def run(trial: Trial) -> Observation:
    """Run the agent's program once."""
    if trial.turns:
        raise TargetError("a command is asked once: the case's `turns` would never be said")
    argv = [trial.fill(part) for part in trial.options["argv"]]
    env = {name: trial.fill(str(value)) for name, value in trial.options["env"].items()}
    stdin = trial.options["stdin"]
    given = None if stdin is None else trial.fill(stdin)
    done = trial.run_program(argv, input=given, env=env)
    return Observation(
        reply=done.stdout,
        stdout=done.stdout,
        stderr=done.stderr,
        exit_status=done.exit_status,
        output=_document(done.stdout),
        program=os.path.basename(argv[0]),
        argv=tuple(argv),
    )


def _document(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def fingerprint(options: Mapping[str, Any]) -> Fingerprint:
    """Name the program by its resolved file, size and time: a new build is another agent.

    One that lies in the workspace is a file of the agent, and bound to the receipt as that.
    """
    name = str(options["argv"][0])
    in_workspace = "/" in name and not os.path.isabs(name)
    path = None if in_workspace else find_program(name)
    if path is None:
        return Fingerprint(program=name)
    real = os.path.realpath(path)
    stat = os.stat(real)
    return Fingerprint(program=f"{real} {stat.st_size} {stat.st_mtime_ns}")


@hookimpl
def guard_targets() -> list[Target]:
    """Offer the target ``command``."""
    return [
        Target(
            name="command",
            run=run,
            real="the program that options.argv names, as it stands in the workspace",
            options=(
                Option("argv", "texts", help="the program and its arguments", required=True),
                Option("env", "mapping", {}, help="variables set for it"),
                Option("stdin", "text", None, help="text on its standard input"),
                Option("deterministic", "boolean", False, help="same input, same outcome"),
            ),
            fingerprint=fingerprint,
        )
    ]
