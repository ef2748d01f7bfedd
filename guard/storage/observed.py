"""What a run, a receipt or a trial shows of a case, found by the name that people write down."""

from __future__ import annotations

import re
from typing import Final

from guard.results import TrialResult
from guard.storage.records import trials_of
from guard.storage.schema import KEPT_ROWS
from guard.store import Store

#: Sides whose trials ran on a state of the agent that was in use: not on a rebuilt broken one.
SIDES: Final = ("", "after", "base")
_DIGEST: Final = "sha256:"
_ID: Final = re.compile(r"[0-9a-f]{16}")


def observed_trials(store: Store, case: str, name: str) -> tuple[TrialResult, ...] | None:
    """Return the case's trials under the name of a run, a receipt or one trial.

    Empty where the name is known here and shows nothing of the case; None where it isn't known,
    or its trials are no longer kept.
    """
    if name.startswith(_DIGEST):
        return _in_receipt(store, case, name)
    if not _ID.fullmatch(name):
        return None
    of_run = [trial for side in SIDES for trial in store.get_trials(case, name, side=side)]
    if of_run:
        return tuple(of_run)
    if named := store.find_trials(name):
        return tuple(trial for trial in named if trial.case == case)
    runs = (run for run in store.get_runs(KEPT_ROWS["runs"]) if run["run_id"] == name)
    run = next(runs, None)
    return None if run is None or case in run["cases"] else ()


def _in_receipt(store: Store, case: str, digest: str) -> tuple[TrialResult, ...] | None:
    receipt = store.get_receipt(digest)
    if receipt is None:
        return None
    # Of the broken side of a proof: the agent was never in use like that.
    is_red = "exact" in receipt.evidence
    return () if is_red or receipt.case != case else trials_of(receipt)
