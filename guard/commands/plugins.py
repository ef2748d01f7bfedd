"""``guard plugins``: which plugins are loaded, and what each of them offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from guard.errors import ExitCode, worst
from guard.output import LOOK, out, printable
from guard.plugin.inventory import load_all
from guard.plugin.manager import Plugins
from guard.session import Session
from guard.wording.table import show_table
from guard.wording.units import count

if TYPE_CHECKING:
    import argparse

HELP = "list the plugins"
#: Hooks that name things, and what the things are called here.
OFFERS: Mapping[str, str] = {
    "guard_targets": "target",
    "guard_evaluators": "evaluator",
    "guard_prerequisites": "prerequisite",
    "guard_judges": "judge",
    "guard_syncs": "sync",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``guard plugins``."""
    parser.add_argument(
        "--hooks", action="store_true", help="who implements each hook, in the order of the calls"
    )


def plugins(*, hooks: bool = False, disabled: frozenset[str]) -> int:
    """Show installed and repository plugins; one that can't be loaded is named, not hidden."""
    with Session.open(disabled=disabled) as session:
        loaded, broken = load_all(session.project())
        rows = [_row(loaded, name) for name in loaded.distributions]
        if rows:
            show_table(("plugin", "from", "offers"), rows)
        else:
            out("no plugin is loaded")
        if hooks:
            out("\n".join(["", *_hook_lines(loaded)]))
        for name in sorted(disabled):
            out(f"{LOOK} {printable(name)} is switched off")
        for error in broken:
            out(f"{LOOK} {printable(error.message)}{f' ({error.hint})' if error.hint else ''}")
        out(count(len(rows), "plugin"))
    return worst(*(error.exit_code for error in broken), ExitCode.OK)


def _row(loaded: Plugins, name: str) -> tuple[str, str, str]:
    told: list[str] = []
    for hook, noun in OFFERS.items():
        names = [item.name for item in _offered(loaded, hook, name)]
        if names:
            told.append(f"{noun}{'s' if len(names) > 1 else ''} {', '.join(names)}")
    others = [h for h in _implemented(loaded, name) if h not in OFFERS]
    offers = "; ".join([*told, *others]) or "nothing"
    return printable(name), printable(loaded.distributions[name]), printable(offers)


def _offered(loaded: Plugins, hook: str, name: str) -> list[Any]:
    return [item for plugin, items in loaded.call(hook) if plugin == name for item in items]


def _implemented(loaded: Plugins, name: str) -> list[str]:
    plugin = loaded.manager.get_plugin(name)
    callers = loaded.manager.get_hookcallers(plugin) or []
    return [caller.name for caller in callers]


def _hook_lines(loaded: Plugins) -> list[str]:
    from guard.plugin import spec

    names = [name for name in dir(spec) if name.startswith("guard_")]
    names.sort(key=list(vars(spec)).index)  # as they stand there: in the order of the calls
    width = max(map(len, names))
    return [f"{name:{width}}  {_callers(loaded, name)}".rstrip() for name in names]


def _callers(loaded: Plugins, hook: str) -> str:
    caller = getattr(loaded.manager.hook, hook)
    order = [impl.plugin_name for impl in reversed(caller.get_hookimpls())]
    first = bool(caller.spec and caller.spec.opts.get("firstresult"))
    told = ", ".join(map(printable, order)) or "nobody"
    return f"{told} (the first result is used)" if first and order else told
