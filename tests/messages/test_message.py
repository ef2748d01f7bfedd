"""What a message claims: fix or nearly, exempt, weakened."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.errors import ConfigError
from guard.messages import message as module
from guard.messages.message import (
    Exemption,
    FixSettings,
    exemption,
    fix_reason,
    fix_settings,
    near_miss,
    parse_message,
    squashed_fixes,
    trailer_problems,
    weakenings,
)

FIX, NEAR, OTHER = "fix", "near", "other"

HEADERS = {
    "fix: a": FIX,
    "fix!: a": FIX,
    "fix(a)!: b": FIX,
    "FIX(a): b": FIX,
    "Fix: a": FIX,
    "fix:  two blanks": FIX,
    "fix(a) : b": NEAR,
    "fix:a": NEAR,
    "fix : a": NEAR,
    "fixes: a": NEAR,
    "bugfix: a": NEAR,
    "hotfix: a": NEAR,
    "bug-fix(x): a": NEAR,
    "fix(a,b): c": FIX,
    "fix(@x/y): c": FIX,
    "fix(): c": NEAR,
    "fix(a(b)): c": NEAR,
    " fix: a": NEAR,
    "fixup! fix: a": FIX,
    "squash! fixup! fix: a": FIX,
    "amend! fix: a": FIX,
    "fixup!fix: a": NEAR,
    'Revert "fix: a"': OTHER,
    "revert: fix: a": OTHER,
    'Reapply "fix: a"': OTHER,
    "Merge branch fix: a": OTHER,
    "Merge pull request #3 from a/fix-4": OTHER,
    "prefix: a": OTHER,
    "[a] fix: b": NEAR,
    "[fix] a": NEAR,
    "(fix) a": NEAR,
    "**fix**: a": NEAR,
    "PROJ-12: fix a": NEAR,
    "PROJ-12 fix a": NEAR,
    "PROJ-12: add a": OTHER,
    "v1.2.3 fix: a": NEAR,
    "1.2: fix a": NEAR,
    "- fix: a": NEAR,
    ":bug: fix: a": NEAR,
    "\N{BUG} fix: a": NEAR,
    "\N{BUG}fix: a": NEAR,
    "fix\N{FULLWIDTH COLON}a": NEAR,
    "f\N{ZERO WIDTH SPACE}ix: a": NEAR,
    "fix:\N{NO-BREAK SPACE}a": NEAR,
    "fix: ": NEAR,
    "fix": NEAR,
    "Fix a": NEAR,
    "Fixes a": NEAR,
    "fixed a": NEAR,
    "Fixed #12": FIX,
    "feat/fix: a": NEAR,
    "feat, fix: a": NEAR,
    "feat & fix(x): a": NEAR,
    "fixed-width columns": OTHER,
    "fixture: a": OTHER,
    "docs: fix a": OTHER,
    "feat: a": OTHER,
    ":bug: a": OTHER,
    "a fix: b": OTHER,
    "": OTHER,
}


def kind(text: str, settings: FixSettings = FixSettings()) -> str:  # noqa: B008  # immutable
    message = parse_message(text)
    if fix_reason(message, settings):
        return FIX
    return NEAR if near_miss(message) else OTHER


@pytest.mark.parametrize(("header", "expected"), HEADERS.items())
def test_reads_every_way_to_write_a_header(header: str, expected: str) -> None:
    assert kind(header) == expected
    assert kind(f"{header}\n\nThe body says fix: x, and fixes nothing.\n") == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Fix(a): b", "its header has the type fix"),
        ("feat: a\n\nFixes #12", "it says fixes #12"),
        ("docs: a (fixed: o/r#12)", "it says fixed o/r#12"),
        ("Tidy up\n\nCloses #12, resolves #13", "it says closes #12"),
        ("feat: a\n\nCloses #12\nfixes #13", "it says fixes #13"),
        (
            'feat: a\n\nFixes: 1234 ("a: b (c)")\nSigned-off-by: A <a@x>',
            'it has the trailer Fixes: 1234 ("a: b (c)")',
        ),
        ("docs: a\nregression-case: eur-taxi", "it has the trailer Regression-Case: eur-taxi"),
        (
            "amend! feat: a\n\nfix: b",
            "of the message that it amends to, its header has the type fix",
        ),
    ],
)
def test_says_why_it_is_a_fix(text: str, reason: str) -> None:
    assert fix_reason(parse_message(text)) == reason


@pytest.mark.parametrize(
    "text",
    [
        "feat: a\n\nCloses #12",
        "feat: a (resolves #12)",
        "feat: a\n\nfix: b",
        "feat: a\n\nFixes:\n- one thing\n- another",
        "Regression-Case: eur-taxi",
        "fixup! feat: a\n\nfix: b",
        'Revert "a (fixes #12)"',
        "feat: the fix (#12)",
    ],
)
def test_is_no_fix(text: str) -> None:
    assert fix_reason(parse_message(text)) is None


def test_every_signal_has_its_switch() -> None:
    off = FixSettings(types=(), closing_keywords=False, trailers=())
    assert kind("fix: a\n\nFixes #1\nFixes: 12345678\nRegression-Case: a", off) == OTHER
    assert kind("Fixed #12", off) == NEAR
    assert kind("x\n\nRegression-Case: a", FixSettings(trailers=("Fixes",))) == OTHER
    assert kind("Perf(a): b", FixSettings(types=("PERF",))) == FIX


def test_a_pattern_is_searched_in_the_header_alone() -> None:
    settings = FixSettings(patterns=(r"^:bug:|^\N{AMBULANCE}",))
    assert kind(":bug: a", settings) == FIX
    assert kind("fixup! :bug: a", settings) == FIX
    assert kind("feat: a\n\n:bug: a", settings) == OTHER
    reason = fix_reason(parse_message(":bug: a"), FixSettings(patterns=("bug",)))
    assert reason == "its header matches bug (fix.patterns)"


def test_a_broken_pattern_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match=r"guard\.yaml: fix\.patterns: '\(' is no regular"):
        fix_reason(parse_message("a"), FixSettings(patterns=("(",)))


def test_settings_are_those_of_guard_yaml() -> None:
    assert fix_settings({}) == FixSettings()
    given = {"types": ["fix", "perf"], "closing_keywords": False, "unit": "range"}
    expected = FixSettings(types=("fix", "perf"), closing_keywords=False, unit="range")
    assert fix_settings(given) == expected


LOG = f"""\
Squashed commit of the following:

commit {"1" * 40}
Author: A <a@x>
Date:   Mon Jul 13 12:00:00 2026 +0000

    fix(a): first

    fix: not a header

commit {"2" * 64}
Author: A <a@x>
Date:   Mon Jul 13 12:00:00 2026 +0000

    feat: second
"""


@pytest.mark.parametrize(
    ("text", "fixes"),
    [
        ("feat: a (#3)\n\n* fix: b\n\n* feat: c\n* squash! FIX(d): e\n", ("fix: b", "FIX(d): e")),
        ("feat: a\n\n- fix: b\n", ("fix: b",)),
        ("feat: a\n\n* Fix the b\n  * fix: c\nfix: d\n", ()),
        ("feat: a\n\n+ fix: b\n\u2022 fix: c\n-fix: d\n", ("fix: b", "fix: c")),
        (LOG, ("fix(a): first",)),
        (LOG.replace("Squashed commit", "About the commit"), ()),
    ],
)
def test_finds_fixes_that_a_squash_left_in_the_body(text: str, fixes: tuple[str, ...]) -> None:
    assert squashed_fixes(parse_message(text)) == fixes


def test_squashed_fixes_are_of_the_configured_types() -> None:
    message = parse_message("feat: a\n\n* fix: b\n* Perf: c")
    assert squashed_fixes(message, ("PERF",)) == ("Perf: c",)


def exempted(*values: str, known: tuple[str, ...] = ()) -> Exemption | None:
    lines = "".join(f"Guard-Exempt: {value}\n" for value in values)
    return exemption(parse_message(f"fix: a\n\nbody\n\n{lines}\nCo-authored-by: A"), known)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("only the docs of it", ((), "only the docs of it")),
        ("expense -- only the docs", (("expense",), "only the docs")),
        ("expense, emails -- only the docs", (("expense", "emails"), "only the docs")),
        ("expense emails -- only the docs", (("expense", "emails"), "only the docs")),
        ("expense -- it -- and the docs", (("expense",), "it -- and the docs")),
        ("-- only the docs", ((), "only the docs")),
        ("a--b is renamed", ((), "a--b is renamed")),
        ("ten chars!", ((), "ten chars!")),
        ("nine char", None),
        ("a         b", None),
        ("\u200b" * 12, None),
        ("expense -- nine char", None),
        ("expense, emails --", None),
        ("", None),
    ],
)
def test_reads_exemptions(value: str, expected: tuple[tuple[str, ...], str] | None) -> None:
    assert exempted(value) == (Exemption(*expected) if expected else None)


def test_knowing_the_agents_tells_a_list_from_a_reason() -> None:
    known = ("expense", "emails")
    reason = "renamed a thing -- nothing else"
    assert exempted(reason, known=known) == Exemption((), reason)
    both = Exemption(("expense", "emails"), "nothing else")
    assert exempted("expense emails -- nothing else", known=known) == both
    misspelt = exempted("expnse -- nothing else", known=known)
    assert misspelt == Exemption(("expnse",), "nothing else")
    misspelt = exempted("expnse, emals -- nothing else", known=known)
    assert misspelt == Exemption(("expnse", "emals"), "nothing else")


def test_joins_exemptions() -> None:
    joined = exempted("a -- reason of a", "b -- too short"[:12], "b, a -- reason of b")
    assert joined == Exemption(("a", "b"), "reason of a; reason of b")
    everyone = exempted("a -- reason of a", "reason for all")
    assert everyone == Exemption((), "reason of a; reason for all")


def test_an_exemption_in_the_header_is_none() -> None:
    assert exemption(parse_message("Guard-Exempt: only the docs of it")) is None


def test_reads_weakenings() -> None:
    text = (
        "feat: a\n\nCase-Weakened: eur-taxi: the price may vary: see #3\n"
        "case-weakened: guard.yaml: expense is\n narrower now\nCase-Weakened: no-reason\n"
        "Case-Weakened: evals/a.json#3:no blank\nCase-Weakened:\n"
    )
    message = parse_message(text)
    assert weakenings(message) == {
        "eur-taxi": "the price may vary: see #3",
        "guard.yaml": "expense is narrower now",
    }
    assert trailer_problems(message) == (
        'Case-Weakened: "no-reason" is not ID: and a reason',
        'Case-Weakened: "evals/a.json#3:no blank" is not ID: and a reason',
        'Case-Weakened: "" is not ID: and a reason',
    )


def test_names_exemptions_without_effect() -> None:
    message = parse_message("fix: a\n\nGuard-Exempt: a -- docs\nGuard-Exempt: long enough so\n")
    assert trailer_problems(message) == (
        'Guard-Exempt: "docs" is too short for a reason (10 characters)',
    )


PIECES = [
    *' \t\n\r:!()[]"#-*aF\ufeff',
    "fix",
    "Guard-Exempt: ",
    "Case-Weakened: ",
    "fixes #1",
    " -- ",
]


@given(st.text() | st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_text_can_be_asked_anything(text: str) -> None:
    message = parse_message(text)
    fix_reason(message)
    near_miss(message)
    squashed_fixes(message)
    exempt = exemption(message)
    assert exempt is None or len(exempt.reason) >= 10
    assert all(weakenings(message).values())
    trailer_problems(message)


@pytest.mark.parametrize("unit", ['Revert "', "fixup! ", "[", "(", ":a", "* ", "amend! ", "-- "])
def test_a_megabyte_of_nonsense_takes_no_time(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    for message in (parse_message(text), parse_message(f"a\n\nGuard-Exempt: {text}\n{text}")):
        fix_reason(message)
        near_miss(message)
        exemption(message)
        squashed_fixes(message)


def test_the_public_names_are_sorted_and_there() -> None:
    assert module.__all__ == sorted(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)


def test_imports_little() -> None:
    code = "import sys, guard.messages.message, guard.messages.cosmetic; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path!r}; {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    heavy = {"yaml", "json", "pathlib", "dataclasses", "argparse", "logging", "unicodedata"}
    assert not heavy.intersection(done.stdout.split())


def test_the_word_that_stands_for_a_reason_is_none() -> None:
    message = parse_message("test: x\n\nCase-Weakened: eur-taxi: REASON\n")
    assert weakenings(message) == {}
    assert trailer_problems(message) == (
        "REASON stands for a reason of yours, in `Case-Weakened: eur-taxi: REASON`",
    )


@pytest.mark.parametrize("reason", ["REASON REASON", "REASON, REASON.", "REASON REASON REASON"])
def test_the_word_said_twice_is_no_reason_either(reason: str) -> None:
    message = parse_message(f"fix: x\n\nGuard-Exempt: {reason}\nCase-Weakened: a: {reason}\n")
    assert exemption(message) is None
    assert weakenings(message) == {}
    assert len(trailer_problems(message)) == 2
    said = parse_message(f"fix: x\n\nGuard-Exempt: the {reason} is another\n")
    assert exemption(said) is not None
