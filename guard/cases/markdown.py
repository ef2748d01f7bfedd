"""Cases in Markdown, the native format: YAML front matter, then prose for the reviewer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from guard.cases.fields import check_fields
from guard.conflicts import to_mend, unsettled
from guard.errors import ConfigError
from guard.schema import Invalid, dotted

_END = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)


def claims(path: str) -> bool:
    """Tell whether a file of this name is a Markdown case; a README is not."""
    lowered = path.lower()
    return lowered.endswith((".md", ".markdown"))


def parse(path: str, text: str) -> Sequence[Mapping[str, Any]]:
    """Return the fields of the file's one case. Raises `ConfigError` with line and key."""
    if path.lower().rsplit("/", 1)[-1] in ("readme.md", "readme.markdown"):
        return ()
    source, body = split_front_matter(path, text)
    from guard.yamlfile import line_of, load_yaml

    document = load_yaml(source, path, first_line=2)
    try:
        fields = check_fields(document if document is not None else {})
    except Invalid as error:
        line = line_of(source, error.path, first_line=2)
        raise ConfigError(path, line, dotted(error.path), error.message) from error
    return ({**fields, "body": body.strip("\n")},)


def split_front_matter(path: str, text: str) -> tuple[str, str]:
    """Return the YAML between the two ``---`` lines, and the prose below."""
    first, newline, rest = text.partition("\n")
    if first.rstrip() != "---" or not newline:
        raise unsettled(text, path) or ConfigError(
            path, 1, "", "a case begins with a line `---`", "guard new-case ID --agent AGENT"
        )
    end = _END.search(rest)
    if end is None:
        raise unsettled(text, path) or ConfigError(
            path, 1, "", "the front matter has no closing `---` line", to_mend(path)
        )
    return rest[: end.start()], rest[end.end() :]
