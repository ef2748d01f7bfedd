from __future__ import annotations

import re

from guard.reports.markdown import LIMIT, render, text
from guard.results import Report
from tests.reports.sample import FAILING, REPORT, nasty_report, passing


def test_a_full_report() -> None:
    shown = render(REPORT)
    assert shown.startswith("### guard run: 2 of 4 cases hold (14 of 14 trials passed), 1 of 2 ")
    assert (
        "| ✗ | radik-closed | FAIL, repeated | 0 of 2 | 0 to 66 % | $0.46, 30 s a trial"
        r" | 2 x no\_changes: 1 file changed |"
    ) in shown
    assert "| ✓ | marcus | PASS | 10 of 10 | 72 to 100 % |  | answered by a receipt of" in shown
    sides = "before 0 of 3 (0 to 56 %) after 10 of 10 (72 to 100 %) p = 0.003"
    assert f"| ✓ | eur-taxi | PROVEN | pinned | {sides} |" in shown
    assert "| ✗ | fix-needs-case | a1b2c3d fix: taxi |" in shown
    assert "- repository and HOME: not controlled" in shown


def test_what_is_broken_stands_first() -> None:
    shown = render(Report("run", cases=(passing("a"), FAILING)))
    assert shown.index("radik-closed |") < shown.index("| a |")


def test_quoted_text_is_no_markup() -> None:
    assert text("<img> |x| `y` [z](u) @me #1 a_b *c*") == (
        r"\<img\> \|x\| \`y\` \[z\](u) \@me \#1 a\_b \*c\*"
    )
    shown = render(nasty_report())
    assert "<b>" not in shown
    assert not re.search(r"(?<!\\)@me", shown)
    for line in shown.splitlines():
        if line.startswith("| ✗ | a"):
            assert len(re.findall(r"(?<!\\)\|", line)) in (6, 7, 8)


def test_it_fits_a_comment() -> None:
    cases = tuple(FAILING._replace(case=f"c{n}" + "x" * 900) for n in range(150))
    shown = render(Report("run", cases=cases))
    assert len(shown) < LIMIT + 20
    assert shown.endswith("(cut)\n")
    few = render(Report("run", cases=tuple(passing(f"c{n}") for n in range(150))))
    assert "and 50 more" in few
