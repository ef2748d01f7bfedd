"""What is staged is judged: affected cases run, within the budget, whatever lies on disk."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from guard.nesting import marker_of
from tests.conftest import ScratchRepo
from tests.hooks.installed import (
    BAD_TALK,
    BAD_WALK,
    CONFIG,
    FILES,
    GOOD_TALK,
    TALK,
    TALK_CASE,
    WALK,
    WALK_CASE,
    Installed,
    case,
    make_installed,
    skill,
)
from tests.invariants import unchanged

BETTER_TALK = skill("talk", "say hello, and mean it")


@pytest.fixture
def installed(repo: ScratchRepo) -> Installed:
    return make_installed(repo)


def with_gate(config: str = CONFIG) -> str:
    """Return a guard.yaml whose agents are judged by a gate."""
    return config.replace(", deterministic: true", "")


# Which cases ---------------------------------------------------------------------------


def test_affected_case_runs_and_the_other_does_not(installed: Installed) -> None:
    installed.stage({TALK: BETTER_TALK})
    said = installed.accept("feat(talk): mean it")
    assert said.splitlines() == [
        "guard: agent talk changed, 1 case affected (no case of talk changed: a fix brings one)",
        "✓ 1 held when run now (greets 2 of 2)",
    ]
    assert (installed.trials("greets"), installed.trials("stops")) == (2, 0)


def test_affected_case_that_fails_blocks(installed: Installed) -> None:
    installed.stage({TALK: BAD_TALK})
    said = installed.refuse("feat(talk): say less")
    assert "guard: refused: greets fails with this change" in said
    assert "✗ greets   0 of 2    reply_contains: " in said
    assert "guard show greets#1" in said
    assert len(said.splitlines()) <= 8


def test_case_that_is_known_to_have_held_is_called_so(installed: Installed) -> None:
    installed.stage({TALK: BETTER_TALK})
    installed.accept("feat(talk): mean it")
    installed.stage({TALK: BAD_TALK})
    said = installed.refuse("feat(talk): say less")
    assert "guard: refused: greets held before this change and fails with it" in said
    assert f"  do      mend {TALK}, then: git add {TALK}\n" in said
    assert "          git commit -q -m 'feat(talk): say less'\n" in said


def test_a_mended_skill_that_is_not_staged_is_named(installed: Installed) -> None:
    installed.stage({TALK: BAD_TALK})
    installed.write({TALK: BETTER_TALK, WALK: BAD_WALK, "evals/talk/new.md": "draft"})
    said = installed.refuse("feat(talk): say less")
    assert f"\n  likely   {TALK} has changes that are not staged\n" in said
    assert f"  do      git add {TALK}\n" in said
    assert len(said.splitlines()) <= 8


def test_case_that_failed_before_is_called_so(installed: Installed) -> None:
    installed.stage({TALK: BAD_TALK})
    installed.refuse("feat(talk): say less")
    installed.stage({TALK: skill("talk", "say even less")})
    said = installed.refuse("feat(talk): say even less")
    assert "greets failed before this change, and still fails" in said


def test_two_broken_cases_are_told_together(installed: Installed) -> None:
    installed.stage({TALK: BAD_TALK, WALK: BAD_WALK})
    said = installed.refuse("feat: worse")
    assert "guard: agents talk, walk changed, 2 cases affected" in said
    assert "guard: refused: 2 cases fail with this change: greets, stops" in said
    assert len(said.splitlines()) <= 8


def test_nothing_guarded_is_staged(installed: Installed) -> None:
    installed.stage({TALK: BETTER_TALK})
    installed.accept("feat(talk): mean it")  # all cases are known to the store now
    installed.stage({"README.md": "other\n"})
    assert installed.accept("docs: other") == ""
    assert installed.trials("stops") == 0


def test_new_case_is_run_and_its_change_is_noticed(installed: Installed) -> None:
    installed.stage({TALK: BETTER_TALK, "evals/talk/means.md": case("means", "mean it")})
    said = installed.accept("feat(talk): mean it")
    assert "guard: agent talk changed, 2 cases affected" in said
    assert "no case of" not in said
    assert (installed.trials("means"), installed.trials("greets")) == (2, 2)


def test_receipts_answer_what_was_run(installed: Installed) -> None:
    installed.stage({TALK: BETTER_TALK})
    installed.accept("feat(talk): mean it")
    installed.stage({TALK: GOOD_TALK})
    installed.accept("feat(talk): as before")
    installed.stage({TALK: BETTER_TALK})
    said = installed.accept("feat(talk): mean it after all")
    assert "✓ 1 answered by receipts of today (greets 2 of 2)" in said
    assert installed.trials("greets") == 4


def test_commit_that_commit_msg_refuses_pays_nothing_twice(installed: Installed) -> None:
    installed.stage({TALK: BETTER_TALK})
    assert "fix-needs-case" in installed.refuse("fix(talk): mean it")
    assert "answered by receipts" in installed.accept("feat(talk): mean it")
    assert installed.trials("greets") == 2


def test_failure_by_a_gate_is_confirmed(repo: ScratchRepo) -> None:
    installed = make_installed(repo, {**FILES, "guard.yaml": with_gate()})
    installed.stage({TALK: BAD_TALK})
    said = installed.refuse("feat(talk): say less")
    assert "✗ greets   0 of 2, and 0 of 2 when repeated" in said
    assert installed.trials("greets") == 4


def test_unexpected_pass_blocks(installed: Installed) -> None:
    baseline = "expected_baseline: [{failing_keys: [reply_contains], note: known}]\n"
    installed.stage({TALK_CASE: case("greets", "say hello", baseline)})
    said = installed.refuse("test: expect less")
    assert "refused: greets passes, and its baseline says that it fails (XPASS)" in said


# Which tree ----------------------------------------------------------------------------


def test_fix_that_is_staged_counts_while_the_disk_is_broken(installed: Installed) -> None:
    installed.stage({TALK: BETTER_TALK})
    installed.write({TALK: BAD_TALK})
    installed.accept("feat(talk): mean it")
    assert installed.root.joinpath(TALK).read_text(encoding="utf-8") == BAD_TALK


def test_break_that_is_staged_counts_while_the_disk_is_good(installed: Installed) -> None:
    installed.stage({TALK: BAD_TALK})
    installed.write({TALK: GOOD_TALK})
    assert "greets fails" in installed.refuse("feat(talk): say less")


def test_untracked_helper_helps_nobody(repo: ScratchRepo) -> None:
    config = CONFIG.replace("[cat, SKILL.md]", "[cat, SKILL.md, helper.txt]", 1)
    installed = make_installed(repo, {**FILES, "guard.yaml": config})
    installed.stage({TALK: BETTER_TALK})
    installed.write({"skills/talk/helper.txt": "say hello\n"})
    done = installed.try_commit("-m", "feat(talk): mean it")
    assert "! ERROR: greets" in done.stderr or "owed: greets" in done.stderr


def test_amending_is_compared_with_what_is_amended(installed: Installed) -> None:
    installed.bypass("feat(talk): say less", {TALK: BAD_TALK})
    assert "greets fails" in installed.refuse("feat(talk): less", "--amend")
    installed.stage({TALK: BETTER_TALK})
    installed.accept("feat(talk): mean it", "--amend")


def test_root_commit(repo: ScratchRepo) -> None:
    installed = Installed(repo.root)
    installed.install()
    installed.stage({**FILES, TALK: BAD_TALK})
    assert "greets fails" in installed.refuse("feat: all")
    installed.stage(FILES)
    assert "1 held when run now (greets 2 of 2)" in installed.accept("feat: all")


def test_partial_commit_is_judged_alone(installed: Installed) -> None:
    installed.stage({TALK: BAD_TALK, WALK: skill("walk", "stop at red, always")})
    said = installed.accept("feat(walk): always", "--", WALK)
    assert "agent walk changed, 1 case affected" in said
    assert installed.trials("greets") == 0


def test_clean_merge_runs_what_it_brings(installed: Installed) -> None:
    installed.git("checkout", "-qb", "side")
    installed.bypass("feat(talk): say less", {TALK: BAD_TALK})
    installed.git("checkout", "-q", "main")
    installed.bypass("docs: more", {"README.md": "more\n"})
    done = installed.run("git", "merge", "--no-edit", "side")
    assert done.returncode != 0
    assert "greets fails" in done.stderr


def test_clean_merge_of_good_work_passes(installed: Installed) -> None:
    installed.git("checkout", "-qb", "side")
    installed.bypass("feat(talk): mean it", {TALK: BETTER_TALK})
    installed.git("checkout", "-q", "main")
    installed.bypass("docs: more", {"README.md": "more\n"})
    done = installed.run("git", "merge", "--no-edit", "side")
    assert done.returncode == 0, done.stderr
    assert "1 held when run now" in done.stderr


def test_merge_is_not_asked_for_what_one_side_did(installed: Installed) -> None:
    """The commit of that side was judged, or exempted, on its own."""
    more = "  jump: {paths: [skills/jump/**], target: command, options: {argv: [cat]}}\n"
    installed.git("checkout", "-qb", "side")
    installed.bypass("feat: jump", {"guard.yaml": CONFIG + more})
    installed.git("checkout", "-q", "main")
    installed.bypass("docs: more", {"README.md": "more\n"})
    done = installed.run("git", "merge", "--no-edit", "side")
    assert done.returncode == 0, done.stderr


def test_merge_is_asked_for_what_it_breaks_itself(installed: Installed) -> None:
    """The record stands on one side; the other side moved its case to another agent."""
    record = {
        "agent": "talk",
        "case": TALK_CASE,
        "before": {"kind": "parent"},
        "fails_on": ["reply_contains"],
    }
    records = {"schema": "guard.regressions.v1", "regressions": {"greets": record}}
    installed.git("checkout", "-qb", "side")
    installed.bypass("test: a record", {"regressions.json": json.dumps(records)})
    installed.git("checkout", "-q", "main")
    moved = {TALK_CASE: None, "evals/walk/greets.md": case("greets", "stop at red")}
    installed.bypass("test: move it", moved)
    done = installed.run("git", "merge", "--no-edit", "side")
    assert done.returncode != 0
    assert "(record-invalid)" in done.stderr


def test_linked_worktree_has_the_same_hooks_and_memory(
    installed: Installed, tmp_path: Path
) -> None:
    installed.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "linked")
    linked = Installed(tmp_path / "linked")
    linked.stage({TALK: BAD_TALK})
    assert "greets fails" in linked.refuse("feat(talk): say less")
    linked.stage({TALK: BETTER_TALK})
    linked.accept("feat(talk): mean it")
    installed.stage({TALK: BETTER_TALK})
    assert "answered by receipts" in installed.accept("feat(talk): mean it too")


def test_from_a_subfolder(installed: Installed) -> None:
    installed.stage({TALK: BAD_TALK})
    done = installed.try_commit("-m", "feat: less", cwd=installed.root / "skills")
    assert done.returncode != 0
    assert "greets fails" in done.stderr


# Rules ---------------------------------------------------------------------------------


def test_invalid_record_is_refused_before_any_case_runs(installed: Installed) -> None:
    record = {"agent": "talk", "case": "evals/talk/gone.md", "before": {"kind": "parent"}}
    records = {"schema": "guard.regressions.v1", "regressions": {"gone": record}}
    installed.stage({"regressions.json": json.dumps(records), TALK: BAD_TALK})
    said = installed.refuse("feat: a record")
    assert "(record-invalid)" in said
    assert installed.trials("greets") == 0


def test_agent_that_comes_without_a_case_is_refused(installed: Installed) -> None:
    more = "  jump: {paths: [skills/jump/**], target: command, options: {argv: [cat]}}\n"
    installed.stage({"guard.yaml": CONFIG + more, "skills/jump/SKILL.md": skill("jump", "jump")})
    said = installed.refuse("feat: jump")
    assert "this adds, without a case, agent jump (agent-without-case)" in said
    assert "guard new-case ID --agent jump" in said


def test_error_in_guard_yaml_names_its_line(installed: Installed) -> None:
    installed.stage({"guard.yaml": CONFIG.replace("target: command", "targett: command", 1)})
    said = installed.refuse("feat: typo")
    assert "guard.yaml:5" in said
    assert "Traceback" not in said


def test_commit_that_mends_guard_yaml_can_be_made(installed: Installed) -> None:
    broken = CONFIG.replace("target: command", "targett: command", 1)
    installed.bypass("feat: typo", {"guard.yaml": broken})
    installed.stage({"guard.yaml": CONFIG})
    installed.accept("chore: mend guard.yaml")


# What is owed --------------------------------------------------------------------------


def test_paid_case_of_unknown_cost_is_owed_and_the_commit_goes_on(repo: ScratchRepo) -> None:
    config = CONFIG.replace("    cases: [evals/talk", "    paid: true\n    cases: [evals/talk")
    installed = make_installed(repo, {**FILES, "guard.yaml": config})
    installed.stage({TALK: BAD_TALK})
    said = installed.accept("feat(talk): say less")
    assert "? 1 owed: greets (not started: this hook has 60 s)" in said
    assert said.splitlines()[-1].startswith("going on with what is known; before you push: guard ")
    assert installed.trials("greets") == 0


def test_missing_prerequisite_is_named_and_the_commit_goes_on(repo: ScratchRepo) -> None:
    config = CONFIG.replace("    cases: [evals/talk", "    env: [NO_SUCH]\n    cases: [evals/talk")
    installed = make_installed(repo, {**FILES, "guard.yaml": config})
    installed.stage({TALK: BAD_TALK})
    said = installed.accept("feat(talk): say less")
    assert "? 1 owed: greets (SKIP: the environment variable NO_SUCH is not set)" in said


def test_target_that_breaks_is_named_and_the_commit_goes_on(repo: ScratchRepo) -> None:
    config = CONFIG.replace("[cat, SKILL.md]", "[no-such-program]", 1)
    installed = make_installed(repo, {**FILES, "guard.yaml": config})
    installed.stage({TALK: BETTER_TALK})
    said = installed.accept("feat(talk): mean it")
    assert "? 1 owed: greets (ERROR: " in said


def test_stale_case_is_named_and_the_commit_goes_on(installed: Installed) -> None:
    stale = case("greets", "say hello", "preconditions: [{file_exists: gone.txt}]\n")
    installed.stage({TALK_CASE: stale})
    said = installed.accept("test: a precondition")
    assert "! STALE: greets (stale, needs review: " in said


def test_budget_of_guard_yaml_holds(repo: ScratchRepo) -> None:
    config = CONFIG + "hooks: {pre-commit: {max_seconds: 0}}\n"
    installed = make_installed(repo, {**FILES, "guard.yaml": config})
    installed.stage({TALK: BAD_TALK})
    assert "1 owed: greets" in installed.accept("feat(talk): say less")
    assert installed.trials("greets") == 0


# Around it -----------------------------------------------------------------------------


def test_without_guard_yaml_one_line(repo: ScratchRepo) -> None:
    installed = make_installed(repo, {"README.md": "hello\n"})
    installed.stage({"README.md": "other\n"})
    done = installed.call_hook("pre-commit")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "guard: no guard.yaml, nothing is guarded\n"


def test_missing_commit_msg_hook_is_warned_of(installed: Installed) -> None:
    (installed.root / ".git/hooks/commit-msg").unlink()
    installed.stage({TALK: BETTER_TALK})
    said = installed.accept("fix(talk): mean it")
    assert "! there is no commit-msg hook" in said


def test_file_names_are_no_scope(installed: Installed) -> None:
    installed.stage({TALK: BAD_TALK})
    done = installed.call_hook("pre-commit", "README.md")
    assert done.returncode == 1
    assert "greets fails" in done.stderr


def test_hook_in_a_hook_of_the_same_repository_is_not_judged_again(installed: Installed) -> None:
    installed.stage({TALK: BAD_TALK})
    git_dir = str(installed.root / ".git")
    done = installed.call_hook("pre-commit", GUARD_HOOK_ACTIVE=marker_of(git_dir))
    assert done.returncode == 0
    assert "not judged again" in done.stderr
    for said in (marker_of("/elsewhere"), git_dir):
        assert installed.call_hook("pre-commit", GUARD_HOOK_ACTIVE=said).returncode == 1, said


def test_index_that_changes_while_cases_run_is_refused(repo: ScratchRepo) -> None:
    slow = '["sh", "-c", "sleep 1; cat SKILL.md"]'
    config = CONFIG.replace("[cat, SKILL.md]", slow, 1)
    installed = make_installed(repo, {**FILES, "guard.yaml": config})
    installed.stage({TALK: BETTER_TALK})
    hook = subprocess.Popen(
        [installed.root / ".git/hooks/pre-commit"],
        cwd=installed.root,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert hook.stderr is not None
    assert hook.stderr.readline().startswith("guard: agent talk changed, 1 case affected (")
    installed.stage({"README.md": "other\n"})
    said = hook.stderr.read()
    hook.stderr.close()
    assert hook.wait() == 3, said
    assert "the index changed while it was judged" in said


@pytest.mark.parametrize("text", [BETTER_TALK, BAD_TALK])
def test_changes_nothing_of_the_users(installed: Installed, text: str) -> None:
    installed.stage({TALK: text, "untracked.txt": "1\n"})
    installed.git("reset", "-q", "untracked.txt")
    with unchanged(installed):
        installed.call_hook("pre-commit")


def test_locked_index_is_read(installed: Installed) -> None:
    """During `git commit -a` the index is locked."""
    installed.write({TALK: BAD_TALK})
    assert "greets fails" in installed.refuse("feat(talk): say less", "-a")


def test_own_guard_folder_of_the_user_is_not_imported(repo: ScratchRepo) -> None:
    files = {**FILES, "guard/__init__.py": "raise SystemExit(0)\n", "guard/cli.py": ""}
    installed = make_installed(repo, FILES)
    installed.bypass("feat: guard", files)
    installed.stage({TALK: BAD_TALK})
    done = installed.try_commit("-m", "feat(talk): say less", PYTHONPATH=".")
    assert done.returncode != 0
    assert "greets fails" in done.stderr


def test_show_finds_the_trial_that_the_refusal_names(installed: Installed) -> None:
    installed.stage({TALK: BAD_TALK})
    installed.refuse("feat(talk): say less")
    shown = installed.guard("show", "greets#1")
    assert shown.returncode == 0
    assert "say nothing" in shown.stdout


def test_walk_is_guarded_too(installed: Installed) -> None:
    installed.stage({WALK: BAD_WALK, WALK_CASE: case("stops", "run at red")})
    assert "1 held when run now (stops 2 of 2)" in installed.accept("feat(walk): run")
