"""``guard bisect`` as people call it: real commits, a real program, and what can't be told."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from tests.clerk import BASE as CLERK_FILES
from tests.clerk import BROKEN, CASE_PATH, CONFIG, FIXED, SKILL_PATH
from tests.clerk import case as taxi
from tests.commands.calling import Outcome, call_guard, start_guard
from tests.conftest import ScratchRepo
from tests.guard_command import case, clerk, config, passes_in
from tests.invariants import unchanged

#: What the agent of one commit is: the script that each trial runs.
HOLDS, BREAKS, CRASHES = "echo hello", "echo no", "exit 9"
#: Fails a gate, and passes a second one; the other way round.
FAILS_ONCE, PASSES_ONCE = passes_in(3, 4, 5, 6), passes_in(1, 2, 3, 4)
RULES = "agent/rules.md"
#: Two trials that must agree: cheap, and whatever differs is told.
STEADY: Mapping[str, object] = {"argv": ["sh", "rules.md"], "deterministic": True}
MOODY: Mapping[str, object] = {"argv": ["sh", "rules.md"]}

TARGET = """\
import pathlib
from guard.plugin import Observation, Target, hookimpl

def run(trial):
    text = pathlib.Path(trial.workspace, "rules.md").read_text()
    return Observation(reply="hello" if "hello" in text else "no", cost_usd=1.0)

@hookimpl
def guard_targets():
    return [Target("priced", run, "a model")]
"""


def lay(repo: ScratchRepo, options: Mapping[str, object] = STEADY, **keys: object) -> None:
    """Commit the agent's configuration and its case."""
    files = {**config(clerk(options=options)), **case("ask", timeout=20, **keys)}
    repo.commit("feat: clerk", {**files, RULES: "exit 9 # not written yet\n"})


def commits(repo: ScratchRepo, *scripts: str | None) -> list[str]:
    """Commit one script after the other (None: no agent), and a file that is none of its own."""
    made: list[str] = []
    for number, script in enumerate(scripts):
        rules: dict[str, str | None] = {RULES: f"{script}\n# {number}\n"} if script else {}
        if script is None and (repo.root / RULES).exists():
            rules = {RULES: None}
        made.append(repo.commit(f"edit {number}", {**rules, "readme.md": f"{number}\n"}))
    return made


def bisect(repo: ScratchRepo, good: str, bad: str, *more: str) -> Outcome:
    return call_guard(repo.root, "bisect", "one", "--good", good, "--bad", bad, *more)


def steps(outcome: Outcome) -> list[str]:
    """Return what each step said: its mark, its kind, the commit's subject."""
    found = re.findall(r"^(.) [0-9a-f]{10} ([a-z ]+): .*\[(.*)\]$", outcome.out, re.MULTILINE)
    return [" ".join(parts) for parts in found]


def found(outcome: Outcome) -> str:
    """Return the commit that was found."""
    assert outcome.code == 0, outcome
    match = re.search(r"^✗ the first bad commit is ([0-9a-f]{10}) of ", outcome.out, re.MULTILINE)
    assert match, outcome
    return match[1]


def suspects(outcome: Outcome) -> list[str]:
    """Return the commits that are left."""
    assert outcome.code == 3, outcome
    assert "the first bad commit is not known" in outcome.out
    return re.findall(r"^  ([0-9a-f]{10}) ", outcome.out, re.MULTILINE)


def ran(outcome: Outcome) -> tuple[int, int]:
    """Return how many trials were run, and how many were known."""
    match = re.search(r"(\d+) trials? w.*? run(?:.*?; (\d+) more)?", outcome.out)
    assert match, outcome
    return int(match[1]), int(match[2] or 0)


# Found ---------------------------------------------------------------------------------------


def test_the_commit_that_broke_it_is_found(repo: ScratchRepo) -> None:
    lay(repo)
    made = commits(repo, *[HOLDS] * 6, *[BREAKS] * 5)
    outcome = bisect(repo, made[0], "HEAD")
    assert found(outcome) == made[6][:10]
    assert steps(outcome)[:2] == ["✗ bad edit 10", "✓ good edit 0"]
    assert len(steps(outcome)) <= 2 + 4
    assert "bisecting one: 10 commits, about 4 steps" in outcome.out
    assert re.search(r"of \d{4}-\d\d-\d\d: edit 6\n  M agent/rules.md\n", outcome.out)
    assert "readme.md" not in outcome.out
    assert ran(outcome) == (2 * len(steps(outcome)), 0)
    assert outcome.err == ""


@pytest.mark.parametrize("breaks_at", [1, 3, 5])
def test_wherever_it_broke(repo: ScratchRepo, breaks_at: int) -> None:
    lay(repo)
    made = commits(repo, *[HOLDS] * breaks_at, *[BREAKS] * (6 - breaks_at))
    assert found(bisect(repo, made[0], made[-1])) == made[breaks_at][:10]


def test_the_case_and_its_checks_are_the_working_trees(repo: ScratchRepo) -> None:
    """The case is newer than all the commits, and isn't even staged."""
    lay(repo)
    made = commits(repo, HOLDS, HOLDS, "echo hello; echo by the way", BREAKS, BREAKS)
    assert found(bisect(repo, made[0], "HEAD")) == made[3][:10]
    repo.write(dict(case("ask", {"reply_contains": ["hello"], "reply_excludes": ["by the way"]})))
    repo.git("rm", "--quiet", "--cached", "evals/one.md")
    assert found(bisect(repo, made[0], made[2])) == made[2][:10]


def test_nothing_of_the_users_is_changed(repo: ScratchRepo) -> None:
    lay(repo)
    made = commits(repo, HOLDS, HOLDS, BREAKS, BREAKS)
    repo.write({RULES: "echo something else\n", "staged.md": "1\n", "new.md": "2\n"})
    repo.git("add", "staged.md")
    with unchanged(repo):
        assert found(bisect(repo, made[0], "HEAD")) == made[2][:10]
        assert bisect(repo, "HEAD", made[0]).code == 2
        assert bisect(repo, made[0], "HEAD", "--no-cache", "--max-seconds", "0").code == 3
    assert not list((repo.root / ".git").glob("BISECT*"))


def test_a_running_bisection_of_the_users_goes_on(repo: ScratchRepo) -> None:
    lay(repo)
    made = commits(repo, HOLDS, HOLDS, BREAKS, BREAKS)
    repo.git("bisect", "start", made[3], made[0])
    with unchanged(repo):
        assert found(bisect(repo, made[0], made[3])) == made[2][:10]


def test_from_a_folder_below_and_a_linked_worktree(repo: ScratchRepo) -> None:
    lay(repo)
    made = commits(repo, HOLDS, BREAKS)
    repo.git("worktree", "add", "--quiet", "../linked", "HEAD~1")
    call = ("bisect", "evals/one.md", "--good", made[0], "--bad", made[1])
    assert found(call_guard(repo.root / "agent", "bisect", "one", *call[2:])) == made[1][:10]
    assert found(call_guard(repo.root.parent / "linked", *call)) == made[1][:10]


def test_the_case_is_neither_shown_nor_judged_by_old_commits(repo: ScratchRepo) -> None:
    """What an old commit did is no trial of the case as it is."""
    lay(repo)
    made = commits(repo, HOLDS, BREAKS, HOLDS)
    bisect(repo, made[0], made[1])
    assert "no trial of one is kept" in call_guard(repo.root, "show", "one").err
    assert "✗" not in call_guard(repo.root, "status").out


# What is known already -----------------------------------------------------------------------


def test_steps_that_were_run_are_answered_by_receipts(repo: ScratchRepo) -> None:
    lay(repo)
    made = commits(repo, HOLDS, HOLDS, BREAKS, BREAKS)
    first = bisect(repo, made[0], made[-1])
    second = bisect(repo, made[0], made[-1])
    assert found(second) == found(first) == made[2][:10]
    assert ran(second) == (0, ran(first)[0])
    assert "(answered by a receipt of 20" in second.out
    fresh = bisect(repo, made[0], made[-1], "--no-cache")
    assert ran(fresh) == ran(first)


def test_an_ordinary_run_answers_a_step_too(repo: ScratchRepo) -> None:
    lay(repo)
    made = commits(repo, HOLDS, HOLDS, BREAKS)
    assert call_guard(repo.root, "run", "one").code == 1
    assert ran(bisect(repo, made[0], "HEAD")) == (4, 2)


def test_the_same_agent_is_run_once(repo: ScratchRepo) -> None:
    """Commits that leave the agent alone are steps of git's, and cost nothing."""
    lay(repo)
    made = commits(repo, HOLDS, BREAKS)
    start = repo.git("rev-parse", "HEAD~1").strip()
    for number in range(6):
        repo.commit(f"docs {number}", {"readme.md": f"docs {number}\n"})
    outcome = bisect(repo, start, "HEAD")
    assert found(outcome) == made[1][:10]
    assert ran(outcome) == (4, 0)
    assert "the agent is as in" in outcome.out


def test_a_changed_case_is_run_again(repo: ScratchRepo) -> None:
    """Negative control of the receipts."""
    lay(repo)
    made = commits(repo, HOLDS, HOLDS, BREAKS)
    bisect(repo, made[0], made[-1])
    repo.write(dict(case("ask another thing")))
    assert ran(bisect(repo, made[0], made[-1]))[1] == 0


def test_a_budget_ends_it_and_the_next_call_goes_on(repo: ScratchRepo) -> None:
    agent = clerk(target="priced", options={}, deterministic=True)
    files = {**config(agent, plugins=["plugins/priced.py"]), **case("ask")}
    repo.commit("feat: clerk", {**files, "plugins/priced.py": TARGET})
    made = commits(repo, *[HOLDS] * 9, *[BREAKS] * 8)
    first = bisect(repo, made[0], "HEAD", "--max-cost", "8")
    assert first.code == 3
    assert "a budget ended first" in first.out
    assert re.search(r"\d+ commits are left; the same command goes on from here", first.out)
    assert "8 trials were run, about $8.00 at list price" in first.out
    second = bisect(repo, made[0], "HEAD", "--max-cost", "8")
    assert found(second) == made[9][:10]
    assert ran(second) == (4, 8)


def test_a_step_that_a_budget_cut_goes_on_where_it_ended(repo: ScratchRepo) -> None:
    agent = clerk(target="priced", options={})
    files = {**config(agent, plugins=["plugins/priced.py"]), **case("ask")}
    repo.commit("feat: clerk", {**files, "plugins/priced.py": TARGET})
    made = commits(repo, HOLDS, BREAKS)
    first = bisect(repo, made[0], made[1], "--max-cost", "3", "--jobs", "1")
    assert first.code == 3, first
    assert "stopped: OWED" in first.out
    second = bisect(repo, made[0], made[1])
    assert found(second) == made[1][:10]
    # Both gates of both commits, and none of their trials twice.
    assert sum(ran(second)) == 2 * (2 + 4)
    assert ran(second)[1] == ran(first)[0]


# What can't be told --------------------------------------------------------------------------


def test_commits_that_cant_be_tested_are_skipped(repo: ScratchRepo) -> None:
    lay(repo)
    made = commits(repo, HOLDS, HOLDS, CRASHES, CRASHES, BREAKS, BREAKS)
    outcome = bisect(repo, made[0], "HEAD")
    assert suspects(outcome) == [commit[:10] for commit in made[4:1:-1]]
    assert "it is one of 3:" in outcome.out
    assert "skipped: ERROR" in outcome.out


def test_what_is_skipped_elsewhere_does_not_matter(repo: ScratchRepo) -> None:
    """Negative control: the commits around the culprit can be tested."""
    lay(repo)
    made = commits(repo, HOLDS, CRASHES, HOLDS, HOLDS, BREAKS, CRASHES, BREAKS)
    outcome = bisect(repo, made[0], "HEAD")
    assert found(outcome) == made[4][:10]


def test_a_flaky_agent_leaves_it_undecided(repo: ScratchRepo) -> None:
    lay(repo)
    flaky = passes_in(1)
    made = commits(repo, HOLDS, flaky, flaky, BREAKS)
    outcome = bisect(repo, made[0], "HEAD")
    assert suspects(outcome) == [commit[:10] for commit in made[3:0:-1]]
    assert "skipped: INCONCLUSIVE, 1 of 2 passed" in outcome.out


def test_an_answer_must_hold_when_it_is_asked_for_again(repo: ScratchRepo) -> None:
    """One gate said bad, a second one good: the search doesn't end at that commit."""
    lay(repo, MOODY)
    # Of four commits one is in the middle; of five git takes one of two.
    made = commits(repo, HOLDS, HOLDS, FAILS_ONCE, HOLDS, BREAKS)
    outcome = bisect(repo, made[0], "HEAD")
    assert "✓ good again edit 2" in steps(outcome)
    assert found(outcome) == made[4][:10]


def test_a_good_one_must_hold_too(repo: ScratchRepo) -> None:
    lay(repo, MOODY)
    made = commits(repo, HOLDS, BREAKS, PASSES_ONCE, BREAKS, BREAKS)
    outcome = bisect(repo, made[0], "HEAD")
    assert "✗ bad again edit 2" in steps(outcome)
    assert found(outcome) == made[1][:10]


def test_steady_agents_are_confirmed_by_a_second_gate(repo: ScratchRepo) -> None:
    """Negative control, and what it costs: two failures and four passes, twice each."""
    lay(repo, MOODY)
    made = commits(repo, HOLDS, BREAKS)
    outcome = bisect(repo, made[0], made[1])
    assert found(outcome) == made[1][:10]
    assert steps(outcome)[2:] == ["✗ bad again edit 1", "✓ good again edit 0"]
    assert ran(outcome) == (12, 0)
    assert ran(bisect(repo, made[0], made[1])) == (0, 12)


@pytest.mark.parametrize(
    ("first", "last", "option"),
    [(PASSES_ONCE, BREAKS, "--good"), (HOLDS, FAILS_ONCE, "--bad")],
)
def test_an_end_that_wavers_ends_it(repo: ScratchRepo, first: str, last: str, option: str) -> None:
    lay(repo, MOODY)
    made = commits(repo, first, last)
    outcome = bisect(repo, made[0], made[1])
    assert outcome.code == 3
    assert f"at {option} it came out differently when it was run again" in outcome.out


def test_fixed_trials_by_the_command_line(repo: ScratchRepo) -> None:
    lay(repo, MOODY)
    made = commits(repo, HOLDS, HOLDS, BREAKS)
    outcome = bisect(repo, made[0], "HEAD", "--trials", "3")
    assert found(outcome) == made[2][:10]
    assert "good: PASS, 3 of 3 passed" in outcome.out
    # A failure puts 3 of 3 out of reach; with one job none is started in vain.
    cheap = bisect(repo, made[0], "HEAD", "--trials", "3", "--no-cache", "--jobs", "1")
    assert "bad: FAIL, 0 of 1 passed" in cheap.out
    assert ran(bisect(repo, made[0], "HEAD", "--trials", "3"))[0] == 0


# Both ends -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scripts", "code", "said"),
    [
        ((BREAKS, BREAKS), 1, "it fails at --good too"),
        ((HOLDS, HOLDS), 3, "it passes at --bad: there is nothing to look for"),
        ((BREAKS, HOLDS), 1, "it fails at --good and passes at --bad: are they swapped"),
        ((CRASHES, BREAKS), 3, "whether it holds at --good is not known (ERROR: "),
        ((HOLDS, CRASHES), 3, "whether it holds at --bad is not known (ERROR: "),
        ((HOLDS, None), 3, "at --bad is not known (STALE: no agent here: "),
    ],
)
def test_ends_that_are_not_as_they_are_called(
    repo: ScratchRepo, scripts: tuple[str | None, ...], code: int, said: str
) -> None:
    lay(repo)
    made = commits(repo, *scripts)
    repo.write({RULES: "echo today\n"})
    outcome = bisect(repo, made[0], made[1])
    assert outcome.code == code, outcome
    assert said in outcome.out
    assert len(steps(outcome)) == 2


def test_ends_with_the_same_agent_cost_nothing(repo: ScratchRepo) -> None:
    lay(repo)
    commits(repo, BREAKS)
    repo.commit("docs", {"readme.md": "more\n"})
    outcome = bisect(repo, "HEAD~1", "HEAD")
    assert outcome.code == 3
    assert "the agent's own files are the same at --good and --bad" in outcome.out
    assert ran(outcome) == (0, 0)


def test_swapped_ends_are_refused_before_anything_is_paid(repo: ScratchRepo) -> None:
    lay(repo)
    made = commits(repo, HOLDS, BREAKS)
    outcome = bisect(repo, made[1], made[0])
    assert outcome.code == 2
    assert outcome.out == ""
    assert "--good comes after --bad: are they swapped?" in outcome.err
    (call,) = re.findall(r"do  guard (.*)", outcome.err)
    assert found(call_guard(repo.root, *call.split())) == made[1][:10]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("two", "--good", "HEAD~1", "--bad", "HEAD"), "two matches no case"),
        (("one", "--good", "v9", "--bad", "HEAD"), "v9 names no commit here"),
        (("one", "--good", "HEAD~1", "--bad", "HEAD:agent"), "HEAD:agent names no commit here"),
        (("one", "--good", "HEAD", "--bad", "main"), "name the same commit"),
        (("one", "--good", "other", "--bad", "main"), "no history in common"),
        (("evals/*.md", "--good", "HEAD~1", "--bad", "HEAD"), "names 2 cases: more, one"),
        (("one", "--good", "HEAD"), "--bad"),
        (("one", "--good", "HEAD~1", "--bad", "HEAD", "--json", "-"), "--json"),
    ],
)
def test_what_is_wrong_on_the_command_line(
    repo: ScratchRepo, arguments: tuple[str, ...], said: str
) -> None:
    lay(repo)
    commits(repo, HOLDS, BREAKS)
    repo.write(dict(case("ask", id="more")) if "*" in arguments[0] else {})
    tree = repo.git("rev-parse", "HEAD^{tree}").strip()
    repo.git("branch", "other", repo.git("commit-tree", tree, "-m", "alone").strip())
    outcome = call_guard(repo.root, "bisect", *arguments)
    assert outcome.code == 2, outcome
    assert outcome.out == ""
    assert said in outcome.err


def test_what_the_case_needs_is_asked_for_first(repo: ScratchRepo) -> None:
    lay(repo, prerequisites=["program:no-such-program"])
    made = commits(repo, HOLDS, BREAKS)
    outcome = bisect(repo, made[0], made[1])
    assert (outcome.code, outcome.out) == (3, "")
    assert "no-such-program" in outcome.err


def test_a_shallow_clone_says_how_to_fetch(repo: ScratchRepo) -> None:
    lay(repo)
    made = commits(repo, HOLDS, HOLDS, BREAKS, BREAKS)
    repo.git("clone", "--quiet", "--depth=2", f"file://{repo.root}", "../clone")
    clone = ScratchRepo(repo.root.parent / "clone")
    outcome = bisect(clone, made[0], "HEAD")
    assert outcome.code == 2
    assert "git fetch --unshallow" in outcome.err
    clone.git("fetch", "--quiet", "--unshallow")
    assert found(bisect(clone, made[0], "HEAD")) == made[2][:10]


# Branches ------------------------------------------------------------------------------------


@pytest.fixture
def merged(repo: ScratchRepo) -> dict[str, str]:
    """A branch breaks it and is merged; both sides go on. Name → commit."""
    lay(repo)
    (start,) = commits(repo, HOLDS)
    repo.git("checkout", "--quiet", "-b", "topic")
    first = repo.commit("topic 1", {RULES: f"{HOLDS}\n# topic\n"})
    second = repo.commit("topic 2", {RULES: f"{BREAKS}\n# topic\n"})
    repo.git("checkout", "--quiet", "main")
    main = repo.commit("main 1", {"other.md": "1\n"})
    repo.git("merge", "--quiet", "--no-ff", "-m", "merge topic", "topic")
    merge = repo.git("rev-parse", "HEAD").strip()
    tip = repo.commit("main 2", {"other.md": "2\n"})
    return {"start": start, "1": first, "2": second, "main": main, "merge": merge, "tip": tip}


def test_a_culprit_on_a_branch(repo: ScratchRepo, merged: Mapping[str, str]) -> None:
    assert found(bisect(repo, merged["start"], "HEAD")) == merged["2"][:10]


def test_first_parents_alone_end_at_the_merge(repo: ScratchRepo, merged: Mapping[str, str]) -> None:
    outcome = bisect(repo, merged["start"], "HEAD", "--first-parent")
    assert found(outcome) == merged["merge"][:10]
    assert "topic 2" not in outcome.out
    assert "M agent/rules.md" in outcome.out


def test_a_good_commit_on_another_branch(repo: ScratchRepo, merged: Mapping[str, str]) -> None:
    """The one from which both come is tried first."""
    outcome = bisect(repo, merged["main"], merged["2"])
    assert found(outcome) == merged["2"][:10]
    assert steps(outcome)[2] == "✓ good edit 0"


def test_good_and_bad_swapped_on_two_branches(repo: ScratchRepo, merged: Mapping[str, str]) -> None:
    outcome = bisect(repo, merged["2"], merged["main"])
    assert outcome.code == 1
    assert "it fails at --good and passes at --bad: are they swapped" in outcome.out


def test_what_was_mended_on_the_other_branch_was_not_broken_here(repo: ScratchRepo) -> None:
    lay(repo)
    (start,) = commits(repo, BREAKS)
    repo.git("checkout", "--quiet", "-b", "topic")
    mended = repo.commit("mend it", {RULES: f"{HOLDS}\n"})
    repo.git("checkout", "--quiet", "main")
    here = repo.commit("go on", {RULES: f"{BREAKS}\n# more\n"})
    outcome = bisect(repo, mended, here)
    assert outcome.code == 3
    assert f"it fails where --good and --bad parted ({start[:10]})" in outcome.out


def test_where_both_parted_cant_be_tested(repo: ScratchRepo) -> None:
    lay(repo)
    (start,) = commits(repo, CRASHES)
    repo.git("checkout", "--quiet", "-b", "topic")
    good = repo.commit("mend it", {RULES: f"{HOLDS}\n"})
    repo.git("checkout", "--quiet", "main")
    here = repo.commit("break it", {RULES: f"{BREAKS}\n"})
    outcome = bisect(repo, good, here)
    assert suspects(outcome) == [here[:10], start[:10]]
    assert f"what stands before {here[:10]} is not good" in outcome.out


# The agent as it was -------------------------------------------------------------------------


def test_an_agent_that_was_not_there_yet_cant_be_tested(repo: ScratchRepo) -> None:
    lay(repo)
    made = commits(repo, HOLDS, None, None, BREAKS, BREAKS)
    outcome = bisect(repo, made[0], "HEAD")
    assert suspects(outcome) == [commit[:10] for commit in made[3:0:-1]]
    assert "skipped: STALE (no agent here: none of its own paths were there)" in outcome.out


def test_a_renamed_folder_is_followed_by_guard_yaml(repo: ScratchRepo) -> None:
    """Each commit's own guard.yaml says where its agent was."""
    config_then = CONFIG.replace("skills/clerk", "skills/book")
    old = SKILL_PATH.replace("clerk", "book")
    files = {**CLERK_FILES, "guard.yaml": config_then, SKILL_PATH: None, old: FIXED}
    repo.write({SKILL_PATH: "x"})
    good = repo.commit("feat: clerk", files)
    repo.commit("quicker", {old: f"{FIXED}\nBe quick.\n"})
    culprit = repo.commit("shorter", {old: f"{BROKEN}\nBe quick.\n"})
    repo.commit("docs", {"readme.md": "1\n"})
    moved = {"guard.yaml": CONFIG, old: None, SKILL_PATH: f"{BROKEN}\nBe quick.\n"}
    repo.commit("rename", moved)
    repo.write({CASE_PATH: taxi()})
    outcome = call_guard(repo.root, "bisect", "taxi", "--good", good, "--bad", "HEAD")
    assert found(outcome) == culprit[:10]
    assert f"  M {old}\n" in outcome.out


def test_before_there_was_a_guard_yaml_todays_paths_count(repo: ScratchRepo) -> None:
    good = repo.commit("start", {RULES: f"{HOLDS}\n"})
    culprit = repo.commit("break it", {RULES: f"{BREAKS}\n"})
    repo.commit("feat: clerk", {**config(clerk(options=STEADY)), RULES: f"{BREAKS}\n# more\n"})
    repo.write(dict(case("ask")))
    outcome = bisect(repo, good, "HEAD")
    assert found(outcome) == culprit[:10]
    assert "  M agent/rules.md\n" in outcome.out


def test_a_commit_that_changed_what_is_the_agents_own(repo: ScratchRepo) -> None:
    """Without its second file the agent of that commit is another one."""
    script = {"argv": ["sh", "-c", "cat *.md"], "deterministic": True}
    wide = config(clerk(options=script, paths=["agent/*.md"]))
    good = repo.commit("wide", {**wide, **case("ask"), "agent/more.md": "hello\n"})
    narrow = config(clerk(options=script, paths=["agent/rules.md"]))["guard.yaml"]
    bad = repo.commit("narrow", {"guard.yaml": narrow})
    repo.write({"guard.yaml": wide["guard.yaml"]})
    outcome = bisect(repo, good, bad)
    assert found(outcome) == bad[:10]
    assert "  no file of the agent: guard.yaml says which are its own" in outcome.out


def test_names_of_files_and_subjects_are_printable(repo: ScratchRepo) -> None:
    lay(repo)
    commits(repo, HOLDS)
    repo.write({"guard.yaml": config(clerk(options=STEADY, paths=["agent/**"]))["guard.yaml"]})
    good = repo.commit("wider")
    odd = repo.root / "agent" / "a\x1b[31m\n.md"
    odd.write_text("x")
    bad = repo.commit("\x1b[31mred", {RULES: BREAKS})
    outcome = bisect(repo, good, bad)
    assert found(outcome) == bad[:10]
    assert "\x1b" not in outcome.out
    assert "  A agent/a\\x1b[31m\\n.md\n  M agent/rules.md\n" in outcome.out


def test_a_process_of_its_own(repo: ScratchRepo) -> None:
    """Steps are told as they end, on standard output; the exit code is the command's."""
    lay(repo)
    made = commits(repo, HOLDS, BREAKS)
    outcome = start_guard(repo, "bisect", "one", "--good", made[0], "--bad", made[1])
    assert found(outcome) == made[1][:10]
    assert outcome.err == ""
