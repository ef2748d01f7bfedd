"""The text of a refusal: the first line stands alone, seven lines at most."""

from __future__ import annotations

from guard import model
from guard.hookruns.refusals import commit_text, push_text
from guard.hookruns.run import Estimate
from guard.hookruns.standing import at_push
from guard.judging.left_out import LeftOut
from tests.hookruns.test_lines import case, failed, passed, proof, run_of


def test_commit_that_breaks_what_held() -> None:
    run = run_of(failed("radik"), passed("other"))
    assert commit_text(run, ({"radik"}, ())).splitlines() == [
        "guard: refused: radik held before this change and fails with it",
        "✗ radik   0 of 2    no_changes: budget.md (2 lines)",
        "  see     guard show radik#1",
        "  others  1 holds",
    ]


def test_what_lies_beside_the_commit_is_the_likely_cause() -> None:
    left = [LeftOut("a/SKILL.md", "has changes that are not staged"), LeftOut("a/b\n.md", "x")]
    lines = commit_text(run_of(failed("radik")), ((), ()), left).splitlines()
    assert lines[1] == "  likely   a/SKILL.md has changes that are not staged, and 1 more"
    many = run_of(*(failed(name) for name in "abcdef"), passed("g"))
    assert len(commit_text(many, ((), ()), left).splitlines()) <= 7
    lines = commit_text(many, ((), ()), left, ["git add a/SKILL.md", "git commit"]).splitlines()
    assert lines[-2:] == ["  do      git add a/SKILL.md", "          git commit"]
    assert len(lines) <= 7


def test_what_isnt_known_is_not_claimed() -> None:
    first = commit_text(run_of(failed("radik")), ((), ())).splitlines()[0]
    assert first == "guard: refused: radik fails with this change"
    first = commit_text(run_of(failed("radik")), ((), {"radik"})).splitlines()[0]
    assert first == "guard: refused: radik failed before this change, and still fails"


def test_what_drifted_may_be_behind_it_where_there_is_room() -> None:
    drift = ("brew is 2 now, was 1", "and more")
    lines = commit_text(run_of(failed("radik"))._replace(drift=drift), ((), ())).splitlines()
    assert lines[1] == "! brew is 2 now, was 1; and 1 more change"
    many = run_of(
        *(failed(name) for name in "abcdef"),
        passed("g"),
        proofs=tuple(proof(name, model.VACUOUS, hint="x") for name in "hij"),
    )._replace(drift=drift)
    unsure = run_of(case("x", model.INCONCLUSIVE), case("y", model.TAINTED), case("z", model.OWED))
    for run in (many, unsure._replace(drift=drift)):
        text = push_text(run, at_push("block"), "main at a1b2c3d", "")
        assert len(text.splitlines()) <= 7
        assert text.startswith("guard: not pushed")


def test_several_broken_cases() -> None:
    run = run_of(*(failed(name) for name in "abcdef"), passed("g"))
    lines = commit_text(run, ({"a", "b"}, ())).splitlines()
    assert lines[0] == (
        "guard: refused: 6 cases fail with this change: a, b, c and 3 more (2 of them held before)"
    )
    assert len(lines) <= 7


def test_unexpected_pass() -> None:
    first = commit_text(run_of(case("a", model.XPASS)), ((), ())).splitlines()[0]
    assert first == "guard: refused: a passes, and its baseline says that it fails (XPASS)"


def test_push_with_debts() -> None:
    owed = [case(name, model.OWED, "not started") for name in ("olga", "words", "marcus")]
    run = run_of(*owed)._replace(estimate=Estimate(300.0, 4.0))
    assert push_text(run, at_push("block"), "main at a1b2c3d", "").splitlines() == [
        "guard: not pushed: 3 cases have no evidence for main at a1b2c3d",
        "? 3 owed: olga, words, marcus (not started: this hook has 60 s)",
        "  do       guard run --owed    # about $4.00, 5 min; can be stopped and resumed",
        "  then     git push    # answered from receipts",
        "  why      git keeps the connection open while this hook runs; servers close it",
    ]


def test_push_of_another_tree_names_it() -> None:
    run = run_of(case("a", model.OWED, "not started"), proofs=(proof("a", model.PENDING),))
    said = push_text(run, at_push("block"), "other at a1b2c3d", " --at a1b2c3d")
    assert "guard run --owed --at a1b2c3d" in said
    assert "guard verify a    # with a1b2c3d checked out" in said
    assert "1 case and 1 regression have no evidence" in said


def test_push_of_what_is_not_settled() -> None:
    run = run_of(case("a", model.STALE, "gone"), case("b", model.OWED, "not started"))
    lines = push_text(run, at_push("ci"), "main at a1b2c3d", "").splitlines()
    assert lines[0] == "guard: not pushed: 1 case has no evidence for main at a1b2c3d"
    assert lines[1] == "! STALE: a (gone)"
    assert len(lines) <= 7


def test_push_with_a_refuted_proof() -> None:
    run = run_of(passed("a"), proofs=(proof("a", model.VACUOUS, "it passes before", "mend it"),))
    assert push_text(run, at_push("block"), "main at a1b2c3d", "").splitlines() == [
        "guard: not pushed: a isn't proven in main at a1b2c3d",
        "✗ a VACUOUS: it passes before",
        "  do      mend it",
    ]


def test_push_with_a_proof_that_cant_be_read() -> None:
    run = run_of(proofs=(proof("a", model.BLOCKED, "history is missing", "git fetch"),))
    said = push_text(run, at_push("ci"), "main at a1b2c3d", "")
    assert said.startswith("guard: not pushed: a isn't proven in main at a1b2c3d\n")


def test_worst_case_is_still_seven_lines() -> None:
    proofs = tuple(proof(name, model.VACUOUS, "it passes before", "mend it") for name in "xyz")
    run = run_of(*(failed(name) for name in "abcdef"), passed("g"), proofs=proofs)
    assert len(push_text(run, at_push("block"), "main", "").splitlines()) <= 7
    others = [case(n, v) for n, v in (("a", model.STALE), ("b", model.TAINTED))]
    skips = [case(n, model.SKIP, n) for n in "cde"]
    pending = (proof("p", model.PENDING), proof("q", model.STALE))
    run = run_of(*others, *skips, passed("g"), proofs=pending)
    assert len(push_text(run, at_push("block"), "main", "").splitlines()) <= 7
