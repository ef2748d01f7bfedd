"""Run the migrations on the database that DATABASE_URL names."""

from __future__ import annotations

from alembic import context

from ledger.books.journal import open_journal
from ledger.books.tables import metadata

with open_journal().connect() as connection:
    context.configure(connection=connection, target_metadata=metadata)
    with context.begin_transaction():
        context.run_migrations()
