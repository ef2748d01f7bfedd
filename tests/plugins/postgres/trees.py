"""The files of a tree in tests of databases: migrations that Alembic runs."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

INI = (
    "[alembic]\nscript_location = %(here)s/migrations\nsqlalchemy.url = driver://u:p@localhost/d\n"
)
ENV = """\
from alembic import context
from sqlalchemy import create_engine

engine = create_engine(context.config.get_main_option("sqlalchemy.url"))
with engine.connect() as connection:
    context.configure(connection=connection)
    with context.begin_transaction():
        context.run_migrations()
"""
ENTRIES = """\
create table entries (
    id serial primary key, account text not null, amount numeric(12, 2) not null default 1
)"""


def migration(number: int, sql: str) -> dict[str, str]:
    """Return the file of one migration, the first or after the one before."""
    down = f'"{number - 1:04}"' if number > 1 else "None"
    text = (
        f'from alembic import op\n\nrevision = "{number:04}"\ndown_revision = {down}\n\n\n'
        f'def upgrade() -> None:\n    op.execute("""{sql}""")\n'
    )
    return {f"db/migrations/versions/{number:04}_step.py": text}


LEDGER = {"db/alembic.ini": INI, "db/migrations/env.py": ENV, **migration(1, ENTRIES)}


class Tree:
    """Files, as a prerequisite is shown those of a tree."""

    def __init__(self, folder: Path) -> None:
        self.files: dict[str, str] = dict(LEDGER)
        self._folder = folder
        self.laid = 0

    def read(self, path: str) -> bytes | None:
        return self.files[path].encode() if path in self.files else None

    def ids(self) -> dict[str, str]:
        return {n: hashlib.sha1(text.encode()).hexdigest() for n, text in self.files.items()}

    def lay(self) -> str:
        self.laid += 1
        root = self._folder / f"laid{self.laid}"
        shutil.rmtree(root, ignore_errors=True)
        for name, text in self.files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return str(root)
