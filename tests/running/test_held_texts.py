"""What a run holds of its trials is bounded, and says where it was cut."""

from __future__ import annotations

import tracemalloc

from guard.results import KeptFile, Observation, ToolCall, TrialResult
from guard.running.held_texts import BEGINNING, HeldTexts

LONG = 20_000
FILES = (KeptFile("a.txt", "file", text="f" * LONG),)


def trial(number: int, verdict: str = "PASS") -> TrialResult:
    text = chr(97 + number % 26) * LONG
    calls = (ToolCall("look", result=text),)
    seen = Observation(stdout=text, stderr=text, reply=text, tool_calls=calls, model="tea-1")
    return TrialResult("one", number, verdict, observation=seen, diff=text, files=FILES)


def test_what_there_is_room_for_is_held_whole() -> None:
    assert HeldTexts().held(trial(1)) == trial(1)


def test_beyond_the_room_only_beginnings_are_held() -> None:
    texts = HeldTexts(room=7 * LONG)
    assert texts.held(trial(1)) == trial(1)
    held = texts.held(trial(2))
    seen = held.observation
    assert seen.tool_calls is not None
    for text in (seen.stdout, seen.stderr, seen.reply, seen.tool_calls[0].result, held.diff):
        assert text == f"{'c' * BEGINNING}\n[cut: {LONG - BEGINNING} characters more]"
    assert (held.files, held.verdict, seen.model) == ((), "PASS", "tea-1")
    assert texts.held(trial(3, "FAIL")).files == FILES
    assert texts.held(trial(4, "FAIL")).files == ()


def test_memory_grows_no_more_once_the_room_is_used_up() -> None:
    texts, held = HeldTexts(room=LONG), [trial(0)]
    tracemalloc.start()
    try:
        for number in range(300):
            held.append(texts.held(trial(number)))
        size = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert size / 300 < 6_000
