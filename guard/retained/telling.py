"""An audit, told: each file, what is wrong in it, what to look at, and one sentence at the end."""

from __future__ import annotations

from collections.abc import Sequence

from guard.output import printable
from guard.retained.auditing import Audited
from guard.wording.units import count


def audit_lines(audited: Sequence[Audited]) -> list[str]:
    """Return the lines."""
    lines = [line for file in audited for line in _file(file)]
    records = sum(file.records for file in audited)
    wrong = sum(len(file.wrong) for file in audited)
    verdict = f"{wrong} wrong" if wrong else "none wrong"
    read = f"{count(records, 'record')} in {count(len(audited), 'file')} read, {verdict}"
    return [*lines, f"{read}; nothing was run: that the cases see their bugs is not shown"]


def _file(file: Audited) -> list[str]:
    mark = "✗" if file.wrong else "✓"
    head = f"{mark} {printable(file.path)}: {count(file.records, 'record')}"
    return [head, *(f"  ✗ {said}" for said in file.wrong), *(f"  ! {said}" for said in file.notes)]
