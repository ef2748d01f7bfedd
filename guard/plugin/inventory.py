"""Every plugin that there is, each loaded by itself: one that is torn hides no other."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from guard.errors import GuardError
from guard.plugin.entrypoints import find_entry_points
from guard.plugin.manager import Plugins, import_plugin
from guard.plugin.repository import load_module
from guard.project import Project


def load_all(project: Project) -> tuple[Plugins, list[GuardError]]:
    """Load every plugin; return those that load, and why the others don't."""
    loaded = Plugins()
    broken: list[GuardError] = []
    folder = project.store.folder
    # In the order in which a run registers them, which decides who is called first.
    for path in project.config.plugins:
        load = partial(load_module, project.tree, path, folder)
        _take(loaded, broken, project.disabled, path, load, "guard.yaml")
    _take_installed(loaded, broken, project.disabled)
    return loaded, broken


def load_installed(disabled: frozenset[str]) -> tuple[Plugins, list[GuardError]]:
    """Load the installed plugins alone, as where there is no repository."""
    loaded = Plugins()
    broken: list[GuardError] = []
    _take_installed(loaded, broken, disabled)
    return loaded, broken


def _take_installed(loaded: Plugins, broken: list[GuardError], disabled: frozenset[str]) -> None:
    for point in find_entry_points():
        load = partial(import_plugin, point)
        _take(loaded, broken, disabled, point.name, load, point.distribution)


def _take(
    loaded: Plugins,
    broken: list[GuardError],
    disabled: frozenset[str],
    name: str,
    load: Callable[[], object],
    distribution: str,
) -> None:
    if name in disabled:
        return
    try:
        loaded.register(name, load(), distribution)
    except GuardError as error:
        broken.append(error)
