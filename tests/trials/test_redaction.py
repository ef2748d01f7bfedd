from __future__ import annotations

from guard.results import FileChange, Observation, Score, ToolCall, TrialResult
from guard.trials.redaction import Redactor

SECRET = 'top "secret"\nline'


def test_every_text_of_a_result_is_redacted() -> None:
    seen = Observation(
        reply=f"it is {SECRET}",
        stdout=SECRET,
        stderr=SECRET,
        output={"key": [SECRET, 1, None]},
        facts={"f": SECRET},
        services={"db": {"rows": [[SECRET]]}},
        argv=("x", SECRET),
        tool_calls=(ToolCall(SECRET, {"command": SECRET}, SECRET),),
        changes=(FileChange(f"logs/{SECRET}.txt", "A", 1),),
        permission_denials=(SECRET,),
        program=SECRET,
        model=SECRET,
        response_ids=(SECRET,),
    )
    result = TrialResult("c", 1, "FAIL", (Score("k", 0, SECRET),), SECRET, seen, diff=SECRET)
    redacted = Redactor({"KEY": SECRET}).result(result)
    assert "secret" not in repr(redacted)
    assert redacted.observation.reply == "it is [redacted KEY]"
    assert redacted.observation.output == {"key": ["[redacted KEY]", 1, None]}
    assert redacted.observation.changes == (FileChange("logs/[redacted KEY].txt", "A", 1),)
    assert redacted.scores == (Score("k", 0, "[redacted KEY]"),)


def test_further_secrets_may_share_a_name() -> None:
    redactor = Redactor({"KEY": "first-one"}).knowing([("db", "second-one"), ("db", "third-one")])
    assert redactor.text("first-one second-one third-one") == (
        "[redacted KEY] [redacted db] [redacted db]"
    )


def test_a_service_keeps_its_name_though_that_is_a_secret() -> None:
    seen = Observation(services={"postgres": {"rows": [["postgres"]]}})
    redacted = Redactor({"KEY": "postgres"}).observation(seen)
    assert redacted.services == {"postgres": {"rows": [["[redacted KEY]"]]}}


def test_the_form_inside_json_is_redacted_too() -> None:
    assert Redactor({"KEY": SECRET}).text('{"a": "top \\"secret\\"\\nline"}') == (
        '{"a": "[redacted KEY]"}'
    )


def test_a_secret_within_a_secret_goes_first() -> None:
    redactor = Redactor({"SHORT": "abcd", "LONG": "abcdefgh"})
    assert redactor.text("abcdefgh abcd") == "[redacted LONG] [redacted SHORT]"


def test_without_secrets_nothing_is_touched() -> None:
    result = TrialResult("c", 1, "PASS", reason="is 1 of 1")
    assert Redactor({}).result(result) is result
    assert Redactor({"FLAG": "1", "NONE": ""}).result(result) is result


def test_blanks_are_no_secret_and_garble_nothing() -> None:
    redactor = Redactor({"BLANK": "      ", "PADDED": "  key1  "})
    assert redactor.text("a      b key1") == "a      b [redacted PADDED]"
