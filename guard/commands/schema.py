"""``guard schema``: print the JSON Schema of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.output import write_file
from guard.schemas import SCHEMAS, schema_text

if TYPE_CHECKING:
    import argparse

HELP = "print the JSON Schema of a file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the argument of ``guard schema``."""
    parser.add_argument("name", metavar="NAME", help=", ".join(SCHEMAS))


def schema(*, name: str, disabled: frozenset[str] = frozenset()) -> int:
    """Print one schema."""
    write_file("-", schema_text(name))
    return 0
