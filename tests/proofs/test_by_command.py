"""Kind command: what the program ends in and prints decides; no broken state is rebuilt."""

from __future__ import annotations

from typing import Any

import pytest

from guard.engine import Limits
from tests.clerk import BASE, BROKEN, CASE_PATH, FIXED, SKILL_PATH, case, record, regressions
from tests.commands.calling import call_guard
from tests.conftest import ScratchRepo
from tests.invariants import unchanged
from tests.proving import prove

#: Runs the guard against a skill without its sentence, as a person would write it.
CHECK = """\
import pathlib, sys
text = pathlib.Path("skills/clerk/SKILL.md").read_text()
broken = text.replace("Ask which currency", "")
if "Ask which currency" not in broken:
    print("caught: no question")
    sys.exit(3)
"""


def laid(repo: ScratchRepo, *argv: str, **stated: Any) -> ScratchRepo:
    before = {"kind": "command", "argv": list(argv), **stated}
    files = {**BASE, SKILL_PATH: FIXED, CASE_PATH: case(), "agent/check.py": CHECK}
    files["regressions.json"] = regressions(taxi=record(before=before))
    repo.commit("start", files)
    return repo


def sh(script: str) -> tuple[str, ...]:
    return ("sh", "-c", script)


def test_caught_in_exactly_that_way(repo: ScratchRepo) -> None:
    laid(repo, "python3", "check.py", expect_exit=3, expect_output="no question")
    with unchanged(repo):
        found = prove(repo.root)
    proof = found.one
    assert (proof.verdict, proof.state) == ("PROVEN", "command"), proof
    assert proof.before
    assert (proof.before.passed, proof.before.trials) == (0, 2)
    assert 'its command ends in 3 and prints "no question"' in proof.reason
    assert "weak: no broken state was rebuilt" in proof.reason
    assert any("without a rebuilt broken state" in said for said in found.not_established)
    again = prove(repo.root)
    assert again.ran == []
    assert again.one.verdict == "PROVEN"


@pytest.mark.parametrize(
    ("argv", "stated", "verdict", "said"),
    [
        (sh("exit 3"), {"expect_exit": 3}, "PROVEN", "ends in 3"),
        (sh("echo no >&2; exit 3"), {"expect_exit": 3, "expect_output": "no"}, "PROVEN", "prints"),
        (sh("echo seen"), {"expect_exit": 0, "expect_output": "seen"}, "PROVEN", "ends in 0"),
        (sh("exit 9"), {}, "PROVEN", "an error of any code"),
        (sh("exit 1"), {"expect_output": ""}, "PROVEN", "an error of any code"),
        (sh("exit 0"), {"expect_exit": 3}, "VACUOUS", "passes without the fix too"),
        (sh("exit 0"), {}, "VACUOUS", "passes without the fix too"),
        (sh("exit 4"), {"expect_exit": 3}, "WRONG_REASON", "ended in 4, not in 3"),
        (
            sh("exit 3"),
            {"expect_exit": 3, "expect_output": "no question"},
            "WRONG_REASON",
            'didn\'t print "no question"',
        ),
        (
            sh("exit 0"),
            {"expect_exit": 0, "expect_output": "seen"},
            "WRONG_REASON",
            'didn\'t print "seen"',
        ),
        (sh("exit 125"), {}, "INCONCLUSIVE", "can't test this (125)"),
        (sh("exit 126"), {}, "INCONCLUSIVE", "can't be started (126)"),
        (sh("exit 127"), {}, "INCONCLUSIVE", "can't be started (127)"),
        (sh("kill -9 $$"), {}, "INCONCLUSIVE", "signal"),
        (("no-such-program-here",), {}, "INCONCLUSIVE", "no-such-program-here"),
    ],
)
def test_each_verdict(
    repo: ScratchRepo, argv: tuple[str, ...], stated: dict[str, Any], verdict: str, said: str
) -> None:
    proof = prove(laid(repo, *argv, **stated).root).one
    assert proof.verdict == verdict, proof
    assert said in proof.reason
    assert proof.state == "command"


def test_a_command_that_takes_too_long_is_no_red(repo: ScratchRepo) -> None:
    laid(repo, *sh("sleep 30"))
    proof = prove(repo.root, limits=Limits(jobs=2, timeout=1)).one
    assert (proof.verdict, "timeout" in proof.reason) == ("WRONG_REASON", True)


def test_one_that_changes_its_mind_settles_nothing(repo: ScratchRepo) -> None:
    proof = prove(laid(repo, *sh('exit "$((GUARD_TRIAL % 2))"')).root).one
    assert proof.verdict == "INCONCLUSIVE"


def test_broken_now(repo: ScratchRepo) -> None:
    laid(repo, *sh("exit 1")).commit("lost", {SKILL_PATH: BROKEN})
    assert prove(repo.root).one.verdict == "BROKEN_NOW"


def test_nothing_but_a_proof_runs_it(repo: ScratchRepo) -> None:
    mark = repo.root.parent / "RAN"
    laid(repo, *sh(f"touch '{mark}'; exit 1"))
    for call in (
        ("check",),
        ("regressions", "show"),
        ("regressions", "audit"),
        ("status",),
        ("verify", "--max-seconds", "0"),
        ("regressions", "add", "cab", "--command", "sh", "-c", f"touch '{mark}'; exit 1"),
    ):
        repo.write({"evals/cab.md": case(name="cab")})
        call_guard(repo.root, *call)
        assert not mark.exists(), call
    assert call_guard(repo.root, "verify", "taxi").code == 0
    assert mark.exists()


def test_prove_fills_in_the_proof_and_no_key(repo: ScratchRepo) -> None:
    repo.commit("start", {**BASE, SKILL_PATH: FIXED, CASE_PATH: case()})
    command = ("--expect-exit", "3", "--command", "sh", "-c", "echo caught; exit 3")
    added = call_guard(repo.root, "regressions", "add", "taxi", *command)
    assert added.code == 0, added
    shown = call_guard(repo.root, "regressions", "show").out
    assert "before: command, which is weak: sh -c 'echo caught; exit 3'" in shown
    proven = call_guard(repo.root, "prove", "taxi")
    assert proven.code == 0, proven
    assert "taxi PROVEN: its command ends in 3, and the case passes now; weak" in proven.out
    assert call_guard(repo.root, "check").code == 0
    verified = call_guard(repo.root, "verify")
    assert "taxi PROVEN (command)" in verified.out
    assert "without a rebuilt broken state" in verified.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--expect-exit", "127", "--command", "x"), "127 never shows"),
        (("--expect-exit", "0", "--command", "x"), "0 alone shows nothing"),
        (("--expect-exit", "3"), "name it"),
        (("--before", "HEAD", "--command", "x"), "take one"),
        (("--command",), "names no program"),
    ],
)
def test_a_command_that_can_show_nothing_is_refused(
    repo: ScratchRepo, options: tuple[str, ...], said: str
) -> None:
    repo.commit("start", {**BASE, SKILL_PATH: FIXED, CASE_PATH: case()})
    outcome = call_guard(repo.root, "regressions", "add", "taxi", *options)
    assert (outcome.code, said in outcome.err) == (2, True), outcome
    assert not (repo.root / "regressions.json").exists()
