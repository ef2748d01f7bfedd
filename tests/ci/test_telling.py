"""What is said of a pull request's title that breaks a rule."""

from __future__ import annotations

from guard.ci.telling import title_refusal
from guard.model import Violation

LOST = Violation("case-weakened", "case a is gone", hint=("Case-Weakened: a: REASON",))
OTHER = Violation("record-invalid", "record b", hint=("guard check",))


def test_the_first_is_told_in_full_and_the_others_named() -> None:
    assert title_refusal([LOST, OTHER, OTHER], "chore: less").splitlines() == [
        "guard: refused: case a is gone (case-weakened)",
        "  title    chore: less",
        "  do       write into the pull request's text: Case-Weakened: a: REASON",
        "  also     record-invalid",
    ]


def test_what_has_a_hint_gets_it() -> None:
    assert "  do       guard check" in title_refusal([OTHER], "x")
    assert "change the pull request's title" in title_refusal([OTHER._replace(hint=())], "x")
