"""``guard init``: writes what is missing, keeps what is there, and can be called again."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shlex
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from guard.config import parse_config
from tests.commands.calling import Outcome, call_guard, start_guard
from tests.conftest import ScratchRepo

CONFIG = ".pre-commit-config.yaml"
WORKFLOW = ".github/workflows/guard.yml"
PRE_COMMIT = Path(sys.executable).with_name("pre-commit")
CASE = "---\nid: {id}\nutterance: hi\nexpected: {{no_changes: true}}\n---\nWhy.\n"


def init(repo: ScratchRepo, *arguments: str) -> Outcome:
    outcome = call_guard(repo.root, "init", *arguments)
    assert outcome.code == 0, outcome
    return outcome


def plugin_skills(count: int) -> dict[str, str]:
    names = [f"plugins/p{number % 4}/skills/s{number}" for number in range(count)]
    return {f"{name}/SKILL.md": "Read the file.\n" for name in names}


def files_of(repo: ScratchRepo) -> dict[str, bytes]:
    return {
        str(path.relative_to(repo.root)): path.read_bytes()
        for path in sorted(repo.root.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(repo.root).parts[:1]
    }


def test_forty_eight_skills_in_plugins(repo: ScratchRepo) -> None:
    cases = {f"plugins/p1/skills/s1/evals/c{n}.md": CASE.format(id=f"c{n}") for n in range(3)}
    prose = {"plugins/p2/skills/s2/evals/p.md": "---\nid: p\n---\nIt asks first.\n"}
    repo.commit("feat: begin", {**plugin_skills(48), **cases, **prose})
    repo.commit("fix: s1 (#1)", {"plugins/p1/skills/s1/SKILL.md": "Ask.\n"})
    repo.commit("fix: s2 (#2)", {"plugins/p2/skills/s2/SKILL.md": "Read\nthe file.\n"})
    repo.commit("docs: x (#3)", {"README.md": "x\n"})
    until = datetime.now(UTC).date() + timedelta(days=30)
    lines = init(repo).out.splitlines()
    assert lines[:7] == [
        "found 48 skills (plugins/*/skills/*), 4 cases",
        "? 1 says only in prose what they expect: UNGRADED, they can't fail yet",
        "your last 4 commits: 2 fixes touched a skill;"
        " 1 cosmetic, 1 would have been asked for a case",
        "75 % are squash merges: fix.unit is `range`",
        "wrote guard.yaml (one block for all), .pre-commit-config.yaml (+3 hooks), .gitattributes",
        "merge driver of regressions.json is set in this clone's git config",
        lines[6],
    ]
    found = re.fullmatch(r"mode: warn until (\S+), then block", lines[6])
    assert found
    assert date.fromisoformat(found[1]) - until <= timedelta(days=1)
    config = parse_config((repo.root / "guard.yaml").read_bytes())
    assert list(config.agents) == ["each-skill"]
    assert config.fix["unit"] == "range"


def test_called_twice_it_changes_nothing(repo: ScratchRepo) -> None:
    repo.commit("feat: begin", plugin_skills(5))
    init(repo, "--ci", "github")
    before = files_of(repo)
    assert {"guard.yaml", CONFIG, WORKFLOW} <= before.keys()
    outcome = init(repo, "--ci", "github")
    assert files_of(repo) == before
    assert "nothing to write" in outcome.out
    assert "edit guard.yaml" not in outcome.out


def test_hooks_that_are_installed_are_not_asked_for(repo: ScratchRepo) -> None:
    repo.commit("feat: begin", {"skills/a/SKILL.md": "x\n"})
    assert "guard install" in init(repo).out
    assert call_guard(repo.root, "install").code == 0
    again = init(repo).out
    assert "install" not in again
    assert "next: guard new-case ID --agent a\n" in again


@pytest.mark.parametrize(
    ("files", "manager"),
    [
        ({"lefthook.yml": "pre-push: {jobs: [{run: make}]}\n"}, "lefthook"),
        ({".husky/x": ""}, "husky"),
    ],
)
def test_beside_another_manager_no_file_of_the_framework_is_written(
    repo: ScratchRepo, files: dict[str, str], manager: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{PRE_COMMIT.parent}{os.pathsep}{os.environ['PATH']}")
    repo.commit("feat: begin", {"skills/a/SKILL.md": "x\n", **files})
    out = init(repo).out
    assert CONFIG not in out
    assert not (repo.root / CONFIG).exists()
    assert f"guard install    # beside {manager}, whose hooks are called first" in out
    assert "pre-commit install" not in out
    repo.write({CONFIG: "repos: []\n"})  # who has both, uses both
    assert f"wrote {CONFIG}" in init(repo).out


@pytest.mark.skipif(not PRE_COMMIT.exists(), reason="pre-commit: the dev extra")
def test_the_framework_comes_first_only_where_it_is_used(
    repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{PRE_COMMIT.parent}{os.pathsep}{os.environ['PATH']}")
    repo.commit("feat: begin", {"skills/a/SKILL.md": "x\n"})
    first = init(repo).out
    assert "      guard install    # or, with the framework: pre-commit install\n" in first
    repo.git("add", CONFIG)
    assert "pre-commit install\n      guard install    # beside it" in init(repo).out


def test_what_the_user_wrote_stays(repo: ScratchRepo) -> None:
    theirs = {
        "guard.yaml": "version: 1   # mine\nagents: {a: {paths: [skills/a/**], target: command}}\n",
        CONFIG: "# mine\nrepos:\n-   repo: local\n    hooks: []   # none\n",
        WORKFLOW: "name: mine\n",
    }
    repo.commit("feat: begin", {**theirs, "skills/a/SKILL.md": "x\n"})
    outcome = init(repo, "--ci", "github")
    after = files_of(repo)
    assert after["guard.yaml"].decode() == theirs["guard.yaml"]
    assert after[WORKFLOW].decode() == theirs[WORKFLOW]
    assert after[CONFIG].decode().startswith(theirs[CONFIG])
    assert "guard.yaml is there and stays as it is: 1 agent, 0 cases" in outcome.out
    assert "mode: block" in outcome.out


def test_attributes_grow_at_their_end_and_the_driver_merges(repo: ScratchRepo) -> None:
    theirs = b"*.png binary\r\n# caf\xe9\r\n"
    repo.commit("feat: begin", {"skills/a/SKILL.md": "x\n", ".gitattributes": theirs})
    assert "merge driver of regressions.json is set" in init(repo).out
    line = b"regressions.json merge=guard-regressions\r\n"
    assert (repo.root / ".gitattributes").read_bytes() == theirs + line
    config = (repo.root / ".git/config").read_bytes()
    again = init(repo).out
    assert "merge driver" not in again
    assert (repo.root / ".gitattributes").read_bytes() == theirs + line
    assert (repo.root / ".git/config").read_bytes() == config
    repo.git("config", "--remove-section", "merge.guard-regressions")
    assert "merge driver" in init(repo).out
    assert (repo.root / ".git/config").read_bytes() == config


def test_one_skill_with_a_space_and_an_umlaut(repo: ScratchRepo) -> None:
    repo.write({".claude/skills/spesen über alles/SKILL.md": "x\n"})
    outcome = init(repo)
    assert "found 1 skill (.claude/skills/*), no case yet" in outcome.out
    assert "no commit yet" in outcome.out
    assert "wrote guard.yaml (one agent), " in outcome.out
    assert "next: edit guard.yaml     (say how the agent is run: `target`)\n" in outcome.out
    assert "guard install" in outcome.out
    assert "new-case ID --agent 'spesen über alles'" in outcome.out
    assert call_guard(repo.root, "agents").code == 0


def test_a_history_without_a_fix_blocks_at_once(repo: ScratchRepo) -> None:
    repo.commit("feat: begin", {"skills/a/SKILL.md": "x\n"})
    outcome = init(repo)
    assert "your last 1 commit: no fix touched a skill" in outcome.out
    assert "mode: block" in outcome.out


def test_no_skill_says_what_was_looked_for_and_how_to_go_on(repo: ScratchRepo) -> None:
    repo.commit("feat: begin", {"README.md": "x\n"})
    code, out, err = call_guard(repo.root, "init")
    assert (code, out) == (2, "")
    assert ".claude/skills/*/SKILL.md" in err
    text = "\n".join(line[4:] for line in err.splitlines() if line.startswith("    "))
    assert list(parse_config(text.encode()).agents) == ["my-agent"]
    assert set(files_of(repo)) == {"README.md"}


def test_an_empty_repository_and_none_at_all(repo: ScratchRepo, tmp_path: Path) -> None:
    assert call_guard(repo.root, "init").code == 2
    outside = tmp_path / "outside"
    outside.mkdir()
    code, _, err = call_guard(outside, "init")
    assert code == 2
    assert "not in a git repository" in err


def test_a_bare_repository(repo: ScratchRepo, tmp_path: Path) -> None:
    repo.git("init", "-q", "--bare", str(tmp_path / "bare"))
    code, _, err = call_guard(tmp_path / "bare", "init")
    assert code == 2
    assert "bare" in err


def test_without_git(repo: ScratchRepo) -> None:
    outcome = start_guard(repo, "init", env={"PATH": "/nonexistent"})
    assert outcome.code == 2
    assert "git is not on PATH" in outcome.err


def test_a_guard_yaml_that_is_wrong_is_named_and_nothing_is_written(repo: ScratchRepo) -> None:
    repo.commit("feat: begin", {"guard.yaml": "version: 1\nagent: {}\n", "skills/a/SKILL.md": "x"})
    before = files_of(repo)
    code, _, err = call_guard(repo.root, "init")
    assert code == 2
    assert "guard.yaml:2: agent: unknown key; did you mean `agents`?" in err
    assert files_of(repo) == before


def test_a_hook_configuration_that_is_wrong_is_named_first(repo: ScratchRepo) -> None:
    repo.commit("feat: begin", {CONFIG: "repos: [\n", "skills/a/SKILL.md": "x\n"})
    before = files_of(repo)
    code, _, err = call_guard(repo.root, "init")
    assert code == 2
    assert CONFIG in err
    assert files_of(repo) == before
    repo.write({CONFIG: b"repos: \xff\n"})
    assert call_guard(repo.root, "init").code == 2


def test_a_guard_yaml_that_git_ignores_is_not_overwritten(repo: ScratchRepo) -> None:
    files = {".gitignore": "guard.yaml\n", "guard.yaml": "mine\n", "skills/a/SKILL.md": "x\n"}
    repo.commit("feat: begin", files)
    code, _, err = call_guard(repo.root, "init")
    assert code == 2
    assert "git ignores it" in err
    assert files_of(repo)["guard.yaml"] == b"mine\n"


def test_cases_that_are_wrong_together_are_said_at_once(repo: ScratchRepo) -> None:
    cases = {f"skills/a/evals/{n}.md": CASE.format(id="same") for n in range(2)}
    repo.commit("feat: begin", {"skills/a/SKILL.md": "x\n", **cases})
    code, _, err = call_guard(repo.root, "init")
    assert code == 2
    assert "same stands in" in err


def test_from_a_folder_below_the_root(repo: ScratchRepo) -> None:
    repo.commit("feat: begin", {"skills/a/SKILL.md": "x\n"})
    assert call_guard(repo.root / "skills/a", "init").code == 0
    assert (repo.root / "guard.yaml").exists()


def test_a_workflow_for_the_default_branch(repo: ScratchRepo) -> None:
    repo.commit("feat: begin", {"skills/a/SKILL.md": "x\n"})
    repo.git("branch", "-m", "trunk")
    assert WORKFLOW in init(repo, "--ci", "github").out
    workflow = yaml.safe_load((repo.root / WORKFLOW).read_text(encoding="utf-8"))
    assert workflow[True]["push"]["branches"] == ["trunk"]


def test_the_commands_of_the_workflow_run_as_they_stand(
    repo: ScratchRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit("feat: begin", plugin_skills(4))
    init(repo, "--ci", "github")
    before = repo.commit("ci: guard")
    repo.commit("docs: more", {"README.md": "x\n"})
    (tmp_path / "event.json").write_text(json.dumps({"before": before, "ref": "refs/heads/main"}))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_EVENT_NAME", "push")
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(tmp_path / "event.json"))
    workflow = yaml.safe_load((repo.root / WORKFLOW).read_text(encoding="utf-8"))
    scripts = [step.get("run", "") for step in workflow["jobs"]["guard"]["steps"]]
    (call,) = [shlex.split(script) for script in scripts if script.startswith("guard ")]
    outcome = call_guard(repo.root, *call[1:])
    assert outcome.code == 0, outcome
    assert "1 commit since" in outcome.err


def test_a_repository_on_github_is_told_of_the_workflow(repo: ScratchRepo) -> None:
    repo.commit("feat: begin", {"skills/a/SKILL.md": "x\n"})
    repo.git("remote", "add", "origin", "git@github.com:a/b.git")
    assert "init --ci github" in init(repo).out
    init(repo, "--ci", "github")
    assert "init --ci github" not in init(repo).out


def test_what_it_wrote_is_what_the_next_commands_take(repo: ScratchRepo) -> None:
    repo.commit("feat: begin", plugin_skills(4))
    init(repo)
    for command in ("agents", "status"):
        assert call_guard(repo.root, command).code == 0, command


@pytest.mark.parametrize(
    ("answer", "written"), [("\n", True), ("y\n", True), ("n\n", False), ("\x04", False)]
)
def test_on_a_terminal_it_asks_one_question(repo: ScratchRepo, answer: str, written: bool) -> None:
    repo.commit("feat: begin", {"skills/a/SKILL.md": "x\n"})
    code, shown = on_terminal(repo, answer, "init")
    assert code == 0
    assert shown.count("[Y/n]") == 1
    assert (repo.root / "guard.yaml").exists() == written
    assert ("nothing was written" in shown) != written


def test_with_yes_it_asks_nothing_on_a_terminal(repo: ScratchRepo) -> None:
    repo.commit("feat: begin", {"skills/a/SKILL.md": "x\n"})
    code, shown = on_terminal(repo, "", "init", "--yes")
    assert code == 0
    assert "[Y/n]" not in shown
    assert (repo.root / "guard.yaml").exists()


@pytest.mark.skipif(not PRE_COMMIT.exists(), reason="pre-commit: the dev extra")
def test_the_framework_runs_what_was_written(
    repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{PRE_COMMIT.parent}{os.pathsep}{os.environ['PATH']}")
    repo.commit("feat: begin", {"skills/ü a/SKILL.md": "Read the file.\n"})
    assert "mode: block" in init(repo).out
    assert repo.run("pre-commit", "install").returncode == 0
    repo.commit("ci: guard")
    repo.write({"skills/ü a/SKILL.md": "Ask before you read.\n"})
    refused = repo.run("git", "commit", "--all", "-m", "fix: ask first")
    assert refused.returncode != 0
    assert "fix-needs-case" in refused.stdout + refused.stderr
    assert repo.run("git", "commit", "--all", "-m", "feat: ask first").returncode == 0


def on_terminal(repo: ScratchRepo, answer: str, *arguments: str) -> tuple[int, str]:
    """Call guard on a terminal of its own; type the answer when it asks."""
    own, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "guard", *arguments],
        cwd=repo.root,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    shown = b""
    while True:
        ready, _, _ = select.select([own], [], [], 60)
        try:
            chunk = os.read(own, 4096) if ready else b""
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        shown += chunk
        if shown.endswith(b"[Y/n] "):
            os.write(own, answer.encode())
    os.close(own)
    return process.wait(timeout=60), shown.decode()
