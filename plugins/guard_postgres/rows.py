"""``rows``: what a query gives once the agent has ended, and whether it is what was expected.

rows:
  - {query: "select count(*) from entries", equals: 2}
  - {query: "select sku, left_over from stock order by sku", equals: [[tea, 3], [salt, 0]]}
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from guard.plugin import Score
from guard_postgres.values import is_list, is_mapping, plain, same

#: Rows of one query that are read; more are counted in SQL.
MOST: Final = 200
#: Characters of a value in a reason.
SHOWN: Final = 160
_FORM: Final = '[{query: "select …", equals: …}]'


def check_rows(key: str, value: Any) -> str | None:
    """Say what is wrong with what a case states, or None."""
    if not is_list(value) or not value:
        return f"must be a list of queries and what they give: {_FORM}"
    for number, item in enumerate(value):
        wrong = _find_wrong(item)
        if wrong:
            return f"[{number}] {wrong}"
    return None


def _find_wrong(item: Any) -> str | None:
    if not is_mapping(item):
        return f"must be a query and what it gives: {_FORM[1:-1]}"
    unknown = [name for name in item if name not in ("query", "equals")]
    if unknown:
        return f"states {unknown[0]}, which is not known: it is query and equals"
    query: object = item.get("query")
    if not isinstance(query, str) or not query.strip():
        return "states no query"
    if "equals" not in item:
        return "doesn't say what its query equals"
    if is_list(item["equals"]) and len(item["equals"]) > MOST:
        return f"states more than {MOST} rows: count or sum them up in the query"
    return None


def queries_of(expected: Mapping[str, Any]) -> list[str]:
    """Return the queries that a case states, each once."""
    stated: list[Mapping[str, Any]] = expected.get("rows", [])
    return list(dict.fromkeys(str(item["query"]) for item in stated))


def evaluate(seen: Any, expected: Mapping[str, Any]) -> Iterator[Score]:
    """Compare what the queries gave with what they should give.

    No score where nothing was asked of a database: that is no evidence.
    """
    if "rows" not in expected or not is_mapping(seen):
        return
    answers: list[dict[str, Any]] = seen.get("rows", [])
    by_query = {answer["query"]: answer for answer in answers}
    wrong: list[str] = []
    for item in expected["rows"]:
        answer = by_query.get(item["query"])
        if answer is None:
            return
        if not _fits(answer, plain(item["equals"])):
            wrong.append(f"{item['query']} gave {_shown(answer)}, not {_short(item['equals'])}")
    said = "; ".join(wrong) or f"{len(expected['rows'])} as expected"
    yield Score("rows", float(not wrong), said)


def _fits(answer: Mapping[str, Any], equals: Any) -> bool:
    found: list[list[Any]] = answer["rows"]
    if answer.get("more"):
        return False
    wanted = equals if is_list(equals) else [equals]
    if len(found) != len(wanted):
        return False
    pairs = zip(found, wanted, strict=True)
    return all(_is_row(row, want, answer["columns"]) for row, want in pairs)


def _is_row(row: list[Any], wanted: Any, columns: list[str]) -> bool:
    """Tell whether a row is what is wanted: its values, by name, or its only one."""
    if len(row) == 1 and same(row[0], wanted):
        return True
    if is_mapping(wanted):
        return same(dict(zip(columns, row, strict=True)), wanted)
    return is_list(wanted) and same(row, wanted)


def _shown(answer: Mapping[str, Any]) -> str:
    found: list[list[Any]] = answer["rows"]
    if answer.get("more"):
        return f"more than {MOST} rows"
    if not found:
        return "no row"
    rows: list[Any] = [row[0] for row in found] if len(answer["columns"]) == 1 else [*found]
    return _short(rows[0] if len(rows) == 1 and len(answer["columns"]) == 1 else rows)


def _short(value: Any) -> str:
    text = json.dumps(plain(value), ensure_ascii=False)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
