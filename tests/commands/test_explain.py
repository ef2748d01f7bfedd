"""``guard explain``: every name, the list of keys, and the nearest name of an unknown one."""

from __future__ import annotations

from pathlib import Path

import pytest

from guard.explanations import all_explanations
from guard.schemas import described_keys
from tests.commands.calling import call_guard, start_guard
from tests.conftest import ScratchRepo


def test_it_needs_no_repository(tmp_path: Path) -> None:
    code, out, err = call_guard(tmp_path, "explain", "case")
    assert (code, err) == (0, "")
    assert out.startswith("case (a word)\nOne known situation")


@pytest.mark.parametrize("name", [item.name for item in all_explanations()])
def test_each_name_is_told(tmp_path: Path, name: str) -> None:
    code, out, _ = call_guard(tmp_path, "explain", name)
    assert code == 0
    assert f"{name} (a" in out


def test_each_key_of_a_case_and_of_an_agent_is_told(tmp_path: Path) -> None:
    untold = [
        key
        for key in {key for _, key, _ in described_keys()}
        if call_guard(tmp_path, "explain", key).code
    ]
    assert untold == []


def test_expected_lists_every_key(tmp_path: Path) -> None:
    code, out, _ = call_guard(tmp_path, "explain", "expected")
    assert code == 0
    lines = out.splitlines()
    assert any(line.startswith("  no_changes  ") for line in lines)
    assert sum(line.startswith("  ") for line in lines) == 23
    assert max(map(len, lines)) <= 110


def test_the_rule_teaches_its_way_out(tmp_path: Path) -> None:
    _, out, _ = call_guard(tmp_path, "explain", "fix-needs-case")
    assert "Guard-Exempt: " in out


def test_a_target_is_told_with_its_options(tmp_path: Path) -> None:
    code, out, _ = call_guard(tmp_path, "explain", "claude-code")
    assert code == 0
    assert out.startswith("claude-code (a target)\n")
    assert "    options.mount: text" in out
    both = call_guard(tmp_path, "explain", "command").out
    assert "command (an expectation)" in both
    assert "    options.argv: texts, required" in both


def test_a_target_of_the_repository(repo: ScratchRepo) -> None:
    plugin = """\
from guard.plugin import Observation, Target, hookimpl

@hookimpl
def guard_targets():
    return [Target("my ledger", lambda trial: Observation(), real="the compiled graph")]
"""
    repo.write({"guard.yaml": "version: 1\nplugins: [p.py]\n", "p.py": plugin})
    code, out, _ = call_guard(repo.root, "explain", "my ledger")
    assert (code, out) == (0, "my ledger (a target)\nRuns for real: the compiled graph.\n")
    repo.write({"guard.yaml": "version: 9\n"})
    assert call_guard(repo.root, "explain", "my ledger").code == 2
    assert call_guard(repo.root, "explain", "utterance").code == 0


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("vacuos", "VACUOUS"),
        ("no_change", "no_changes"),
        ("fix-need-case", "fix-needs-case"),
        ("uterance", "utterance"),
    ],
)
def test_an_unknown_name_gets_the_nearest(tmp_path: Path, misspelt: str, meant: str) -> None:
    code, out, err = call_guard(tmp_path, "explain", misspelt)
    assert (code, out) == (2, "")
    assert f"did you mean `{meant}`?" in err


def test_nothing_near_gets_no_guess(tmp_path: Path) -> None:
    code, _, err = call_guard(tmp_path, "explain", "ü zzz")
    assert code == 2
    assert "did you mean" not in err
    assert "guard explain" in err


def test_without_a_name_it_lists_all(repo: ScratchRepo) -> None:
    code, out, _ = start_guard(repo, "explain")
    assert code == 0
    missing = [item.name for item in all_explanations() if item.name not in out]
    assert missing == []
