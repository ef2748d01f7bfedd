"""Every kind of event becomes an entry that balances."""

from __future__ import annotations

from typing import get_args

import pytest

from ledger.drafting import Kind, draft
from ledger.policy import VAT_RATES
from tests.samples import make_event


@pytest.mark.parametrize("kind", get_args(Kind))
@pytest.mark.parametrize("vat", VAT_RATES)
@pytest.mark.parametrize("net", [1, 2, 3, 99, 1000_01])
def test_a_draft_balances(kind: str, vat: str, net: int) -> None:
    entry = draft(make_event(kind=kind, vat=vat, net=net))
    assert entry.debits == entry.credits > 0
    assert all(bool(line.debit) != bool(line.credit) for line in entry.lines)


def test_half_a_cent_of_vat_is_rounded_up() -> None:
    assert [make_event(net=net).tax for net in (1, 2, 3)] == [0, 1, 1]


def test_a_purchase_is_owed_with_its_vat() -> None:
    lines = [(line.account, line.debit, line.credit) for line in draft(make_event()).lines]
    assert lines == [("4000", 1000_00, 0), ("2710", 250_00, 0), ("2400", 0, 1250_00)]
