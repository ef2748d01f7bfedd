"""Lay the tables of the ledger."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "accounts",
        sa.Column("code", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
    )
    op.create_table(
        "periods",
        sa.Column("month", sa.Text, primary_key=True),
        sa.Column("status", sa.Text, nullable=False),
        sa.CheckConstraint("status in ('open', 'closed')", name="a_period_is_open_or_closed"),
    )
    op.create_table(
        "entries",
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("key", sa.Text, nullable=False, unique=True),
        sa.Column("date", sa.Date, nullable=False),
        sa.Column("memo", sa.Text, nullable=False),
        sa.Column("prepared_by", sa.Text, nullable=False),
        sa.Column("approved_by", sa.Text),
        sa.Column("document", sa.Text),
        sa.Column("seal", sa.Text, nullable=False, unique=True),
    )
    op.create_table(
        "lines",
        sa.Column("entry", sa.BigInteger, sa.ForeignKey("entries.number"), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("account", sa.Text, sa.ForeignKey("accounts.code"), nullable=False),
        sa.Column("debit", sa.BigInteger, nullable=False),
        sa.Column("credit", sa.BigInteger, nullable=False),
    )


def downgrade() -> None:
    for table in ("lines", "entries", "periods", "accounts"):
        op.drop_table(table)
