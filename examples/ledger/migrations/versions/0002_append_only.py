"""Let nothing that was posted be changed or removed, whoever asks."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.execute(
        """
        create function refuse_rewriting() returns trigger language plpgsql as $$
        begin
            raise exception 'the ledger is append-only: % of %', tg_op, tg_table_name;
        end $$
        """
    )
    for table in ("entries", "lines"):
        op.execute(
            f"create trigger append_only before update or delete or truncate on {table} "
            "for each statement execute function refuse_rewriting()"
        )


def downgrade() -> None:
    for table in ("entries", "lines"):
        op.execute(f"drop trigger append_only on {table}")
    op.execute("drop function refuse_rewriting()")
