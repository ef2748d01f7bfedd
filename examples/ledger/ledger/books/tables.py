"""The tables, as the migrations leave them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Date, ForeignKey, Integer, MetaData, Table, Text

metadata = MetaData()

accounts = Table(
    "accounts",
    metadata,
    Column("code", Text, primary_key=True),
    Column("name", Text, nullable=False),
)

periods = Table(
    "periods",
    metadata,
    Column("month", Text, primary_key=True),
    Column("status", Text, nullable=False),
)

entries = Table(
    "entries",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("key", Text, nullable=False, unique=True),
    Column("date", Date, nullable=False),
    Column("memo", Text, nullable=False),
    Column("prepared_by", Text, nullable=False),
    Column("approved_by", Text),
    Column("document", Text),
    Column("seal", Text, nullable=False, unique=True),
)

lines = Table(
    "lines",
    metadata,
    Column("entry", BigInteger, ForeignKey("entries.number"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("account", Text, ForeignKey("accounts.code"), nullable=False),
    Column("debit", BigInteger, nullable=False),
    Column("credit", BigInteger, nullable=False),
)
