from __future__ import annotations

import pytest

from guard.judging.judge import RANGE
from tests.guarded_repo import (
    CASE,
    CASE_TEXT,
    FIX,
    FIXED_SKILL,
    GUARD_YAML,
    RECORDS,
    SKILL,
    SKILL_TEXT,
    record,
    records,
)
from tests.judged_repo import Bench

FIX_IT = {SKILL: FIXED_SKILL}
REOPENED = records(eur_taxi=record(reopened=1))
TRAVEL = """\
  travel:
    paths: [skills/travel/**]
    target: command
    options: {argv: [cat, SKILL.md]}
    cases: [evals/cases/*.md]
"""
TRAVEL_CASE = CASE_TEXT.replace("id: eur-taxi", "id: train\nagent: travel")


def test_a_fix_with_its_case_and_record_holds(bench: Bench) -> None:
    assert bench.rules(FIX) == []


def test_without_a_case_the_agent_and_its_paths_are_named(bench: Bench) -> None:
    (violation,) = bench.judge({**FIX_IT, "README.md": "x\n"}).violations
    assert violation.rule == "fix-needs-case"
    assert violation.agent == "expense"
    assert violation.paths == (SKILL,)
    assert not violation.warning


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({SKILL: None}, "deleted"),
        ({"skills/expense/new.md": "x\n"}, "added"),
        ({"skills/expense/pay.py": "print(1)\n"}, "a program"),
    ],
)
def test_any_change_of_an_own_path_counts(bench: Bench, change: dict[str, str], what: str) -> None:
    assert bench.rules(change) == ["fix-needs-case"], what


def test_a_mode_and_a_symlink_are_changes(bench: Bench) -> None:
    (bench.repo.root / SKILL).chmod(0o755)
    assert bench.rules({}) == ["fix-needs-case"]
    (bench.repo.root / SKILL).unlink()
    (bench.repo.root / SKILL).symlink_to("elsewhere.md")
    assert bench.rules({}) == ["fix-needs-case"]


def test_a_gitlink_counts_as_its_folder(bench: Bench) -> None:
    guard_yaml = GUARD_YAML.replace("skills/expense/**", "modules/*/SKILL.md")
    bench.repo.commit("chore: modules", {"guard.yaml": guard_yaml})
    head = bench.repo.git("rev-parse", "HEAD").strip()
    (bench.repo.root / "modules" / "m").mkdir(parents=True)
    bench.repo.git("update-index", "--add", "--cacheinfo", f"160000,{head},modules/m")
    assert [v.rule for v in bench.judge_index().blocking] == ["fix-needs-case"]


def test_a_path_that_stops_being_the_agents_counts_too(bench: Bench) -> None:
    narrower = GUARD_YAML.replace("skills/expense/**", "skills/other/**")
    found = bench.rules({**FIX_IT, "guard.yaml": narrower})
    assert found == ["fix-needs-case", "case-weakened"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (SKILL_TEXT + "\n\n", "white space at the end"),
        (SKILL_TEXT.replace("name: expense", "name: 'expense'"), "quotes"),
    ],
)
def test_a_cosmetic_change_owes_nothing(bench: Bench, text: str, why: str) -> None:
    assert bench.rules({SKILL: text}) == [], why


def test_a_cosmetic_change_beside_a_real_one_is_not_named(bench: Bench) -> None:
    bench.repo.commit("docs: more", {"skills/expense/notes.md": "one  two\n"})
    (violation,) = bench.judge({**FIX_IT, "skills/expense/notes.md": "one two\n"}).violations
    assert violation.paths == (SKILL,)


# Which case counts ------------------------------------------------------------------------


def test_a_case_of_another_agent_does_not_count(bench: Bench) -> None:
    guard_yaml = {"guard.yaml": GUARD_YAML + TRAVEL, "skills/travel/SKILL.md": "x\n"}
    files = {**guard_yaml, CASE: CASE_TEXT.replace("id:", "agent: expense\nid:")}
    bench.repo.commit("chore: two", files)
    files = {**FIX_IT, "evals/cases/train.md": TRAVEL_CASE}
    (violation,) = bench.judge(files).blocking
    assert violation.rule == "fix-needs-case"
    assert violation.detail == ("its cases are of agent travel",)


def test_each_touched_agent_owes_its_own(bench: Bench) -> None:
    guard_yaml = {"guard.yaml": GUARD_YAML + TRAVEL, "skills/travel/SKILL.md": "x\n"}
    bench.repo.commit("chore: two", guard_yaml)
    files = {**FIX, CASE: CASE_TEXT.replace("id:", "agent: expense\nid:")}
    (violation,) = bench.judge({**files, "skills/travel/SKILL.md": "y\n"}).blocking
    assert (violation.rule, violation.agent) == ("fix-needs-case", "travel")
    assert violation.agents == ("travel",)


def test_several_agents_are_one_violation(bench: Bench) -> None:
    guard_yaml = {"guard.yaml": GUARD_YAML + TRAVEL, "skills/travel/SKILL.md": "x\n"}
    bench.repo.commit("chore: two", guard_yaml)
    both = {SKILL: FIXED_SKILL, "skills/travel/SKILL.md": "y\n"}
    (violation,) = bench.judge(both).blocking
    assert violation.message == (
        "this fix changes agents expense and travel and brings no case of either that fails "
        "without it"
    )
    assert (violation.agent, violation.agents) == ("expense, travel", ("expense", "travel"))
    assert violation.paths == (SKILL, "skills/travel/SKILL.md")
    cases = {CASE: CASE_TEXT.replace("id:", "agent: expense\nid:"), "evals/cases/t.md": TRAVEL_CASE}
    (violation,) = bench.judge(cases).blocking
    assert violation.rule == "fix-needs-record"
    assert violation.message.endswith("brings no record of either of its regression")


@pytest.mark.parametrize(
    ("case", "why"),
    [
        (CASE_TEXT + "More prose.\n", "only its prose, order or place changed"),
        (CASE_TEXT.replace("id: eur-taxi", "id: 'eur-taxi'"), "only its prose, order or place"),
        (CASE_TEXT.replace("  reply_contains: [euro]\n", ""), "weaker: expected.reply_contains"),
    ],
)
def test_a_case_that_says_no_more_than_before_does_not_count(
    retained: Bench, case: str, why: str
) -> None:
    message = "fix: x\n\nCase-Weakened: eur-taxi: said on purpose here"
    judgement = retained.judge({**FIX_IT, CASE: case, RECORDS: REOPENED}, message)
    assert [violation.rule for violation in judgement.blocking] == ["fix-needs-case"]
    assert why in "".join(judgement.blocking[0].detail)


def test_a_moved_case_does_not_count(retained: Bench) -> None:
    moved = "evals/cases/moved.md"
    files = {**FIX_IT, CASE: None, moved: CASE_TEXT}
    files[RECORDS] = records(eur_taxi=record(reopened=1, case=moved))
    assert retained.rules(files) == ["fix-needs-case"]


@pytest.mark.parametrize(
    "case",
    [
        CASE_TEXT.replace("400 euro", "500 euro"),
        CASE_TEXT.replace("[euro]", "[euro, currency]"),
        CASE_TEXT.replace("---\nNobody", "gate: firm\n---\nNobody"),
    ],
)
def test_a_case_that_asks_or_expects_more_counts(retained: Bench, case: str) -> None:
    assert retained.rules({**FIX_IT, CASE: case, RECORDS: REOPENED}) == []


def test_a_case_without_expectations_does_not_count(bench: Bench) -> None:
    expected = "expected:\n  no_changes: true\n  reply_contains: [euro]\n"
    files = {**FIX, CASE: CASE_TEXT.replace(expected, "")}
    judgement = bench.judge(files)
    assert judgement.blocking[0].rule == "fix-needs-case"
    assert "it states nothing that it expects" in judgement.blocking[0].detail[0]


def test_what_the_agent_always_expects_counts(bench: Bench) -> None:
    bench.repo.commit("chore: x", {"guard.yaml": GUARD_YAML + "    always: {no_changes: true}\n"})
    expected = "expected:\n  no_changes: true\n  reply_contains: [euro]\n"
    assert bench.rules({**FIX, CASE: CASE_TEXT.replace(expected, "")}) == []


# Ways out ---------------------------------------------------------------------------------


def test_an_exemption_excuses_all_or_the_agents_named(bench: Bench) -> None:
    for agents in ("", "expense -- ", "travel, expense -- "):
        judgement = bench.judge(FIX_IT, f"fix: x\n\nGuard-Exempt: {agents}the client goes away")
        assert judgement.blocking == ()
        assert judgement.exempt == ("fix: x (agent expense): the client goes away",)


@pytest.mark.parametrize("trailer", ["Guard-Exempt: hurry", "Guard-Exempt: travel -- it goes away"])
def test_other_exemptions_excuse_nothing(bench: Bench, trailer: str) -> None:
    judgement = bench.judge(FIX_IT, f"fix: x\n\n{trailer}")
    assert [violation.rule for violation in judgement.blocking] == ["fix-needs-case"]
    assert judgement.exempt == ()


def test_an_exemption_of_an_unknown_agent_is_named(bench: Bench) -> None:
    (violation,) = bench.judge(FIX_IT, "fix: x\n\nGuard-Exempt: expnse -- it goes away").blocking
    assert violation.detail == ("Guard-Exempt names expnse, and there is no such agent",)


@pytest.mark.parametrize("header", ["fixup! fix: a", "squash! fix: a", "amend! fix: a"])
def test_an_autosquash_commit_is_noted_and_later_judged(bench: Bench, header: str) -> None:
    judgement = bench.judge(FIX_IT, header)
    assert judgement.violations == ()
    assert "judged at push" in judgement.notes[0]
    assert [v.rule for v in bench.judge({}, header, stage=RANGE).blocking] == ["fix-needs-case"]


def test_by_range_a_commit_is_only_noted(bench: Bench) -> None:
    bench.repo.commit("chore: range", {"guard.yaml": GUARD_YAML + "fix: {unit: range}\n"})
    judgement = bench.judge(FIX_IT)
    assert judgement.violations == ()
    assert "fix.unit: range" in judgement.notes[0]
    assert [v.rule for v in bench.judge({}, stage=RANGE).blocking] == ["fix-needs-case"]


def test_a_reapplied_fix_is_a_fix(bench: Bench) -> None:
    assert bench.rules(FIX_IT, 'Reapply "fix: ask"') == ["fix-needs-case"]
    assert bench.rules(FIX_IT, 'Revert "Revert "fix: ask""') == ["fix-needs-case"]
    assert bench.rules(FIX_IT, 'Revert "fix: ask"') == []


def test_the_types_before_and_after_count(bench: Bench) -> None:
    hot = GUARD_YAML + "fix: {types: [hotfix]}\n"
    assert bench.rules({**FIX_IT, "guard.yaml": hot}, "hotfix: x")[0] == "fix-needs-case"
    both = [violation.rule for violation in bench.judge({}, "fix: x").blocking]
    assert both == ["fix-needs-case", "case-weakened"]


@pytest.mark.parametrize("config", [None, "version: 1\nagents: {}\n"])
def test_a_fix_that_drops_its_agent_is_still_refused(bench: Bench, config: str | None) -> None:
    assert bench.rules({**FIX_IT, "guard.yaml": config}) == ["fix-needs-case", "case-weakened"]


def test_an_autosquash_commit_of_a_fix_by_its_id(bench: Bench) -> None:
    bench.repo.git("commit", "--allow-empty", "-qm", "fix: ask")
    fix = bench.repo.git("rev-parse", "HEAD").strip()
    notes = bench.judge({SKILL: FIXED_SKILL}, f"fixup! {fix}").notes
    assert "noted, and judged at push (fixup!)" in notes[0]
    assert bench.judge({}, f"fixup! {fix}", stage=RANGE).blocking
    bench.repo.git("commit", "--allow-empty", "-qm", "docs: ask")
    assert bench.judge({}, f"fixup! {'0' * 40}").notes == ()


def test_a_regression_case_makes_a_fix_and_has_to_be_there(bench: Bench) -> None:
    (violation,) = bench.judge({SKILL: FIXED_SKILL}, "feat: x\n\nRegression-Case: tax").blocking
    assert violation.rule == "fix-needs-case"
    assert violation.detail[0] == "Regression-Case names tax, and there is no such case"
    judgement = bench.judge(FIX, "feat: x\n\nRegression-Case: tax")
    assert judgement.blocking == ()
    assert judgement.notes == ("Regression-Case names tax, and there is no such case",)
    assert bench.judge({}, "feat: x\n\nRegression-Case: eur-taxi").notes == ()
    assert bench.judge({}, "feat: x\n\nRegression-Case:").notes == ()


JUDGED = """\
  judge:
    rubric: It asks which rate to use.
    model: nobody:m
    canaries: {accept: Which rate?, reject: I booked it.}
"""


def test_a_case_that_a_judge_alone_reads_is_accepted_and_flagged(bench: Bench) -> None:
    # Nobody offers that judge: no plugin is asked here.
    fix = {**FIX, RECORDS: records(eur_taxi=record(fails_on=["judge"]))}
    checks = "  no_changes: true\n  reply_contains: [euro]\n"
    found = bench.judge({**fix, CASE: CASE_TEXT.replace(checks, JUDGED)})
    assert found.violations == ()
    assert f"{CASE} is read by a judge alone: accepted, and flagged" in found.notes
    found = bench.judge({**fix, CASE: CASE_TEXT.replace(checks, checks + JUDGED)})
    assert not [note for note in found.notes if "flagged" in note]
