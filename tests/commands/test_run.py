"""``guard run`` as a user calls it: what is run, how often, and what comes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ScratchRepo
from tests.guard_command import CLERK, GuardCommand, case, cases, clerk, config, passes_in

# How many trials, and what they decide --------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "passing", "verdict", "code", "trials"),
    [
        ({"trials": 3}, (1, 2, 3), "PASS", 0, 3),
        ({"trials": 3, "min_pass_rate": 0.6}, (1, 3), "PASS", 0, 3),
        ({"trials": 3}, (2, 3), "FAIL", 1, 1),
        ({"trials": 5, "min_pass_rate": 0.6}, (1, 2), "FAIL", 1, 5),
        ({}, range(1, 16), "PASS", 0, 4),
        ({"gate": "standard"}, (3, 4), "FAIL", 1, 2),
        ({"gate": "standard", "trials": 5}, (1, 2, 4, 5), "INCONCLUSIVE", 3, 5),
    ],
)
def test_the_policy_says_how_many_trials_decide(
    repo: ScratchRepo,
    guard: GuardCommand,
    keys: dict[str, object],
    passing: tuple[int, ...],
    verdict: str,
    code: int,
    trials: int,
) -> None:
    repo.commit("feat: clerk", {**config(), **case(passes_in(*passing), **keys)})
    found = guard.report("--jobs", "1", ends_in=code)["cases"][0]
    assert found["verdict"] == verdict, found
    assert len(found["runs"]) == found["trials"] == trials


@pytest.mark.parametrize(
    ("passing", "verdict", "code"),
    [((1, 2), "PASS", 0), ((), "FAIL", 1), ((1,), "INCONCLUSIVE", 3), ((2,), "INCONCLUSIVE", 3)],
)
def test_a_deterministic_target_gets_two_trials_that_must_agree(
    repo: ScratchRepo, guard: GuardCommand, passing: tuple[int, ...], verdict: str, code: int
) -> None:
    agents = clerk(deterministic=True)
    repo.commit("feat: clerk", {**config(agents), **case(passes_in(*passing))})
    found = guard.report(ends_in=code)["cases"][0]
    assert (found["verdict"], found["trials"]) == (verdict, 2)


# What the user asks for over that ------------------------------------------------------------


def test_trials_asks_for_so_many_of_every_case_and_takes_no_receipt(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    repo.commit("feat: clerk", {**config(), **cases({"one": "echo hello", "two": "echo hello"})})
    guard.report()
    for option in ("--trials", "--runs"):
        report = guard.report(option, "3")
        assert [len(found["runs"]) for found in report["cases"]] == [3, 3]
    assert guard.report()["cases"][0]["runs"] == []


def test_a_failed_trial_of_so_many_breaks_the_rate(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.commit("feat: clerk", {**config(), **case(passes_in(1, 2, 3))})
    assert guard.verdicts("--trials", "3") == {"one": "PASS"}
    assert guard.verdicts("--trials", "4", ends_in=1) == {"one": "FAIL"}


def test_a_precondition_that_no_longer_holds_makes_a_case_stale_before_the_target_starts(
    repo: ScratchRepo, guard: GuardCommand, tmp_path: Path
) -> None:
    log = tmp_path / "started"
    script = f"echo x >> {log}; echo hello"
    keys = {"preconditions": [{"file_exists": "rules.md"}, {"match": "kind"}]}
    repo.commit("feat: clerk", {**config(), **case(script, **keys, trials=1)})
    assert guard.verdicts() == {"one": "PASS"}
    assert log.read_text() == "x\n"
    repo.write({"agent/rules.md": "Be stern.\n"})
    outcome = guard("run").ends_in(0).says("! one STALE", "needs review")
    outcome.says("not established: one (STALE)")
    assert guard.verdicts("--strict", ends_in=3) == {"one": "STALE"}
    assert log.read_text() == "x\n"


def test_a_receipt_does_not_hide_that_a_precondition_no_longer_holds(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    keys = {"preconditions": [{"match": "12 crowns"}], "trials": 1}
    data = {"agent/prices.md": "tea: 12 crowns\n"}
    repo.commit("feat: clerk", {**config(), **data, **case(**keys)})
    assert guard.verdicts() == {"one": "PASS"}
    repo.write({"agent/prices.md": "tea: 12 crowns, milk: 9\n"})
    guard("run").ends_in(0).says("by a receipt of")
    repo.write({"agent/prices.md": "tea: 13 crowns\n"})
    guard("run", "--strict").ends_in(3).says("! one STALE", "12 crowns")


def test_a_trial_that_takes_too_long_fails_on_timeout(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    repo.commit("feat: clerk", {**config(), **case("sleep 30; echo hello", trials=1, timeout=60)})
    found = guard.report("--timeout", "0.3", ends_in=1)["cases"][0]
    assert found["verdict"] == "FAIL"
    assert found["scores"] == {"timeout": {"mean": 0.0, "min": 0.0, "n": 1}}
    assert "not done within 0.3 s" in found["reason"]
    assert found["seconds"] < 10


def test_jobs_run_at_once_and_count_the_same(
    repo: ScratchRepo, guard: GuardCommand, tmp_path: Path
) -> None:
    meet = tmp_path / "meet"
    meet.mkdir()
    # Each trial waits until all three are there: with fewer jobs it would time out.
    together = f"touch {meet}/$GUARD_TRIAL; until [ -e {meet}/3 ]; do sleep .01; done; echo hello"
    repo.commit("feat: clerk", {**config(), **case(together, trials=3, timeout=15)})
    assert guard.verdicts("--jobs", "3") == {"one": "PASS"}


def test_one_job_runs_trials_one_after_the_other(
    repo: ScratchRepo, guard: GuardCommand, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    script = f"echo in >> {log}; sleep .05; echo out >> {log}; echo hello"
    repo.commit("feat: clerk", {**config(), **case(script, trials=3)})
    guard.verdicts("--jobs", "1")
    assert log.read_text().split() == ["in", "out"] * 3


def test_fail_fast_starts_nothing_after_the_first_failing_trial(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    scripts = {"a": "echo hello", "b": "echo no", "c": "echo hello"}
    repo.commit("feat: clerk", {**config(), **cases(scripts, trials=2)})
    whole = guard.verdicts("--jobs", "1", ends_in=1)
    assert whole == {"a": "PASS", "b": "FAIL", "c": "PASS"}
    fast = guard.verdicts("--jobs", "1", "--fail-fast", "--no-cache", ends_in=1)
    assert fast == {"a": "PASS", "b": "FAIL", "c": "NOT_TESTED"}


def test_a_budget_that_is_spent_owes_the_rest(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.commit("feat: clerk", {**config(), **cases({"a": "echo hello", "b": "echo hello"})})
    assert set(guard.verdicts("--max-seconds", "0").values()) == {"OWED"}
    assert set(guard.verdicts("--max-seconds", "0", "--strict", ends_in=3).values()) == {"OWED"}
    assert set(guard.verdicts("--max-seconds", "60").values()) == {"PASS"}


def test_report_only_turns_1_and_3_into_0_and_says_so(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    repo.commit("feat: clerk", {**config(), **cases({"bad": "echo no", "odd": "exit 9"})})
    for selector, code in (("bad", 1), ("odd", 3)):
        guard("run", selector).ends_in(code)
        outcome = guard("run", selector, "--report-only").ends_in(0)
        outcome.says(f"--report-only: exit 0 instead of {code}")
    guard("run", "nosuch", "--report-only").refuses("nosuch")
    guard("run", "--timeout", "soon", "--report-only").ends_in(2)


def test_the_stronger_exit_code_wins(repo: ScratchRepo, guard: GuardCommand) -> None:
    scripts = {"bad": "echo no", "good": "echo hello", "odd": "exit 9"}
    skipped = case(id="skipped", prerequisites=["env:NOT_SET_ANYWHERE"])
    repo.commit("feat: clerk", {**config(), **cases(scripts, trials=1), **skipped})
    guard("run").ends_in(1)
    guard("run", "odd", "good", "skipped").ends_in(3)
    guard("run", "good", "skipped").ends_in(0)
    guard("run", "good", "skipped", "--strict").ends_in(3)
    guard("run", "bad", "--strict").ends_in(1)
    guard("run", "bad", "good", "nosuch").ends_in(2)


# Which cases ----------------------------------------------------------------------------------


@pytest.fixture
def two_agents(repo: ScratchRepo) -> ScratchRepo:
    other = {**CLERK, "paths": ["porter/**"], "workspace": "porter", "cases": ["evals/porter/*.md"]}
    files = cases({"tea-cheap": "echo hello", "tea-dear": "echo hello"}, agent="clerk", trials=1)
    door = case(id="door", trials=1, agent="porter")["evals/door.md"]
    agents = {"clerk": CLERK, "porter": other}
    repo.commit(
        "feat: two agents",
        {**config(agents), **files, "porter/x": "x\n", "evals/porter/door.md": door},
    )
    return repo


@pytest.mark.parametrize(
    ("selectors", "chosen"),
    [
        ((), ["door", "tea-cheap", "tea-dear"]),
        (("tea-dear",), ["tea-dear"]),
        (("tea-dear", "door"), ["door", "tea-dear"]),
        (("tea-*",), ["tea-cheap", "tea-dear"]),
        (("evals/porter/door.md",), ["door"]),
        (("./evals/porter/door.md",), ["door"]),
        (("evals/porter",), ["door"]),
        (("evals/*.md",), ["tea-cheap", "tea-dear"]),
        (("evals/**",), ["door", "tea-cheap", "tea-dear"]),
        (("agent:porter",), ["door"]),
        (("agent:porter", "tea-cheap"), ["door", "tea-cheap"]),
    ],
)
def test_selectors_name_cases_by_id_glob_path_or_agent(
    two_agents: ScratchRepo, guard: GuardCommand, selectors: tuple[str, ...], chosen: list[str]
) -> None:
    assert list(guard.verdicts(*selectors)) == chosen


def test_a_path_is_found_from_the_folder_the_user_stands_in(
    two_agents: ScratchRepo, guard: GuardCommand
) -> None:
    assert list(guard.verdicts("door.md", folder="evals/porter")) == ["door"]
    assert list(guard.verdicts("../evals/porter", folder="agent")) == ["door"]
    whole = str(two_agents.root / "evals" / "porter" / "door.md")
    assert list(guard.verdicts(whole)) == ["door"]
    assert list(guard.verdicts("evals/porter/door.md", folder="agent")) == ["door"]


@pytest.mark.parametrize(
    ("selector", "said"),
    [
        ("tea-deer", "did you mean `tea-dear`"),
        ("evals/nosuch/*.md", "matches no case"),
        ("agent:portr", "did you mean `porter`"),
        ("guard.yaml", "matches no case"),
        ("", "matches no case"),
    ],
)
def test_a_selector_that_matches_nothing_is_refused_with_the_nearest(
    two_agents: ScratchRepo, guard: GuardCommand, selector: str, said: str
) -> None:
    guard("run", selector).refuses(said)
    guard("run", "door", selector).refuses(said)


# What a change affects ------------------------------------------------------------------------


def test_affected_runs_what_differs_from_a_base(
    two_agents: ScratchRepo, guard: GuardCommand
) -> None:
    two_agents.commit("feat: porter", {"porter/x": "y\n"})
    assert guard.verdicts("--affected=HEAD~1") == {"door": "PASS"}
    guard("run", "--affected").ends_in(0).says("nothing is affected since HEAD")
    two_agents.write({"agent/rules.md": "Be very kind.\n"})
    report = guard.report("--affected")
    assert [(c["id"], c["affected_by"]) for c in report["cases"]] == [
        ("tea-cheap", ["agent"]),
        ("tea-dear", ["agent"]),
    ]


def test_affected_takes_its_base_by_equals_sign_only(
    two_agents: ScratchRepo, guard: GuardCommand
) -> None:
    two_agents.write({"agent/rules.md": "Be very kind.\n"})
    assert guard.verdicts("--affected", "tea-dear") == {"tea-dear": "PASS"}
    guard("run", "--affected", "door").ends_in(0).says("nothing is affected")
    guard("run", "--affected=door").refuses("door names no commit or tree")
    refused = guard("run", "--affected", "HEAD~0").refuses("HEAD~0 matches no case")
    assert "  do  guard run '--affected=HEAD~0'\n" in refused.err or (
        "guard run --affected=HEAD~0\n" in refused.err
    )
    guard("run", "HEAD~0").refuses("HEAD~0 matches no case", "guard status")
    guard("run", "--affected", "nosuch").refuses("nosuch matches no case", "guard status")


def test_everything_is_affected_before_the_first_commit(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    repo.write({**config(), **case(trials=1)})
    report = guard.report("--affected")
    assert [(c["verdict"], c["affected_by"][0]) for c in report["cases"]] == [("PASS", "case")]


def test_an_agent_without_a_case_breaks_a_rule(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.commit("feat: no case", config())
    outcome = guard("run").ends_in(1).says("agent-without-case", "guard new-case ID --agent clerk")
    outcome.says("✗")
    guard("run", "--owed").ends_in(2)
    repo.write(case(trials=1))
    guard("run").ends_in(0).says_not("agent-without-case")


def test_an_agent_without_a_case_beside_one_that_has_some(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    idle = {**CLERK, "paths": ["idle/**"], "cases": ["idle-evals/*.md"]}
    files = {"idle/x": "x\n", **case(trials=1, agent="clerk")}
    repo.commit("feat: two", {**config({"clerk": CLERK, "idle": idle}), **files})
    report = guard.report(ends_in=1)
    assert [c["verdict"] for c in report["cases"]] == ["PASS"]
    assert [(r["rule"], r["agent"]) for r in report["rules"]] == [("agent-without-case", "idle")]
    guard("run", "one").ends_in(0)


def test_owed_runs_what_has_no_evidence_and_says_when_nothing_is(
    two_agents: ScratchRepo, guard: GuardCommand
) -> None:
    guard.verdicts("door")
    assert guard.verdicts("--owed") == {"tea-cheap": "PASS", "tea-dear": "PASS"}
    outcome = guard("run", "--owed").ends_in(0)
    assert outcome.out == "nothing is owed\n"
    two_agents.write({"porter/x": "y\n"})
    assert guard.verdicts("--owed") == {"door": "PASS"}


# Which tree -----------------------------------------------------------------------------------

BROKEN = "if grep -q stern rules.md; then echo no; else echo hello; fi"


@pytest.mark.parametrize("on_disk", ["Be kind.\n", "Be stern.\n"])
def test_at_judges_the_tree_it_names(repo: ScratchRepo, guard: GuardCommand, on_disk: str) -> None:
    """Staged and on disk differ, once in each direction."""
    repo.commit("feat: clerk", {**config(), **case(BROKEN, trials=1)})
    staged = "Be stern.\n" if on_disk == "Be kind.\n" else "Be kind.\n"
    repo.write({"agent/rules.md": staged})
    repo.git("add", "--all")
    repo.write({"agent/rules.md": on_disk})
    verdicts = {"Be kind.\n": ("PASS", 0), "Be stern.\n": ("FAIL", 1)}
    for place, text in (("worktree", on_disk), ("index", staged), ("HEAD", "Be kind.\n")):
        verdict, code = verdicts[text]
        report = guard.report("--at", place, ends_in=code)
        assert report["cases"][0]["verdict"] == verdict
        assert report["at"] == place
    assert repo.git("diff", "--cached", "--name-only") or staged == "Be kind.\n"


def test_the_working_tree_holds_untracked_files_and_no_ignored_ones(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    script = "ls -A | tr '\\n' ' '; echo hello"
    repo.commit("feat: clerk", {**config(), ".gitignore": "secret\n", **case(script, trials=1)})
    repo.write({"agent/new.md": "new\n", "agent/secret": "x\n"})
    run = guard.report()["cases"][0]["runs"][0]
    assert run["reply"] == "new.md rules.md hello\n"
    assert repo.git("status", "--porcelain") == "?? agent/new.md\n"


def test_a_tree_that_is_not_there_is_refused(repo: ScratchRepo, guard: GuardCommand) -> None:
    repo.commit("feat: clerk", {**config(), **case(trials=1)})
    guard("run", "--at", "nosuch").refuses("nosuch names no commit or tree")
