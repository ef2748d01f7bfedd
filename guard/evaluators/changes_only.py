"""`changes_only`: every changed path matches one of the globs."""

from __future__ import annotations

import re
from typing import Any

from guard.evaluators.no_changes import name_change
from guard.evaluators.reasons import counted, some
from guard.evaluators.shapes import plain_text
from guard.evaluators.single import as_list, evaluator_of
from guard.git import bytes_of
from guard.globs import compile_globs
from guard.results import Observation
from guard.schema import Invalid

#: A glob that matches all of these names every path, so it can never fail.
_ANY_PATH = (b"a", b".b", b"c/d", b"\xff/\n")


def find_strays(observation: Observation, wanted: Any) -> list[str]:
    allowed = compile_globs(as_list(wanted))
    strays = [change for change in observation.changes if not allowed(bytes_of(change.path))]
    if not strays:
        return []
    names = some([name_change(change) for change in strays])
    return [f"{counted(len(strays), 'file')} changed outside {some(as_list(wanted), 3)}: {names}"]


def check_globs(value: Any) -> None:
    globs = as_list(value)
    if not globs:
        raise Invalid("must not be empty; `no_changes: true` says that nothing may change")
    for position, glob in enumerate(globs):
        where = (position,) if isinstance(value, list) else ()
        try:
            matches = compile_globs([plain_text(glob)])
        except Invalid as error:
            raise Invalid(error.message, where) from error
        except re.error as error:
            raise Invalid(f"{glob!r} is not a glob: {error}", where) from error
        if glob.startswith("/") or ".." in glob.split("/"):
            raise Invalid(f"{glob!r} leaves the workspace, so it matches nothing", where)
        if all(map(matches, _ANY_PATH)):
            raise Invalid(f"{glob!r} matches every path, so it can never fail", where)


EVALUATORS = (
    evaluator_of("changes_only", find_strays, check_globs, "only files that may change did"),
)
