from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from guard import evaluators
from guard.evaluators import (
    built_in_evaluators,
    check_expectation,
    declared_keys,
    is_built_in,
    score_keys,
)
from guard.results import Observation
from tests.evaluators.grading import scores_of


def test_the_table_names_exactly_what_the_evaluators_read() -> None:
    read = [key for evaluator in built_in_evaluators() for key in evaluator.reads]
    assert set(read) == set(declared_keys())


def test_the_table_names_exactly_what_the_evaluators_write() -> None:
    for key in declared_keys():
        readers = [e for e in built_in_evaluators() if key in e.reads]
        assert score_keys(key) == tuple(written for e in readers for written in e.writes)


def test_each_evaluator_is_declared_and_built_in_and_one_judges() -> None:
    for evaluator in built_in_evaluators():
        assert (evaluator.declared, evaluator.source) == (True, "built-in")
    assert [e.name for e in built_in_evaluators() if e.judge] == ["judge"]


def test_checkers_come_after_all_that_look_at_files_and_who_is_paid_comes_last() -> None:
    assert [evaluator.name for evaluator in built_in_evaluators()[-2:]] == ["command", "judge"]


def test_an_evaluator_whose_key_is_not_stated_writes_nothing() -> None:
    assert scores_of({}, Observation()) == {}
    assert scores_of({"tone": "calm"}, Observation()) == {}


def test_an_unknown_key_names_the_nearest() -> None:
    assert check_expectation("no_change", True) == "unknown key; did you mean `no_changes`?"
    assert check_expectation("zzz", True) == "unknown key"
    assert not is_built_in("no_change")


@pytest.mark.parametrize("key", sorted(declared_keys()))
def test_no_key_accepts_a_value_that_says_nothing(key: str) -> None:
    assert is_built_in(key)
    empty: list[Any] = [None, [], {}, "", float("nan")]
    for value in empty:
        said = check_expectation(key, value)
        assert said, f"{key}: {value!r}"
        assert "\n" not in said


def test_importing_the_registry_imports_no_evaluator() -> None:
    code = (
        "import sys, guard.evaluators as e; e.declared_keys(); e.is_built_in('judge');"
        "print(sorted(m for m in sys.modules if m.startswith('guard.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "['guard.evaluators']"


def test_checking_one_key_imports_one_evaluator() -> None:
    code = (
        "import sys, guard.evaluators as e; e.check_expectation('exit_code', 1);"
        "print([n for n in set(e.declared_keys().values())"
        " if 'guard.evaluators.' + n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "['exit_code']"


def test_the_table_cannot_be_changed_from_outside() -> None:
    declared_keys().clear()
    assert "no_changes" in evaluators.declared_keys()
