"""Whether a record's proof is one that this machine has seen: numbers prove nothing."""

from __future__ import annotations

from guard.model import FAIL, PASS, XFAIL
from guard.regressions import Record
from guard.store import Store


def is_known(record: Record, case: str, store: Store) -> bool:
    """Tell whether the store knows the receipts of a proof, of both sides and of this very case.

    ``case``: the id of the case that the record names.
    """
    digests: tuple[str, ...] = tuple((record.proof or {}).get("receipts", ()))
    receipts = [receipt for digest in digests if (receipt := store.get_receipt(digest))]
    verdicts = {receipt.verdict for receipt in receipts}
    return (
        len(receipts) == len(digests)
        and FAIL in verdicts
        and not verdicts.isdisjoint((PASS, XFAIL))
        and {(receipt.agent, receipt.case) for receipt in receipts} == {(record.agent, case)}
    )
