"""What the owner of the books decided. All money is in cents."""

from __future__ import annotations

from typing import Final

#: An entry above this needs the approval of somebody who didn't prepare it.
APPROVAL_LIMIT: Final = 10_000_00

#: Per cent, by the name that an event gives it.
VAT_RATES: Final = {"standard": 25, "food": 15, "none": 0}


def needs_approval(total: int) -> bool:
    """Tell whether an entry of this size stops at the gate."""
    return total > APPROVAL_LIMIT
