"""Whose code it was: a plugin's function may raise anything, and is named for it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from guard.errors import GuardError, PluginError


@contextmanager
def blamed_on(what: str, hint: str = "") -> Generator[None]:
    """Turn whatever is raised inside into one line that names the function."""
    try:
        yield
    except GuardError:
        raise
    except (Exception, SystemExit) as error:
        raise PluginError(f"{what} raised {type(error).__name__}: {error}", hint) from error
