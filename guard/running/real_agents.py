"""Whether a target would run the real agent, as far as that can be told without running it."""

from __future__ import annotations

from collections.abc import Iterable

from guard.model import Agent
from guard.plugin.blame import blamed_on
from guard.project import Project
from guard.running.doubles import named_doubles
from guard.trials.options import checked_options


def refuse_unreal(project: Project, agents: Iterable[Agent]) -> None:
    """Raise `ConfigError` for an agent whose options are wrong, or lead to something else."""
    for agent in agents:
        options = checked_options(project, agent)
        named_doubles(project, agent)
        target = project.target_of(agent)
        with blamed_on(f"target {target.name}: its check that the agent is the real one"):
            said = target.verify(agent, options, project.view)
        if said:
            message = f"target {target.name} would not run the real agent: {said}"
            raise project.config_error(("agents", agent.name, "options"), message)
