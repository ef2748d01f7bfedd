"""``guard merge-driver``: merge regressions.json record by record; git calls it.

`guard init` names it in ``.gitattributes``, and each clone's `guard install` in git's config.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.errors import ExitCode
from guard.merging.files import Three, merge_files
from guard.regressions import FILE

if TYPE_CHECKING:
    import argparse

HELP = "merge regressions.json record by record; git calls it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``guard merge-driver``, as git fills them in."""
    parser.add_argument("base", metavar="BASE", help="%%O: what both come from; may be empty")
    parser.add_argument("ours", metavar="OURS", help="%%A: this side; the result replaces it")
    parser.add_argument("theirs", metavar="THEIRS", help="%%B: the other side")
    parser.add_argument("size", metavar="SIZE", nargs="?", type=int, default=7, help="%%L: of `<`")
    parser.add_argument("path", metavar="PATH", nargs="?", default=FILE, help="%%P: its name")


def merge_driver(
    *,
    base: str,
    ours: str,
    theirs: str,
    size: int = 7,
    path: str = FILE,
    disabled: frozenset[str] = frozenset(),
) -> int:
    """Merge into OURS; exit 1 with conflict markers in it where both changed the same key."""
    merged = merge_files(Three(base, ours, theirs), size, path)
    return ExitCode.OK if merged else ExitCode.REGRESSION
