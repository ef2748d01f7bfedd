"""Versions of regressions.json read one after another: each record's text is parsed once.

One record's change is one hunk of the file (`guard.regressions.write_regressions`), so a version
is mostly made of texts that were read before. What isn't written like that is read as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from guard import regressions as regressions_file
from guard.errors import ConfigError
from guard.regressions import Record, records_of

_START = b'\n  "regressions": {\n    "'
_BETWEEN = b'\n    },\n    "'
_END = b"\n    }\n  }"
_ALONE = b'{"schema": "%s", "regressions": {"' % regressions_file.SCHEMA.encode()
#: Stands where the records were: what is around them must have it in their place and no other.
_HOLE_NAME = "hole"
_HOLE = b'\n  "regressions": {"hole": {"agent": "a", "case": "c", "before": {"kind": "parent"}}}'
#: Texts that are kept.
MOST = 20_000


class Version(NamedTuple):
    """One version of the file."""

    document: Mapping[str, Any]
    records: Mapping[str, Record]


class RecordTexts:
    """What the texts of records, and of what stands around them, were parsed to."""

    def __init__(self) -> None:
        self._records: dict[bytes, Record] = {}
        self._around: dict[bytes, Mapping[str, Any]] = {}

    def read(self, content: bytes) -> Version:
        """Return one version of the file. Raises `ConfigError`."""
        found = self._parted(content)
        if found is None:
            document = regressions_file.validate(content)
            return Version(document, records_of(document))
        return found

    def _parted(self, content: bytes) -> Version | None:
        """Read a version by its parts; None where they don't make it up beyond doubt."""
        head, start, rest = content.partition(_START)
        body, end, tail = rest.rpartition(_END)
        if not (start and end):
            return None
        try:
            around = self._read_around(head + _HOLE + tail)
            records = [self._read_record(text) for text in body.split(_BETWEEN)]
        except (ConfigError, ValueError):
            return None
        by_id = {record.id: record for record in records}
        if len(by_id) != len(records):
            return None
        return Version({**around, "regressions": {r.id: r.raw for r in records}}, by_id)

    def _read_around(self, text: bytes) -> Mapping[str, Any]:
        known = self._around.get(text)
        if known is None:
            known = regressions_file.validate(text)
            if list(known["regressions"]) != [_HOLE_NAME]:
                raise ValueError
            if len(self._around) >= MOST:
                self._around.clear()
            self._around[text] = known
        return known

    def _read_record(self, text: bytes) -> Record:
        """Return the record of a text from behind its first quote to before its last bracket.

        Raises `ValueError` where the text is more or less than one record.
        """
        known = self._records.get(text)
        if known is None:
            document = regressions_file.validate(_ALONE + text + b"\n    }}}")
            # Text that closes the object around it would bring other keys along.
            if set(document) != {"schema", "regressions"}:
                raise ValueError
            (known,) = records_of(document).values()
            if len(self._records) >= MOST:
                self._records.clear()
            self._records[text] = known
        return known
