from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from guard.errors import UsageError
from guard.globs import compile_globs
from guard.model import FAIL, PASS, TAINTED
from guard.plugin.api import Trial
from guard.results import FileChange, Observation
from guard.trials import sandbox
from guard.trials.sandbox import CONTROLLED, NOT_CONTROLLED
from guard.trials.trial import check_folder, run_trial
from tests.conftest import ScratchRepo
from tests.staging import (
    FILES,
    case_of,
    is_alive,
    run_script,
    run_together,
    staged,
)

needs_namespaces = pytest.mark.skipif(
    bool(sandbox.probe_namespaces()), reason="this machine gives no mount namespaces"
)
#: A daemon: forked twice, in a session of its own, with no environment and no folder of ours.
DAEMON = f"""{sys.executable} -I -S -c '
import os, sys
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.chdir("/")
os.execve("/bin/sleep", ["sleep", "60"], {{}})
'"""


@pytest.fixture
def no_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behave as on a machine that has none."""
    monkeypatch.setattr(sandbox, "_no_namespaces", "switched off in this test")


# What passes, what fails ------------------------------------------------------------------


def test_an_agent_that_does_nothing_changes_nothing(repo: ScratchRepo) -> None:
    result = run_script(repo, "cat budget.md; echo said >&2")
    assert (result.verdict, result.reason, result.failing) == (PASS, "", ())
    assert (result.observation.stdout, result.observation.stderr) == ("taxi 400\n", "said\n")
    assert result.workspace_before == result.workspace_after != ""
    assert result.diff == ""
    assert result.observation.argv[:2] == ("sh", "-c")
    assert len(result.trial_id) == 16
    assert result.started.endswith("+00:00")
    assert 0 < result.observation.seconds < 20


def test_an_edit_of_the_same_length_fails(repo: ScratchRepo) -> None:
    result = run_script(repo, "printf 'taxi 457\\n' >budget.md")
    assert (result.verdict, result.failing) == (FAIL, ("no_changes",))
    assert result.observation.changes == (FileChange("budget.md", "M", 1, 1),)
    assert "1 file changed, 1 insertion(+), 1 deletion(-)" in result.reason
    assert "-taxi 400\n+taxi 457\n" in result.diff
    assert result.workspace_before != result.workspace_after


def test_every_kind_of_change_counts(repo: ScratchRepo) -> None:
    repo.write({**FILES, "agent/gone.md": "a\nb\n", "agent/link": "x\n", "agent/run": "#!\n"})
    (repo.root / "agent/link").unlink()
    (repo.root / "agent/link").symlink_to("budget.md")
    script = "rm gone.md; chmod +x run; : >empty; ln -s /nowhere new; ln -sf SKILL.md link; mkdir d"
    changes = run_script(repo, script).observation.changes
    assert [(c.path, c.status, c.insertions, c.deletions) for c in changes] == [
        ("empty", "A", 0, 0),
        ("gone.md", "D", 0, 2),
        ("link", "M", 1, 1),
        ("new", "A", 1, 0),
        ("run", "T", 0, 0),
    ]


def test_a_time_set_back_hides_no_edit(repo: ScratchRepo) -> None:
    script = "touch -r budget.md ../tmp/t; printf 'taxi 457\\n' >budget.md; "
    result = run_script(repo, script + "touch -r ../tmp/t budget.md")
    assert result.observation.changes == (FileChange("budget.md", "M", 1, 1),)


def test_strange_names_are_kept_and_reported(repo: ScratchRepo) -> None:
    folder = os.fsencode(repo.root) + b"/agent/a b\n\xc3\xbc"
    os.makedirs(folder)
    with open(folder + b"/\xff.md", "wb") as file:
        file.write(b"x\n")
    repo.write(FILES)
    same = run_script(repo, "cat */*.md")
    assert (same.verdict, same.observation.stdout) == (PASS, "x\n")
    changed = run_script(repo, 'for f in */*.md; do echo y >>"$f"; done')
    assert changed.observation.changes == (FileChange("a b\nü/\udcff.md", "M", 1, 0),)
    changed.diff.encode()


def test_what_the_agent_made_unreadable_or_special_neither_hangs_nor_crashes(
    repo: ScratchRepo,
) -> None:
    script = "mkfifo pipe; chmod 0 budget.md; mkdir d; echo x >d/f; chmod 0 d; "
    script += f"{sys.executable} -c 'import socket; socket.socket(1).bind(\"sock\")'"
    result = run_script(repo, script)
    assert [(c.path, c.status) for c in result.observation.changes] == [
        ("d/f", "A"),
        ("pipe", "A"),
        ("sock", "A"),
    ]


def test_a_workspace_without_a_file_left(repo: ScratchRepo) -> None:
    result = run_script(repo, "rm -r ../ws")
    assert [c.status for c in result.observation.changes] == ["D", "D"]


def test_twenty_megabytes_are_graded_in_full(repo: ScratchRepo) -> None:
    script = "head -c 20000000 /dev/zero | tr '\\0' x; echo the end"
    case = case_of(expected={"stdout_contains": ["the end"]})
    result = run_script(repo, script, case)
    assert (result.verdict, len(result.observation.stdout)) == (PASS, 20_000_008)
    other = run_script(repo, script, case_of(expected={"stdout_contains": ["another end"]}))
    assert (other.verdict, other.failing) == (FAIL, ("stdout_contains",))


# What is left behind ----------------------------------------------------------------------


def test_a_daemon_is_an_orphan_whatever_it_dropped(repo: ScratchRepo) -> None:
    result = run_script(repo, DAEMON)
    assert (result.verdict, result.failing) == (FAIL, ("orphans",))
    assert len(result.orphan_pids) == 1
    assert f"left 1 process running (pid {result.orphan_pids[0]})" in result.reason
    assert not is_alive(result.orphan_pids[0])


def test_each_trial_gets_its_own_daemons(repo: ScratchRepo) -> None:
    repo.write(FILES)
    script = f'if [ "$GUARD_TRIAL" = 2 ]; then {DAEMON}; fi; sleep 0.5'
    with staged(repo, script) as stage:
        results = run_together(stage, case_of(), 3)
    assert [r.verdict for r in results] == [PASS, FAIL, PASS]
    assert [len(r.orphan_pids) for r in results] == [0, 1, 0]


def test_a_helper_that_ends_by_itself_is_no_orphan(repo: ScratchRepo) -> None:
    assert run_script(repo, "sleep 0.05 &").verdict == PASS


def test_a_pipe_held_open_does_not_hang_the_trial(repo: ScratchRepo) -> None:
    began = time.monotonic()
    result = run_script(repo, "echo said; sleep 60 &")
    assert time.monotonic() - began < 10
    assert (result.failing, result.observation.stdout) == (("orphans",), "said\n")
    assert not is_alive(result.orphan_pids[0])


def test_orphans_and_scores_fail_together(repo: ScratchRepo) -> None:
    result = run_script(repo, "echo x >new; sleep 60 &")
    assert result.failing == ("orphans", "no_changes")


# Isolation --------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["../note", "../../note"])
def test_a_write_above_the_workspace_taints(repo: ScratchRepo, place: str) -> None:
    repo.write(FILES)
    with staged(repo, f"echo x >{place}; echo y >new") as stage:
        first = run_trial(stage, case_of(), 1)
    assert (first.verdict, first.reason) == (TAINTED, f"written outside the workspace: {place}")


def test_a_taint_does_not_outlive_its_trial(repo: ScratchRepo) -> None:
    repo.write(FILES)
    script = 'if [ "$GUARD_TRIAL" = 1 ]; then echo x >../../note; fi'
    with staged(repo, script) as stage:
        verdicts = [run_trial(stage, case_of(), number).verdict for number in (1, 2)]
    assert verdicts == [TAINTED, PASS]


@pytest.mark.usefixtures("no_namespaces")
def test_a_write_into_the_runs_folder_taints_without_a_namespace(repo: ScratchRepo) -> None:
    result = run_script(repo, "echo x >../../../note")
    assert (result.verdict, result.isolation) == (TAINTED, NOT_CONTROLLED)


def test_a_workspace_replaced_by_a_link_taints(repo: ScratchRepo) -> None:
    assert run_script(repo, "cd ..; rm -r ws; ln -s / ws").verdict == TAINTED


def test_home_and_temporary_files_are_the_trials_own(repo: ScratchRepo) -> None:
    result = run_script(repo, 'cd; pwd; echo $TMPDIR; echo x >"$TMPDIR/t"; echo x >~/t')
    home, temporary = result.observation.stdout.split()
    assert result.verdict == PASS
    assert os.path.dirname(home) == os.path.dirname(temporary)
    assert not os.path.exists(home)


@needs_namespaces
def test_the_users_checkout_is_out_of_reach(repo: ScratchRepo) -> None:
    repo.write(FILES)
    budget = repo.root / "agent/budget.md"
    result = run_script(repo, f"ls -A {repo.root}; echo x >{budget} || echo refused")
    assert result.observation.stdout == "refused\n"
    assert (result.verdict, result.isolation) == (PASS, CONTROLLED)
    assert budget.read_text() == "taxi 400\n"


@pytest.mark.usefixtures("no_namespaces")
def test_without_a_namespace_the_report_says_so(repo: ScratchRepo) -> None:
    repo.write(FILES)
    result = run_script(repo, f"ls {repo.root}")
    assert result.observation.stdout == "agent\n"
    assert result.isolation == NOT_CONTROLLED


def test_repo_is_the_tree_less_what_is_hidden(repo: ScratchRepo) -> None:
    repo.write({**FILES, "guard.yaml": "x", "lib/tool.py": "print('tool')"})
    script = 'ls -R {repo}; test -z "$(find {repo} -name SKILL.md)"'
    result = run_script(
        repo,
        script,
        hide_from_target=compile_globs(["guard.yaml", "agent"]),
    )
    assert result.verdict == PASS, result.reason
    assert "tool.py" in result.observation.stdout
    assert "guard.yaml" not in result.observation.stdout


@needs_namespaces
def test_repo_is_read_only(repo: ScratchRepo) -> None:
    repo.write(FILES)
    result = run_script(repo, "echo x >>{repo}/agent/SKILL.md || echo refused")
    assert (result.verdict, result.observation.stdout) == (PASS, "refused\n")


@pytest.mark.usefixtures("no_namespaces")
def test_a_write_into_repo_taints_and_the_next_trial_gets_a_fresh_one(repo: ScratchRepo) -> None:
    repo.write(FILES)
    script = (
        'if [ "$GUARD_TRIAL" = 1 ]; then echo x >>{repo}/agent/SKILL.md; fi; cat {repo}/agent/*'
    )
    with staged(repo, script) as stage:
        first, second = (run_trial(stage, case_of(), number) for number in (1, 2))
    assert (first.verdict, second.verdict) == (TAINTED, PASS)
    assert "{repo}/agent/SKILL.md" in first.reason
    assert second.observation.stdout == "be good\ntaxi 400\n"


def test_parallel_trials_keep_apart(repo: ScratchRepo) -> None:
    repo.write(FILES)
    script = "echo $GUARD_TRIAL >mine; sleep 0.3; cat mine; ls; cd; pwd"
    case = case_of(expected={"changes_only": ["mine"]})
    with staged(repo, script) as stage:
        results = run_together(stage, case, 8)
    assert [r.verdict for r in results] == [PASS] * 8
    said = [r.observation.stdout.split() for r in results]
    assert [words[0] for words in said] == [str(n) for n in range(1, 9)]
    assert all(words[1:-1] == ["SKILL.md", "budget.md", "mine"] for words in said)
    assert len({words[-1] for words in said}) == 8
    assert len({r.trial_id for r in results}) == 8


@needs_namespaces
def test_a_sibling_is_out_of_sight(repo: ScratchRepo) -> None:
    repo.write(FILES)
    script = "sleep 0.2; ls ../../.. | wc -l"
    with staged(repo, script) as stage:
        results = run_together(stage, case_of(), 2)
    # Its own slot and {repo}.
    assert [r.observation.stdout.strip() for r in results] == ["2", "2"]


def test_a_read_only_folder_is_removed_too(repo: ScratchRepo) -> None:
    result = run_script(repo, "mkdir -p d/e; echo x >d/e/f; chmod 555 d/e d; pwd")
    assert not os.path.exists(os.path.dirname(result.observation.stdout.strip()))


def test_given_files_are_laid_first_and_are_no_change(repo: ScratchRepo) -> None:
    repo.write({**FILES, "evals/tree/a.md": "fixture a\n", "evals/tree/b/c.md": "fixture c\n"})
    given = {"budget.md": "taxi 1\n", "new/x.md": "x\n", "in": {"from": "evals/tree"}}
    result = run_script(repo, "cat budget.md new/x.md in/a.md in/b/c.md", case_of(given=given))
    assert result.verdict == PASS
    assert result.observation.stdout == "taxi 1\nx\nfixture a\nfixture c\n"


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a/../../x", "", "link/x", "budget.md/x"])
def test_given_files_do_not_leave_the_workspace(repo: ScratchRepo, path: str) -> None:
    repo.write(FILES)
    (repo.root / "agent/link").symlink_to("/tmp")
    with pytest.raises(UsageError, match="given file"):
        run_script(repo, "true", case_of(given={path: "x"}))


def test_a_fixture_that_is_not_there_is_a_usage_error(repo: ScratchRepo) -> None:
    with pytest.raises(UsageError, match="evals/none is not in the tree"):
        run_script(repo, "true", case_of(given={"x": {"from": "evals/none"}}))


# Checkers ---------------------------------------------------------------------------------


def test_a_checker_sees_its_repo_and_the_workspace(repo: ScratchRepo) -> None:
    checker = "import sys, os; sys.exit(open('budget.md').read() != 'taxi 1\\n')"
    repo.write({**FILES, "evals/check.py": checker, "evals/other.py": ""})
    command = {"argv": [sys.executable, "{repo}/evals/check.py"]}
    case = case_of(expected={"command": command})
    passing = run_script(repo, "echo taxi 1 >budget.md", case)
    assert passing.verdict == PASS, passing.reason
    failing = run_script(repo, "true", case)
    assert failing.failing == ("command",)
    script = 'test -e "$0"/evals/check.py && test ! -e "$0"/evals/other.py'
    peeking = {"command": {"argv": ["sh", "-c", script, "{repo}", "{repo}/evals/check.py"]}}
    result = run_script(repo, "true", case_of(expected=peeking))
    assert result.verdict == PASS, result.reason


def test_the_checkers_repo_is_not_there_while_the_target_runs(repo: ScratchRepo) -> None:
    repo.write({**FILES, "evals/check.sh": "exit 0"})
    case = case_of(expected={"command": {"argv": ["sh", "{repo}/evals/check.sh"]}})
    script = 'test -z "$(find ../../.. -name check.sh)" || echo found'
    result = run_script(repo, script, case, hide_from_target=compile_globs(["evals"]))
    assert (result.verdict, result.observation.stdout) == (PASS, "")


def test_what_a_checker_leaves_running_is_killed(repo: ScratchRepo, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    command = {"argv": ["sh", "-c", f"setsid sleep 60 & echo $! >{note}"]}
    assert run_script(repo, "true", case_of(expected={"command": command})).verdict == PASS
    assert not is_alive(int(note.read_text()))


def test_check_folder_grades_without_the_target(repo: ScratchRepo, tmp_path: Path) -> None:
    repo.write(FILES)
    for name, content in (("same", "taxi 400\n"), ("other", "taxi 457\n")):
        (tmp_path / name / ".git").mkdir(parents=True)
        (tmp_path / name / "SKILL.md").write_text("be good\n")
        (tmp_path / name / "budget.md").write_text(content)

    def never(trial: Trial) -> Observation:
        raise AssertionError("the target was run")

    with staged(repo, run=never) as stage:
        same = check_folder(stage, case_of(), str(tmp_path / "same"))
        other = check_folder(stage, case_of(), str(tmp_path / "other"))
        with pytest.raises(UsageError, match="can't be read"):
            check_folder(stage, case_of(), str(tmp_path / "none"))
    assert same.verdict == PASS
    assert (other.verdict, other.observation.changes) == (
        FAIL,
        (FileChange("budget.md", "M", 1, 1),),
    )


@needs_namespaces
def test_the_agents_own_python_in_the_checkout_stays(repo: ScratchRepo) -> None:
    repo.write({**FILES, ".gitignore": ".venv\n"})
    venv = repo.root / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    python = [str(venv / "bin/python")]
    result = run_script(
        repo, f"python -c 'import sys; print(sys.prefix)'; ls -A {repo.root}", python=python
    )
    assert (result.verdict, result.observation.stdout) == (PASS, f"{venv}\n.venv\n")
    assert result.isolation == CONTROLLED
