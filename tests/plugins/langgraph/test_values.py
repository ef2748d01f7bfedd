"""What a graph leaves behind, as JSON values."""

from __future__ import annotations

import datetime
import decimal
import enum
import uuid
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from pydantic import BaseModel

from guard_langgraph.runner_values import UnwritableError, text_of, to_json


class Kind(enum.Enum):
    CASH = "cash"


class Loud(str):
    __slots__ = ()


@dataclass
class Line:
    account: str
    amount: decimal.Decimal


class Paper(BaseModel):
    name: str
    on: datetime.date
    line: dict[str, int] = {}


class Broken(BaseModel):
    thing: Any


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, None),
        (True, True),
        (1.5, 1.5),
        (Loud("x"), "x"),
        ({"a": (1, {2})}, {"a": [1, [2]]}),
        ({Kind.CASH: 1, 2: 3}, {"cash": 1, "2": 3}),
        (Kind.CASH, "cash"),
        (Line("cash", decimal.Decimal("1.10")), {"account": "cash", "amount": "1.10"}),
        (
            Paper(name="a", on=datetime.date(2026, 1, 2)),
            {"name": "a", "on": "2026-01-02", "line": {}},
        ),
        (datetime.timedelta(minutes=1), 60.0),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (PurePosixPath("a/b"), "a/b"),
        (b"ab", "ab"),
        (HumanMessage("hi"), {"role": "user", "content": "hi", "tool_calls": []}),
        (
            AIMessage("", tool_calls=[{"name": "look", "args": {"at": 1}, "id": "c"}]),
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"name": "look", "args": {"at": 1}}],
            },
        ),
        (
            ToolMessage("4", tool_call_id="c", name="look"),
            {"role": "tool", "content": "4", "tool_calls": [], "name": "look"},
        ),
    ],
)
def test_values_are_written_as_json(value: Any, written: Any) -> None:
    assert to_json(value) == written


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (object(), "all of it is a object"),
        ({"a": [1, object()]}, "/a/1 is a object"),
        ({"a~/": float("inf")}, "/a~0~1 is inf, which is no number in JSON"),
        ({"a": {(1, 2): 3}}, "/a is keyed by tuple, not by text"),
        ({"a": b"\xff"}, "/a is bytes that are no text"),
        ({"a": Line}, "/a is a type"),
        (
            {"p": Broken(thing=object())},
            "/p is a tests.plugins.langgraph.test_values.Broken that can't be written: ",
        ),
    ],
)
def test_what_json_cannot_hold_is_told_with_its_place(value: Any, said: str) -> None:
    with pytest.raises(UnwritableError) as raised:
        to_json(value)
    assert str(raised.value).startswith(said)


def test_what_holds_itself_comes_to_an_end() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(UnwritableError, match="nested too deep, or holds itself"):
        to_json(circle)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a", "a"),
        (["a", {"type": "text", "text": "b"}, {"type": "image"}, {"text": 4}], "ab"),
        (None, ""),
    ],
)
def test_the_text_of_a_message_is_found_in_its_blocks(content: Any, text: str) -> None:
    assert text_of(content) == text
