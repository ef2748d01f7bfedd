"""Loads plugins and calls their hooks, so that each failure is one line with the way out."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pluggy

from guard.errors import GuardError, PluginError
from guard.model import Agent
from guard.plugin import spec
from guard.plugin.blame import blamed_on
from guard.plugin.entrypoints import EntryPoint
from guard.plugin.exits import keep_guard_running
from guard.plugin.facts import digest_of, identity_of

if TYPE_CHECKING:
    from guard.judges.panel import Panel
    from guard.plugin.api import Evaluator, Prerequisite, Project, Served, Target
    from guard.plugin.doubles import StorageDouble
    from guard.plugin.judges import Judge
    from guard.plugin.syncs import Sync
    from guard.results import Report

    Named = TypeVar("Named", Target, Evaluator, Prerequisite, Judge, StorageDouble, Sync)
    Offered = TypeVar(
        "Offered", Agent, Served, Target, Evaluator, Prerequisite, Judge, StorageDouble, Sync
    )


def make_plugin_manager() -> pluggy.PluginManager:
    """Return a manager that knows our hooks and no plugin."""
    manager = pluggy.PluginManager("guard")
    manager.add_hookspecs(spec)
    return manager


class Plugins:
    """The plugins of one run."""

    def __init__(self) -> None:
        self.manager = make_plugin_manager()
        self.distributions: dict[str, str] = {}
        self._named: dict[str, dict[str, Any]] = {}
        self._owners: dict[str, dict[str, str]] = {}
        self._points: dict[str, EntryPoint] = {}

    def register(self, name: str, plugin: object, distribution: str) -> None:
        """Add one plugin. Raises `PluginError` where it doesn't fit the hooks."""
        if name in self.distributions:
            raise PluginError(
                f"two plugins are named {name}: {self.distributions[name]} and {distribution}",
                "uninstall one of them",
            )
        try:
            self.manager.register(plugin, name)
            self.manager.check_pending()
            _watch_of(getattr(plugin, "guard_affected", None))
        except (pluggy.PluginValidationError, ValueError) as error:
            self.manager.unregister(name=name)
            said = " ".join(str(error).split())
            raise PluginError(
                f"plugin {name} ({distribution}) does not fit: {said}", _switch_off(name)
            ) from error
        self.distributions[name] = distribution

    def add(self, point: EntryPoint) -> None:
        """Import and register an installed plugin, unless that was done before."""
        if self._points.get(point.name) != point:
            self.register(point.name, import_plugin(point), point.distribution)
            self._points[point.name] = point
            self._named.clear()

    def call(self, hook: str, **arguments: Any) -> list[tuple[str, Any]]:
        """Call one hook; return (plugin, result) in call order, results of None left out."""
        first = _is_first(getattr(self.manager.hook, hook))
        found: list[tuple[str, Any]] = []
        for name in self._implementing(hook):
            result = self._call_one(hook, name, arguments)
            if result is None:
                continue
            found.append((name, result))
            if first:
                break
        return found

    def tell(self, hook: str, silent: set[str], **arguments: Any) -> list[GuardError]:
        """Call a reporters' hook of all plugins but ``silent``; return what they raised.

        Whoever raises joins ``silent``: told once, it need not bury the report.
        """
        raised: list[GuardError] = []
        for name in self._implementing(hook):
            if name in silent:
                continue
            try:
                self._call_one(hook, name, arguments)
            except GuardError as error:
                silent.add(name)
                raised.append(error)
        return raised

    def _implementing(self, hook: str) -> list[str]:
        """Return the plugins that have a hook, in the order in which pluggy calls them."""
        return [i.plugin_name for i in reversed(getattr(self.manager.hook, hook).get_hookimpls())]

    def implements(self, hook: str) -> bool:
        """Tell whether any of the plugins has this hook."""
        return bool(self._implementing(hook))

    def watched_globs(self) -> list[str] | None:
        """Return the globs that all `guard_affected` hooks declare by `watch`.

        None where one of them declares none: then it may look at any path.
        """
        found: list[str] = []
        for impl in self.manager.hook.guard_affected.get_hookimpls():
            globs = _watch_of(impl.function)
            if globs is None:
                return None
            found += globs
        return found

    def identity(self, hook: str) -> str:
        """Return what differs when the code behind a hook does; empty where nothing is."""
        names = self._implementing(hook)
        return " ".join(
            identity_of(self._points[name])
            if name in self._points
            # A repository's module is named by the digest of its files.
            else str(getattr(self.manager.get_plugin(name), "__name__", name))
            for name in names
        )

    def _call_one(self, hook: str, name: str, arguments: Mapping[str, Any]) -> Any:
        others = [p for n, p in self.manager.list_name_plugin() if n != name and p is not None]
        caller = self.manager.subset_hook_caller(hook, others)
        try:
            result: Any = caller(**arguments)
        except GuardError:
            raise
        except (Exception, SystemExit) as error:
            raise PluginError(
                f"plugin {name} ({self.distributions[name]}): {hook} raised "
                f"{type(error).__name__}: {error}",
                _switch_off(name),
            ) from error
        if _is_first(caller):
            return result
        return next(iter(result), None)

    def agents(self, project: Project) -> list[tuple[str, Agent]]:
        """Return (plugin, agent) of all agents that plugins contribute."""
        return [
            (plugin, agent)
            for plugin, items in self.call("guard_agents", project=project)
            for agent in self._items("guard_agents", plugin, items, Agent)
        ]

    def served_agents(self, project: Project) -> list[tuple[str, Served]]:
        """Return (plugin, entry) of all that the deploy manifests serve."""
        from guard.plugin.api import Served

        return [
            (plugin, entry)
            for plugin, items in self.call("guard_served_agents", project=project)
            for entry in self._items("guard_served_agents", plugin, items, Served)
        ]

    def targets(self) -> Mapping[str, Target]:
        """Return name → target."""
        from guard.plugin.api import Target
        from guard.plugin.reality import refuse_stand_ins

        found = self._collect("guard_targets", Target)
        refuse_stand_ins(found.values(), self._owners["guard_targets"])
        return found

    def evaluators(self) -> Mapping[str, Evaluator]:
        """Return name → evaluator of plugins; the built-in ones are not among them."""
        from guard.plugin.api import Evaluator

        found = self._collect("guard_evaluators", Evaluator)
        _refuse_shared_keys(found.values())
        return found

    def prerequisites(self) -> Mapping[str, Prerequisite]:
        """Return name → prerequisite of plugins."""
        from guard.plugin.api import Prerequisite

        return self._collect("guard_prerequisites", Prerequisite)

    def judges(self) -> Mapping[str, Judge]:
        """Return name → judge."""
        from guard.plugin.judges import Judge

        return self._collect("guard_judges", Judge)

    @cached_property
    def panel(self) -> Panel:
        """The judges, with what this run of guard knows of them."""
        from guard.judges.panel import Panel

        return Panel(self.judges)

    def storage_doubles(self) -> Mapping[str, StorageDouble]:
        """Return name → storage double."""
        from guard.plugin.doubles import StorageDouble
        from guard.plugin.reality import refuse_unexplained

        found = self._collect("guard_storage_doubles", StorageDouble)
        refuse_unexplained(found.values(), self._owners["guard_storage_doubles"])
        return found

    def syncs(self) -> Mapping[str, Sync]:
        """Return name → sync."""
        from guard.plugin.syncs import Sync

        return self._collect("guard_syncs", Sync)

    def report_writers(self) -> Mapping[str, Callable[[Report], str]]:
        """Return name → report writer of plugins."""
        if "guard_reports" not in self._named:
            writers: dict[str, Callable[[Report], str]] = {}
            for plugin, offered in self.call("guard_reports"):
                if not isinstance(offered, Mapping):
                    raise self._refused("guard_reports", plugin, "a mapping", offered)
                writing = cast("Mapping[str, Callable[[Report], str]]", offered)
                twice = next((name for name in writing if name in writers), None)
                if twice:
                    raise PluginError(f"two plugins write report {twice}", _switch_off(plugin))
                writers.update(writing)
            self._named["guard_reports"] = writers
        return self._named["guard_reports"]

    def _collect(self, hook: str, kind: type[Named]) -> Mapping[str, Named]:
        if hook not in self._named:
            found: dict[str, Named] = {}
            owner: dict[str, str] = {}
            for plugin, items in self.call(hook):
                for item in self._items(hook, plugin, items, kind):
                    if item.name in found:
                        raise PluginError(
                            f"plugins {owner[item.name]} and {plugin} both name {item.name} "
                            f"in {hook}",
                            _switch_off(plugin),
                        )
                    found[item.name], owner[item.name] = item, plugin
            self._named[hook], self._owners[hook] = found, owner
        return self._named[hook]

    def owner_of(self, target: str) -> str:
        """Return the plugin that offers a target; empty where none does."""
        self.targets()
        return self._owners["guard_targets"].get(target, "")

    def code_of(self, target: str) -> str:
        """Return a digest of the installed plugins that run a target, or may grade what it does.

        Those that set something up for trials too.

        A repository's own plugins are files of its tree.
        """
        self.targets()
        self.evaluators()
        provided = [n for n, item in self.prerequisites().items() if item.provide is not None]
        setting_up = [self._owners["guard_prerequisites"][name] for name in provided]
        owner = self._owners["guard_targets"].get(target, "")
        names = {owner, *self._owners["guard_evaluators"].values(), *setting_up}
        return digest_of(point for name, point in self._points.items() if name in names)

    def code_of_judge(self, name: str) -> str:
        """Return a digest of the installed plugin that offers a judge."""
        self.judges()
        owner = self._owners["guard_judges"].get(name, "")
        return digest_of(point for plugin, point in self._points.items() if plugin == owner)

    def _items(self, hook: str, plugin: str, items: Any, kind: type[Offered]) -> list[Offered]:
        wrong: object = items
        if isinstance(items, Iterable) and not isinstance(items, (str, kind)):
            who = f"plugin {plugin} ({self.distributions[plugin]}): {hook}"
            with blamed_on(who, _switch_off(plugin)):
                listed = list(cast("Iterable[object]", items))
            fitting = [item for item in listed if isinstance(item, kind)]
            if len(fitting) == len(listed):
                return fitting
            wrong = next(item for item in listed if not isinstance(item, kind))
        raise self._refused(hook, plugin, f"{kind.__name__} values", wrong)

    def _refused(self, hook: str, plugin: str, wanted: str, wrong: object) -> PluginError:
        return PluginError(
            f"plugin {plugin} ({self.distributions[plugin]}): {hook} must return {wanted}, "
            f"not {type(wrong).__name__}",
            _switch_off(plugin),
        )


#: The two trees of a commit mostly hold the same plugins: they are started once.
_started: dict[tuple[frozenset[str], tuple[tuple[str, str], ...]], Plugins] = {}


def plugins_of(modules: Mapping[str, ModuleType], disabled: frozenset[str]) -> Plugins:
    """Return the plugins of a repository's own modules, path → module; the same ones share."""
    key = (disabled, tuple((path, module.__name__) for path, module in modules.items()))
    if key not in _started:
        plugins = Plugins()
        for path, module in modules.items():
            plugins.register(path, module, "guard.yaml")
        _started[key] = plugins
    return _started[key]


def _refuse_shared_keys(offered: Iterable[Evaluator]) -> None:
    from guard.evaluators import declared_keys

    readers = dict.fromkeys(declared_keys(), "guard's own")
    for evaluator in offered:
        for key in evaluator.reads:
            if key in readers:
                raise PluginError(
                    f"evaluator {evaluator.name} reads the key {key}, which {readers[key]} reads",
                    "rename the key, or switch one of the plugins off",
                )
        readers.update(dict.fromkeys(evaluator.reads, evaluator.name))


def _watch_of(function: object) -> list[str] | None:
    """Return what a `guard_affected` hook declares by `watch`. Raises `ValueError`."""
    declared: object = getattr(function, "watch", None)
    if declared is None:
        return None
    listed = cast("Iterable[object]", declared) if isinstance(declared, (list, tuple)) else ()
    globs = [glob for glob in listed if isinstance(glob, str) and glob]
    if not globs or len(globs) != len(list(listed)):
        raise ValueError(f"the watch of guard_affected must be globs, not {declared!r}")
    return globs


def _is_first(caller: Any) -> bool:
    return bool(caller.spec and caller.spec.opts.get("firstresult"))


def _switch_off(name: str) -> str:
    return f"GUARD_DISABLED_PLUGINS={name} switches it off"


def import_plugin(point: EntryPoint) -> ModuleType:
    """Import one installed plugin. Raises `PluginError` in one line."""
    keep_guard_running()
    try:
        module, _, attribute = point.module.partition(":")
        found = importlib.import_module(module)
        return getattr(found, attribute) if attribute else found
    except (Exception, SystemExit) as error:
        raise PluginError(
            f"plugin {point.name} ({point.distribution}) does not load: "
            f"{type(error).__name__}: {error}",
            _switch_off(point.name),
        ) from error
