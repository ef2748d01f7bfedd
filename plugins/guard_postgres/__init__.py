"""The prerequisite ``postgres:PATH/alembic.ini``: a migrated database for each trial, of its own.

And the evaluator ``rows``, which asks that database what the agent really wrote. What talks to a
server is imported when a trial asks for one: hooks load this module.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager

from guard.plugin import (
    Evaluator,
    Expectations,
    Ground,
    Observation,
    Prerequisite,
    Provided,
    Score,
    hookimpl,
)
from guard_postgres.given import check_given
from guard_postgres.migrations import migration_globs
from guard_postgres.rows import check_rows, evaluate

NAME = "postgres"


def missing(argument: str) -> str | None:
    """Say what this machine lacks for a database, or None."""
    from guard_postgres.servers import find_missing

    return find_missing()


@contextmanager
def provide(argument: str, ground: Ground) -> Generator[Provided]:
    """Set up a migrated database for one trial, and drop it after."""
    from guard_postgres.databases import provide_database

    with provide_database(argument, ground) as provided:
        yield provided


def depends(argument: str, read: Callable[[str], bytes | None]) -> Iterable[str]:
    """Return globs of the migrations."""
    return migration_globs(argument, read(argument))


def grade_rows(observation: Observation, expected: Expectations) -> Iterator[Score]:
    """Compare what the queries of a case gave with what they should give."""
    return evaluate(observation.services.get(NAME), expected)


@hookimpl
def guard_prerequisites() -> list[Prerequisite]:
    """Offer ``postgres``."""
    return [Prerequisite(NAME, missing, provide, check_given, depends)]


@hookimpl
def guard_evaluators() -> list[Evaluator]:
    """Offer ``rows``."""
    return [
        Evaluator(
            "rows",
            grade_rows,
            reads=("rows",),
            writes=("rows",),
            check=check_rows,
            needs=(NAME,),
        )
    ]
