"""What production serves, as the deploy manifests of ``served`` say it.

The manifests are read through the plugins' hook `guard_served_agents`, never from guard's own list
of agents: that would be asking the registry about itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from guard.errors import ConfigError, TrialOutcome, UsageError
from guard.git import bytes_of
from guard.globs import WILDCARDS
from guard.tree import GITLINK, SYMLINK

if TYPE_CHECKING:
    from guard.plugin.api import Served
    from guard.project import Project

HOOK: Final = "guard_served_agents"
_KEY: Final = "served"


def read_served(project: Project, *, by_data: bool = False) -> tuple[Served, ...]:
    """Return every entry of every manifest, each once. Raises `UsageError` for one that isn't read.

    Without ``served`` no plugin is loaded. ``by_data``: a manifest may be in a format whose
    reader comes with the tree, and isn't called here.
    """
    manifests = project.config.served
    if not manifests:
        return ()
    for manifest in manifests:
        _check_there(project, manifest)
    found = _asked(project)
    read = {entry.manifest for entry in found}
    for manifest in manifests:
        if manifest not in read and not by_data:
            raise _refused(project, f"no plugin reads {manifest}", "guard plugins --hooks")
    return tuple(entry for entry in found if entry.name)


def _asked(project: Project) -> tuple[Served, ...]:
    plugins = project.plugins_with(HOOK)
    if plugins is None:
        return ()
    try:
        found = plugins.served_agents(project.view)
    except TrialOutcome as error:
        # Raised in the words of a trial; here it is a file that is wrong.
        raise UsageError(error.message, error.hint or f"guard explain {_KEY}") from error
    _check_manifests(project, found)
    return tuple(dict.fromkeys(entry for _, entry in found))


def _check_manifests(project: Project, found: Iterable[tuple[str, Served]]) -> None:
    """Refuse an entry of a manifest that guard.yaml doesn't name: it would stand for nothing."""
    from guard.errors import PluginError

    for plugin, entry in found:
        if {*map(type, entry)} != {str}:
            said = f"returned {tuple(entry)!r}, which are not texts"
        elif entry.manifest not in project.config.served:
            said = f"returned an entry of {entry.manifest!r}, which `{_KEY}` doesn't name"
        else:
            continue
        hint = f"GUARD_DISABLED_PLUGINS={plugin} switches it off"
        raise PluginError(f"plugin {plugin}: {HOOK} {said}", hint)


def _check_there(project: Project, manifest: str) -> None:
    entry = project.tree.get(bytes_of(manifest))
    if entry is None:
        raise _refused(project, f"{manifest} {_why_missing(project, manifest)}")
    if entry.mode in (SYMLINK, GITLINK):
        kind = "a symlink" if entry.mode == SYMLINK else "a submodule"
        raise _refused(project, f"{manifest} is {kind}: name the file itself")


def _why_missing(project: Project, manifest: str) -> str:
    if project.tree.below(bytes_of(manifest.rstrip("/"))):
        return "is a folder: name the manifest in it"
    if WILDCARDS.intersection(manifest):
        return "is not in the tree under test: a manifest is named by its path, not by a glob"
    return "is not in the tree under test"


def _refused(project: Project, message: str, hint: str = "") -> ConfigError:
    error = project.config_error((_KEY,), message)
    error.hint = hint or f"guard explain {_KEY}"
    return error
