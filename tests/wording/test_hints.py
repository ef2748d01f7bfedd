"""What stands behind a command that is printed: a shell must take it for a comment."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import guard
import guard_hooks

#: A remark in brackets, set off from a command by blanks.
REMARK = re.compile(r"""(?:guard|git) [^"\n]*[^"\s] {2,}\(""")
FOLDERS = [Path(module.__file__ or "").parent for module in (guard, guard_hooks)]


def remarks_in(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if REMARK.search(line)]


def test_no_command_is_followed_by_a_remark_in_brackets() -> None:
    files = [file for folder in FOLDERS for file in folder.rglob("*.py")]
    assert len(files) > 100
    found = {str(file): said for file in files if (said := remarks_in(file.read_text("utf-8")))}
    assert not found


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ('hint = "git commit    (again)"', 1),
        ('f"guard run --owed{at}    ({told})"', 1),
        ('hint = "git commit    # again"', 0),
        ("print(guard.name)  # (a comment)", 0),
    ],
)
def test_a_remark_is_seen(text: str, number: int) -> None:
    assert len(remarks_in(text)) == number
