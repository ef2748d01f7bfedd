"""Open the accounts, and the first periods."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

ACCOUNTS = {
    "1500": "Owed by customers",
    "1900": "Bank",
    "2400": "Owed to suppliers",
    "2700": "VAT on sales",
    "2710": "VAT on purchases",
    "2910": "Owed to employees",
    "3000": "Sales",
    "4000": "Goods",
    "6800": "Office",
}
PERIODS = {"2026-01": "closed", "2026-02": "closed", "2026-03": "open", "2026-04": "open"}

accounts = sa.table("accounts", sa.column("code"), sa.column("name"))
periods = sa.table("periods", sa.column("month"), sa.column("status"))


def upgrade() -> None:
    op.bulk_insert(accounts, [{"code": code, "name": name} for code, name in ACCOUNTS.items()])
    op.bulk_insert(periods, [{"month": m, "status": status} for m, status in PERIODS.items()])


def downgrade() -> None:
    op.execute(periods.delete())
    op.execute(accounts.delete())
