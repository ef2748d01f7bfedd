"""A bar while trials run, on a terminal only; elsewhere nothing, so that logs stay readable."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Silent:
    """Progress that nobody sees."""

    def advance(self, text: str = "") -> None:
        """Note that one more is done."""


class Bar(Silent):
    """A bar on standard error; gates end early or late, so that its total may grow."""

    def __init__(self, shown: Progress, task: TaskID, total: int) -> None:
        self._shown = shown
        self._task = task
        self._total = total
        self._done = 0

    def advance(self, text: str = "") -> None:
        """Count one more, and show what it was."""
        from rich.markup import escape

        from guard.output import printable

        self._done += 1
        self._total = max(self._total, self._done)
        self._shown.update(
            self._task, completed=self._done, total=self._total, text=escape(printable(text))
        )


@contextmanager
def progress(total: int, enabled: bool) -> Generator[Silent, None, None]:
    """Give an object whose ``advance(text)`` is called as each trial ends.

    ``enabled``: whether standard error is a terminal. rich is imported only then.
    """
    if not enabled:
        yield Silent()
        return
    import sys

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from guard.output import wants_color

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[text]}"),
    )
    console = Console(stderr=True, no_color=not wants_color(sys.stderr))
    with Progress(*columns, console=console, transient=True) as shown:
        yield Bar(shown, shown.add_task("", total=total, text=""), total)
