"""Programs that misbehave, through the whole command line: each gets its verdict, none its way."""

from __future__ import annotations

import os
import time
from pathlib import Path

import psutil
import pytest

from tests.conftest import ScratchRepo
from tests.guard_command import CLERK, GuardCommand, case, cases, clerk, config


def test_twenty_megabytes_are_graded_in_full_and_cut_in_the_report(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    flood = "head -c 20000000 /dev/zero | tr '\\0' x; echo; echo the end"
    repo.commit(
        "feat: clerk", {**config(), **case(flood, {"reply_contains": ["the end"]}, trials=1)}
    )
    run = guard.report()["cases"][0]["runs"][0]
    assert len(run["stdout"]) < 1_100_000
    assert "bytes more were graded" in run["stdout"]
    guard("show", "one").ends_in(0).says("[cut:")


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 127", "127"),
        ("exit 126", "126"),
        ("kill -9 $$", "signal"),
        ("exit 9", "9"),
    ],
)
def test_a_program_that_breaks_is_an_error_and_no_failure(
    repo: ScratchRepo, guard: GuardCommand, script: str, said: str
) -> None:
    repo.commit("feat: clerk", {**config(), **case(script, {"no_changes": True}, trials=2)})
    found = guard.report("--jobs", "1", ends_in=3)["cases"][0]
    assert (found["verdict"], len(found["runs"])) == ("ERROR", 1)
    assert said in found["reason"], found["reason"]


def test_a_program_that_is_not_there_is_named(repo: ScratchRepo, guard: GuardCommand) -> None:
    agents = clerk(options={"argv": ["no-such-program-anywhere"]})
    repo.commit("feat: clerk", {**config(agents), **case(trials=1)})
    found = guard.report(ends_in=3)["cases"][0]
    assert found["verdict"] == "ERROR"
    assert "no-such-program-anywhere" in found["reason"]


def test_an_exit_code_that_the_case_states_is_graded(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    files = {
        **case("exit 9", {"exit_code": 9}, id="stated", trials=1),
        **case("exit 9", {"exit_code": 8}, id="other", trials=1),
    }
    repo.commit("feat: clerk", {**config(), **files})
    assert guard.verdicts(ends_in=1) == {"other": "FAIL", "stated": "PASS"}
    repo.write(case("exit 127", {"exit_code": 127}, id="never"))
    guard("run").refuses("evals/never.md:4: expected.exit_code", "127")


def test_a_daemon_fails_the_trial_and_does_not_survive_it(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    script = "setsid sleep 271828 >/dev/null 2>&1 </dev/null & echo hello"
    repo.commit("feat: clerk", {**config(), **case(script, trials=1)})
    found = guard.report(ends_in=1)["cases"][0]
    assert found["verdict"] == "FAIL"
    assert found["scores"]["orphans"]["min"] == 0
    assert found["runs"][0]["orphan_pids_after_teardown"]
    alive = [p.info["cmdline"] for p in psutil.process_iter(["cmdline"])]
    assert ["sleep", "271828"] not in alive


def test_a_program_that_hangs_and_ignores_signals_is_ended_in_time(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    script = "trap '' TERM INT HUP; sleep 314159 & wait; sleep 314159"
    repo.commit("feat: clerk", {**config(), **case(script, trials=1, timeout=0.3)})
    began = time.monotonic()
    assert guard.verdicts(ends_in=1) == {"one": "FAIL"}
    assert time.monotonic() - began < 20
    alive = [p.info["cmdline"] for p in psutil.process_iter(["cmdline"])]
    assert ["sleep", "314159"] not in alive


def test_a_write_beside_the_workspace_taints_the_trial(
    repo: ScratchRepo, guard: GuardCommand, tmp_path: Path
) -> None:
    files = cases({"above": "echo x > ../stray; echo hello", "fine": "echo hello"}, trials=1)
    repo.commit("feat: clerk", {**config(), **files})
    report = guard.report(ends_in=3, env={"XDG_RUNTIME_DIR": str(tmp_path / "runtime")})
    found = {c["id"]: c for c in report["cases"]}
    assert found["above"]["verdict"] == "TAINTED"
    assert "../stray" in found["above"]["reason"]
    assert found["fine"]["verdict"] == "PASS"
    assert list((tmp_path / "runtime" / "guard").iterdir()) == []


def test_the_users_repository_is_out_of_reach(repo: ScratchRepo, guard: GuardCommand) -> None:
    rules = repo.root / "agent/rules.md"
    script = f"echo spoilt > {rules}; rm -rf {repo.root}/.git/refs; echo hello"
    repo.commit("feat: clerk", {**config(), **case(script, trials=1)})
    head = repo.git("rev-parse", "HEAD")
    report = guard.report()
    isolation = report["cases"][0]["runs"][0]["execution_provenance"]["isolation"]
    if "not controlled" in isolation:  # no namespaces on this machine: said in the report
        assert isolation in report["not_established"]
        return
    assert report["not_established"] == []
    assert rules.read_text() == "Be kind.\n"
    assert repo.git("rev-parse", "HEAD") == head
    assert repo.git("status", "--porcelain") == ""


def test_where_the_checkout_cant_be_hidden_the_report_says_so(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    repo.commit("feat: clerk", {**config(), **case(trials=1)})
    inside = repo.root / "home"
    inside.mkdir()
    settings = Path(os.environ["GIT_CONFIG_GLOBAL"])
    env = {"HOME": str(inside), "GIT_CONFIG_GLOBAL": str(settings)}
    report = guard.report(env=env)
    assert report["not_established"] == ["repository and HOME: not controlled"]
    guard("run", "--no-cache", env=env).says("? not established: repository and HOME: not contr")


def test_secrets_reach_the_trial_and_no_report(repo: ScratchRepo, guard: GuardCommand) -> None:
    agents = clerk(env=["TEA_KEY"])
    repo.commit("feat: clerk", {**config(agents), **case("echo hello $TEA_KEY", trials=1)})
    assert guard.verdicts() == {"one": "SKIP"}
    env = {"TEA_KEY": "s3cr3t-brew", "OTHER_KEY": "n0t-passed"}
    outcome = guard("run", "--json", "-", env=env).ends_in(0)
    outcome.says("hello").says_not("s3cr3t-brew")
    guard("show", "one").ends_in(0).says_not("s3cr3t-brew")
    store = (repo.root / ".git/guard").rglob("*")
    assert not any(b"s3cr3t-brew" in path.read_bytes() for path in store if path.is_file())
    repo.write(case('echo hello; echo $OTHER_KEY; test -z "$OTHER_KEY"', trials=1))
    guard("run", "--json", "-", env=env).ends_in(0).says_not("n0t-passed")


# What a trial sees ----------------------------------------------------------------------------

EVALS = {**CLERK, "paths": ["agent/rules.md", "agent/skill/**"]}


def test_the_workspace_holds_no_answers_and_repo_only_what_each_may_see(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    """Cases, records, plugins and depends lie inside the agent's folder here."""
    look = "cd {}; find . -type f | sort; echo; cd {}; find . -type f | sort"
    agent = {
        "paths": ["rules.md", "skill/**"],
        "workspace": ".",
        "target": "command",
        "options": {"argv": ["sh", "-c", look.format("{workspace}", "{repo}")]},
        "cases": ["evals/*.md"],
        "depends": ["checks/table.csv"],
        "evaluators": ["plugins/exact.py:exact"],
    }
    guards = "guard.yaml regressions.json evals/one.md plugins/own.py plugins/exact.py"
    shell = ["sh", "-c", f"cd {{repo}} && ls {guards} checks/table.csv"]
    counter = [{"files": {"counter.md": "x"}, "fails": ["reply_contains"]}]
    expected = {"reply_contains": ["data.md"], "command": {"argv": shell}}
    repo.commit(
        "feat: flat",
        {
            "guard.yaml": config({"flat": agent}, plugins=["plugins/own.py"])["guard.yaml"],
            **case("what is here?", expected, trials=1, counter_examples=counter),
            "regressions.json": '{"schema": "guard.regressions.v1", "incidents": {}, '
            '"regressions": {}}\n',
            "plugins/own.py": "",
            "plugins/exact.py": "def exact(observation, expected):\n    return None\n",
            "checks/table.csv": "1\n",
            "rules.md": "Be kind.\n",
            "skill/SKILL.md": "x\n",
            "data.md": "x\n",
            "tool.sh": "x\n",
        },
    )
    run = guard.report()["cases"][0]["runs"][0]
    workspace, target = run["reply"].strip().split("\n\n")
    data = {"./data.md", "./tool.sh", "./rules.md", "./skill/SKILL.md"}
    assert set(workspace.split()) == data
    assert set(target.split()) == {"./data.md", "./tool.sh", "./checks/table.csv"}


def test_a_checker_finds_guards_files_in_repo(repo: ScratchRepo, guard: GuardCommand) -> None:
    shell = "test -e {repo}/guard.yaml && test -e {repo}/evals/one.md && test -e {repo}/evals/t.csv"
    expected = {"command": {"argv": ["sh", "-c", shell]}}
    files = {"evals/t.csv": "1\n", **case("echo hello", expected, trials=1)}
    repo.commit("feat: clerk", {**config(clerk(depends=["evals/t.csv"])), **files})
    assert guard.verdicts() == {"one": "PASS"}
    repo.write(config())
    repo.write({"evals/t.csv": None})
    assert guard.verdicts(ends_in=1) == {"one": "FAIL"}


def test_a_checker_in_the_agents_folder_is_not_in_the_workspace(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    expected = {"command": {"argv": ["sh", "{repo}/agent/check.sh"]}, "reply_excludes": ["check"]}
    files = {"agent/check.sh": "true\n", **case("ls", expected, trials=1)}
    repo.commit("feat: clerk", {**config(), **files})
    assert guard.verdicts() == {"one": "PASS"}


def test_given_files_are_laid_over_the_folder_and_are_no_change(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    given = {
        "files": {
            "rules.md": "Be brief.\n",
            "mail/in.txt": {"from": "evals/fixtures/in.txt"},
            "all": {"from": "evals/fixtures/many"},
        }
    }
    files = {
        "evals/fixtures/in.txt": "Dear\n",
        "evals/fixtures/many/a": "a\n",
        "evals/fixtures/many/b/c": "c\n",
        **case(
            "cat rules.md mail/in.txt all/a all/b/c",
            {"no_changes": True, "stdout_contains": ["Be brief.\nDear\na\nc\n"]},
            given=given,
            trials=1,
        ),
    }
    repo.commit("feat: clerk", {**config(), **files})
    assert guard.verdicts() == {"one": "PASS"}
    repo.write({"evals/fixtures/in.txt": None})
    guard("run").refuses("evals/fixtures/in.txt is not in the tree")


def test_odd_paths_go_through_a_run(repo: ScratchRepo, guard: GuardCommand) -> None:
    odd = [b"a b", b"two\nlines", "gr\u00fc\u00df".encode(), b"\xff\xfe"]
    for name in odd:
        folder = os.path.join(os.fsencode(repo.root), b"agent", b"skills", name)
        os.makedirs(folder)
        with open(os.path.join(folder, b"SKILL.md"), "wb") as file:
            file.write(b"---\nname: odd\ndescription: odd\n---\n")
    count = "find skills -name SKILL.md -print0 | tr -cd '\\0' | wc -c"
    expected = {"reply_contains": ["4"], "no_changes": True}
    agents = clerk(paths=["agent/**"])
    repo.write({**config(agents), **case(count, expected, trials=1)})
    repo.commit("feat: odd")
    assert guard.verdicts() == {"one": "PASS"}
    for name in odd:
        path = os.path.join(os.fsencode(repo.root), b"agent", b"skills", name, b"SKILL.md")
        with open(path, "ab") as file:
            file.write(b"Edited.\n")
        assert "one  agent" in guard("affected").ends_in(0).out
        report = guard.report("--affected")
        assert (report["cases"][0]["verdict"], report["cases"][0]["affected_by"]) == (
            "PASS",
            ["agent"],
        )
        repo.commit("feat: edit one")
    repo.write(case(f"rm -rf skills; {count}", expected, trials=1))
    guard("run").ends_in(1).says("files changed: 4 files changed")
    guard("show", "one").ends_in(0).says("two\\nlines", "\\xff\\xfe", "grüß")
    guard.report(ends_in=1)
