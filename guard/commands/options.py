"""Options that several commands share, and the value they are handed on as."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from guard.engine import Limits
from guard.errors import UsageError
from guard.running.budget import Budget

if TYPE_CHECKING:
    import argparse

FORMATS = ("json", "junit", "html", "markdown")
#: Listed by the design, owned by a later version.
TO_COME = ("executor", "shard")


class RunOptions(NamedTuple):
    """The options of run, verify, ci, check and prove."""

    strict: bool = False
    report_only: bool = False
    jobs: int = 0
    timeout: float | None = None
    trials: int | None = None
    max_cost: float | None = None
    max_seconds: float | None = None
    fail_fast: bool = False
    no_cache: bool = False
    json: str | None = None
    junit: str | None = None
    html: str | None = None
    markdown: str | None = None
    report: tuple[str, ...] = ()
    """NAME=FILE for a plugin's report writer."""

    @classmethod
    def of(cls, values: dict[str, Any]) -> RunOptions:
        """Take the shared options out of a command's keyword arguments."""
        for name in TO_COME:
            if values.pop(name, None) is not None:
                raise UsageError(f"--{name} is not there yet", "guard run --help")
        found = {name: values.pop(name) for name in cls._fields if name in values}
        found["report"] = tuple(found.get("report") or ())
        options = cls(**found)
        if sum(path == "-" for _, path in options.files()) > 1:
            raise UsageError("two reports can't both go to standard output: give one a file")
        return options

    def files(self) -> list[tuple[str, str]]:
        """Return (format, path) of each report that is asked for; ``-`` is standard output."""
        asked = [(name, getattr(self, name)) for name in FORMATS]
        return [(name, path) for name, path in asked if path] + self.plugin_reports()

    def plugin_reports(self) -> list[tuple[str, str]]:
        """Return (name, path) of each report that a plugin writes. Raises `UsageError`."""
        found: list[tuple[str, str]] = []
        for request in self.report:
            name, _, path = request.partition("=")
            if not name or not path:
                raise UsageError(f"--report {request}: takes NAME=FILE", "guard run --help")
            found.append((name, path))
        return found

    def limits(self, *, confirm: bool = False) -> Limits:
        """Return the bounds for the engine."""
        return Limits(
            jobs=self.jobs,
            timeout=self.timeout,
            trials=self.trials,
            fail_fast=self.fail_fast,
            no_cache=self.no_cache,
            confirm=confirm,
        )

    def budget(self) -> Budget:
        """Return what may be spent."""
        return Budget(self.max_seconds, self.max_cost)


def add_run_options(parser: argparse.ArgumentParser, *, trials: bool = False) -> None:
    """Add run's report, budget and verdict options."""
    parser.add_argument("--strict", action="store_true", help="what is not known is exit 3")
    parser.add_argument(
        "--report-only", action="store_true", help="report, and end in 0 for exits 1 and 3"
    )
    add_effort_options(parser, trials=trials)
    parser.add_argument("--fail-fast", action="store_true", help="stop at the first failing trial")
    for name in FORMATS:
        parser.add_argument(f"--{name}", metavar="F", help=f"write a {name} report; - is stdout")
    parser.add_argument(
        "--report", action="append", metavar="NAME=F", help="write a plugin's report"
    )
    for name in TO_COME:
        parser.add_argument(f"--{name}", help=_suppressed())


def add_effort_options(parser: argparse.ArgumentParser, *, trials: bool = False) -> None:
    """Add what bounds the trials: jobs, time, money, and whether kept evidence counts."""
    parser.add_argument("--jobs", type=_at_least_one, default=0, metavar="N", help="trials at once")
    parser.add_argument("--timeout", type=_positive, metavar="S", help="seconds for each trial")
    if trials:
        help_text = "exactly N trials of each case"
        parser.add_argument(
            "--trials", "--runs", type=_at_least_one, metavar="N", help=help_text, dest="trials"
        )
    parser.add_argument("--max-cost", type=_not_negative, metavar="USD", help="dollars at most")
    parser.add_argument("--max-seconds", type=_not_negative, metavar="S", help="seconds at most")
    parser.add_argument("--no-cache", action="store_true", help="use no receipt")


def add_at_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--at``: which tree is under test."""
    parser.add_argument(
        "--at",
        default="worktree",
        metavar="TREE",
        help="worktree (default), index, or a revision",
    )


def _suppressed() -> str:
    import argparse

    return argparse.SUPPRESS


def _number(text: str, kind: type[float] | type[int], low: float, *, above: bool) -> Any:
    import argparse

    try:
        value = kind(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not (value > low if above else value >= low) or value == float("inf"):
        raise argparse.ArgumentTypeError(f"must be {'above' if above else 'at least'} {low:g}")
    return value


def _at_least_one(text: str) -> int:
    return int(_number(text, int, 1, above=False))


def _positive(text: str) -> float:
    return float(_number(text, float, 0, above=True))


def _not_negative(text: str) -> float:
    return float(_number(text, float, 0, above=False))
