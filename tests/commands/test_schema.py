"""``guard schema``: prints a schema, whole and alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from guard.schemas import SCHEMAS, schema_text
from tests.commands.calling import call_guard, start_guard
from tests.conftest import ScratchRepo


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_schema_is_all_that_is_printed(tmp_path: Path, name: str) -> None:
    code, out, err = call_guard(tmp_path, "schema", name)
    assert (code, err) == (0, "")
    assert json.loads(out) == json.loads(schema_text(name))


def test_it_is_printed_by_the_installed_program(repo: ScratchRepo) -> None:
    code, out, _ = start_guard(repo, "schema", "case", env={"LC_ALL": "C"})
    assert code == 0
    assert json.loads(out)["title"]


def test_an_unknown_name_is_refused(tmp_path: Path) -> None:
    code, out, err = call_guard(tmp_path, "schema", "cases")
    assert (code, out) == (2, "")
    assert "did you mean `case`?" in err
