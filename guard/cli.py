"""The command line: which commands there are, and one place where errors become exit codes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from guard import __version__
from guard.errors import ExitCode, GuardError, quit_by_others

if TYPE_CHECKING:
    import argparse

#: Commands by whom they are for, and what each does, in the order in which help lists them. The
#: module is imported when the command is called, so that each start pays for its own imports alone.
GROUPS: Mapping[str, Mapping[str, str]] = {
    "every day": {
        "prove": "show that a case fails without the fix and passes with it",
        "run": "run cases, several times each, on fresh copies",
        "show": "show a trial: what it was asked, did, changed, said",
        "affected": "list the cases that a change affects; run nothing",
        "status": "show what holds and what is owed",
        "new-case": "write a new case to fill in",
        "check": "check everything that needs no run",
        "explain": "explain a word, a rule or a key",
    },
    "to begin": {
        "demo": "play the whole story in a scratch repository",
        "init": "set up this repository",
        "install": "install the git hooks",
        "uninstall": "remove the git hooks, restore those that were there",
        "doctor": "check what guard needs on this machine",
    },
    "for the team": {
        "ci": "judge what a pull request or a push brings",
        "verify": "show that every retained regression still fails before its fix",
        "regressions": "list, audit, verify, add, move, retire or reopen the retained regressions",
        "receipts": "list the stored evidence, or move it between machines as files",
        "bisect": "find the commit that broke a case, by bisection",
    },
    "for authors of cases and plugins": {
        "gates": "show how sure each gate is, and how many trials it takes",
        "agents": "list the agents",
        "plugins": "list the plugins",
        "sync": "rebuild a remote copy of the cases from the repository",
        "schema": "print the JSON Schema of a file",
    },
    "called by git": {
        "hook": "run a git hook: commit-msg, pre-commit, pre-merge-commit, pre-push, pre-receive",
        "merge-driver": "merge regressions.json record by record",
    },
}
COMMANDS: Mapping[str, str] = {
    name: text for group in GROUPS.values() for name, text in group.items()
}
EPILOG = """
exit codes: 0 all that was asked holds; 1 a case fails, a rule is broken, a proof doesn't hold;
2 the command line or a file is wrong; 3 it could not be established; 4 a bug in guard

`guard COMMAND --help` tells a command's options, `guard explain WORD` what a word means, such as
case, PROVEN or Guard-Exempt; `guard explain` lists the words. `guard demo` plays it all in 30 s.
More: https://github.com/regression-guard/regression-guard/tree/main/docs"""
#: What a later version brings: refused by name.
TO_COME = (
    "capture",
    "login",
    "history",
    "scoreboard",
    "new-plugin",
    "readiness",
    "coverage",
    "audit",
    "scaffold",
    "plan-journeys",
    "report",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments in (["--version"], ["-V"]):
        print(f"guard {__version__}")
        return ExitCode.OK
    return _guarded(lambda: _dispatch(arguments))


def _dispatch(arguments: list[str]) -> int:
    if arguments[:1] == ["hook"] and arguments[1:2] not in (["--help"], ["-h"]):
        # Before argparse is imported: this is the way of every commit.
        from guard_hooks.run import hook

        return hook(arguments[1:])
    disabled, rest = _switched_off(arguments)
    if rest and rest[0] in TO_COME:
        from guard.errors import UsageError

        raise UsageError(f"`guard {rest[0]}` is not there yet", "guard --help")
    name, values = _parse(rest)
    try:
        return _function(name)(**values, disabled=disabled)
    except SystemExit as error:
        raise quit_by_others(error) from error


def _switched_off(arguments: list[str]) -> tuple[frozenset[str], list[str]]:
    """Take ``-p no:NAME`` out of the arguments, wherever it stands."""
    from guard.plugin.switches import disabled_plugins

    rest: list[str] = []
    names: list[str] = []
    position = 0
    while position < len(arguments):
        following = arguments[position + 1 : position + 2]
        if arguments[position] == "-p" and following and following[0].startswith("no:"):
            names.append(following[0].removeprefix("no:"))
            position += 2
            continue
        rest.append(arguments[position])
        position += 1
    return disabled_plugins(names), rest


def _parse(arguments: list[str]) -> tuple[str, dict[str, Any]]:
    import argparse

    class Parser(argparse.ArgumentParser):
        """Takes a command's options in any place; tells its own usage of a word too many."""

        mixing = False

        def parse_known_args(self, *given: Any, **named: Any) -> Any:
            if self.mixing or self is parser:
                return super().parse_known_args(*given, **named)
            self.mixing = True
            found, rest = self.parse_known_intermixed_args(*given, **named)
            if rest:
                self.error(f"unrecognized arguments: {' '.join(rest)}")
            return found, rest

    parser = Parser(
        prog="guard",
        description="Regression Guard: a bug in an agent earns its test.",
        epilog=_listed() + EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-V", "--version", action="version", version=f"guard {__version__}")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", required=True, help="one of those below"
    )
    asked = next((word for word in arguments if word in COMMANDS), None)
    for name, text in COMMANDS.items():
        one = commands.add_parser(
            name,
            description=text,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == asked:
            _add_arguments(name, one)
    values = vars(parser.parse_args(_with_values(asked, arguments)))
    _choose_color(values.pop("color"))
    return values.pop("command"), values


def _listed() -> str:
    """Return the commands, group by group: argparse knows one list of them only."""
    lines: list[str] = []
    for title, group in GROUPS.items():
        lines += [f"{title}:", *(f"    {name:14} {text}" for name, text in group.items()), ""]
    return "\n".join(lines)


def _with_values(command: str | None, arguments: list[str]) -> list[str]:
    """Write out the value of an option that may stand without one.

    With argparse's ``nargs="?"`` `--affected` would eat the selector behind it.
    """
    defaults: Mapping[str, str] = {}
    if command and command != "hook":
        defaults = getattr(_module(command), "OPTIONAL_VALUES", {})
    return [f"{word}={defaults[word]}" if word in defaults else word for word in arguments]


def _add_arguments(name: str, parser: argparse.ArgumentParser) -> None:
    if name != "hook":
        _module(name).add_arguments(parser)
        return
    parser.add_argument("stage", metavar="STAGE", help="one of those; pre-applypatch for `git am`")
    parser.add_argument("arguments", metavar="ARGUMENT", nargs="*", help="what git gives the hook")
    parser.epilog = 'A hook of your own calls it so: guard hook pre-push "$@"'


def _choose_color(choice: str) -> None:
    from guard import output

    output.set_color(choice)


def _module(name: str) -> Any:
    import importlib

    home = "guard_hooks" if name in ("install", "uninstall") else "guard.commands"
    return importlib.import_module(f"{home}.{name.replace('-', '_')}")


def _function(name: str) -> Callable[..., int]:
    function: Callable[..., int] = getattr(_module(name), name.replace("-", "_"))
    return function


def _guarded(function: Callable[[], int]) -> int:
    """Turn what is raised into a line and an exit code; nothing else prints a traceback."""
    from guard.failures import report_error, report_failure

    try:
        return int(function())
    except GuardError as error:
        report_error(error)
        return error.exit_code
    except KeyboardInterrupt:
        from guard.output import warn

        warn("interrupted")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        return ExitCode.NOT_ESTABLISHED
    except Exception as error:
        return report_failure(error)
