"""The keys of a case: what each takes, and where an error says that it is."""

from __future__ import annotations

from typing import Any

import pytest

from guard.casekeys import CASE_KEYS
from guard.schema import Invalid, dotted


def refused(key: str, value: Any) -> str:
    with pytest.raises(Invalid) as caught:
        CASE_KEYS[key](value)
    return f"{dotted(caught.value.path)}: {caught.value.message}"


@pytest.mark.parametrize("name", ["eur-taxi", "emails/no-discount", "a..b", "ü", "a/-b", "7"])
def test_an_id_is_a_name(name: str) -> None:
    assert CASE_KEYS["id"](name) == name


@pytest.mark.parametrize(
    "name", ["-x", "/x", "..", "../x", "a/../x", "a/..", "a b", "a#1", "a\x1bb", "a\0b", "a*"]
)
def test_what_no_command_can_name_is_no_id(name: str) -> None:
    assert "is not an id" in refused("id", name)


@pytest.mark.parametrize("path", ["./a", "a//b", ".", "a/", "a\0b"])
def test_a_given_file_has_a_plain_path(path: str) -> None:
    assert "is no path inside the workspace" in refused("given", {"files": {path: "x"}})


def test_a_given_file_does_not_leave_the_workspace() -> None:
    assert "leaves the workspace" in refused("given", {"files": {"../a": "x"}})


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"match": {"txt": "x"}}, "[0].match.txt: unknown key; did you mean `text`?"),
        ({"match": ""}, "[0].match: must not be empty"),
        ({"file_exists": "../x"}, "[0].file_exists: '../x' leaves the workspace"),
        ({"match": {"text": "(", "regex": True}}, "[0].match.text: '(' is not a regular"),
    ],
)
def test_a_precondition_is_blamed_at_its_key(stated: Any, said: str) -> None:
    assert refused("preconditions", [stated]).startswith(said)
