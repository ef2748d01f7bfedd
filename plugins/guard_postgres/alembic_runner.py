"""What the child runs that migrates: ``alembic upgrade head``, without guard in it.

Its text is handed to the agent's own Python. It takes the database from ``DATABASE_URL``, and says
on its last line what is wrong, and in which file.
"""

from __future__ import annotations

import inspect
from typing import Final

#: How it ends where there is no Alembic.
LACKING: Final = 86


def program() -> str:
    """Return the text of the child's program."""
    return f"LACKING = {LACKING}\n{inspect.getsource(upgrade)}\nupgrade()\n"


def upgrade() -> None:
    """Bring the database to the newest schema; ends the process."""
    import os
    import sys
    import traceback

    place, root = sys.argv[1:]
    try:
        from alembic import command
        from alembic.config import Config
    except ImportError:
        sys.exit(LACKING)

    def importable(name: str) -> bool:
        from importlib.util import find_spec

        return find_spec(name) is not None

    def url_for(stated: str) -> str:
        # The driver that alembic.ini names, else one that is there.
        scheme, _, rest = os.environ["DATABASE_URL"].partition("://")
        named = (stated or "").partition("://")[0]
        if named.startswith("postgres") and "+" in named:
            scheme = "postgresql+" + named.partition("+")[2]
        elif importable("psycopg") and not importable("psycopg2"):
            scheme = "postgresql+psycopg"
        return scheme + "://" + rest

    def fault(error: BaseException) -> str:
        lines = str(error).strip().splitlines() or [""]
        said = type(error).__name__ + (": " + lines[0] if lines[0] else "")
        frames = traceback.extract_tb(error.__traceback__)
        files = [f for f in frames if os.path.isfile(f.filename)]
        inside = [f for f in files if os.path.abspath(f.filename).startswith(root + os.sep)]
        if isinstance(error, SyntaxError) and error.filename:
            return said + " (" + str(error.filename) + ")"
        if not inside:
            return said
        return said + " (" + inside[-1].filename + ":" + str(inside[-1].lineno) + ")"

    sys.path.insert(0, os.getcwd())
    try:
        config = Config(place)
        location = config.get_main_option("script_location") or ""
        if ":" not in location and not os.path.isdir(location):
            # Written for the repository's root.
            os.chdir(root)
            sys.path.insert(0, root)
        config.set_main_option(
            "sqlalchemy.url",
            url_for(config.get_main_option("sqlalchemy.url") or "").replace("%", "%%"),
        )
        command.upgrade(config, "head")
    except BaseException as error:
        sys.stderr.write("\n" + fault(error) + "\n")
        sys.stderr.flush()
        os._exit(1)
    sys.exit(0)
