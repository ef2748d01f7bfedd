"""What the store keeps, as JSON: trials, the evidence of a case, and receipts.

A receipt's digest covers all of it; one whose digest doesn't fit was altered or half written,
and counts as absent. Texts are cut here, so that a chatty program can't fill the store: the
engine grades everything, and keeps the raw output in files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeVar, cast

from guard.results import (
    CaseResult,
    FileChange,
    Fingerprint,
    KeptFile,
    Observation,
    Score,
    ToolCall,
    TrialResult,
)

#: Characters of one text in a trial's record, and in a receipt's.
RECORD_TEXT: Final = 1 << 20
RECEIPT_TEXT: Final = 1 << 14
#: Who made a receipt.
LOCAL: Final = "local"
CI: Final = "ci"

Record = TypeVar("Record")


class Receipt(NamedTuple):
    """The stored evidence of one case on one tree, bound to all it depended on."""

    key: str
    """Digest of everything it depended on."""
    case: str
    agent: str
    verdict: str
    passed: int
    trials: int
    date: str
    """UTC, ISO 8601."""
    evidence: Mapping[str, Any] = {}
    producer: str = LOCAL
    """Who made it: local, or ci; then the evidence names the job."""
    digest: str = ""
    """Of all the other fields."""


def seal(receipt: Receipt) -> Receipt:
    """Return the receipt with its own digest."""
    return receipt._replace(digest=digest_of(receipt))


def made_in(receipt: Receipt, job: Mapping[str, str]) -> Receipt:
    """Return the receipt as made by a job of CI; as it is where there is none."""
    if not job:
        return receipt
    return receipt._replace(producer=CI, evidence={**receipt.evidence, "job": dict(job)})


def is_sound(receipt: Receipt) -> bool:
    """Say whether the receipt's digest fits its contents."""
    return receipt.digest == digest_of(receipt)


def is_written_soundly(receipt: Receipt, text: str) -> bool:
    """Say the same of the text that a receipt was read from, as far as it is written as here.

    The text less the digest itself is what was digested: then nothing is to be written again.
    """
    from hashlib import sha256

    written = text.replace(f'"digest":{json.dumps(receipt.digest)},', "", 1)
    whole = "sha256:" + sha256(written.encode("utf-8", "surrogatepass")).hexdigest()
    return whole == receipt.digest or is_sound(receipt)


def digest_of(receipt: Receipt) -> str:
    """Return the digest of a receipt's contents, whatever digest it carries."""
    from hashlib import sha256

    contents = {name: value for name, value in receipt._asdict().items() if name != "digest"}
    return "sha256:" + sha256(dump(contents).encode()).hexdigest()


def dump(value: Any) -> str:
    """Return canonical JSON in ASCII: sorted keys, surrogates escaped, odd values as text."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=repr)


def receipt_to_json(receipt: Receipt) -> str:
    """Return one receipt as JSON."""
    return dump(receipt._asdict())


def receipt_from_json(text: str) -> Receipt | None:
    """Read one receipt; None where it isn't one."""
    try:
        fields: object = json.loads(text)
        return Receipt(**cast("dict[str, Any]", fields))
    except (TypeError, ValueError):
        return None


def trial_to_json(trial: TrialResult, limit: int = RECORD_TEXT) -> dict[str, Any]:
    """Return a trial as JSON values, each text cut past ``limit`` characters."""
    seen = trial.observation
    kept = trial._replace(
        diff=cut(trial.diff, limit),
        observation=seen._replace(
            reply=cut(seen.reply, limit),
            stdout=cut(seen.stdout, limit),
            stderr=cut(seen.stderr, limit),
            tool_calls=seen.tool_calls
            and tuple(call._replace(result=cut(call.result, limit)) for call in seen.tool_calls),
        ),
    )
    return cast("dict[str, Any]", to_plain(kept))


def trial_from_json(fields: Mapping[str, Any]) -> TrialResult:
    """Return the trial that `trial_to_json` wrote; fields of other versions are left out."""
    return _known(TrialResult, fields)._replace(
        observation=observation_from_json(fields.get("observation", {})),
        scores=tuple(_known(Score, item) for item in fields.get("scores", ())),
        orphan_pids=tuple(fields.get("orphan_pids", ())),
        failing=tuple(fields.get("failing", ())),
        excused=tuple(fields.get("excused", ())),
        unread=tuple(fields.get("unread", ())),
        files=tuple(_known(KeptFile, item) for item in fields.get("files", ())),
        asked=_known(Fingerprint, fields.get("asked", {})),
    )


def observation_from_json(seen: Mapping[str, Any]) -> Observation:
    """Return the observation that `trial_to_json` wrote."""
    calls = seen.get("tool_calls")
    denials, read = seen.get("permission_denials"), seen.get("files_read")
    return _known(Observation, seen)._replace(
        changes=tuple(_known(FileChange, item) for item in seen.get("changes", ())),
        tool_calls=None if calls is None else tuple(_known(ToolCall, item) for item in calls),
        permission_denials=None if denials is None else tuple(denials),
        response_ids=tuple(seen.get("response_ids", ())),
        files_read=None if read is None else tuple(read),
        argv=tuple(seen.get("argv", ())),
    )


def evidence_of(result: CaseResult) -> dict[str, Any]:
    """Return what a receipt keeps of a case: its trials, with their texts cut short.

    Files are kept of the first trial of each verdict: one is put through the checks again.
    """
    seen: set[str] = set()
    kept: list[dict[str, Any]] = []
    for trial in result.trials:
        shown = trial._replace(files=()) if trial.verdict in seen else trial
        seen.add(trial.verdict)
        kept.append(trial_to_json(shown, RECEIPT_TEXT))
    return {"trials": kept}


def trials_of(receipt: Receipt) -> tuple[TrialResult, ...]:
    """Return the trials that a receipt holds."""
    return tuple(trial_from_json(item) for item in receipt.evidence.get("trials", ()))


def cut(text: str, limit: int) -> str:
    """Cut a text, and say how much is missing."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n[cut: {len(text) - limit} characters more]"


#: Kind → the names of its fields, looked up for each of thousands.
_NAMES: Final[dict[type, frozenset[str]]] = {}


def _known(kind: type[Record], fields: Mapping[str, Any]) -> Record:
    names = _NAMES.get(kind)
    if names is None:
        names = _NAMES[kind] = frozenset(cast("Any", kind)._fields)
    if names.issuperset(fields):
        return kind(**fields)
    return kind(**{name: value for name, value in fields.items() if name in names})


def to_plain(value: Any) -> Any:
    """Turn named tuples into objects and tuples into lists, all the way down."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {str(name): to_plain(item) for name, item in cast("Any", value).items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(item) for item in cast("list[Any]", value)]
    return value
