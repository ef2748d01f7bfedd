from __future__ import annotations

import json

from guard.model import FAIL
from guard.results import CaseResult, FileChange, Observation, Score, ToolCall, TrialResult
from guard.storage.records import (
    RECEIPT_TEXT,
    Receipt,
    cut,
    evidence_of,
    is_sound,
    receipt_from_json,
    receipt_to_json,
    seal,
    trial_from_json,
    trial_to_json,
    trials_of,
)

FULL = TrialResult(
    case="taxi",
    number=3,
    verdict=FAIL,
    scores=(Score("no_changes", 0.0, "2 files changed"),),
    reason="r",
    observation=Observation(
        reply="ü \udcff",
        stdout="out",
        exit_status=1,
        output={"a": [1, None]},
        facts={"loaded": True},
        changes=(FileChange("bad\udcff.md", "M", 2, 1),),
        tool_calls=(ToolCall("Read", {"path": "a"}, "text"),),
        permission_denials=("Bash",),
        cost_usd=0.5,
        tokens={"in": 3},
        response_ids=("msg_1",),
        argv=("claude", "-p"),
    ),
    orphan_pids=(4, 5),
    trial_id="t",
    failing=("no_changes",),
    excused=(),
)
RECEIPT = Receipt("sha256:k", "taxi", "expense", "PASS", 4, 4, "2026-07-12T10:00:00Z")


def test_a_trial_survives_json_surrogates_and_all() -> None:
    text = json.dumps(trial_to_json(FULL))
    text.encode("utf-8")
    assert trial_from_json(json.loads(text)) == FULL


def test_what_a_target_cannot_tell_stays_none_never_empty() -> None:
    bare = TrialResult("taxi", 1, FAIL)
    found = trial_from_json(json.loads(json.dumps(trial_to_json(bare))))
    assert found == bare
    assert found.observation.tool_calls is None
    used_none = bare._replace(observation=Observation(tool_calls=(), permission_denials=()))
    assert trial_from_json(trial_to_json(used_none)) == used_none


def test_fields_of_other_versions_are_left_out() -> None:
    fields = trial_to_json(FULL) | {"mood": "good"}
    del fields["isolation"]
    assert trial_from_json(fields) == FULL


def test_long_texts_are_cut_and_say_so() -> None:
    loud = FULL._replace(observation=FULL.observation._replace(stdout="x" * 50))
    stored = trial_from_json(trial_to_json(loud, limit=10))
    assert stored.observation.stdout == "x" * 10 + "\n[cut: 40 characters more]"
    assert cut("short", 10) == "short"


def test_a_sealed_receipt_is_sound_and_an_altered_one_is_not() -> None:
    sealed = seal(RECEIPT)
    assert is_sound(sealed)
    assert not is_sound(RECEIPT)
    assert not is_sound(sealed._replace(passed=3))
    assert not is_sound(sealed._replace(evidence={"trials": []} | {"x": 1}))
    again = receipt_from_json(receipt_to_json(sealed))
    assert again == sealed
    assert again is not None
    assert is_sound(again)


def test_what_is_no_receipt_is_none() -> None:
    for text in ("", "[]", "{}", "null", '{"key": 1, "mood": 2}'):
        assert receipt_from_json(text) is None


def test_a_receipt_holds_its_trials_with_short_texts() -> None:
    loud = FULL._replace(diff="d" * (RECEIPT_TEXT + 1))
    receipt = seal(RECEIPT._replace(evidence=evidence_of(CaseResult("taxi", "a", FAIL, (loud,)))))
    opened = receipt_from_json(receipt_to_json(receipt))
    assert opened is not None
    assert is_sound(opened)
    (trial,) = trials_of(opened)
    assert trial.scores == FULL.scores
    assert trial.diff.endswith("[cut: 1 characters more]")
