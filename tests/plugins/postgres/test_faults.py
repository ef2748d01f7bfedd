"""What goes wrong while the agent runs: locks, statements at a time or a state, lost servers."""

from __future__ import annotations

import threading
from typing import Any

import psycopg
import pytest

from guard.plugin import TargetError
from tests.plugins.postgres.conftest import Databases, count, open_database

ADD = "insert into entries (account) values ('x')"
OTHERS = (
    "select pg_terminate_backend(pid, 5000) from pg_stat_activity "
    "where datname = current_database() and application_name not like 'guard-%'"
)


def given(*faults: dict[str, Any]) -> dict[str, Any]:
    return {"seed": [ADD], "faults": [*faults]}


def test_a_statement_before_the_agent(databases: Databases) -> None:
    with databases(given({"sql": "alter table entries add check (amount < 1) not valid"})) as one:
        with open_database(one) as connection, pytest.raises(psycopg.errors.CheckViolation):
            connection.execute(ADD)
        assert one.observe({}) is None


def test_a_lock_is_held_while_the_agent_runs_and_not_after(databases: Databases) -> None:
    held = given({"hold": "lock table entries in access exclusive mode"})
    with databases(held) as provided:
        with open_database(provided) as connection:
            connection.execute("set lock_timeout = '50ms'")
            with pytest.raises(psycopg.errors.LockNotAvailable):
                connection.execute(ADD)
        seen = provided.observe({"rows": [{"query": "select count(*) from entries", "equals": 1}]})
        assert seen["rows"][0]["rows"] == [[1]]
        assert count(provided) == 1


def test_a_lock_is_held_for_a_while(databases: Databases) -> None:
    with databases(given({"hold": "select pg_advisory_lock(42)", "seconds": 0.1})) as provided:
        with open_database(provided) as connection:
            # It waits for the lock, and gets it.
            connection.execute("set lock_timeout = '20s'")
            connection.execute("select pg_advisory_lock(42)")
        provided.observe({})


def test_connections_end_once_the_agent_has_written(databases: Databases) -> None:
    fault = {"when": "select count(*) > 1 from entries", "sql": OTHERS}
    with databases(given(fault)) as provided:
        connection = open_database(provided)
        connection.execute(ADD)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("select pg_sleep(20)")
        connection.close()
        assert provided.observe({}) is None


def test_a_statement_after_a_while(databases: Databases) -> None:
    with databases(given({"after": 0.05, "sql": ADD})) as provided:
        arrived = threading.Event()
        with open_database(provided) as connection:
            for _ in range(1000):
                (found,) = connection.execute("select count(*) from entries").fetchone() or (0,)
                if found == 2:
                    arrived.set()
                    break
                arrived.wait(0.01)
        assert arrived.is_set()
        provided.observe({})


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ({"after": 60, "sql": ADD}, "the fault `after: 60` never came: the agent ended before"),
        ({"when": "select false", "sql": ADD}, "the fault `when: select false` never came"),
        ({"after": 0, "sql": "select 1/0"}, "the fault `after: 0` fails: division by zero"),
        ({"when": "select * from nowhere", "sql": ADD}, 'fails: relation "nowhere" does not exist'),
    ],
)
def test_a_fault_that_never_came_is_no_test_of_anything(
    databases: Databases, fault: dict[str, Any], said: str
) -> None:
    with databases(given(fault)) as provided, pytest.raises(TargetError) as raised:
        provided.observe({})
    assert said in raised.value.message


@pytest.mark.parametrize("fault", [{"sql": "select 1/0"}, {"hold": "select 1/0"}])
def test_a_fault_that_fails_before_the_agent_starts(
    databases: Databases, fault: dict[str, Any]
) -> None:
    said = "select 1/0` fails: division by zero"
    with pytest.raises(TargetError, match=said), databases(given(fault)):
        pytest.fail("it is provided")
