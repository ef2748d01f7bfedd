"""An eval never stubs the thing it is testing: what a target may say of what it doesn't run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from guard.errors import PluginError

if TYPE_CHECKING:
    from guard.plugin.api import Target
    from guard.plugin.doubles import StorageDouble

#: The one kind of side effect that may be substituted: no decision is taken there.
STORAGE: Final = "storage"
_MORE: Final = "guard explain target"


def refuse_stand_ins(targets: Iterable[Target], owners: Mapping[str, str]) -> None:
    """Raise `PluginError` for a target that substitutes more than storage, or names nothing real.

    ``owners``: target → the plugin that offers it.
    """
    for target in targets:
        said = _wrong_of(target)
        if said:
            raise PluginError(f"target {target.name} (plugin {owners[target.name]}) {said}", _MORE)


def _wrong_of(target: Target) -> str:
    if not _is_said(target.real):
        return "doesn't say what it runs for real: its `real` is empty"
    for substitute in target.substitutes:
        if substitute.kind != STORAGE:
            return (
                f"substitutes {substitute.what!r}, of kind {substitute.kind!r}: "
                f"only {STORAGE} may be substituted"
            )
        if not (_is_said(substitute.what) and _is_said(substitute.why)):
            return "substitutes something, and doesn't say what and why"
    return ""


def refuse_unexplained(doubles: Iterable[StorageDouble], owners: Mapping[str, str]) -> None:
    """Raise `PluginError` for a double that doesn't say what it replaces, or why."""
    for double in doubles:
        if not (_is_said(double.replaces) and _is_said(double.why)):
            said = "doesn't say what it replaces and why"
            raise PluginError(f"double {double.name} (plugin {owners[double.name]}) {said}", _MORE)


def _is_said(text: object) -> bool:
    return isinstance(text, str) and bool(text.strip())
