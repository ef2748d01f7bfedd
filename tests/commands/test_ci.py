"""``guard ci``: which commits, which cases and proofs, and what comes of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.clerk import BASE, BROKEN, CASE_PATH, CONFIG, FIXED, SKILL_PATH, case, fix, record
from tests.clerk import regressions as written
from tests.commands.calling import Outcome, call_guard
from tests.conftest import ScratchRepo

SERVICES = ("GITHUB_", "GITEA_", "FORGEJO_", "GITLAB_", "CI", "TF_BUILD", "BITBUCKET_")
OTHERS = ("JENKINS_URL", "CIRCLECI", "BUILDKITE", "TRAVIS")
RANGE = CONFIG + "fix: {unit: range}\n"
Files = Mapping[str, str | bytes | None]


@pytest.fixture(autouse=True)
def no_service(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests may run on a service themselves."""
    import os

    for name in [*os.environ]:
        if name.startswith((*SERVICES, *OTHERS)):
            monkeypatch.delenv(name)


@pytest.fixture
def clerk(repo: ScratchRepo) -> ScratchRepo:
    """The agent with its bug, on branch main; topic is checked out."""
    repo.commit("feat: clerk", BASE)
    repo.git("checkout", "-q", "-b", "topic")
    return repo


def ci(repo: ScratchRepo, *options: str, base: str = "main") -> Outcome:
    return call_guard(repo.root, "ci", *([f"--base={base}"] if base else []), *options)


def report(repo: ScratchRepo, *options: str, base: str = "main") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ci(repo, "--json", "-", *options, base=base).out)
    return found


def last_line(outcome: Outcome) -> str:
    return outcome.out.strip().splitlines()[-1]


# What holds -------------------------------------------------------------------------------


def test_a_fix_with_its_case_is_run_and_proven(clerk: ScratchRepo) -> None:
    clerk.commit("fix(clerk): ask", fix())
    outcome = ci(clerk)
    assert outcome.code == 0, outcome
    assert "guard: 1 commit since main (" in outcome.err
    assert "no file on disk" in outcome.err
    assert "1 of 1 behaviour change carried a case" in outcome.out
    assert last_line(outcome) == (
        "the rules hold on 1 commit, 1 of 1 case holds (2 of 2 trials passed), "
        "1 of 1 regression proven"
    )


def test_nothing_is_affected(clerk: ScratchRepo) -> None:
    clerk.commit("docs: other", {"README.md": "x\n"})
    outcome = ci(clerk)
    assert outcome.code == 0
    assert last_line(outcome) == (
        "the rules hold on 1 commit; nothing is affected, "
        "so nothing is claimed of what an agent does"
    )
    none = ci(clerk, base="HEAD")
    assert none.code == 0
    assert "0 commits since HEAD" in none.err


def test_the_tree_of_a_detached_head_is_judged_not_the_files_on_disk(clerk: ScratchRepo) -> None:
    clerk.commit("fix(clerk): ask", fix())
    clerk.git("checkout", "-q", "--detach")
    clerk.write({SKILL_PATH: BROKEN, CASE_PATH: "no case\n", "evals/other.md": "no case\n"})
    clerk.git("add", "evals/other.md")
    assert ci(clerk).code == 0


def test_a_second_run_is_answered_by_receipts(clerk: ScratchRepo) -> None:
    clerk.commit("fix(clerk): ask", fix())
    assert ci(clerk).code == 0
    assert "by a receipt of" in ci(clerk).out
    assert "by a receipt of" not in ci(clerk, "--no-cache").out


def test_reports_are_written_as_by_other_commands(clerk: ScratchRepo, tmp_path: Path) -> None:
    clerk.commit("fix(clerk): ask", fix())
    names = ("json", "junit", "html", "markdown")
    options = [f"--{name}={tmp_path / name}" for name in names]
    assert ci(clerk, *options).code == 0
    found = json.loads((tmp_path / "json").read_text())
    assert (found["command"], found["at"], found["strict"]) == ("ci", "HEAD", True)
    assert [one["id"] for one in found["cases"]] == ["taxi"]
    assert "taxi" in (tmp_path / "junit").read_text()
    assert "behaviour change" in (tmp_path / "markdown").read_text()


# What is refused --------------------------------------------------------------------------


def test_a_fix_without_its_case_is_refused_wherever_it_stands(clerk: ScratchRepo) -> None:
    clerk.commit("fix(clerk): ask", {SKILL_PATH: FIXED})
    clerk.commit("test: too late", {k: v for k, v in fix().items() if k != SKILL_PATH})
    outcome = ci(clerk)
    assert outcome.code == 1
    oid = clerk.git("rev-parse", "HEAD^")[:10]
    assert f"fix-needs-case [{oid} fix(clerk): ask]" in outcome.out
    assert "guard: refused: this fix changes agent clerk and brings no case" in outcome.err
    assert "0 of 1 behaviour change carried a case" in outcome.out
    # What can be run is run all the same.
    assert "1 of 1 regression proven" in outcome.out
    assert "the rules hold" not in outcome.out


@pytest.mark.parametrize(
    ("files", "verdict", "code"),
    [
        ({SKILL_PATH: BROKEN + "\nBe quick.\n"}, "FAIL", 1),
        ({SKILL_PATH: FIXED + "\ncrash\n"}, "ERROR", 3),
        ({CASE_PATH: case(more="prerequisites: [program:no-such]\n")}, "SKIP", 3),
        ({CASE_PATH: case(more="preconditions:\n  - file_exists: x.md\n")}, "STALE", 3),
    ],
)
def test_what_is_not_established_is_refused(
    clerk: ScratchRepo, files: Files, verdict: str, code: int
) -> None:
    clerk.commit("fix(clerk): ask", fix())
    clerk.git("branch", "-f", "main")
    said = "Case-Weakened: taxi: the test of a test"
    clerk.commit(f"feat: other\n\n{said}", files)
    found = report(clerk)
    assert [one["verdict"] for one in found["cases"]] == [verdict]
    assert found["exit_code"] == code
    allowed = report(clerk, "--report-only")
    assert (allowed["exit_code"], allowed["report_only"]) == (0, True)
    assert allowed["verdict"] == found["verdict"] != "PASS"


def test_report_only_says_so(clerk: ScratchRepo) -> None:
    clerk.commit("fix(clerk): ask", {SKILL_PATH: FIXED})
    outcome = ci(clerk, "--report-only")
    assert outcome.code == 0
    assert last_line(outcome).endswith("--report-only: exit 0 instead of 1")
    assert "refused" not in outcome.err


def test_a_pending_record_must_be_proven(clerk: ScratchRepo) -> None:
    """Numbers that are typed by hand prove nothing: the proof is run, and found vacuous."""
    proof = {
        "before": {"passed": 0, "trials": 4},
        "after": {"passed": 4, "trials": 4},
        "date": "2031-01-01",
        "receipts": ["sha256:1", "sha256:2"],
    }
    blind = case('{reply_contains: ["o"]}')
    typed = written(taxi=record(proof=proof))
    clerk.commit("fix(clerk): ask", fix(**{CASE_PATH: blind, "regressions.json": typed}))
    found = report(clerk)
    assert [one["verdict"] for one in found["regressions"]] == ["VACUOUS"]
    assert found["exit_code"] == 1
    unrun = report(clerk, "--max-seconds", "0", "--no-cache")
    assert [one["verdict"] for one in unrun["regressions"]] == ["PENDING"]
    assert [one["verdict"] for one in unrun["cases"]] == ["OWED"]
    assert unrun["exit_code"] == 3


def test_a_near_miss_is_refused_as_by_strict(clerk: ScratchRepo) -> None:
    clerk.commit("fix:ask", {SKILL_PATH: FIXED})
    outcome = ci(clerk)
    assert outcome.code == 1
    assert "near-miss-header" in outcome.out


def test_records_that_the_change_leaves_alone_are_not_proven(clerk: ScratchRepo) -> None:
    clerk.commit("fix(clerk): ask", fix())
    clerk.git("branch", "-f", "main")
    two = fix(**{"evals/cab.md": case(name="cab")})
    two["regressions.json"] = written(taxi=record(), cab=record(case="evals/cab.md"))
    clerk.commit("test: cab", {name: two[name] for name in ("evals/cab.md", "regressions.json")})
    found = report(clerk)
    assert [one["id"] for one in found["cases"]] == ["cab"]
    assert [one["id"] for one in found["regressions"]] == ["cab"]
    every = report(clerk, "--all")
    assert [one["id"] for one in every["cases"]] == ["cab", "taxi"]
    assert [one["id"] for one in every["regressions"]] == ["taxi", "cab"]


def test_a_commit_that_cannot_be_judged_keeps_no_other_from_it(clerk: ScratchRepo) -> None:
    clerk.commit("chore: break", {"guard.yaml": "version: 1\nagnets: {}\n"})
    clerk.commit("chore: mend", {"guard.yaml": CONFIG})
    clerk.commit("fix(clerk): ask", {SKILL_PATH: FIXED})
    outcome = ci(clerk)
    assert outcome.code == 2
    assert "chore: break: guard.yaml:2:" in outcome.out
    assert "fix-needs-case" in outcome.out
    assert ci(clerk, "--report-only").code == 2


def test_a_broken_tip_is_a_mistake_of_its_own(clerk: ScratchRepo) -> None:
    clerk.commit("chore: break", {"guard.yaml": "version: 1\nagnets: {}\n"})
    outcome = ci(clerk)
    assert outcome.code == 2
    assert "guard.yaml:2:" in outcome.err


def test_an_agent_without_a_case_is_refused_only_where_it_is_new(clerk: ScratchRepo) -> None:
    clerk.commit("docs: other", {"README.md": "x\n"})
    outcome = ci(clerk)
    assert outcome.code == 0
    assert "no case yet guards clerk" in outcome.out
    new = CONFIG + "  second:\n    paths: [agent/skills/second/**]\n    target: command\n"
    clerk.commit("feat: second", {"guard.yaml": new + "    options: {argv: [cat]}\n"})
    assert "agent-without-case" in ci(clerk).out
    assert ci(clerk).code == 1


# Without guard.yaml -----------------------------------------------------------------------


def test_without_a_guard_yaml_nothing_is_guarded(repo: ScratchRepo, tmp_path: Path) -> None:
    repo.commit("one", {"a": "1\n"})
    repo.commit("fix: two", {"a": "2\n"})
    outcome = ci(repo, base="HEAD^")
    assert (outcome.code, outcome.out) == (0, "")
    assert "no guard.yaml, nothing is guarded" in outcome.err
    assert ci(repo, f"--json={tmp_path / 'json'}", base="HEAD^").code == 0
    assert json.loads((tmp_path / "json").read_text())["cases"] == []


def test_to_remove_guard_yaml_is_a_weakening(clerk: ScratchRepo) -> None:
    clerk.commit("chore: no guard", {"guard.yaml": None})
    outcome = ci(clerk)
    assert outcome.code == 1
    assert "guard.yaml is removed" in outcome.out


def test_the_commit_that_brings_guard_yaml(repo: ScratchRepo) -> None:
    repo.commit("start", {"README.md": "x\n"})
    repo.commit("feat: clerk", {**BASE, CASE_PATH: case()})
    found = report(repo, base="HEAD^")
    assert [one["verdict"] for one in found["cases"]] == ["FAIL"]
    assert found["exit_code"] == 1


# The base ---------------------------------------------------------------------------------


def test_without_a_base_there_is_the_default_branch(clerk: ScratchRepo) -> None:
    clerk.commit("fix(clerk): ask", {SKILL_PATH: FIXED})
    outcome = ci(clerk, base="")
    assert outcome.code == 1
    assert "the merge base with main (no base is named)" in outcome.err


def test_without_any_base_there_is_no_pass(clerk: ScratchRepo) -> None:
    clerk.git("checkout", "-q", "main")
    outcome = ci(clerk, base="")
    assert outcome.code == 2
    assert "guard ci --base REF" in outcome.err
    every = ci(clerk, "--all", base="")
    assert "no base is known, so no commit is judged" in every.err


def test_the_event_of_the_service_tells_the_base(
    clerk: ScratchRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = clerk.commit("fix(clerk): ask", {SKILL_PATH: FIXED})
    clerk.commit("docs: other", {"README.md": "x\n"})
    event = {"before": before, "ref": "refs/heads/topic"}
    (tmp_path / "event.json").write_text(json.dumps(event))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_EVENT_NAME", "push")
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(tmp_path / "event.json"))
    outcome = ci(clerk, base="")
    assert outcome.code == 0
    assert "which was there before this push (GitHub Actions)" in outcome.err


def test_a_shallow_clone_is_never_a_pass(clerk: ScratchRepo, tmp_path: Path) -> None:
    before = clerk.commit("docs: one", {"README.md": "1\n"})
    clerk.commit("docs: two", {"README.md": "2\n"})
    clerk.git("clone", "-q", "--depth=1", f"file://{clerk.root}", str(tmp_path / "shallow"))
    outcome = call_guard(tmp_path / "shallow", "ci", "--base", before)
    assert outcome.code == 3
    assert "git fetch --unshallow" in outcome.err
    assert ci(clerk, base=before).code == 0


# unit: range ------------------------------------------------------------------------------


@pytest.fixture
def by_range(clerk: ScratchRepo) -> ScratchRepo:
    clerk.commit("chore: by range", {"guard.yaml": RANGE})
    clerk.git("branch", "-f", "main")
    clerk.commit("feat(clerk): ask", {SKILL_PATH: FIXED})
    return clerk


REST = {name: text for name, text in fix().items() if name != SKILL_PATH}


def test_a_later_commit_may_bring_the_case(by_range: ScratchRepo) -> None:
    by_range.git("commit", "-q", "--amend", "-m", "fix(clerk): ask")
    assert ci(by_range).code == 1
    by_range.commit("test: taxi", REST)
    assert ci(by_range).code == 0


def test_the_title_is_judged_as_the_squash_commit_it_will_be(
    by_range: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ci(by_range).code == 0
    monkeypatch.setenv("GUARD_PR_TITLE", "fix(clerk): ask")
    outcome = ci(by_range)
    assert outcome.code == 1
    assert "fix-needs-case [pull request title fix(clerk): ask]" in outcome.out
    by_range.commit("test: taxi", REST)
    assert ci(by_range).code == 0


def test_a_case_of_a_later_commit_is_counted(by_range: ScratchRepo) -> None:
    assert "0 of 1 behaviour change carried a case" in ci(by_range).out
    by_range.commit("test: taxi", REST)
    assert "1 of 1 behaviour change carried a case, there or in a later commit" in ci(by_range).out


def test_what_a_commit_lacks_isnt_said_of_the_title_again(
    by_range: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_range.git("commit", "-q", "--amend", "-m", "fix(clerk): ask")
    monkeypatch.setenv("GUARD_PR_TITLE", "fix(clerk): ask")
    outcome = ci(by_range)
    assert outcome.code == 1
    assert outcome.out.count("fix-needs-case [") == 1
    assert "pull request title" not in outcome.out + outcome.err


def test_a_title_alone_says_what_to_do(
    by_range: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "  do " not in ci(by_range).err
    monkeypatch.setenv("GUARD_PR_TITLE", "fix(clerk): ask")
    err = ci(by_range).err
    assert "  title    fix(clerk): ask\n  do       guard new-case ID --agent clerk" in err
    assert "change the title: feat: …" in err


def test_a_title_is_judged_by_its_text_too(
    by_range: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GUARD_PR_TITLE", "Ask")
    monkeypatch.setenv("GUARD_PR_BODY", "Fixes #12")
    assert "pull request title Ask" in ci(by_range).out
    monkeypatch.setenv("GUARD_PR_BODY", "Fixes #12\r\n\r\nGuard-Exempt: the client goes away\r\n")
    outcome = ci(by_range)
    assert outcome.code == 0
    assert "the client goes away" in outcome.out


def test_trailers_of_the_commits_stand_in_the_squash(
    by_range: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GUARD_PR_TITLE", "fix(clerk): ask")
    by_range.commit("docs: other\n\nGuard-Exempt: the client goes away", {"README.md": "x\n"})
    assert ci(by_range).code == 0


def test_a_title_that_nobody_tells_is_named(
    by_range: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUILDKITE", "true")
    monkeypatch.setenv("BUILDKITE_PULL_REQUEST_BASE_BRANCH", "main")
    assert "title isn't told here, so it was not judged" in ci(by_range, base="").out


def test_by_commit_no_title_is_judged(clerk: ScratchRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    clerk.commit("feat(clerk): ask", {SKILL_PATH: FIXED})
    monkeypatch.setenv("GUARD_PR_TITLE", "fix(clerk): ask")
    assert ci(clerk).code == 0


# Plan, order, budget ----------------------------------------------------------------------


def test_a_plan_runs_nothing(clerk: ScratchRepo) -> None:
    clerk.commit("fix(clerk): ask", fix(**{SKILL_PATH: FIXED + "\nsleep\n"}))
    outcome = ci(clerk, "--plan")
    assert outcome.code == 0
    assert "the rules on 1 commit" in outcome.out
    assert "1 case to judge, 0 of them answered by receipts" in outcome.out
    assert "to run: taxi (not known yet what it takes)" in outcome.out
    assert "1 regression to prove: taxi" in outcome.out
    assert last_line(outcome) == "planned only: nothing was judged and nothing was run"
    assert not (clerk.root / ".git" / "guard" / "raw").exists()


@pytest.mark.parametrize("option", [("--json", "-"), ("--junit", "plan.xml"), ("--html", "p")])
def test_a_plan_has_nothing_to_report(clerk: ScratchRepo, option: tuple[str, str]) -> None:
    outcome = ci(clerk, "--plan", *option)
    assert (outcome.code, outcome.out) == (2, "")
    assert "--plan judges nothing" in outcome.err
    assert not (clerk.root / option[1]).exists()
    assert ci(clerk, *option).code == 0


def test_a_plan_knows_what_is_answered_and_what_it_takes(clerk: ScratchRepo) -> None:
    clerk.commit("fix(clerk): ask", fix())
    assert ci(clerk).code == 0
    assert "1 case to judge, 1 of them answered by receipts" in ci(clerk, "--plan").out
    clerk.commit("feat: more", {SKILL_PATH: FIXED + "\nBe kind.\n"})
    assert "to run: taxi (about " in ci(clerk, "--plan").out


def test_the_oldest_evidence_first(clerk: ScratchRepo) -> None:
    two = {**fix(), "evals/cab.md": case(name="cab")}
    clerk.commit("chore: accept", {"guard.yaml": CONFIG + "receipts: {accept: [ci, local]}\n"})
    clerk.commit("fix(clerk): ask", two)
    assert call_guard(clerk.root, "run", "cab").code == 0
    clerk.git("branch", "-f", "main", "HEAD^")  # what the head alone accepts isn't accepted
    run = [one["id"] for one in report(clerk, "--all", "--oldest-first")["cases"]]
    assert run == ["taxi", "cab"]
    assert [one["id"] for one in report(clerk, "--all")["cases"]] == ["cab", "taxi"]


SHOP = """\
import os
from guard.plugin import Observation, Target, hookimpl


def run(trial):
    with open(os.environ["SHOP_LOG"], "a") as log:
        log.write(trial.case + "\\n")
    return Observation(cost_usd=1.0, loaded=True)


@hookimpl
def guard_targets():
    return [Target("shop", run, "a function", paid=True)]
"""


def test_a_budget_buys_all_evidence_in_the_end(
    clerk: ScratchRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "bought"
    log.touch()
    monkeypatch.setenv("SHOP_LOG", str(log))
    agent = "paths: [skills/shop/**], target: shop, cases: [evals/shop/*.md], deterministic: true"
    config = f"version: 1\nplugins: [plugins/shop.py]\nagents:\n  shop: {{{agent}}}\n"
    names = [f"shop{number}" for number in range(4)]
    files = {f"evals/shop/{name}.md": case("{no_changes: true}", name=name) for name in names}
    accept = "receipts: {accept: [ci, local]}\n"
    files |= {"guard.yaml": config + accept, "plugins/shop.py": SHOP}
    clerk.commit("chore: open a shop", {**files, "skills/shop/SKILL.md": "Sell tea.\n"})
    assert call_guard(clerk.root, "run").code == 0  # by now it is known what a trial costs
    log.write_text("")
    clerk.commit("feat: more", {"skills/shop/SKILL.md": "Sell tea and cakes.\n"})
    clerk.git("branch", "-f", "main", "HEAD")
    nightly = ("--all", "--oldest-first", "--jobs", "1", "--max-cost", "2")
    assert ci(clerk, "--all", "--plan").code == 0
    assert not log.read_text()  # a plan buys nothing
    bought: list[list[str]] = []
    while ci(clerk, *nightly).code:
        bought.append(log.read_text().split())
        assert len(bought) <= 4
    assert sorted(set(log.read_text().split())) == names
    assert len(log.read_text().split()) == 8  # two trials each, and none twice
    assert ci(clerk, *nightly).code == 0  # all of it is answered by receipts


# An untrusted head ------------------------------------------------------------------------

EVIL = """\
import pathlib
pathlib.Path(PLACE).write_text("it ran")
"""


def test_of_an_untrusted_head_nothing_is_run(clerk: ScratchRepo) -> None:
    clerk.commit("fix(clerk): ask", fix())
    found = report(clerk, "--untrusted-head")
    assert [one["verdict"] for one in found["cases"]] == ["OWED"]
    assert [one["verdict"] for one in found["regressions"]] == ["PENDING"]
    assert found["exit_code"] == 3
    assert "until a maintainer starts it" in found["cases"][0]["reason"]


def test_an_untrusted_head_that_affects_nothing(clerk: ScratchRepo) -> None:
    clerk.commit("docs: other", {"README.md": "x\n"})
    assert ci(clerk, "--untrusted-head").code == 0


def test_an_untrusted_head_is_judged_by_the_rules_of_its_base(clerk: ScratchRepo) -> None:
    lenient = CONFIG + "fix: {types: [never]}\n"
    clerk.commit("chore: be lenient", {"guard.yaml": lenient})
    clerk.commit("fix(clerk): ask", {SKILL_PATH: FIXED})
    outcome = ci(clerk, "--untrusted-head")
    assert outcome.code == 1
    assert "fix-needs-case" in outcome.out


def test_no_code_of_an_untrusted_head_is_imported(clerk: ScratchRepo, tmp_path: Path) -> None:
    place = tmp_path / "witness"
    plugin = EVIL.replace("PLACE", repr(str(place)))
    config = CONFIG.replace("agents:", "plugins: [evals/guard_plugin.py]\nagents:")
    clerk.commit("feat: plugin", {"guard.yaml": config, "evals/guard_plugin.py": plugin})
    clerk.commit("fix(clerk): ask", fix())
    for options in (("--untrusted-head",), ("--untrusted-head", "--plan")):
        ci(clerk, *options)
        assert not place.exists()
    ci(clerk)
    assert place.exists()


def test_no_merge_makes_a_stranger_s_commit_the_base(
    clerk: ScratchRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the subject of a service's own merge, and the stranger's commit as first parent."""
    place, base = tmp_path / "witness", clerk.git("rev-parse", "main").strip()
    plugin = EVIL.replace("PLACE", repr(str(place)))
    config = CONFIG.replace("agents:", "plugins: [evals/guard_plugin.py]\nagents:")
    clerk.commit("feat: plugin", {"guard.yaml": config, "evals/guard_plugin.py": plugin})
    parents = ("-p", "HEAD", "-p", base)
    made = clerk.git("commit-tree", "HEAD^{tree}", *parents, "-m", "Merge abcd into abcd").strip()
    clerk.git("checkout", "-q", made)
    asked = {"base": {"ref": "main", "sha": base}, "head": {"sha": made}}
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": asked}))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_EVENT_NAME", "pull_request_target")
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(event))
    outcome = ci(clerk, "--untrusted-head", base="")
    assert f"guard: 2 commits since {base[:10]} of main (GitHub Actions)" in outcome.err
    assert not place.exists()
    # Whoever trusts the head runs its code.
    ci(clerk, base="")
    assert place.exists()


def test_an_untrusted_head_without_a_base(clerk: ScratchRepo) -> None:
    clerk.git("checkout", "-q", "main")
    assert ci(clerk, "--untrusted-head", "--all", base="").code == 2
