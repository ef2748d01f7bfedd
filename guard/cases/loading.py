"""Reads the cases of a file: a plugin's way where one claims it, else by the formats we know."""

from __future__ import annotations

import gc
import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from guard.cases import FORMAT, Fields, is_native, parse_cases
from guard.cases.fields import check_fields
from guard.errors import ConfigError
from guard.schema import Invalid, dotted

if TYPE_CHECKING:
    from guard.model import Case
    from guard.plugin.manager import Plugins
    from guard.tree import Tree

HOOK = "guard_load_cases"


@contextmanager
def collector_paused() -> Generator[None]:
    """Keep Python from looking for cycles: reading thousands of cases makes none to find."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def kind_of(plugins: Plugins | None) -> str:
    """Return under what read cases are kept: other code of a plugin reads other cases."""
    readers = plugins.identity(HOOK) if plugins else ""
    return f"{FORMAT} {readers}".rstrip()


def read_cases(plugins: Plugins | None, path: str, content: bytes) -> Sequence[Fields]:
    """Return the validated fields of every case in a file. Raises `ConfigError`."""
    if plugins is not None:
        text = content.decode("utf-8", "replace")
        for plugin, loaded in plugins.call(HOOK, path=path, text=text):
            return _checked(path, plugin, loaded)
    return parse_cases(path, content)


def place_in(path: str, content: bytes | None, key: str, case_id: str) -> tuple[int, str]:
    """Return the line on which a case file states a key, and the key's name there.

    The line is 0 where that can't be told. ``case_id`` says which of several cases is meant.
    """
    if content is None:
        return 0, key
    text = content.decode("utf-8-sig", "replace")
    if not is_native(path):
        from guard.cases import dataset

        return dataset.place_of(path, text, key, case_id) if dataset.claims(path) else (0, key)
    from guard.cases.markdown import split_front_matter
    from guard.yamlfile import line_of

    source, _ = split_front_matter(path, text)
    return line_of(source, tuple(key.split(".")), first_line=2), key


def place_of_case(tree: Tree, case: Case, key: str) -> str:
    """Return where a case states a key, as people write it: ``file:line``."""
    line, _ = place_in(case.path, tree.read(case.path), key, case.id)
    return f"{case.path}:{line}" if line else case.path


def _checked(path: str, plugin: str, loaded: Any) -> list[Fields]:
    try:
        # What is kept must be JSON; and a plugin's own objects are not held on to.
        items: list[Any] = json.loads(json.dumps(list(loaded)))
        return [_fields_of(item) for item in items]
    except Invalid as error:
        said = f"{error.message} (as plugin {plugin} reads it)"
        raise ConfigError(path, 0, dotted(error.path), said) from error
    except (TypeError, ValueError) as error:
        raise ConfigError(path, 0, "", f"plugin {plugin} read no cases from it: {error}") from error


def _fields_of(item: Any) -> Fields:
    if not isinstance(item, dict):
        return check_fields(item)
    fields = cast("dict[str, Any]", item)
    body = str(fields.pop("body", ""))
    return {**check_fields(fields), "body": body}
