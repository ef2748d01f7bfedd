"""One commit under judgement: what the rules ask of it, each worked out when first asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final

from guard.change import Change, DiffEntry
from guard.errors import ConfigError
from guard.git import ObjectError, bytes_of, text_of
from guard.globs import Matcher, literal_prefix, samples_below
from guard.messages.message import (
    Exemption,
    FixSettings,
    Message,
    exemption,
    fix_reason,
    fix_settings,
    parse_message,
    stored_message,
    weakenings,
)
from guard.model import Agent, Case
from guard.project import Project
from guard.tree import EXECUTABLE, GITLINK

#: The commit is being made: its message may still change, other commits may follow it.
COMMIT: Final = "commit"
#: The commit is done, and part of what is pushed or reviewed.
RANGE: Final = "range"

_FILES = ("100644", EXECUTABLE)


class JudgedCommit:
    """A commit that isn't a merge, between the trees before and after it."""

    def __init__(
        self,
        base: Project,
        new: Project,
        change: Change,
        message: Message,
        *,
        stage: str = COMMIT,
        followers: Sequence[JudgedCommit] = (),
    ) -> None:
        self.base = base
        self.new = new
        self.change = change
        self.message = message
        self.stage = stage
        self.followers = followers
        """Later commits of its range that may bring what it lacks (``fix.unit: range``)."""

    # What it claims --------------------------------------------------------------------

    @cached_property
    def fix(self) -> str | None:
        """Why it is a fix, by the settings before it or after it; None where it is none."""
        told = (self._told_by(self.message, settings) for settings in self._fix_settings)
        return next(filter(None, told), None) or self._plugin_reason()

    @cached_property
    def _fix_settings(self) -> tuple[FixSettings, ...]:
        policies = [p.policy for p in (self.base, self.new) if p.has_config]
        return tuple(dict.fromkeys(fix_settings(policy.fix) for policy in policies))

    @property
    def fix_types(self) -> tuple[str, ...]:
        """The header types that are fixes."""
        return tuple(dict.fromkeys(t for settings in self._fix_settings for t in settings.types))

    def _told_by(self, message: Message, settings: FixSettings) -> str | None:
        reason = fix_reason(message, settings) or self._told_by_target(message, settings)
        if reason is None and message.revert is not None and message.revert.reapply:
            # A fix that is brought back is that fix again.
            brought_back = fix_reason(parse_message(message.revert.subject), settings)
            return f"it brings back a fix: {brought_back}" if brought_back else None
        return reason

    def _told_by_target(self, message: Message, settings: FixSettings) -> str | None:
        """Read what an autosquash commit is squashed into, where an id names it."""
        if not message.autosquash or not re.fullmatch(r"[0-9a-f]{7,64}", message.subject):
            return None
        target = self.new.repo.objects.read(message.subject)
        if target is None or target.kind != "commit":
            return None
        reason = fix_reason(parse_message(stored_message(target.data)), settings)
        return f"it goes into a fix: {reason}" if reason else None

    def _plugin_reason(self) -> str | None:
        plugins = self.new.plugins_with("guard_is_fix")
        if plugins is None:
            return None
        from guard.plugin.api import Commit

        message = f"{self.message.header}\n\n{self.message.body}".strip()
        paths = tuple(map(text_of, self.change.paths))
        commit = Commit(message=message, paths=paths, id=self.change.commit)
        for name, reason in plugins.call("guard_is_fix", commit=commit):
            return f"plugin {name} says so: {reason}"
        return None

    @property
    def is_deferred(self) -> bool:
        """Whether the fix rule only notes it now: it will be squashed, or its case may follow."""
        by_range = any(settings.unit == "range" for settings in self._fix_settings)
        return self.stage == COMMIT and (bool(self.message.autosquash) or by_range)

    @cached_property
    def exemption(self) -> Exemption | None:
        """What it is exempted from by its trailer."""
        return exemption(self.message, {*self.base.agents, *self.new.agents})

    @cached_property
    def weakenings(self) -> Mapping[str, str]:
        """Id → reason of the cases and files that it says it weakens."""
        return weakenings(self.message)

    # What it touches -------------------------------------------------------------------

    @cached_property
    def owned(self) -> Mapping[str, tuple[DiffEntry, ...]]:
        """Agent → those of its own paths that change."""
        found: dict[str, tuple[DiffEntry, ...]] = {}
        for name in dict.fromkeys((*self.base.agents, *self.new.agents)):
            owners = [
                (project.agents[name], project.own_paths(project.agents[name]))
                for project in self._sides(name)
                if _is_near(project.agents[name], self.change.entries)
            ]
            entries = tuple(
                entry
                for entry in self.change.entries
                if any(is_owned(entry, agent, own) for agent, own in owners)
            )
            if entries:
                found[name] = entries
        return found

    def _sides(self, agent: str) -> list[Project]:
        """Return the trees to ask for an agent's paths: one, where both would say the same."""
        sides = [project for project in (self.base, self.new) if agent in project.agents]
        return sides[-1:] if self._owns_alike else sides

    @cached_property
    def _owns_alike(self) -> bool:
        decided = {b"guard.yaml", b"regressions.json"}.isdisjoint(self.change.paths)
        return decided and self.base.agents == self.new.agents

    @cached_property
    def touched(self) -> Mapping[str, tuple[str, ...]]:
        """Agent → the own paths that change what it does: cosmetic changes don't."""
        found: dict[str, tuple[str, ...]] = {}
        for agent, entries in self.owned.items():
            paths = tuple(entry.name for entry in entries if not self._cosmetic_reason(entry))
            if paths:
                found[agent] = paths
        return found

    @property
    def cosmetic(self) -> Mapping[str, str]:
        """Own path → why its change is cosmetic, in a few words; empty where none are let be."""
        owned = {e.path: e for entries in self.owned.values() for e in entries}.values()
        told = ((entry.name, self._cosmetic_reason(entry)) for entry in owned)
        return {path: reason for path, reason in told if reason}

    @cached_property
    def owing(self) -> Mapping[str, tuple[str, ...]]:
        """What of `touched` isn't exempted."""
        excused = self.exemption
        if excused is None:
            return self.touched
        return {name: p for name, p in self.touched.items() if not is_excused(excused, name)}

    @cached_property
    def _cosmetic_reasons(self) -> dict[bytes, str | None]:
        return {}

    def _cosmetic_reason(self, entry: DiffEntry) -> str | None:
        if any(settings.cosmetic == "refuse" for settings in self._fix_settings):
            return None
        if entry.path not in self._cosmetic_reasons:
            self._cosmetic_reasons[entry.path] = self._changes_nothing(entry)
        return self._cosmetic_reasons[entry.path]

    def _changes_nothing(self, entry: DiffEntry) -> str | None:
        old, new = entry.old, entry.new
        if old is None or new is None or old.mode != new.mode or old.mode not in _FILES:
            return None
        from guard.messages.cosmetic import cosmetic_reason

        try:
            blobs = self.new.repo.objects.read_many([old.oid, new.oid])
        except ObjectError:
            return None  # a partial clone: what can't be compared isn't let be
        return cosmetic_reason(blobs[old.oid], blobs[new.oid], entry.name)

    # Its cases -------------------------------------------------------------------------

    @cached_property
    def old_cases(self) -> Mapping[str, Case]:
        """Id → case of the changed files, as they were; what couldn't be read is left out."""
        return read_cases(self.base, self.change.paths, lenient=True)

    @cached_property
    def new_cases(self) -> Mapping[str, Case]:
        """Id → case of the changed files, as they are. Raises `ConfigError`."""
        return read_cases(self.new, self.change.paths)


def _is_near(agent: Agent, entries: Iterable[DiffEntry]) -> bool:
    """Tell, without its globs, whether an agent may own any of the entries."""
    prefixes = tuple(bytes_of(literal_prefix(glob)) for glob in agent.paths)
    return any(
        entry.path.startswith(prefixes) or any(p.startswith(entry.path) for p in prefixes)
        for entry in entries
    )


def is_owned(entry: DiffEntry, agent: Agent, own: Matcher) -> bool:
    """Tell whether an entry is among an agent's own paths; a gitlink counts as its folder."""
    if own(entry.path):
        return True
    modes = {side.mode for side in (entry.old, entry.new) if side}
    return GITLINK in modes and any(map(own, samples_below(entry.path, agent.paths)))


def is_excused(excused: Exemption, agent: str) -> bool:
    """Tell whether an exemption holds for the agent."""
    return not excused.agents or agent in excused.agents


def read_cases(
    project: Project, paths: Iterable[bytes], *, lenient: bool = False
) -> dict[str, Case]:
    """Return id → case of the case files among the paths.

    Raises `ConfigError`; with ``lenient`` a file that can't be read holds no case.
    """
    named = project.case_paths(paths)
    if not lenient:
        return {case.id: case for case in project.load_cases(named)}
    found: dict[str, Case] = {}
    for path in named:
        try:
            found.update((case.id, case) for case in project.load_cases([path]))
        except ConfigError:
            continue
    return found
