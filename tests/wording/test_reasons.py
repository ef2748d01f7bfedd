from __future__ import annotations

from guard.model import ERROR, FAIL, PASS
from guard.results import Score, TrialResult
from guard.wording.reasons import group_reasons, one_line, trial_reason


def failed(number: int, *scores: Score, excused: tuple[str, ...] = ()) -> TrialResult:
    keys = tuple(score.key for score in scores if score.value < 1)
    return TrialResult("taxi", number, FAIL, scores, failing=keys, excused=excused)


def test_a_failing_score_gives_key_and_reason() -> None:
    trial = failed(1, Score("no_changes", 0, "2 files changed"), Score("reply", 1, "fine"))
    assert trial_reason(trial) == "no_changes: 2 files changed"


def test_an_excused_key_is_not_the_reason() -> None:
    trial = failed(1, Score("a", 0, "known"), Score("b", 0, "new"), excused=("a",))
    assert trial_reason(trial) == "b: new"


def test_a_key_without_a_score_is_named() -> None:
    assert trial_reason(TrialResult("t", 1, FAIL, failing=("timeout",))) == "timeout"
    both = failed(1, Score("a", 0))._replace(failing=("a", "orphans"))
    assert trial_reason(both) == "a; orphans"


def test_equal_reasons_are_grouped_and_the_most_frequent_comes_first() -> None:
    trials = [
        failed(1, Score("a", 0, "x")),
        failed(2, Score("b", 0, "y")),
        TrialResult("taxi", 3, PASS),
        failed(4, Score("b", 0, "y")),
        TrialResult("taxi", 5, ERROR, reason="broke"),
    ]
    groups = group_reasons(trials)
    assert [(g.reason, g.numbers) for g in groups] == [
        ("b: y", (2, 4)),
        ("a: x", (1,)),
        ("broke", (5,)),
    ]


def test_equal_words_of_different_verdicts_stay_apart() -> None:
    trials = [TrialResult("t", 1, ERROR, reason="r"), TrialResult("t", 2, "SKIP", reason="r")]
    assert len(group_reasons(trials)) == 2


def test_one_line_folds_and_cuts() -> None:
    assert one_line("a\n  b\tc") == "a b c"
    assert one_line("x" * 300, 10) == "x" * 9 + "…"
