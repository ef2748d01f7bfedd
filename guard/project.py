"""One tree, with all that is needed to judge it: configuration, agents, cases, records.

Everything is read when it is first asked for, and from the store where the store has seen
the blob: a rule that touches one skill reads little more than that skill.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from guard import cases as case_formats
from guard import config as config_file
from guard import regressions as regressions_file
from guard.cases import loading
from guard.cases.owners import CaseOwners, not_its_agent
from guard.config import Config
from guard.errors import ConfigError, PluginError, UsageError
from guard.git import Repo, bytes_of, text_of
from guard.globs import Matcher, compile_globs, folders_above, literal, literal_prefix, outermost
from guard.model import Agent, Case
from guard.references import named_in_repo
from guard.regressions import Record
from guard.store import Store
from guard.tree import GITLINK, Tree

if TYPE_CHECKING:
    from types import ModuleType

    from guard.plugin.api import Evaluator, Target
    from guard.plugin.api import Project as ProjectView
    from guard.plugin.entrypoints import EntryPoint
    from guard.plugin.manager import Plugins

#: Hooks through which a plugin has a say in the rules.
RULE_HOOKS = ("guard_agents", "guard_is_fix", "guard_load_cases")


class Project:
    """A tree of a repository, read lazily."""

    def __init__(
        self, repo: Repo, tree: Tree, store: Store, disabled: frozenset[str] = frozenset()
    ) -> None:
        self.repo = repo
        self.tree = tree
        self.store = store
        self.disabled = disabled
        self._plugins: Plugins | None = None
        self._asked: set[tuple[str, ...]] = set()
        self.grounds: dict[tuple[str, ...], tuple[str, ...]] = {}

    def at(self, tree: Tree) -> Project:
        """Return another tree of the repository, to be judged by what judges this one."""
        return Project(self.repo, tree, self.store, self.disabled)

    # Configuration ---------------------------------------------------------------------

    @cached_property
    def has_config(self) -> bool:
        """Whether the tree has a guard.yaml at its root."""
        return self.tree.get(bytes_of(config_file.FILE)) is not None

    @cached_property
    def config(self) -> Config:
        """guard.yaml; without one, a configuration that guards nothing."""
        entry = self.tree.get(bytes_of(config_file.FILE))
        if entry is None:
            return config_file.config_of({})
        raw = self._parsed(config_file.FORMAT, config_file.FILE, entry.oid, self._validated_config)
        return config_file.config_of(raw, entry.oid)

    @property
    def policy(self) -> Config:
        """The guard.yaml that says what is a fix and what a broken rule does: its own."""
        return self.config

    def _validated_config(self, content: bytes) -> Any:
        return dict(config_file.parse_config(content).raw)

    def _parsed(self, kind: str, file: str, oid: str, parse: Any) -> Any:
        known = self.store.get_parsed(kind, oid)
        if known is None:
            known = parse(self.tree.read_blobs({oid: bytes_of(file)})[oid])
            self.store.put_parsed(kind, {oid: known})
        return known

    @cached_property
    def agents(self) -> Mapping[str, Agent]:
        """Name → agent, of guard.yaml and of plugins."""
        config = self.config
        patterns = any("each" in declared for declared in config.agents.values())
        agents = config_file.expand_agents(config, self.tree.paths() if patterns else ())
        for plugin, agent in self._contributed_agents():
            declared = config.agents.get(agent.name)
            base = agent._replace(origin=plugin, defaults={**config.defaults, **agent.defaults})
            agents[agent.name] = config_file.make_agent(agent.name, declared or {}, config, base)
        for agent in agents.values():
            self._check_agent(agent)
        return agents

    def _contributed_agents(self) -> list[tuple[str, Agent]]:
        plugins = self.plugins_with("guard_agents")
        if plugins is None:
            return []
        owner: dict[str, str] = {}
        found: list[tuple[str, Agent]] = []
        for plugin, agent in plugins.agents(self.view):
            if agent.name in owner:
                raise UsageError(
                    f"plugins {owner[agent.name]} and {plugin} both contribute agent {agent.name}",
                    f"GUARD_DISABLED_PLUGINS={plugin} switches one off",
                )
            owner[agent.name] = plugin
            found.append((plugin, agent))
        return found

    def _check_agent(self, agent: Agent) -> None:
        missing = "paths" if not agent.paths else "target" if not agent.target else ""
        if missing:
            raise self.config_error(("agents", agent.name), f"the key `{missing}` is missing")

    def config_error(self, path: tuple[str | int, ...], message: str) -> ConfigError:
        """Return an error at a key of guard.yaml, with its line."""
        from guard.schema import dotted
        from guard.yamlfile import line_of

        content = self.tree.read(config_file.FILE) or b""
        line = line_of(content.decode("utf-8-sig", "replace"), path) if content else 0
        return ConfigError(config_file.FILE, line, dotted(path), message, config_file.HINT)

    # Plugins ---------------------------------------------------------------------------

    @cached_property
    def view(self) -> ProjectView:
        """The project as plugins see it."""
        from guard.plugin.api import Project as ProjectView

        return ProjectView(
            self.repo.root,
            self.tree.read,
            lambda: [text_of(path) for path in self.tree.entries()],
            self.config.served,
        )

    @property
    def plugins(self) -> Plugins:
        """All plugins, loaded."""
        found = self.plugins_with()
        assert found is not None
        return found

    def plugins_with(self, *hooks: str) -> Plugins | None:
        """Return the plugins, those at least that implement one of ``hooks`` (none named: all).

        None where no plugin has a say: pluggy is then never imported.
        """
        if hooks in self._asked:
            return self._plugins
        self._asked.add(hooks)
        wanted = [
            point
            for point in self._entry_points
            if not hooks or self._hooks_of[point].intersection(hooks)
        ]
        if self._plugins is None and not (wanted or self.config.plugins or not hooks):
            return None
        plugins = self._started_plugins()
        for point in wanted:
            plugins.add(point)
        return plugins

    @cached_property
    def _entry_points(self) -> list[EntryPoint]:
        from guard.plugin.entrypoints import installed_points

        return [point for point in installed_points() if point.name not in self.disabled]

    @cached_property
    def _hooks_of(self) -> dict[EntryPoint, frozenset[str]]:
        from guard.plugin.facts import hooks_of

        return {point: hooks_of(self.store, point) for point in self._entry_points}

    def _started_plugins(self) -> Plugins:
        if self._plugins is None:
            from guard.plugin.manager import plugins_of

            paths = [path for path in self.config.plugins if path not in self.disabled]
            modules = {path: self._own_module(path) for path in paths}
            self._plugins = plugins_of(modules, self.disabled)
        return self._plugins

    def _own_module(self, path: str) -> ModuleType:
        from guard.plugin.repository import load_module

        try:
            return load_module(self.tree, path, self.store.folder)
        except PluginError as error:
            way_out = f"GUARD_DISABLED_PLUGINS={path} switches it off"
            raise PluginError(error.message, error.hint or way_out) from error

    def ask_for_offers(self) -> None:
        """Let plugins name what agents and cases may use, before any case is read.

        A run does, so that the hooks are called in the order in which `guard.plugin.spec` has them.
        """
        _ = self.agents
        for offered in (self.plugins.targets, self.plugins.evaluators, self.plugins.prerequisites):
            offered()

    def target_of(self, agent: Agent) -> Target:
        """Return the agent's target. Raises `ConfigError` where no plugin offers it."""
        targets = self.plugins.targets()
        if agent.target not in targets:
            from guard.schema import nearest

            known = ", ".join(sorted(targets)) or "none"
            near = nearest(agent.target, targets)
            raise self.config_error(
                ("agents", agent.name, "target"),
                f"no plugin offers the target {agent.target!r}{near} (there are: {known})",
            )
        return targets[agent.target]

    # Cases -----------------------------------------------------------------------------

    @cached_property
    def cases(self) -> Mapping[str, Case]:
        """Id → case, of every agent."""
        folders = outermost(literal_prefix(glob) for glob in self.case_globs)
        entries = self.tree.entries_in(map(bytes_of, folders))
        return self._unique(self.load_cases(sorted(self.case_paths(entries))))

    @cached_property
    def cases_by_path(self) -> Mapping[str, tuple[Case, ...]]:
        """Path → the cases that stand there."""
        found: dict[str, tuple[Case, ...]] = {}
        for case in self.cases.values():
            found[case.path] = (*found.get(case.path, ()), case)
        return found

    def case_paths(self, paths: Iterable[bytes]) -> list[bytes]:
        """Return those of the paths that are case files of some agent."""
        matches = compile_globs(self.case_globs)
        return [path for path in paths if matches(path)]

    @cached_property
    def case_globs(self) -> tuple[str, ...]:
        """The case globs of all agents."""
        return tuple(dict.fromkeys(g for a in self.agents.values() for g in a.cases))

    def load_cases(self, paths: Iterable[bytes]) -> list[Case]:
        """Return the cases in the files named. Raises `ConfigError`."""
        entries = {p: e for p in paths if (e := self.tree.get(p)) and e.mode != GITLINK}
        plugins = self.plugins_with(loading.HOOK)
        kind = loading.kind_of(plugins)
        with loading.collector_paused():
            known = self.store.get_parsed_many(kind, {e.oid for e in entries.values()})
        fresh: dict[str, Any] = {}
        missing = {e.oid: path for path, e in entries.items() if e.oid not in known}
        blobs = self.tree.read_blobs(missing)
        found: list[Case] = []
        with loading.collector_paused():
            for path, entry in entries.items():
                fields = known.get(entry.oid)
                if fields is None:
                    fields = loading.read_cases(plugins, text_of(path), blobs[entry.oid])
                    fresh[entry.oid] = fields
                found.extend(self._case(item, path, entry.oid) for item in fields)
        if fresh:
            self.store.put_parsed(kind, fresh)
        return found

    def _case(self, fields: Mapping[str, Any], path: bytes, blob: str) -> Case:
        name, case_id = text_of(path), str(fields["id"])
        owners = self._case_owners.of(path)
        stated = fields.get("agent")
        if stated is None:
            if len(owners) != 1:
                said = f"say which agent's it is: {', '.join(sorted(owners))}"
                raise self.case_error(name, "agent", said, case_id)
            stated = owners[0]
        elif stated not in owners:
            raise self.case_error(name, "agent", not_its_agent(stated, self.agents), case_id)
        try:
            return case_formats.make_case(fields, name, blob, self.agents[stated])
        except ConfigError as error:
            if error.file != name:
                raise
            raise self.case_error(name, error.key, error.said, case_id) from error

    @cached_property
    def _case_owners(self) -> CaseOwners:
        return CaseOwners(self.agents.values())

    def case_error(self, path: str, key: str, message: str, case_id: str = "") -> ConfigError:
        """Return an error at a key of a case file, with its line.

        ``case_id`` says of which case, where the file may hold several.
        """
        line, name = loading.place_in(path, self.tree.read(path), key, case_id)
        return ConfigError(path, line, name, message)

    def _unique(self, cases: Iterable[Case]) -> dict[str, Case]:
        found: dict[str, Case] = {}
        for case in cases:
            if case.id in found:
                said = f"{case.id} stands in {found[case.id].path} too"
                raise self.case_error(case.path, "id", said, case.id)
            found[case.id] = case
        return found

    # Records and ownership -------------------------------------------------------------

    @cached_property
    def records(self) -> Mapping[str, Record]:
        """Id → record of regressions.json."""
        return regressions_file.records_of(self.regressions_document)

    @cached_property
    def regressions_document(self) -> Mapping[str, Any]:
        """regressions.json, validated; an empty one where there is none."""
        entry = self.tree.get(bytes_of(regressions_file.FILE))
        if entry is None:
            return regressions_file.EMPTY
        found: Mapping[str, Any] = self._parsed(
            regressions_file.FORMAT, regressions_file.FILE, entry.oid, regressions_file.validate
        )
        return found

    @cached_property
    def is_guards_own(self) -> Matcher:
        """Test a path: guard.yaml, regressions.json and what it names, cases, plugins."""
        named = (path for record in self.records.values() for path in record.named_files())
        files = (config_file.FILE, regressions_file.FILE, *self.config.plugins)
        evaluators = [file for agent in self.agents.values() for file in _evaluator_files(agent)]
        return compile_globs((*files, *evaluators, *self.case_globs), named)

    def own_paths(self, agent: Agent) -> Matcher:
        """Return a test of the agent's own paths.

        What stands where a folder of theirs would is one: a submodule, a symlink.
        """
        inside, above = compile_globs(agent.paths), folders_above(agent.paths)
        depends = compile_globs(self.depends_of(agent))
        guards_own = self.is_guards_own

        def owns(path: bytes) -> bool:
            return (inside(path) or path in above) and not (depends(path) or guards_own(path))

        return owns

    def depends_of(self, agent: Agent) -> tuple[str, ...]:
        """Return the globs an agent's checks depend on, ``{repo}/…`` in an argv included."""
        return (*agent.depends, *map(literal, named_in_repo(agent.always)))

    def tools_of(self, agent: Agent) -> tuple[str, ...]:
        """Return globs of the files that the target finds in ``{repo}``, as options name them."""
        return tuple(map(literal, named_in_repo(agent.options)))

    def code_of(self, agent: Agent) -> tuple[str, ...]:
        """Return globs of the folders that the agent's plugins and evaluators import from."""
        folders = [f.rpartition("/")[0] for f in (*self.config.plugins, *_evaluator_files(agent))]
        return tuple(dict.fromkeys(literal(folder) if folder else "*" for folder in folders))

    def evaluators_of(self, agent: Agent) -> tuple[Evaluator, ...]:
        """Return all evaluators that may grade the agent, the built-in ones first."""
        from guard.evaluators import built_in_evaluators
        from guard.judges.binding import with_judges

        built_in = with_judges(built_in_evaluators(), self.plugins.panel)
        offered = self.plugins.evaluators()
        chosen = [self._evaluator(agent, name, offered) for name in agent.evaluators]
        return (*built_in, *dict.fromkeys((*offered.values(), *chosen)))

    def _evaluator(self, agent: Agent, name: str, offered: Mapping[str, Evaluator]) -> Evaluator:
        path, colon, function = name.rpartition(":")
        if colon and path.endswith(".py"):
            from guard.plugin.functions import load_function
            from guard.plugin.repository import load_module

            return load_function(load_module(self.tree, path, self.store.folder), path, function)
        if name in offered:
            return offered[name]
        from guard.schema import nearest

        raise self.config_error(
            ("agents", agent.name, "evaluators"),
            f"no plugin offers the evaluator {name!r}{nearest(name, offered)}; "
            "a function of yours is file.py:name",
        )


def _evaluator_files(agent: Agent) -> list[str]:
    return [source.rpartition(":")[0] for source in agent.evaluators if ".py:" in source]
