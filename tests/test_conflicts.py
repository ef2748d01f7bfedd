"""Conflict markers are named; a file that only looks so is told what it is."""

from __future__ import annotations

import pytest

from guard.cases.markdown import parse
from guard.config import parse_config
from guard.conflicts import unsettled
from guard.errors import ConfigError
from guard.regressions import validate

HUNK = "<<<<<<< HEAD\n{a}=======\n{b}>>>>>>> other\n"
NAMED = "holds conflict markers of a merge: resolve them"


def refused(read: object) -> ConfigError:
    assert callable(read)
    with pytest.raises(ConfigError) as found:
        read()
    return found.value


def test_they_are_named_in_each_file() -> None:
    case = "---\nid: a\n" + HUNK.format(a="agent: b\n", b="agent: c\n") + "---\nIt asks.\n"
    found = refused(lambda: parse("evals/a b.md", case))
    assert (found.message, found.hint) == (
        f"evals/a b.md:3: {NAMED}",
        "edit it, then: git add 'evals/a b.md'",
    )
    config = "version: 1\n" + HUNK.format(a="agents: {}\n", b="agents: {a: {}}\n")
    assert refused(lambda: parse_config(config.encode())).message == f"guard.yaml:2: {NAMED}"
    records = "{\n" + HUNK.format(a='"schema": 1\n', b='"schema": 2\n') + "}\n"
    assert refused(lambda: validate(records.encode())).message == f"regressions.json:2: {NAMED}"
    opened = HUNK.format(a="---\nid: a\n", b="---\nid: b\n")
    assert refused(lambda: parse("a.md", opened)).message == f"a.md:1: {NAMED}"


@pytest.mark.parametrize(
    "text", ["<<<<<<< HEAD\n", "a\n=======\n>>>>>>> x\n", "  <<<<<<<\n=======\n"]
)
def test_what_is_no_conflict(text: str) -> None:
    assert unsettled(text, "f") is None


def test_other_breaks_are_what_they_are() -> None:
    found = refused(lambda: validate(b"{\n  x}"))
    assert "regressions.json:2: not valid JSON at column 3" in found.message
    assert found.hint == "mend it there, then: git add regressions.json"
