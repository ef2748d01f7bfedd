from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.evaluators.json_values import (
    covers,
    equal_json,
    find_value,
    is_array,
    is_mapping,
    is_pointer,
)

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=12,
)

#: The document of RFC 6901, section 5, and what each pointer names in it.
RFC_DOCUMENT = {
    "foo": ["bar", "baz"],
    "": 0,
    "a/b": 1,
    "c%d": 2,
    "e^f": 3,
    "g|h": 4,
    "i\\j": 5,
    'k"l': 6,
    " ": 7,
    "m~n": 8,
}
RFC_POINTERS: list[tuple[str, Any]] = [
    ("", RFC_DOCUMENT),
    ("/foo", ["bar", "baz"]),
    ("/foo/0", "bar"),
    ("/", 0),
    ("/a~1b", 1),
    ("/c%d", 2),
    ("/e^f", 3),
    ("/g|h", 4),
    ("/i\\j", 5),
    ('/k"l', 6),
    ("/ ", 7),
    ("/m~0n", 8),
]


@given(JSON)
def test_a_value_equals_itself_and_its_round_trip(value: Any) -> None:
    assert equal_json(value, value)
    assert equal_json(value, json.loads(json.dumps(value)))


@given(JSON, JSON)
def test_equality_is_symmetric_and_never_wider_than_pythons(left: Any, right: Any) -> None:
    assert equal_json(left, right) == equal_json(right, left)
    if equal_json(left, right):
        assert left == right


@given(JSON)
def test_a_value_with_nan_in_it_equals_nothing(value: Any) -> None:
    nan = float("nan")
    assert not equal_json([value, nan], [value, nan])
    assert not equal_json({"a": nan}, {"a": nan})


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (1, 1.0, True),
        (10**30, 10**30, True),
        (True, 1, False),
        (False, 0, False),
        (0.0, False, False),
        ([True], [1], False),
        ({"a": 1}, {"a": True}, False),
        (None, False, False),
        (None, 0, False),
        ("1", 1, False),
        ("", None, False),
        ([], {}, False),
        ([], (), True),
        ([1, 2], [2, 1], False),
        ([1], [1, 1], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": None}, {}, False),
        (object(), object(), False),
    ],
)
def test_equality(left: Any, right: Any, same: bool) -> None:
    assert equal_json(left, right) is same
    assert equal_json(right, left) is same


@pytest.mark.parametrize(("pointer", "value"), RFC_POINTERS)
def test_the_pointers_of_the_rfc(pointer: str, value: Any) -> None:
    assert is_pointer(pointer)
    assert find_value(RFC_DOCUMENT, pointer) == value


@given(JSON)
def test_every_place_of_a_document_is_found_by_its_pointer(document: Any) -> None:
    for pointer, value in places(document):
        assert is_pointer(pointer)
        assert find_value(document, pointer) is value


def places(value: Any, pointer: str = "") -> list[tuple[str, Any]]:
    """Return every pointer into a document with what it names."""
    found = [(pointer, value)]
    if is_mapping(value):
        for key, item in value.items():
            token = key.replace("~", "~0").replace("/", "~1")
            found += places(item, f"{pointer}/{token}")
    elif is_array(value):
        for index, item in enumerate(value):
            found += places(item, f"{pointer}/{index}")
    return found


@pytest.mark.parametrize(
    "pointer",
    [
        "/2",
        "/-",
        "/01",
        "/-1",
        "/+0",
        "/ 0",
        "/0 ",
        "/\u0660",
        "/1_0",
        "/a",
        "/0/x",
        "/" + "9" * 9999,
    ],
)
def test_a_pointer_to_nothing_in_a_list(pointer: str) -> None:
    with pytest.raises(LookupError):
        find_value(["a", "b"], pointer)


@pytest.mark.parametrize("document", [None, 1, "text", True, {"b": 1}])
def test_a_pointer_to_nothing_elsewhere(document: Any) -> None:
    with pytest.raises(LookupError):
        find_value(document, "/a")


@pytest.mark.parametrize("text", ["a", "a/b", "#/a", "/~", "/~2", "/a~", "$.a"])
def test_what_is_no_pointer(text: str) -> None:
    assert not is_pointer(text)


@pytest.mark.parametrize(
    ("actual", "wanted", "held"),
    [
        ({"path": "a.md", "limit": 3}, {"path": "a.md"}, True),
        ({"path": "a.md"}, {}, True),
        ({"path": "a.md"}, {"path": "b.md"}, False),
        ({"path": "a.md"}, {"limit": None}, False),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, True),
        ({"a": [1, 2]}, {"a": [1]}, False),
        ({"a": True}, {"a": 1}, False),
        ("text", {"a": 1}, False),
    ],
)
def test_covers(actual: Any, wanted: Any, held: bool) -> None:
    assert covers(actual, wanted) is held
