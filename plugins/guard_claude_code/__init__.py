"""Claude Code: what its plugins serve, and the ``claude-code`` target, whose trials SKIP.

Driving the real client is not there yet; a SKIP says so and is never a pass.
"""

from __future__ import annotations

from guard.plugin import (
    Observation,
    Option,
    Prerequisite,
    Project,
    Served,
    Skip,
    Target,
    Trial,
    hookimpl,
)
from guard_claude_code.served import read_served

NOT_YET = (
    "driving Claude Code is not there yet: nothing is tested (target claude-code; "
    "`target: command` runs any program)"
)
#: Never met: so `guard doctor` says it too, before anyone relies on it.
DRIVER = "claude-code-driver"


def run(trial: Trial) -> Observation:
    """Refuse to pretend: the client is not driven yet."""
    raise Skip(NOT_YET)


def missing(argument: str) -> str:
    """Say what no machine has yet."""
    return NOT_YET


@hookimpl
def guard_served_agents(project: Project) -> list[Served]:
    """Return an entry for each skill, command and subagent of each plugin that is served."""
    return read_served(project)


@hookimpl
def guard_prerequisites() -> list[Prerequisite]:
    """Offer the condition that no machine meets yet."""
    return [Prerequisite(DRIVER, missing)]


@hookimpl
def guard_targets() -> list[Target]:
    """Offer the target ``claude-code``."""
    return [
        Target(
            name="claude-code",
            run=run,
            real="nothing yet",
            prerequisites=(DRIVER,),
            options=(
                Option("prompt", "text", "{utterance}", help="what the client is asked"),
                Option("allowed_tools", "texts", [], help="tools it may use unasked"),
                Option("disallowed_tools", "texts", [], help="tools it may not use"),
                Option("model", "text", None, help="the model asked for"),
                Option("permission_mode", "text", None, help="as the client's own option"),
                Option("max_turns", "integer", None, help="turns until it is stopped"),
                Option("mount", "text", "project", help="project, skill or plugin"),
                Option("plugin", "text", None, help="the plugin's folder, for mount: plugin"),
                Option("settings", "any", None, help="as the client's own option"),
                Option("mcp_config", "any", None, help="as the client's own option"),
            ),
        )
    ]
