"""What a proof's red and green trials left behind, as files beside the record.

``regressions/<id>/rejected.json`` and ``accepted.json``: enough to ask today's checks again
whether they tell the two apart. Secrets are taken out, and folders of the machine; what doesn't
fit its own digest is no observation.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, cast

from guard.errors import GuardError
from guard.model import ORPHANS_KEY, TIMEOUT_KEY
from guard.results import KeptFile, Observation, Score, TrialResult
from guard.storage.records import dump, to_plain, trial_from_json, trial_to_json
from guard.trials.kept import Left
from guard.trials.redaction import Redactor

SCHEMA: Final = "guard.observation.v1"
REJECTED: Final = "rejected"
ACCEPTED: Final = "accepted"
ENGINE_KEYS: Final = (TIMEOUT_KEY, ORPHANS_KEY)

#: Characters of one text, and bytes of a whole file.
TEXT: Final = 32 << 10
FILE_BYTES: Final = 1 << 20
#: Stands for the folder of a trial, which is another one each time.
FOLDER: Final = "/guard-trial"
#: Stands for the folder of the repository.
REPO: Final = "/guard-repo"
#: Variables whose values are secrets, whoever handed them on; and how short a secret may be.
_SECRET: Final = r"(?i)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$"
_LEAST: Final = 8


class ObservationError(GuardError):
    """An observation that can't be read, or doesn't fit its record; in words."""


class Kept(NamedTuple):
    """One observation of a proof."""

    record: str
    side: str
    trial: TrialResult
    """With what it observed, the files it left, its scores."""
    expected: Mapping[str, Any]
    """What was expected of it then."""

    def left_in(self, workspace: str) -> Left:
        """Return what is to be graded again, with the folder that the workspace is in now."""
        place = os.path.dirname(workspace)

        def here(text: str) -> str:
            return text.replace(FOLDER, place)

        seen, files = _mapped(self.trial.observation, self.trial.files, here)
        own = tuple(score for score in self.trial.scores if score.key in ENGINE_KEYS)
        return Left(seen, files, own)


# Writing -----------------------------------------------------------------------------------


def write_kept(
    record: str,
    side: str,
    agent: str,
    trial: TrialResult,
    expected: Mapping[str, Any],
    environ: Mapping[str, str],
    root: str = "",
) -> bytes:
    """Return the file of one trial; ``environ`` tells what is a secret on this machine.

    ``root`` is where the repository lies on it.
    """
    places = {environ.get("HOME", ""): "~", root: REPO}
    cleaned = _without_folders(_secrets(environ).result(trial), places)
    fields = trial_to_json(cleaned, TEXT)
    # What the files show is not kept twice; the rest tells of the machine alone.
    for name in ("diff", "isolation", "orphan_pids", "blame", "number", "asked"):
        fields.pop(name)
    for name in ("workspace", "repo"):
        fields["observation"].pop(name)
    document = {
        "schema": SCHEMA,
        "record": record,
        "side": side,
        "agent": agent,
        "expected": to_plain(expected),
        **fields,
    }
    return _text({**document, "digest": _digest(document)})


def _secrets(environ: Mapping[str, str]) -> Redactor:
    named = {n: v for n, v in environ.items() if len(v) >= _LEAST and re.search(_SECRET, n)}
    return Redactor(named)


def _without_folders(trial: TrialResult, places: Mapping[str, str]) -> TrialResult:
    """Name the folders of the trial alike wherever it ran, and none of the machine's own."""
    here = re.compile(rf"(?:/[^/\s\"'`<>|;:,()\[\]]+)*/{re.escape(trial.trial_id)}(?=/|\b)")
    # The longest first: the repository may lie in the user's home.
    known = sorted((path.rstrip("/"), name) for path, name in places.items() if len(path) > 1)
    others = [
        # A reason quotes a text, so that a new line before a path may stand there as two signs.
        (re.compile(rf"(?:(?<![\w.-])|(?<=\\[nrt])){re.escape(path)}(?![\w-])"), name)
        for path, name in known[::-1]
    ]

    def cleaned(text: str) -> str:
        text = here.sub(FOLDER, text) if trial.trial_id else text
        for path, name in others:
            text = path.sub(name, text)
        return text

    seen, files = _mapped(trial.observation, trial.files, cleaned)
    scores = tuple(score._replace(reason=cleaned(score.reason)) for score in trial.scores)
    reason = cleaned(trial.reason)
    return trial._replace(observation=seen, files=files, scores=scores, reason=reason)


def _mapped(
    seen: Observation, files: tuple[KeptFile, ...], change: Callable[[str], str]
) -> tuple[Observation, tuple[KeptFile, ...]]:
    """Return what was observed, and the files, with each text changed."""
    mapper = _Mapper(change)
    return mapper.observation(seen), tuple(map(mapper.file, files))


class _Mapper(Redactor):
    """Changes each text of an observation by a function."""

    def __init__(self, change: Callable[[str], str]) -> None:
        super().__init__({})
        self._change = change

    def text(self, text: str) -> str:
        return self._change(text)


def _digest(document: Mapping[str, Any]) -> str:
    from hashlib import sha256

    return "sha256:" + sha256(dump(document).encode()).hexdigest()


def _text(document: Mapping[str, Any]) -> bytes:
    """Return JSON for people; in ASCII where a name of it is no UTF-8."""
    for ascii_only in (False, True):
        text = json.dumps(document, indent=2, ensure_ascii=ascii_only, sort_keys=True, default=repr)
        try:
            return f"{text}\n".encode()
        except UnicodeEncodeError:
            continue
    raise AssertionError("ASCII is always encoded")


# Reading -----------------------------------------------------------------------------------


def read_kept(content: bytes, record: str, side: str) -> Kept:
    """Return an observation. Raises `ObservationError` where it isn't the one it should be."""
    fields = _parsed(content)
    if fields.get("schema") != SCHEMA:
        raise ObservationError(f"is not of schema {SCHEMA}")
    stated = fields.pop("digest", "")
    if stated != _digest(fields):
        raise ObservationError("was edited: it doesn't fit its own digest")
    if (fields["record"], fields["side"]) != (record, side):
        raise ObservationError(f"is the {fields['side']} one of record {fields['record']}")
    try:
        trial = trial_from_json({**fields, "number": 1})
        return Kept(record, side, trial, fields["expected"])
    except (TypeError, KeyError, AttributeError) as error:
        raise ObservationError("has not the fields of an observation") from error


def _parsed(content: bytes) -> dict[str, Any]:
    if len(content) > 2 * FILE_BYTES:
        raise ObservationError(f"has more than {2 * FILE_BYTES >> 20} MiB")
    try:
        found: object = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ObservationError("is not valid JSON") from error
    if not isinstance(found, dict):
        raise ObservationError("is not an observation")
    fields = cast("dict[str, Any]", found)
    if not {"record", "side", "observation", "expected"} <= fields.keys():
        raise ObservationError("has not the fields of an observation")
    return fields


def scores_of(scores: tuple[Score, ...], leave_out: frozenset[str]) -> dict[str, float]:
    """Return key → the lowest score of those that are judged."""
    found: dict[str, float] = {}
    for score in scores:
        if score.key not in leave_out:
            found[score.key] = min(score.value, found.get(score.key, 1.0))
    return found
