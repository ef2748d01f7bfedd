from __future__ import annotations

from typing import Any

import pytest

from guard.results import Observation, ToolCall
from guard.trials.observed import checked


def test_what_targets_return_is_kept_as_it_is() -> None:
    for observation in (
        Observation(),
        Observation(
            reply="ok",
            facts={"a": [1]},
            tool_calls=(ToolCall("Read", {"path": "x"}, "text"),),
            permission_denials=("Bash",),
            cost_usd=0,
            tokens={"in": 5},
            turns=2,
            exit_status=-1,
            loaded=True,
            response_ids=("r1",),
            output={"any": object()},
        ),
    ):
        assert checked(observation) is observation


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("reply", 5, "reply is int, not text"),
        ("reply", None, "reply is NoneType, not text"),
        ("stdout", b"x", "stdout is bytes, not text"),
        ("facts", {1: 2}, "facts is dict, not a mapping with names"),
        ("tool_calls", ("Read",), "tool_calls is tuple, not a sequence of ToolCall values"),
        ("tool_calls", (ToolCall("Read", {}, None),), "tool_calls is tuple"),  # type: ignore[arg-type]
        ("permission_denials", "Bash", "permission_denials is str, not a sequence of texts"),
        ("cost_usd", float("nan"), "cost_usd is float, not a finite number from 0 on"),
        ("cost_usd", -1, "cost_usd is int, not a finite number"),
        ("cost_usd", True, "cost_usd is bool"),
        ("turns", 1.5, "turns is float, not a whole number"),
        ("loaded", 1, "loaded is int, not true or false"),
        ("response_ids", None, "response_ids is NoneType, not a sequence of texts"),
    ],
)
def test_a_wrong_type_is_named_with_its_field(field: str, value: Any, said: str) -> None:
    with pytest.raises(TypeError, match=f"its observation's {said}"):
        checked(Observation()._replace(**{field: value}))


def test_what_is_no_observation_is_named() -> None:
    with pytest.raises(TypeError, match="it returned str, not an Observation"):
        checked("hello")
