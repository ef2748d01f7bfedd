"""``guard gates`` as people call it: all gates, one, and fixed trials beside them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from guard.running.gates import GATES
from guard.running.operation import fixed_rows, operate
from tests.blocks import read_page
from tests.commands.calling import Outcome, call_guard, start_guard
from tests.conftest import ScratchRepo

NAMES = [*GATES, "fails-before"]


def gates(folder: Path, *arguments: str) -> Outcome:
    return call_guard(folder, "gates", *arguments)


def row(outcome: Outcome, start: str, nth: int = 0) -> str:
    """Return the cells of the nth line of numbers that begins with ``start``, a blank between."""
    lines = [line for line in outcome.out.splitlines() if re.match(rf"{start}\s+[<>\d]", line)]
    return " ".join(lines[nth].removeprefix(start).split())


def test_all_gates_are_drawn_and_listed(tmp_path: Path) -> None:
    """It needs no repository: people choose a gate before they have one."""
    outcome = gates(tmp_path)
    assert outcome.code == 0, outcome
    for name in NAMES:
        assert re.search(rf"^{name}\s+│.*█$", outcome.out, re.MULTILINE), name
    assert row(outcome, "standard") == "0.9 9.8 24.2 48.1 75.9 95.0 99.0 >99.9 100"
    assert row(outcome, "standard", 1) == "3.2 4.8 5.9 6.7 6.7 5.6 4.8 4.2 4.0"
    assert row(outcome, "critical").endswith(" 95.2 100")
    assert "gate: firm" in outcome.out


@pytest.mark.parametrize("name", NAMES)
def test_one_in_detail(tmp_path: Path, name: str) -> None:
    outcome = gates(tmp_path, name)
    assert outcome.code == 0, outcome
    assert outcome.out.startswith(f"{name}: ")
    assert row(outcome, "0 %").startswith("0 100 0 ")
    assert row(outcome, "100 %").startswith("100 0 0 ")
    assert ("hook: blocks" in outcome.out) == (name != "fails-before")


def test_the_detail_names_rates_errors_and_where_it_stops(tmp_path: Path) -> None:
    outcome = gates(tmp_path, "standard")
    assert "a true rate of 50 % (bad) from 90 % (good)" in outcome.out
    assert row(outcome, "50 %") == "9.8 90.2 0 4.8 81.3 8.9 9.2"
    assert row(outcome, "90 %") == "95.0 5.0 0 5.6 0.2 4.7 5.9"
    assert "after 2 to 3: blocks with 2 failed\n" in outcome.out
    assert "after 4: passes with 4 passed, blocks with 3 failed\n" in outcome.out
    assert outcome.out.endswith("after 13 to 15: passes with 11 passed, blocks with 5 failed\n")


@pytest.mark.parametrize("arguments", [(), ("standard",), ("fails-before",)])
def test_numbers_fit_a_narrow_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    narrow = gates(tmp_path, *arguments).out.splitlines()
    drawn = re.compile(r".*[│└]|(in|passes, in|mean trials|(?!after)[a-z-]+|\d+) +[%\d<>]")
    assert max(len(line) for line in narrow if drawn.match(line)) <= 40
    monkeypatch.setenv("COLUMNS", "80")
    whole = gates(tmp_path, *arguments).out.splitlines()
    assert max(map(len, whole)) <= 80
    # No number is left out for it.
    assert numbers(narrow) == numbers(whole)


def numbers(lines: list[str]) -> list[str]:
    """Return the numbers of two rows, as they stand."""
    rows = [re.sub(r"^(strict|90 %)", "", line) for line in lines if re.match("strict|90 %", line)]
    return [word for row in rows for word in row.split() if re.fullmatch(r"[<>]?[\d.]+", word)]


def test_fixed_trials_are_drawn_beside(tmp_path: Path) -> None:
    outcome = gates(tmp_path, "--trials", "10", "--min-pass-rate", "0.9")
    found = operate(fixed_rows(10, 0.9), 10, 0.8)
    assert row(outcome, "9 of 10").split()[4] == f"{100 * found.passes:.1f}"
    alone = gates(tmp_path, "--trials", "3")
    assert row(alone, "3 of 3").split()[1] == "12.5"
    assert row(alone, "3 of 3", 1).endswith(" 3.0")


def test_a_gate_that_a_case_cuts_short_stays_undecided_at_times(tmp_path: Path) -> None:
    outcome = gates(tmp_path, "standard", "--trials", "6")
    assert "standard, 6: " in outcome.out
    assert "6 of 6: " in outcome.out
    assert float(row(outcome, "80 %", 1).split()[2]) > 40
    assert "░" in outcome.out.split("standard, 6: ")[1].split("filled:")[0]
    # Nothing is cut where it ends by itself, or where it can't pass any more.
    for trials in ("3", "15", "40"):
        assert "standard, " not in gates(tmp_path, "standard", "--trials", trials).out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["firmer"],
            "there is no gate 'firmer'; did you mean `firm`? (there are: quick, standard,",
        ),
        (["--min-pass-rate", "0.9"], "`trials: 10` would do"),
        (["--min-pass-rate", "1"], "takes --trials beside it"),
        (["--trials", "0"], "1 is the least"),
        (["--trials", "5", "--min-pass-rate", "90"], "for 90 % write 0.9"),
        (["--trials", "5", "--min-pass-rate", "nan"], "give a share above 0"),
        (["--trials", "301"], "at most 300"),
        (["--trials", "many"], "invalid int value"),
    ],
)
def test_what_can_never_pass_is_refused(tmp_path: Path, arguments: list[str], said: str) -> None:
    outcome = gates(tmp_path, *arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert said in outcome.err


@pytest.mark.parametrize("name", [(), ("strict",)])
def test_it_fits_the_terminal(repo: ScratchRepo, name: tuple[str, ...]) -> None:
    for columns in ("80", "100"):
        drawn = start_guard(repo, "gates", *name, env={"COLUMNS": columns}).out
        hints = "`" if not name else "\0"
        assert max(len(line) for line in drawn.splitlines() if hints not in line) <= int(columns)
    narrow = start_guard(repo, "gates", *name, env={"COLUMNS": "10"})
    assert narrow.code == 0


def test_without_block_characters_it_is_plain(repo: ScratchRepo) -> None:
    for arguments in ((), ("standard", "--trials", "6")):
        plain = start_guard(repo, "gates", *arguments, env={"PYTHONIOENCODING": "ascii"})
        assert plain.code == 0
        assert plain.out.isascii()
        assert "\\u" not in plain.out
        assert re.search(r"\|\s+:*#+$", plain.out, re.MULTILINE)
    blocks = start_guard(repo, "gates", env={"PYTHONIOENCODING": "utf-8"})
    assert "█" in blocks.out


def test_the_page_states_what_the_tables_do() -> None:
    page = read_page("docs/verdicts.md")
    for gate in GATES.values():
        good, bad = (operate(gate.rows, gate.cap, rate) for rate in (gate.good, gate.bad))
        told = (
            f"`{gate.name}` | {100 * gate.bad:g} %, {100 * gate.good:g} % | "
            f"{100 * bad.passes:.1f} % | {100 * good.blocks:.1f} % | "
            f"{gate.fewest}, {gate.cap} | {good.trials:.1f}"
        )
        assert f"| {told} |" in page
