"""What a case may state for its database, and expect of it: checked before anything is run."""

from __future__ import annotations

from typing import Any

import pytest

from guard.plugin import Expectations, Observation, Score
from guard_postgres import grade_rows, guard_evaluators, guard_prerequisites
from guard_postgres.given import Fault, Given, check_given, given_of
from guard_postgres.rows import check_rows
from guard_postgres.values import plain, same

FAULTS = [
    {"sql": "a"},
    {"hold": "b"},
    {"hold": "c", "seconds": 2},
    {"after": 0.5, "sql": "d"},
    {"when": "e", "sql": "f"},
]


def test_what_a_case_gives() -> None:
    stated = {"seed": ["insert", {"from": "seed.sql"}], "faults": FAULTS}
    assert check_given(stated) is None
    files = {"seed.sql": b"\xef\xbb\xbfselect 1"}
    found = given_of(stated, lambda path: files.get(path))
    assert found == Given(
        ("insert", "select 1"),
        (
            Fault("a"),
            Fault("b", hold=True),
            Fault("c", hold=True, seconds=2),
            Fault("d", after=0.5),
            Fault("f", when="e"),
        ),
    )
    assert given_of(None, lambda path: None) == Given()
    assert check_given({}) is None


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (3, "must be {seed: […], faults: […]}"),
        ({"seeds": []}, "seeds is not known: it is seed and faults"),
        ({"seed": "insert"}, "seed must be a list"),
        ({"seed": [" "]}, "seed[0]: must be SQL, or {from: path.sql}"),
        ({"seed": ["a", {"from": "a", "to": "b"}]}, "seed[1]: must be {from: path.sql}"),
        ({"faults": ["a"]}, "faults[0]: a fault is {sql: …}"),
        ({"faults": [{"after": 1}]}, "faults[0]: a fault is {sql: …}"),
        ({"faults": [{"sql": "a", "after": 1, "when": "b"}]}, "faults[0]: a fault is {sql: …}"),
        ({"faults": [{"sql": 1}]}, "faults[0]: what it runs must be SQL"),
        ({"faults": [{"sql": "a", "after": True}]}, "after and seconds are numbers from 0 to 3600"),
        ({"faults": [{"hold": "a", "seconds": -1}]}, "after and seconds are numbers"),
    ],
)
def test_what_is_wrong_with_it(value: Any, said: str) -> None:
    assert said in (check_given(value) or "")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([{"query": "a", "equals": None}], ""),
        ([], "must be a list of queries"),
        ({"query": "a", "equals": 1}, "must be a list of queries"),
        (["select"], "[0] must be a query and what it gives"),
        ([{"query": "a", "equals": 1}, {"query": "a", "equal": 1}], "[1] states equal, which"),
        ([{"query": " ", "equals": 1}], "[0] states no query"),
        ([{"query": 1, "equals": 1}], "[0] states no query"),
        ([{"query": "a"}], "[0] doesn't say what its query equals"),
        ([{"query": "a", "equals": [1] * 201}], "[0] states more than 200 rows"),
    ],
)
def test_what_is_wrong_with_rows(value: Any, said: str) -> None:
    found = check_rows("rows", value)
    assert (found is None) if not said else said in (found or "")


def graded(equals: Any, *rows: list[Any], more: bool = False) -> Score | None:
    answer = {"query": "q", "columns": ["a", "b"][: len(rows[0]) if rows else 1], "rows": [*rows]}
    seen = {"rows": [{**answer, "more": True} if more else answer]}
    observation = Observation(services={"postgres": seen})
    stated = Expectations({"rows": [{"query": "q", "equals": equals}]})
    return next(iter(grade_rows(observation, stated)), None)


@pytest.mark.parametrize(
    ("equals", "rows"),
    [
        (2, [[2]]),
        (2.0, [[2]]),
        (None, [[None]]),
        ([], []),
        ([2, 3], [[2], [3]]),
        ([[2], [3]], [[2], [3]]),
        ([["x", 1]], [["x", 1]]),
        ([{"a": "x", "b": 1}], [["x", 1]]),
        ({"b": 1, "a": "x"}, [["x", 1]]),
        ([[1, 2]], [[[1, 2]]]),
        ({"k": [1]}, [[{"k": [1]}]]),
    ],
)
def test_what_a_query_gave_is_what_was_expected(equals: Any, rows: list[list[Any]]) -> None:
    score = graded(equals, *rows)
    assert score is not None
    assert (score.key, score.value) == ("rows", 1.0)


@pytest.mark.parametrize(
    ("equals", "rows", "said"),
    [
        (1, [[2]], "q gave 2, not 1"),
        (1, [[True]], "q gave true, not 1"),
        ("2", [[2]], 'q gave 2, not "2"'),
        (1, [], "q gave no row, not 1"),
        (1, [[1], [1]], "q gave [1, 1], not 1"),
        ([], [[1]], "q gave 1, not []"),
        ([1, 2], [[2], [1]], "q gave [2, 1], not [1, 2]"),
        ([["x", 1]], [["x", 2]], 'q gave [["x", 2]], not [["x", 1]]'),
        ({"a": "x"}, [["x", 1]], 'q gave [["x", 1]], not {"a": "x"}'),
    ],
)
def test_what_it_gave_instead_is_told(equals: Any, rows: list[list[Any]], said: str) -> None:
    score = graded(equals, *rows)
    assert score is not None
    assert (score.value, score.reason) == (0.0, said)


def test_more_rows_than_are_kept_equal_nothing() -> None:
    score = graded([1], [1], more=True)
    assert score is not None
    assert (score.value, score.reason) == (0.0, "q gave more than 200 rows, not [1]")


def test_what_nobody_asked_of_a_database_gets_no_score() -> None:
    stated = Expectations({"rows": [{"query": "other", "equals": 1}]})
    asked = Observation(
        services={"postgres": {"rows": [{"query": "q", "columns": [], "rows": []}]}}
    )
    for seen in (Observation(), asked, Observation(services={"postgres": 1})):
        assert list(grade_rows(seen, stated)) == []
    assert list(grade_rows(asked, Expectations({}))) == []


def test_values_that_json_lacks() -> None:
    assert plain(float("inf")) == "Infinity"
    assert plain({1: (b"\x01",)}) == {"1": "(b'\\x01',)"}
    assert not same([1], [1, 2])
    assert not same({"a": 1}, {"b": 1})


def test_what_the_plugin_offers() -> None:
    (prerequisite,), (evaluator,) = guard_prerequisites(), guard_evaluators()
    assert (prerequisite.name, evaluator.name, evaluator.needs) == (
        "postgres",
        "rows",
        ("postgres",),
    )
    ini = b"[alembic]\nscript_location = migrations\n"
    globs = prerequisite.depends("db/alembic.ini", lambda path: ini)
    assert list(globs) == ["db/alembic.ini", "db/migrations/**"]
