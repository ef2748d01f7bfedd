from __future__ import annotations

from guard.model import Case
from guard.results import FileChange, Fingerprint, Observation, Score, ToolCall, TrialResult
from guard.wording.show import show_trial

CASE = Case(
    "eur-taxi",
    "expense",
    "evals/eur-taxi.md",
    utterance="EuroStar taxis were 400 euro",
    turns=("and now?",),
    input={"city": "Oslo"},
    given={"notes.md": "text"},
)
TRIAL = TrialResult(
    "eur-taxi",
    1,
    "FAIL",
    scores=(Score("no_changes", 0.0, "1 file changed"), Score("reply_contains", 1.0)),
    observation=Observation(
        reply="Booked: 400 EUR.\nAnything else?",
        stderr="warning: slow",
        exit_status=1,
        changes=(FileChange("budget.md", "M", 2, 1),),
        tool_calls=(ToolCall("Edit", {"path": "budget.md"}),),
        permission_denials=("Bash",),
        cost_usd=0.92,
        turns=3,
        seconds=87.2,
        model="sonnet",
        program="claude 2.1",
    ),
    diff="--- a/budget.md\n+++ b/budget.md\n-taxi 400\n+taxi 457",
    failing=("no_changes",),
    isolation="own namespace",
    started="2026-07-12T10:00:00Z",
)


def test_a_trial_in_full() -> None:
    assert (
        show_trial(TRIAL, CASE)
        == """\
✗ eur-taxi#1 FAIL: no_changes: 1 file changed
asked
  EuroStar taxis were 400 euro
  then:
  and now?
  input: {"city": "Oslo"}
  given: notes.md
did
  Edit {"path": "budget.md"}
  was denied: Bash
  exit status 1
changed
  M budget.md (+2 -1)
  --- a/budget.md
  +++ b/budget.md
  -taxi 400
  +taxi 457
said
  Booked: 400 EUR.
  Anything else?
  standard error:
  warning: slow
scores
  ✗ no_changes 0: 1 file changed
  ✓ reply_contains 1
run
  87 s, $0.92, 3 turns, sonnet, claude 2.1, 2026-07-12T10:00:00Z
  own namespace"""
    )


def test_what_is_not_known_is_not_claimed() -> None:
    shown = show_trial(TrialResult("gone", 2, "PASS"))
    assert "the case is not there any more" in shown
    assert "used no tool" not in shown
    assert "changed\n  nothing" in shown
    assert "$" not in shown
    no_tools = TrialResult("gone", 2, "PASS", observation=Observation(tool_calls=()))
    assert "used no tool" in show_trial(no_tools)


def test_loaded_used_and_left_running_are_said() -> None:
    unloaded = TRIAL._replace(observation=Observation(loaded=False), orphan_pids=(7, 8))
    assert "the agent was not loaded" in show_trial(unloaded, CASE)
    assert "left running: 2 processes (7, 8)" in show_trial(unloaded, CASE)
    unused = TRIAL._replace(observation=Observation(loaded=True, used=False))
    assert "loaded, and not used" in show_trial(unused, CASE)


def test_a_structured_output_and_facts_are_said_once() -> None:
    seen = Observation(output={"status": "posted"}, facts={"paused": False})
    text = show_trial(TrialResult("a", 1, "PASS", observation=seen))
    assert 'said\n  output: {"status": "posted"}\n  facts: {"paused": false}\n' in text
    same = seen._replace(reply='{ "status": "posted" }')
    assert "output:" not in show_trial(TrialResult("a", 1, "PASS", observation=same))


def test_an_excused_key_is_marked() -> None:
    excused = TRIAL._replace(verdict="XFAIL", excused=("no_changes",))
    assert "no_changes 0, excused by a baseline: 1 file" in show_trial(excused, CASE)


def test_the_trial_is_named() -> None:
    assert "\n  trial 0123456789abcdef\n" in show_trial(
        TRIAL._replace(trial_id="0123456789abcdef"), CASE
    )


def test_long_texts_and_odd_characters_are_tamed() -> None:
    seen = Observation(
        reply="line\n" * 500 + "end\x1b[2J\udcff",
        tool_calls=tuple(ToolCall("Read", {"path": "x" * 999}) for _ in range(99)),
        changes=(FileChange("bad\udcff\n.md", "A"),),
    )
    shown = show_trial(TRIAL._replace(observation=seen, diff=""), CASE)
    assert "[441 lines more]" in shown
    assert "[59 calls more]" in shown
    assert "A bad\\xff\\n.md (+0 -0)" in shown
    assert "\x1b" not in shown
    assert len(shown.splitlines()) < 150
    shown.encode("utf-8")


def test_what_was_asked_for_is_told_by_names_and_versions_that_can_be_read() -> None:
    digest = f"sha256:{'0123456789abcdef' * 4}"
    asked = Fingerprint(f"claude 2.0; python {digest}", "opus", "")
    assert "\n  asked for: claude 2.0 and python, opus\n" in told(asked)
    assert "asked for" not in told(Fingerprint("claude 2.1", "sonnet", ""))
    assert digest not in told(Fingerprint(f"python {digest}", "", ""))


def told(asked: Fingerprint) -> str:
    return show_trial(TRIAL._replace(asked=asked), CASE)
