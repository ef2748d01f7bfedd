"""What is pushed is judged: its own commits by the rules, its tips by suite and proofs."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ScratchRepo
from tests.hooks.installed import (
    BAD_TALK,
    CONFIG,
    FILES,
    GOOD_TALK,
    TALK,
    TALK_CASE,
    WALK,
    Done,
    Installed,
    case,
    make_installed,
    skill,
)
from tests.invariants import unchanged

BETTER_TALK = skill("talk", "say hello, and mean it")
ZERO = "0" * 40


@pytest.fixture
def installed(repo: ScratchRepo, tmp_path: Path) -> Installed:
    return with_remote(make_installed(repo), tmp_path)


def with_remote(installed: Installed, folder: Path) -> Installed:
    """Give the repository a remote `up`, which has main."""
    installed.git("init", "-q", "--bare", str(folder / "up"))
    installed.git("remote", "add", "up", str(folder / "up"))
    installed.git("push", "-q", "--no-verify", "up", "main")
    return installed


def push(installed: Installed, *refs: str) -> Done:
    return installed.run("git", "push", "up", *refs)


def pushed(installed: Installed, *refs: str) -> str:
    """Push; fail where the hook refuses. Return what was said."""
    done = push(installed, *refs)
    assert done.returncode == 0, done.stderr
    return done.stderr


def refused(installed: Installed, *refs: str) -> str:
    """Push; fail where the hook accepts. Return what guard said."""
    before = installed.git("ls-remote", "up")
    done = push(installed, *refs)
    assert done.returncode != 0, done.stderr
    assert installed.git("ls-remote", "up") == before
    return "".join(
        line for line in done.stderr.splitlines(keepends=True) if not line.startswith("error: ")
    )


def record(**changed: Any) -> str:
    """Return a regressions.json with one record, of the case greets."""
    found = {
        "agent": "talk",
        "case": TALK_CASE,
        "incident": {"summary": "said nothing", "date": "2031-07-10", "issue": None},
        "before": {"kind": "parent"},
        "fails_on": ["reply_contains"],
        "proof": None,
        "status": "active",
        "retirement": None,
        **changed,
    }
    document = {"schema": "guard.regressions.v1", "regressions": {"greets": found}}
    return json.dumps(document, indent=2) + "\n"


# Suites --------------------------------------------------------------------------------


def test_suite_runs_on_the_tip(installed: Installed) -> None:
    installed.bypass("feat(talk): mean it", {TALK: BETTER_TALK})
    tip = installed.git("rev-parse", "HEAD").strip()[:10]
    said = pushed(installed, "main")
    assert f"guard: main at {tip}: 1 commit, 2 cases, 0 regressions" in said
    assert "✓ 2 held when run now (greets 2 of 2, stops 2 of 2)" in said


def test_receipts_of_the_commit_answer_the_push(installed: Installed) -> None:
    installed.stage({TALK: BETTER_TALK, WALK: skill("walk", "stop at red, always")})
    installed.accept("feat: better")
    ran = installed.trials("greets"), installed.trials("stops")
    assert "✓ 2 answered by receipts of today" in pushed(installed, "main")
    assert (installed.trials("greets"), installed.trials("stops")) == ran == (2, 2)


def test_tip_that_breaks_a_case_is_refused(installed: Installed) -> None:
    installed.bypass("feat(talk): say less", {TALK: BAD_TALK})
    tip = installed.git("rev-parse", "HEAD").strip()[:10]
    said = refused(installed, "main")
    assert f"guard: not pushed: greets fails in main at {tip}" in said
    assert "✗ greets   0 of 2    reply_contains: " in said
    assert len(said.splitlines()) <= 8


def test_branch_that_is_not_checked_out_is_judged_by_its_tip(installed: Installed) -> None:
    installed.git("checkout", "-qb", "other")
    installed.bypass("feat(talk): say less", {TALK: BAD_TALK})
    installed.git("checkout", "-q", "main")
    assert "greets fails in other" in refused(installed, "other")

    installed.git("checkout", "-q", "-b", "good", "main")
    installed.bypass("feat(talk): mean it", {TALK: BETTER_TALK})
    installed.git("checkout", "-q", "main")
    installed.write({TALK: BAD_TALK})
    pushed(installed, "good")
    assert installed.root.joinpath(TALK).read_text(encoding="utf-8") == BAD_TALK


def test_several_refs_of_one_tree_are_run_once(installed: Installed) -> None:
    installed.bypass("feat(talk): mean it", {TALK: BETTER_TALK})
    installed.git("tag", "-a", "-m", "v1", "v1")
    said = pushed(installed, "main", "main:copy", "v1")
    assert said.count("2 cases") == 1
    assert installed.trials("greets") == 2


def test_one_bad_ref_of_several_stops_the_push(installed: Installed) -> None:
    installed.bypass("feat(talk): mean it", {TALK: BETTER_TALK})
    installed.git("checkout", "-qb", "bad")
    installed.bypass("feat(talk): say less", {TALK: BAD_TALK})
    said = refused(installed, "main", "bad")
    assert "main at" in said
    assert "✓ 1 held when run now (greets 2 of 2)" in said
    assert "greets fails in bad" in said


def test_old_commit_under_a_new_name(installed: Installed) -> None:
    installed.bypass("feat(talk): mean it", {TALK: BETTER_TALK})
    pushed(installed, "main")
    said = pushed(installed, "HEAD:refs/heads/release")
    assert "release at" in said
    assert "nothing new, 2 cases" in said
    assert "✓ 2 answered by receipts" in said


def test_new_branch_is_judged_by_its_own_commits_only(installed: Installed) -> None:
    installed.bypass("fix(talk): mean it", {TALK: BETTER_TALK})
    installed.git("push", "-q", "--no-verify", "up", "main")
    installed.git("checkout", "-qb", "new")
    installed.bypass("docs: more", {"README.md": "more\n"})
    assert "new at" in pushed(installed, "new")


# Proofs --------------------------------------------------------------------------------


def fix(installed: Installed, **changed: Any) -> None:
    """Break the skill upstream, then fix it here with its case and record."""
    installed.bypass("feat(talk): say less", {TALK: BAD_TALK, TALK_CASE: None})
    installed.git("push", "-q", "--no-verify", "up", "main")
    files = {TALK: GOOD_TALK, TALK_CASE: FILES[TALK_CASE], "regressions.json": record(**changed)}
    installed.stage(files)
    installed.accept("fix(talk): say hello again")


def test_regression_is_proven_on_the_way(installed: Installed) -> None:
    fix(installed)
    said = pushed(installed, "main")
    assert "1 regression\n" in said
    assert "✓ 1 regression proven" in said


def test_vacuous_record_is_refused(installed: Installed) -> None:
    (installed.root / TALK_CASE).write_text(case("greets", "name"), encoding="utf-8")
    installed.bypass("feat(talk): say less", {TALK: BAD_TALK, TALK_CASE: None})
    installed.git("push", "-q", "--no-verify", "up", "main")
    files = {TALK: GOOD_TALK, TALK_CASE: case("greets", "name"), "regressions.json": record()}
    installed.bypass("fix(talk): say hello again", files)
    said = refused(installed, "main")
    assert "guard: not pushed: greets isn't proven in main at " in said
    assert "✗ greets VACUOUS: " in said


@pytest.mark.parametrize("owed", ["block", "ci"])
def test_pending_record_is_pushed_where_ci_pays(
    repo: ScratchRepo, tmp_path: Path, owed: str
) -> None:
    config = CONFIG.replace("    cases: [evals/talk", "    paid: true\n    cases: [evals/talk")
    config += f"hooks: {{pre-push: {{owed: {owed}}}}}\n"
    installed = with_remote(make_installed(repo, {**FILES, "guard.yaml": config}), tmp_path)
    fix(installed)
    if owed == "ci":
        said = pushed(installed, "main")
        assert "owed: greets (PENDING, its proof isn't there yet)" in said
        return
    said = refused(installed, "main")
    assert "1 case and 1 regression have no evidence for main at " in said
    assert "guard run --owed" in said
    assert "guard verify greets" in said
    assert len(said.splitlines()) <= 8


# Rules ---------------------------------------------------------------------------------


def test_fix_without_a_case_is_refused_with_its_commit(installed: Installed) -> None:
    installed.bypass("fix(talk): mean it", {TALK: BETTER_TALK})
    wrong = installed.git("rev-parse", "HEAD").strip()[:10]
    installed.bypass("docs: more", {"README.md": "more\n"})
    said = refused(installed, "main")
    assert "guard: not pushed: this fix changes agent talk and brings no case" in said
    assert "(fix-needs-case)" in said.splitlines()[0]
    assert f"commit   {wrong} fix(talk): mean it" in said
    assert f"git commit --fixup={wrong} && GIT_SEQUENCE_EDITOR=: git rebase -i --autosquash" in said
    assert len(said.splitlines()) <= 8
    assert installed.trials("greets") == 0


def test_fix_at_the_tip_is_mended_by_amending(installed: Installed) -> None:
    installed.bypass("fix(talk): mean it", {TALK: BETTER_TALK})
    assert "git commit --amend --no-edit" in refused(installed, "main")


def test_commands_of_the_refusal_mend_it(installed: Installed) -> None:
    installed.bypass("fix(talk): mean it", {TALK: BETTER_TALK})
    installed.bypass("docs: more", {"README.md": "more\n"})
    said = refused(installed, "main")
    installed.write({"evals/talk/means.md": case("means", "mean it")})
    means = record(case="evals/talk/means.md").replace('"greets"', '"means"')
    installed.write({"regressions.json": means})
    commands = [line[11:] for line in said.splitlines() if line.startswith("           ")]
    script = "\n".join(line for line in commands if line.startswith("git "))
    done = installed.run("sh", "-ec", script)
    assert done.returncode == 0, done.stderr
    assert installed.git("log", "-2", "--format=%s").splitlines()[1] == "fix(talk): mean it"
    pushed(installed, "main")


def test_weakened_case_is_refused_with_the_trailer_it_needs(installed: Installed) -> None:
    fix(installed)
    pushed(installed, "main")
    looser = case("greets", "say").replace("reply_contains", "reply_matches")
    installed.bypass("test(talk): looser", {TALK_CASE: looser})
    said = refused(installed, "main")
    assert "(case-weakened)" in said
    assert '--trailer "Case-Weakened: greets: REASON"' in said


def test_exempted_fix_is_listed(installed: Installed) -> None:
    message = "fix(talk): mean it\n\nGuard-Exempt: it is only about tone\n"
    installed.bypass(message, {TALK: BETTER_TALK})
    assert "! exempt: " in pushed(installed, "main")


def test_cosmetic_fixes_are_counted(installed: Installed) -> None:
    for more in ("\n", "\n\n"):
        installed.bypass("fix(talk): white space", {TALK: GOOD_TALK + more})
    said = "2 files of fixes changed only cosmetically, no case asked: white space (2)"
    assert f"! {said}" in pushed(installed, "main")


def test_commit_two_branches_share_is_judged_with_the_shorter(installed: Installed) -> None:
    """The case that `more` brings later is not on `less`: there the fix lacks it."""
    installed.bypass("chore: range", {"guard.yaml": CONFIG + "fix: {unit: range}\n"})
    installed.git("push", "-q", "--no-verify", "up", "main")
    installed.git("checkout", "-qb", "less")
    installed.bypass("fix(talk): mean it", {TALK: BETTER_TALK})
    installed.git("checkout", "-qb", "more")
    means = record(case="evals/talk/means.md").replace('"greets"', '"means"')
    files = {"evals/talk/means.md": case("means", "mean it"), "regressions.json": means}
    installed.bypass("test(talk): a case", files)
    assert "(fix-needs-case)" in refused(installed, "more", "less")
    assert "means" in pushed(installed, "more")


def test_error_in_a_pushed_guard_yaml_names_the_branch(installed: Installed) -> None:
    broken = CONFIG.replace("target: command", "targett: command", 1)
    installed.bypass("feat: typo", {"guard.yaml": broken})
    said = refused(installed, "main")
    assert "guard.yaml:5" in said
    assert "Traceback" not in said


def test_removed_guard_yaml_is_a_weakening(installed: Installed) -> None:
    installed.bypass("chore: less", {"guard.yaml": None})
    assert "(case-weakened)" in refused(installed, "main")


def test_agent_that_the_tip_has_a_case_of_is_not_noted(repo: ScratchRepo, tmp_path: Path) -> None:
    installed = with_remote(make_installed(repo, {"README.md": "nothing yet\n"}), tmp_path)
    installed.bypass("feat: guard it", {n: FILES[n] for n in ("guard.yaml", TALK, WALK)})
    installed.bypass("test: a case", {TALK_CASE: FILES[TALK_CASE]})
    said = pushed(installed, "main")
    assert "agent walk has no case yet" in said
    assert "agent talk has no case yet" not in said


# What is owed --------------------------------------------------------------------------


@pytest.mark.parametrize("owed", ["block", "ci"])
def test_debts(repo: ScratchRepo, tmp_path: Path, owed: str) -> None:
    config = CONFIG.replace("    cases: [evals/talk", "    env: [NO_SUCH]\n    cases: [evals/talk")
    config += f"hooks: {{pre-push: {{owed: {owed}}}}}\n"
    installed = with_remote(make_installed(repo, {**FILES, "guard.yaml": config}), tmp_path)
    installed.bypass("feat(talk): mean it", {TALK: BETTER_TALK})
    if owed == "ci":
        said = pushed(installed, "main")
        assert "? 1 owed: greets (SKIP: the environment variable NO_SUCH is not set)" in said
        return
    tip = installed.git("rev-parse", "HEAD").strip()[:10]
    said = refused(installed, "main")
    assert f"guard: not pushed: 1 case has no evidence for main at {tip}" in said
    assert "  do       set up what is missing on this machine, then: guard run --owed\n" in said
    assert "in guard.yaml: hooks: {pre-push: {owed: ci}}\n" in said
    assert "git push" in said


def test_debt_of_a_branch_elsewhere_names_the_tree_to_run(
    repo: ScratchRepo, tmp_path: Path
) -> None:
    config = CONFIG.replace("    cases: [evals/talk", "    env: [NO_SUCH]\n    cases: [evals/talk")
    installed = with_remote(make_installed(repo, {**FILES, "guard.yaml": config}), tmp_path)
    installed.git("checkout", "-qb", "other")
    tip = installed.bypass("feat(talk): mean it", {TALK: BETTER_TALK})[:10]
    installed.git("checkout", "-q", "main")
    assert f"guard run --owed --at {tip}" in refused(installed, "other")


def test_what_is_not_settled_is_refused_whoever_pays(repo: ScratchRepo, tmp_path: Path) -> None:
    config = CONFIG + "hooks: {pre-push: {owed: ci}}\n"
    stale = case("greets", "say hello", "preconditions: [{file_exists: gone.txt}]\n")
    files = {**FILES, "guard.yaml": config, TALK_CASE: stale}
    installed = with_remote(make_installed(repo, files), tmp_path)
    installed.bypass("feat(talk): mean it", {TALK: BETTER_TALK})
    said = refused(installed, "main")
    assert "! STALE: greets" in said


# What git says -------------------------------------------------------------------------


def test_deletion_alone_costs_nothing(installed: Installed) -> None:
    installed.git("push", "-q", "--no-verify", "up", "main:old")
    assert "guard:" not in pushed(installed, ":old")


def test_deletion_beside_an_update(installed: Installed) -> None:
    installed.git("push", "-q", "--no-verify", "up", "main:old")
    installed.bypass("feat(talk): say less", {TALK: BAD_TALK})
    assert "greets fails in main" in refused(installed, ":old", "main")


def test_push_without_news_is_silent(installed: Installed) -> None:
    assert "guard:" not in pushed(installed, "main")


@pytest.mark.parametrize("said", ["", "\n"])
def test_empty_input_is_nothing_to_judge(installed: Installed, said: str) -> None:
    done = installed.call_hook("pre-push", "up", "url", said=said)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_unreadable_input_is_refused(installed: Installed) -> None:
    done = installed.call_hook("pre-push", "up", "url", said="what is this\n")
    assert done.returncode == 3
    assert "which isn't a ref" in done.stderr


def test_terminal_is_not_waited_for(installed: Installed) -> None:
    master, slave = pty.openpty()
    try:
        done = subprocess.run(
            [installed.root / ".git/hooks/pre-push", "up", "url"],
            stdin=slave,
            cwd=installed.root,
            timeout=60,
            check=False,
        )
    finally:
        os.close(master)
        os.close(slave)
    assert done.returncode == 0


def test_input_is_drained_before_any_exit(installed: Installed) -> None:
    """The hook leaves at once, having nothing to judge; git writes far more than a pipe holds."""
    line = f"(delete) {ZERO} refs/heads/branch-with-a-rather-long-name {'a' * 40}\n"
    done = installed.call_hook("pre-push", "up", "url", said=line * 4000)
    assert done.returncode == 0, done.stderr


def test_two_thousand_refs(installed: Installed) -> None:
    tip = installed.bypass("feat(talk): mean it", {TALK: BETTER_TALK})
    made = "".join(f"create refs/heads/branch-with-a-long-name-{n} {tip}\n" for n in range(2000))
    installed.git("update-ref", "--stdin", input=made)
    said = pushed(installed, "refs/heads/branch*")
    assert "and 1998 more at" in said
    assert installed.trials("greets") == 2


def test_interrupt_ends_the_trial_and_the_hook(repo: ScratchRepo, tmp_path: Path) -> None:
    sleeping = '["sh", "-c", "exec sleep 4321"]'
    config = CONFIG.replace("[cat, SKILL.md]", sleeping, 1)
    installed = make_installed(repo, {**FILES, "guard.yaml": config})
    tip = installed.git("rev-parse", "HEAD").strip()
    hook = subprocess.Popen(
        [installed.root / ".git/hooks/pre-push", "up", "url"],
        cwd=installed.root,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        text=True,
    )
    assert hook.stdin is not None
    assert hook.stderr is not None
    hook.stdin.write(f"refs/heads/main {tip} refs/heads/main {ZERO}\n")
    hook.stdin.close()
    assert "2 cases" in hook.stderr.readline()
    while not children_called("sleep 4321"):
        assert hook.poll() is None
    hook.send_signal(signal.SIGINT)
    said = hook.stderr.read()
    hook.stderr.close()
    assert hook.wait(timeout=20) == 130
    assert "guard: interrupted" in said
    assert not children_called("sleep 4321")


def children_called(command: str) -> bool:
    listed = subprocess.run(["ps", "-eo", "args="], capture_output=True, text=True, check=True)
    return command in listed.stdout.splitlines()


def test_earlier_hook_and_guard_both_judge(installed: Installed) -> None:
    hook = installed.root / ".git/hooks/pre-push"
    installed.guard("uninstall")
    hook.write_text("#!/bin/sh\ngrep -q refs/heads/main || exit 9\necho earlier >&2\n")
    hook.chmod(0o755)
    installed.install()
    installed.bypass("feat(talk): say less", {TALK: BAD_TALK})
    said = refused(installed, "main")
    assert said.startswith("earlier\n")
    assert "greets fails in main" in said


def test_without_guard_yaml_one_line(repo: ScratchRepo, tmp_path: Path) -> None:
    installed = with_remote(make_installed(repo, {"README.md": "hello\n"}), tmp_path)
    installed.bypass("fix: other", {"README.md": "other\n"})
    assert pushed(installed, "main").startswith("guard: no guard.yaml, nothing is guarded\n")


def test_changes_nothing_of_the_users(installed: Installed) -> None:
    fix(installed)
    installed.write({TALK: "dirty\n", "untracked.txt": "1\n"})
    tip = installed.git("rev-parse", "HEAD").strip()
    with unchanged(installed):
        line = f"refs/heads/main {tip} refs/heads/main {ZERO}\n"
        done = installed.call_hook("pre-push", "up", "url", said=line)
    assert done.returncode == 0, done.stderr


def test_forced_push_over_a_commit_that_is_not_here(installed: Installed) -> None:
    tip = installed.bypass("fix(talk): mean it", {TALK: BETTER_TALK})
    line = f"refs/heads/main {tip} refs/heads/main {'a' * 40}\n"
    done = installed.call_hook("pre-push", "up", "url", said=line)
    assert done.returncode == 1
    assert "(fix-needs-case)" in done.stderr


# The framework's variables -------------------------------------------------------------


def call_as_framework(installed: Installed, **env: str) -> Done:
    return installed.call_hook("pre-push", PRE_COMMIT="1", **env)


def test_framework_shows_one_ref(installed: Installed) -> None:
    old = installed.git("rev-parse", "HEAD").strip()
    tip = installed.bypass("feat(talk): say less", {TALK: BAD_TALK})
    done = call_as_framework(
        installed,
        PRE_COMMIT_FROM_REF=old,
        PRE_COMMIT_TO_REF=tip,
        PRE_COMMIT_LOCAL_BRANCH="refs/heads/main",
        PRE_COMMIT_REMOTE_BRANCH="refs/heads/main",
        PRE_COMMIT_REMOTE_NAME="up",
    )
    assert done.returncode == 1
    assert "pre-commit shows guard only one ref of this push" in done.stderr
    assert "main at" in done.stderr
    assert ": 1 commit, 2 cases" in done.stderr


def test_framework_that_shows_nothing_is_no_pass(installed: Installed) -> None:
    done = call_as_framework(installed)
    assert done.returncode == 3
    assert "the framework shows no pushed ref" in done.stderr
