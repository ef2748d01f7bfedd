"""What production serves, at each stage: a commit, a push, a server, and `guard ci`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.calling import call_guard
from tests.conftest import ScratchRepo
from tests.hooks.installed import CONFIG, FILES, Files, Installed, case, make_installed, skill
from tests.hooks.served import make_served

MARKET = ".claude-plugin/marketplace.json"
SING = "skills/sing/SKILL.md"
SING_CASE = "evals/sing/notes.md"


def market(*names: str) -> str:
    skills = [f"./skills/{name}" for name in names]
    plugin = {"name": "all", "source": "./", "strict": False, "skills": skills}
    return json.dumps({"name": "m", "owner": {"name": "o"}, "plugins": [plugin]})


SERVED: Files = {
    **FILES,
    "guard.yaml": CONFIG + f"served: [{MARKET}]\n",
    MARKET: market("talk", "walk"),
}
#: A third skill that nothing grades, and what grades it.
THIRD: Files = {MARKET: market("talk", "walk", "sing"), SING: skill("sing", "la la")}
GRADED: Files = {
    "guard.yaml": (
        CONFIG
        + "  sing:\n    paths: [skills/sing/**]\n    target: command\n"
        + "    options: {argv: [cat, SKILL.md], deterministic: true}\n"
        + f"    cases: [evals/sing/*.md]\nserved: [{MARKET}]\n"
    ),
    SING_CASE: case("notes", "la la"),
}
SAID = f"{MARKET} serves sing (skills/sing), and no agent serves it (unserved-agent)"


@pytest.fixture
def installed(repo: ScratchRepo) -> Installed:
    return make_installed(repo, SERVED)


def test_a_commit_and_a_push(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "up.git").mkdir()
    ScratchRepo(tmp_path / "up.git").git("init", "--quiet", "--bare")
    installed.git("remote", "add", "up", str(tmp_path / "up.git"))
    installed.stage(THIRD)
    said = installed.refuse("feat: sing")
    assert f"guard: refused: {SAID}" in said
    assert len(said.splitlines()) <= 8
    # Past the commit's hooks it is the push that says it, and one that mends it goes through.
    installed.bypass("feat: sing", {})
    push = ("git", "push", "-q", "up", "main")
    done = installed.run(*push)
    assert done.returncode != 0
    assert f"guard: not pushed: {SAID}" in done.stderr
    assert "guard explain unserved-agent" in done.stderr
    installed.bypass("test: grade it", GRADED)
    done = installed.run(*push)
    assert done.returncode == 0, done.stderr


def test_a_manifest_that_cant_be_read_is_not_pushed(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "up.git").mkdir()
    ScratchRepo(tmp_path / "up.git").git("init", "--quiet", "--bare")
    installed.bypass("feat: tear it", {MARKET: "{"})
    done = installed.run("git", "push", "-q", str(tmp_path / "up.git"), "main")
    assert done.returncode != 0
    assert f": {MARKET}:1: not valid JSON" in done.stderr


def test_a_server(tmp_path: Path) -> None:
    clone = make_served(tmp_path, SERVED)
    clone.commit("feat: sing", THIRD)
    said = clone.refuse()
    assert f"guard: not pushed: {SAID}" in said
    clone.commit("test: grade it", GRADED)
    clone.accept()


def ended(repo: ScratchRepo, *options: str) -> tuple[int, str]:
    done = call_guard(repo.root, *options)
    return done.code, done.out + done.err


@pytest.mark.parametrize("options", [(), ("--untrusted-head",)])
def test_ci_judges_the_tips_tree(repo: ScratchRepo, options: tuple[str, ...]) -> None:
    repo.commit("feat: base", SERVED)
    repo.git("branch", "base")
    repo.commit("feat: sing", THIRD)
    code, said = ended(repo, "ci", "--base", "base", *options)
    assert (code, f"unserved-agent: {MARKET} serves sing" in said) == (1, True), said
    repo.commit("test: grade it", GRADED)
    code, said = ended(repo, "ci", "--base", "base", *options)
    assert (code, "unserved-agent" in said) == (0, False), said


def test_check_says_it_with_and_without_a_base(repo: ScratchRepo) -> None:
    repo.commit("feat: base", SERVED)
    repo.commit("feat: sing", THIRD)
    assert ended(repo, "check", "--base", "HEAD")[0] == 1
    code, said = ended(repo, "check")
    assert (code, f"✗ unserved-agent: {MARKET} serves sing" in said) == (1, True), said
    assert ended(repo, "-p", "no:claude-code", "check")[0] == 2
    repo.write(GRADED)
    assert ended(repo, "check")[0] == 0
