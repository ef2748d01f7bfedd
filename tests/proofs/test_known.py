"""A record's proof counts where its receipts are here: both sides', and of the case itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from guard.model import ERROR, FAIL, PASS, XFAIL
from guard.proofs.known import is_known
from guard.regressions import Record
from guard.storage.records import Receipt
from guard.store import Store


def receipt(verdict: str, case: str = "one", agent: str = "clerk") -> Receipt:
    return Receipt(f"{verdict}-{case}-{agent}", case, agent, verdict, 1, 1, "2031-01-01")


RED, GREEN = receipt(FAIL), receipt(PASS)


@pytest.mark.parametrize(
    ("quoted", "known"),
    [
        ((RED, GREEN), True),
        ((RED, receipt(XFAIL)), True),
        ((RED,), False),
        ((GREEN, GREEN), False),
        ((RED, receipt(ERROR)), False),
        ((receipt(FAIL, case="two"), GREEN), False),
        ((receipt(FAIL, case="two"), receipt(PASS, case="two")), False),
        ((receipt(FAIL, agent="porter"), receipt(PASS, agent="porter")), False),
        ((), False),
    ],
)
def test_receipts_of_both_sides_of_the_case(
    tmp_path: Path, quoted: tuple[Receipt, ...], known: bool
) -> None:
    store = Store.open(str(tmp_path))
    digests = [
        store.put_red(one) if one.verdict == FAIL else store.put_receipt(one) for one in quoted
    ]
    record = Record("one", "clerk", "one.md", {"kind": "parent"}, proof={"receipts": digests})
    assert is_known(record, "one", store) is known
    forged = record._replace(proof={"receipts": [*digests, "sha256:0"]})
    assert not is_known(forged, "one", store)
    assert not is_known(record._replace(proof=None), "one", store)
