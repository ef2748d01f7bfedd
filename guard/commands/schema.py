"""``guard schema``: print the JSON Schema of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.output import out
from guard.schemas import SCHEMAS, schema_text

if TYPE_CHECKING:
    import argparse

HELP = "print the JSON Schema of a file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the argument of ``guard schema``."""
    parser.add_argument("name", metavar="NAME", help=", ".join(SCHEMAS))


def schema(*, name: str, disabled: frozenset[str] = frozenset()) -> int:
    """Print one schema."""
    out(schema_text(name).rstrip("\n"))
    return 0
