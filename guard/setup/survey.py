"""What a repository has that guard could look after, and the guard.yaml that would."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from guard import config as config_file
from guard.errors import UsageError
from guard.messages.message import FixSettings, fix_settings
from guard.model import Agent
from guard.project import Project
from guard.setup.case_places import Places, place_cases, read_candidates
from guard.setup.layouts import Declared, declare_agents, find_layouts
from guard.setup.new_config import config_text
from guard.setup.replay import PastCommit, Replay, read_history, replay_rule


class Survey(NamedTuple):
    """What was found, and the text of a guard.yaml where there is none yet."""

    replay: Replay
    declared: tuple[Declared, ...] = ()
    places: tuple[Places, ...] = ()
    left_out: int = 0
    """Skills in folders of others, or of a name that YAML can't hold."""
    text: str = ""
    """Empty where guard.yaml is there: it stays as it is."""

    @property
    def skills(self) -> int:
        """How many skills were found."""
        return sum(len(entry.agents) for entry in self.declared)


def survey_project(project: Project, today: date) -> Survey:
    """Return what is there. A guard.yaml that is there must be valid: raises `ConfigError`."""
    history = read_history(project.repo)
    if project.has_config:
        settings = fix_settings(project.config.fix)
        return Survey(replay_rule(project.repo, history, project.agents, settings))
    paths = tuple(project.tree.entries())
    layouts, left_out = find_layouts(paths)
    declared = declare_agents(layouts, paths)
    if not declared:
        return Survey(Replay(), left_out=left_out)
    places = place_cases(declared, read_candidates(project.tree))
    agents = _agents(config_text(declared, places, Replay(), today), paths, history)
    replay = replay_rule(project.repo, history, agents, FixSettings())
    text = config_text(declared, places, replay, today)
    return Survey(replay, tuple(declared), tuple(places), left_out, text)


def _agents(
    text: str, paths: Sequence[bytes], history: Iterable[PastCommit]
) -> Mapping[str, Agent]:
    """Return the agents that the text declares, those of skills that are gone by now too."""
    config = config_file.parse_config(text.encode())
    gone = {entry.path for commit in history for entry in commit.entries}
    try:
        return config_file.expand_agents(config, {*paths, *gone})
    except UsageError:  # two skills of one name, one of them gone
        return config_file.expand_agents(config, paths)
