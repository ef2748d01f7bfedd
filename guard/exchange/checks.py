"""Whether a receipt says what its trials show: the verdict that stands in it proves nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from guard import model
from guard.exchange.files import RED, NotAReceipt, Stored
from guard.exchange.trials import (
    CLOCKS,
    Known,
    check_counts,
    check_dates,
    check_grades,
    check_names,
)
from guard.model import Case, Policy
from guard.proofs.evidence import APART
from guard.proofs.sides import OPEN, after_judge, before_judge, hits
from guard.results import TrialResult
from guard.running.gates import GATES, decide_policy
from guard.storage.records import Receipt, trials_of
from guard.verdict import judge_case, outcomes_of

GO_ON: Final = "its trials go on after they had decided"
#: How the maker of a receipt is written.
PRODUCER: Final = re.compile(r"[a-z][a-z0-9-]{0,39}")
#: Trials of one receipt.
MOST_TRIALS: Final = 2_000
#: Of the broken side of a proof, those drawn anew among them.
MOST_RED: Final = 20
#: Under which the broken side of a proof by command is kept.
COMMAND: Final = "command:"


def check_receipt(stored: Stored, cases: Mapping[str, Known]) -> None:
    """Raise `NotAReceipt` where a receipt can't be what it says.

    ``cases``: those that receipts of these keys are of, as the tree under test states them.
    """
    receipt, trials = stored.receipt, trials_of(stored.receipt)
    _check_trials(receipt, trials)
    check_dates(trials, _dated(receipt.date))
    if not PRODUCER.fullmatch(receipt.producer):
        raise NotAReceipt("its producer is none")
    known = _known_case(stored, cases)
    graded = outcomes_of(trials)
    if (receipt.passed, receipt.trials) != (sum(graded), len(graded)):
        raise NotAReceipt(
            f"it says {receipt.passed} of {receipt.trials}, and its trials show "
            f"{sum(graded)} of {len(graded)}"
        )
    check_grades(trials, None if _is_by_command(stored) else known)
    policy = _policy_of(receipt)
    deterministic = bool(receipt.evidence["deterministic"])
    if stored.kind == RED:
        _check_red(receipt, trials, deterministic=deterministic or _is_by_command(stored))
        return
    if known is not None and known.case.policy != policy:
        raise NotAReceipt("it was judged by another policy than its key says")
    case = known.case if known else Case(receipt.case, receipt.agent, "", policy=policy)
    _check_verdict(receipt, trials, case, deterministic=deterministic)


def _known_case(stored: Stored, cases: Mapping[str, Known]) -> Known | None:
    """Return the case that a receipt's key is of, where that is known here."""
    receipt = stored.receipt
    keys = [receipt.key]
    if stored.kind == RED:
        keys += [str(receipt.evidence.get(name, "")) for name in ("exact", APART)]
    known = next((cases[key] for key in keys if key in cases), None)
    if known and (known.case.id, known.case.agent) != (receipt.case, receipt.agent):
        raise NotAReceipt(f"its key is one of case {known.case.id} of {known.case.agent}")
    return known


def _is_by_command(stored: Stored) -> bool:
    """Tell whether a program that a record names was run, and not the agent."""
    return str(stored.receipt.evidence.get("exact", "")).startswith(COMMAND)


def _policy_of(receipt: Receipt) -> Policy:
    stated: Mapping[str, Any] = receipt.evidence["policy"]
    found = Policy(**{name: stated[name] for name in Policy._fields if name in stated})
    sane = found.gate is None or found.gate in GATES
    if not sane or not 0 < (found.trials or 1) <= MOST_TRIALS or not 0 <= found.min_pass_rate <= 1:
        raise NotAReceipt("its policy is none")
    return found


def _dated(date: str) -> datetime:
    try:
        found = datetime.fromisoformat(date)
        ahead = found - datetime.now(UTC)
    except (TypeError, ValueError) as error:
        raise NotAReceipt("its date is none") from error
    if ahead > CLOCKS:
        raise NotAReceipt(f"its date lies ahead: {date}")
    return found


def _check_trials(receipt: Receipt, trials: Sequence[TrialResult]) -> None:
    if not 0 < len(trials) <= MOST_TRIALS:
        raise NotAReceipt("it holds no trial, or more than any policy asks for")
    if any(trial.case != receipt.case for trial in trials):
        raise NotAReceipt("it holds a trial of another case")
    numbers = [trial.number for trial in trials]
    if numbers != sorted(set(numbers)) or numbers[0] < 1:
        raise NotAReceipt("its trials are not in order")
    check_names(trials)
    check_counts(trials)


def _check_red(receipt: Receipt, trials: Sequence[TrialResult], *, deterministic: bool) -> None:
    if len(trials) > MOST_RED:
        raise NotAReceipt(GO_ON)
    judge = before_judge(hits(()), deterministic=deterministic)
    verdict = judge(trials).verdict
    shown = {verdict, model.FAIL if verdict == model.WRONG_REASON else verdict}
    if receipt.verdict not in shown:
        raise NotAReceipt(_not_shown(receipt.verdict, verdict))
    if any(judge(trials[:n]) != OPEN for n in range(1, len(trials))):
        raise NotAReceipt(GO_ON)


def _check_verdict(
    receipt: Receipt, trials: Sequence[TrialResult], case: Case, *, deterministic: bool
) -> None:
    found = judge_case(case, trials, case.policy, deterministic=deterministic).verdict
    # A proof draws a trial anew that ended in ERROR.
    redrawn = after_judge(case, deterministic=deterministic)(trials).verdict
    shown = {found, redrawn}
    if case.expected_baseline == () and receipt.verdict == model.XPASS:
        shown.add(model.XPASS)  # the baseline that it was judged by isn't here
    if receipt.verdict not in shown:
        raise NotAReceipt(_not_shown(receipt.verdict, redrawn or found))
    _check_end(trials, case.policy, deterministic=deterministic)


def _check_end(trials: Sequence[TrialResult], policy: Policy, *, deterministic: bool) -> None:
    """Refuse trials that go on after the rule that stops them had: someone chose when to stop.

    Of fixed trials some may be under way when the rate gets out of reach.
    """
    fixed = policy.gate is None and policy.trials is not None
    outcomes = outcomes_of(trials)
    for number in range(1, len(outcomes)):
        decision = decide_policy(policy, outcomes[:number], deterministic=deterministic)
        if decision is None or (
            fixed and decision == model.FAIL and len(outcomes) <= (policy.trials or 0)
        ):
            continue
        raise NotAReceipt(GO_ON)


def _not_shown(stated: str, found: str) -> str:
    return f"it says {stated}, and its trials show {found or 'too little to decide'}"


class Answers:
    """The trials in all receipts, and the models' responses in them: one twice was copied."""

    def __init__(self, receipts: Iterable[Receipt] = ()) -> None:
        self._known: dict[str, tuple[str, str]] = {}
        for receipt in receipts:
            self._known.update(self._of(receipt))

    def add(self, receipt: Receipt) -> None:
        """Take a receipt's responses in. Raises `NotAReceipt` where another has one of them."""
        found = self._of(receipt)
        for response, place in found.items():
            if self._known.get(response, place) != place:
                raise NotAReceipt(f"{response} is another receipt's too")
        self._known.update(found)

    def _of(self, receipt: Receipt) -> dict[str, tuple[str, str]]:
        """Return trial or response → the run and the trial that it belongs to.

        A red side is kept under several keys, all of the same run.
        """
        run = str(receipt.evidence.get("exact") or receipt.key)
        found: dict[str, tuple[str, str]] = {}
        trials: Iterable[Any] = receipt.evidence.get("trials", ())
        for trial in trials:
            name = str(trial.get("trial_id", ""))
            if name:
                found[f"trial {name}"] = (run, name)
            if receipt.evidence.get("deterministic"):
                continue  # it may answer the same with the same id
            for response in trial.get("observation", {}).get("response_ids", ()):
                found[f"response {response}"] = (run, name)
        return found
