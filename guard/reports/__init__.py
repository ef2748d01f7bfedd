"""Report formats: one file each, with ``render(report) -> str``. They write and decide nothing."""

from __future__ import annotations

from importlib import import_module
from typing import Final, Protocol, cast

from guard.errors import UsageError
from guard.results import Report

#: Name on the command line → module.
FORMATS: Final = {
    "text": "guard.reports.text",
    "json": "guard.reports.json_report",
    "junit": "guard.reports.junit",
    "markdown": "guard.reports.markdown",
    "html": "guard.reports.html_report",
}


class Format(Protocol):
    """What a module of this folder offers."""

    def render(self, report: Report) -> str:
        """Return the whole report as text that ends in a newline."""
        ...


def find_format(name: str) -> Format:
    """Return the module that writes a format; raises `UsageError` where there is none."""
    if name not in FORMATS:
        raise UsageError(f"no report format {name!r}; there are {', '.join(FORMATS)}")
    return cast("Format", import_module(FORMATS[name]))


def write_report(name: str, report: Report, path: str) -> None:
    """Write a report to a file, whole or not at all; ``-`` is standard output.

    Text on standard output gets colours and what the terminal's encoding can carry; every other
    format is UTF-8 wherever it goes.
    """
    from guard.output import out, write_file

    rendered = find_format(name).render(report)
    if name == "text" and path == "-":
        out(rendered.removesuffix("\n"))
    else:
        write_file(path, rendered)
