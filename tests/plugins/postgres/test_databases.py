"""A migrated database for each trial: copied, filled, looked at, dropped; on a real server."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import psycopg
import pytest

from guard.plugin import Provided, TargetError
from guard_postgres.rows import MOST
from guard_postgres.servers import Server
from tests.plugins.postgres.conftest import Databases, count, databases_of, open_database
from tests.plugins.postgres.trees import ENTRIES, migration

ADD = "insert into entries (account) values ('{}')"


def add(provided: Provided, account: str = "tea") -> None:
    with open_database(provided) as connection:
        connection.execute(ADD.format(account).encode())


# One for each trial -----------------------------------------------------------------------


def test_each_trial_has_a_migrated_database_of_its_own(
    databases: Databases, server: Server, url: str
) -> None:
    with databases() as one, databases() as other:
        names = {one.env["PGDATABASE"], other.env["PGDATABASE"]}
        assert len(names) == 2
        assert names <= databases_of(url)
        add(one)
        assert (count(one), count(other)) == (1, 0)
    assert not names & databases_of(url)
    # The migrations ran once for both, and for every later run of the same.
    assert databases.tree.laid <= 1
    server.templates.clear()
    with databases() as again:
        assert count(again) == 0
    assert databases.tree.laid <= 1


def test_a_database_costs_milliseconds(databases: Databases) -> None:
    with databases():
        pass
    began = time.monotonic()
    for _ in range(5):
        with databases():
            pass
    # Alembic alone takes the better part of a second.
    assert (time.monotonic() - began) / 5 < 0.5


def test_many_trials_at_once(databases: Databases, url: str) -> None:
    def one_trial(number: int) -> int:
        with databases() as provided:
            for _ in range(number):
                add(provided)
            return count(provided)

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(one_trial, range(6))) == list(range(6))
    # Whatever the others did at the same time.
    assert not databases_of(url)


def test_another_migration_is_another_template(databases: Databases) -> None:
    with databases() as provided:
        assert count(provided) == 0
    databases.tree.files |= migration(2, "alter table entries rename to lines")
    with databases() as provided:
        assert count(provided, "lines") == 0


def test_programs_find_it_by_their_usual_variables(databases: Databases) -> None:
    with databases() as provided:
        env = provided.env
        assert env["DATABASE_URL"].startswith("postgresql://")
        assert env["PGPASSWORD"] in provided.secrets
        names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD"}
        values = {name: env[variable] for name, variable in names.items()}
        with psycopg.connect(dbname=env["PGDATABASE"], **values) as connection:  # type: ignore[arg-type]
            assert connection.info.dbname == env["PGDATABASE"]


# What goes wrong with migrations ----------------------------------------------------------


def test_a_migration_that_fails_is_named_with_its_file_and_not_kept(
    databases: Databases, url: str
) -> None:
    databases.tree.files |= migration(2, "alter table nowhere add column x int")
    said = (
        r'the migrations fail: ProgrammingError: .*relation "nowhere" does not exist '
        r"\(db/migrations/versions/0002_step.py:8\)$"
    )
    for _ in range(2):
        with pytest.raises(TargetError, match=said), databases():
            pytest.fail("it is provided")
    assert databases.tree.laid == 1  # it is not tried again for each trial
    assert not databases_of(url)
    databases.tree.files |= migration(2, "alter table entries add column x int")
    with databases() as provided:
        assert count(provided) == 0


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"db/migrations/env.py": "import no_such_module\n"}, "No module named 'no_such_module' "
         r"\(db/migrations/env.py:1\)"),
        ({"db/migrations/env.py": "def broken(:\n"}, r"SyntaxError: .*\(.*db/migrations/env.py"),
        ({"db/migrations/env.py": "raise SystemExit(0)\n"}, "SystemExit: 0"),
        ({"db/alembic.ini": "[other]\n"}, "db/alembic.ini is no alembic.ini: No section: "),
        ({"db/alembic.ini": "[alembic]\nscript_location = nowhere\n"}, "nowhere"),
    ],
)  # fmt: skip
def test_migrations_that_are_none_say_why(
    databases: Databases, files: dict[str, str], said: str
) -> None:
    databases.tree.files |= files
    with pytest.raises(TargetError, match=said), databases():
        pytest.fail("it is provided")


def test_an_ini_that_is_not_in_the_tree_is_named(databases: Databases) -> None:
    said = r"no/alembic.ini is not in the tree"
    with pytest.raises(TargetError, match=said) as raised, databases(path="no/alembic.ini"):
        pytest.fail("it is provided")
    assert raised.value.hint == "git add no/alembic.ini"


# Seeds ------------------------------------------------------------------------------------


def test_seeds_are_there_before_the_agent(databases: Databases) -> None:
    databases.tree.files["seeds/two.sql"] = f"{ADD.format('a')}; {ADD.format('50 %')};\n"
    with databases({"seed": [ADD.format("first"), {"from": "seeds/two.sql"}]}) as provided:
        assert count(provided) == 3
    with databases() as provided:
        assert count(provided) == 0


@pytest.mark.parametrize(
    ("seed", "said"),
    [
        ("insert into nowhere values (1)", r'seed\[0\] fails: relation "nowhere" does not exist'),
        ({"from": "no/such.sql"}, "the seed no/such.sql is not in the tree"),
    ],
)
def test_a_seed_that_fails_is_named_and_leaves_nothing(
    databases: Databases, url: str, seed: object, said: str
) -> None:
    with pytest.raises(TargetError, match=said), databases({"seed": [seed]}):
        pytest.fail("it is provided")
    assert not databases_of(url)


# Rows -------------------------------------------------------------------------------------


def test_a_direct_write_is_seen_by_counting_rows(databases: Databases) -> None:
    query = "select count(*) from entries"
    expected = {"rows": [{"query": query, "equals": 0}]}
    with databases() as provided:
        untouched = provided.observe(expected)
        add(provided)
        written = provided.observe(expected)
    answer = {"query": query, "columns": ["count"], "rows": [[0]]}
    assert untouched == {"rows": [answer]}
    assert written == {"rows": [{**answer, "rows": [[1]]}]}


def test_where_no_rows_are_expected_there_is_nothing_to_see(databases: Databases) -> None:
    with databases() as provided:
        assert provided.observe({"reply_contains": ["x"]}) is None


def test_values_are_read_as_json_has_them(databases: Databases) -> None:
    query = (
        "select 1 as one, 12.50 as price, 0.1::numeric as tenth, true as yes, null as none, "
        "'2026-02-03'::date as day, '2026-02-03 04:05:06+02'::timestamptz as moment, "
        "'\\x00ff'::bytea as bytes, '{\"a\": [1]}'::jsonb as doc, array[1, 2] as list, "
        "'6f1e2a34-0000-4000-8000-000000000001'::uuid as id, 'NaN'::float as nan, "
        "12345678901234567890.12::numeric as long, '1 day'::interval as span"
    )
    with databases() as provided:
        seen = provided.observe({"rows": [{"query": query, "equals": 1}]})
    (row,) = seen["rows"][0]["rows"]
    assert row == [
        *(1, 12.5, 0.1, True, None, "2026-02-03", "2026-02-03T02:05:06+00:00", "\\x00ff"),
        *({"a": [1]}, [1, 2], "6f1e2a34-0000-4000-8000-000000000001", "NaN"),
        *("12345678901234567890.12", "1 day, 0:00:00"),
    ]


def test_many_rows_are_not_all_kept(databases: Databases) -> None:
    query = "select generate_series(1, 1000)"
    with databases() as provided:
        answer = provided.observe({"rows": [{"query": query, "equals": 1}]})["rows"][0]
        assert (len(answer["rows"]), answer["more"]) == (MOST, True)
        large = "select repeat('x', 200000)"
        with pytest.raises(TargetError, match="gives more than 128 KiB: select repeat"):
            provided.observe({"rows": [{"query": large, "equals": 1}]})


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (ADD.format("x") + " returning id", "cannot execute INSERT in a read-only transaction"),
        ("select nextval('entries_id_seq')", r"cannot execute nextval\(\) in a read-only"),
        (f"commit; {ADD.format('x')}", "cannot insert multiple commands"),
        ("select * from nowhere", 'relation "nowhere" does not exist'),
        ("select 1/0", "division by zero"),
        ("set search_path to public", "gives no rows"),
        ("", "gives no rows"),
    ],
)
def test_a_query_that_writes_or_fails_is_no_answer(
    databases: Databases, query: str, said: str
) -> None:
    with databases() as provided:
        with pytest.raises(TargetError, match=said):
            provided.observe({"rows": [{"query": query, "equals": 1}]})
        assert count(provided) == 0


def test_a_query_does_not_wait_for_ever(
    databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("guard_postgres.databases.STATEMENT", "100")
    with databases() as provided, pytest.raises(TargetError, match="statement timeout"):
        provided.observe({"rows": [{"query": "select pg_sleep(20)", "equals": None}]})


# The end ----------------------------------------------------------------------------------


def test_a_database_goes_though_somebody_is_connected(databases: Databases, url: str) -> None:
    with ExitStack() as stack:
        provided = stack.enter_context(databases())
        connection = open_database(provided)
        connection.execute("begin")
        connection.execute(ENTRIES.replace("entries", "others").encode())
        stack.close()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("select 1")
        connection.close()
    assert not databases_of(url)


def test_a_trial_that_raises_leaves_nothing(databases: Databases, url: str) -> None:
    with pytest.raises(ValueError, match="odd"), databases():
        raise ValueError("odd")
    assert not databases_of(url)
