from __future__ import annotations

from typing import Any

import pytest

from guard.evaluators import check_expectation
from guard.results import Observation, ToolCall
from tests.evaluators.grading import reason_of, scores_of

CALLED = Observation(
    tool_calls=(
        ToolCall("Read", {"file_path": "budget.md", "limit": 20}),
        ToolCall("Bash", {"command": "ls", "options": {"cwd": ".", "quiet": True}}),
    )
)


@pytest.mark.parametrize(
    "item",
    [
        "Read",
        {"name": "Read"},
        {"name": "Read", "input": {}},
        {"name": "Read", "input": {"file_path": "budget.md"}},
        {"name": "Bash", "input": {"options": {"quiet": True}}},
    ],
)
def test_a_call_that_was_made(item: Any) -> None:
    assert check_expectation("tools_used", [item]) is None
    reason_of("tools_used", [item], CALLED, holds=True)
    reason = reason_of("tools_not_used", [item], CALLED, holds=False)
    assert reason.startswith("used: ")


@pytest.mark.parametrize(
    "item",
    [
        "read",
        "Rea",
        "Edit",
        {"name": "Edit"},
        {"name": "Read", "input": {"file_path": "other.md"}},
        {"name": "Read", "input": {"file_path": "budget.md", "offset": 1}},
        {"name": "Bash", "input": {"file_path": "budget.md"}},
        {"name": "Bash", "input": {"options": {"quiet": 1}}},
    ],
)
def test_a_call_that_was_not_made(item: Any) -> None:
    assert check_expectation("tools_not_used", [item]) is None
    reason_of("tools_not_used", [item], CALLED, holds=True)
    reason = reason_of("tools_used", [item], CALLED, holds=False)
    assert reason.startswith("not used: ")
    assert reason.endswith("; used: Read, Bash")


def test_input_that_differs_is_shown() -> None:
    item = {"name": "Read", "input": {"file_path": "other.md"}}
    reason = reason_of("tools_used", [item], CALLED, holds=False)
    assert 'Read {"file_path": "other.md"}' in reason


def test_all_items_are_one_key() -> None:
    reason_of("tools_used", ["Read", "Bash"], CALLED, holds=True)
    reason_of("tools_used", ["Read", "Edit"], CALLED, holds=False)
    reason_of("tools_not_used", ["Edit", "Write"], CALLED, holds=True)
    reason_of("tools_not_used", ["Edit", "Bash"], CALLED, holds=False)


def test_no_calls_is_known_and_none_is_not() -> None:
    quiet = Observation(tool_calls=())
    assert reason_of("tools_used", ["Read"], quiet, holds=False).endswith("used: no tool")
    reason_of("tools_not_used", ["Read"], quiet, holds=True)
    assert scores_of({"tools_used": ["Read"], "tools_not_used": ["Edit"]}, Observation()) == {}


REFUSED: list[tuple[Any, str]] = [
    ([], "must not be empty"),
    ("Read", "must be a list, not text"),
    ([""], "[0]: must not be empty"),
    ([3], "[0]: must be text"),
    ([{"input": {}}], "the key `name` is missing"),
    ([{"name": "Read", "inputs": {}}], "did you mean `input`?"),
    ([{"name": "Read", "input": "x"}], "must be a mapping"),
    ([{"name": "Read", "input": {"a": float("nan")}}], "NaN equals nothing"),
]


@pytest.mark.parametrize("key", ["tools_used", "tools_not_used"])
@pytest.mark.parametrize(("value", "part"), REFUSED)
def test_refuses(key: str, value: Any, part: str) -> None:
    said = check_expectation(key, value)
    assert said is not None
    assert part in said
