"""``guard check``: everything that needs no run, and no target is started."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.conftest import ScratchRepo

CONFIG = """\
version: 1
agents:
  greeter:
    paths: [skills/greeter/**]
    target: command
    options: {argv: [sh, -c, "touch %s"]}
    cases: [evals/*.md]
"""
SKILL = "---\nname: greeter\ndescription: greets\n---\nSay hello.\n"
CASE = "---\nid: one\nexpected: {no_changes: true}\n---\nWhy.\n"


@pytest.fixture
def guarded(repo: ScratchRepo, tmp_path: Path) -> ScratchRepo:
    """A guarded repository whose agent would leave a trace if it were run."""
    config = CONFIG % (tmp_path / "it-ran")
    files = {"guard.yaml": config, "skills/greeter/SKILL.md": SKILL, "evals/one.md": CASE}
    repo.commit("feat: base", files)
    return repo


def check(repo: ScratchRepo, *args: str) -> tuple[int, str]:
    done = repo.run(sys.executable, "-P", "-m", "guard", "check", *args)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout + done.stderr


def test_a_sound_repository_holds_and_nothing_is_run(guarded: ScratchRepo, tmp_path: Path) -> None:
    code, said = check(guarded)
    assert code == 0, said
    assert "1 agent, 1 case, 0 records checked; nothing was run" in said
    assert not (tmp_path / "it-ran").exists()


def test_a_link_that_leads_the_agents_text_away_is_named(guarded: ScratchRepo) -> None:
    said = "! skills/greeter/SKILL.md leads to real.md, which no path of agent greeter covers"
    assert said not in check(guarded)[1]
    guarded.git("mv", "skills/greeter/SKILL.md", "real.md")
    (guarded.root / "skills/greeter").mkdir(exist_ok=True)
    (guarded.root / "skills/greeter/SKILL.md").symlink_to("../../real.md")
    guarded.git("add", "--all")
    code, told = check(guarded)
    assert (code, said in told) == (0, True)


@pytest.mark.parametrize(
    ("files", "code", "said"),
    [
        ({"evals/one.md": None}, 1, "agent-without-case"),
        ({"guard.yaml": "version: 9\n"}, 2, "guard.yaml:1: version"),
        ({"evals/two.md": CASE}, 2, "id: one stands in evals/one.md too"),
        ({"evals/one.md": CASE.replace("no_changes", "no_change")}, 2, "`no_changes`"),
        ({"regressions.json": "{"}, 2, "regressions.json:1: not valid JSON"),
        (
            {"guard.yaml": CONFIG.replace("argv", "arg")},
            2,
            "6: agents.greeter.options.arg: ",
        ),
        ({"guard.yaml": CONFIG.replace("s/greeter", "/x")}, 0, "matches the paths of greeter\n"),
    ],
)
def test_what_is_wrong_is_named(
    guarded: ScratchRepo, files: dict[str, str | None], code: int, said: str
) -> None:
    guarded.write(files)
    ended, printed = check(guarded)
    assert (ended, said in printed) == (code, True), printed


@pytest.mark.parametrize(
    ("example", "said"),
    [
        ('{files: {SKILL.md: "changed"}, fails: [no_changes]}', None),
        ('{files: {new.md: ""}, fails: [no_changes]}', None),
        ("{files: {}, fails: [no_changes]}", "`no_changes` accepts it"),
        ('{files: {SKILL.md: "x"}, fails: [exit_code]}', "nothing scores `exit_code`"),
    ],
)
def test_counter_examples_must_fail_exactly_their_keys(
    guarded: ScratchRepo, example: str, said: str | None
) -> None:
    case = CASE.replace("---\nWhy", f"counter_examples: [{example}]\n---\nWhy")
    guarded.write({"evals/one.md": case})
    code, printed = check(guarded)
    assert code == (1 if said else 0), printed
    assert said is None or said in printed


def test_the_commits_since_a_base_are_judged(guarded: ScratchRepo) -> None:
    base = guarded.git("rev-parse", "HEAD").strip()
    guarded.commit("docs: nothing", {"README.md": "x"})
    assert check(guarded, "--base", base)[0] == 0
    guarded.commit("fix: say more", {"skills/greeter/SKILL.md": SKILL + "Never lie to people.\n"})
    code, said = check(guarded, "--base", base, "--json", "-")
    rules = json.loads(said)["rules"]
    assert code == 1
    assert [rule["rule"] for rule in rules] == ["fix-needs-case"]
    assert "fix: say more" in rules[0]["commit"]


def test_cosmetic_fixes_are_counted(guarded: ScratchRepo) -> None:
    base = guarded.git("rev-parse", "HEAD").strip()
    guarded.commit("fix: white space", {"skills/greeter/SKILL.md": SKILL + "\n\n"})
    code, said = check(guarded, "--base", base)
    assert code == 0
    assert "1 file of a fix changed only cosmetically, no case asked: white space (1)" in said


def test_what_is_not_committed_is_judged_by_its_message(
    guarded: ScratchRepo, tmp_path: Path
) -> None:
    guarded.write({"skills/greeter/SKILL.md": SKILL + "Never lie to people.\n"})
    message = tmp_path / "message"
    message.write_text("docs: more\n")
    assert check(guarded, "--message", str(message))[0] == 0
    message.write_text("fix: more\n")
    code, said = check(guarded, "--message", str(message))
    assert code == 1
    assert "fix-needs-case" in said


def test_counter_examples_are_put_through_checkers_where_that_is_asked_for(
    guarded: ScratchRepo,
) -> None:
    checker = "command: {argv: [sh, -c, 'test -e {repo}/guard.yaml && grep -q hello SKILL.md']}"
    case = f"---\nid: one\nexpected: {{{checker}}}\ncounter_examples: [%s]\n---\nWhy.\n"
    guarded.write({"evals/one.md": case % "{files: {SKILL.md: bye}, fails: [command]}"})
    assert check(guarded, "--run-checkers")[0] == 0
    guarded.write({"evals/one.md": case % "{files: {SKILL.md: hello}, fails: [command]}"})
    assert check(guarded)[0] == 0
    code, said = check(guarded, "--run-checkers")
    assert (code, "`command` accepts it" in said) == (1, True), said


def test_a_base_that_is_none(guarded: ScratchRepo) -> None:
    code, said = check(guarded, "--base", "nosuch")
    assert code == 2
    assert "--base nosuch names no commit" in said


# Since a base ------------------------------------------------------------------------------


def test_what_takes_guard_yaml_away_is_judged_by_its_commits(guarded: ScratchRepo) -> None:
    guarded.git("branch", "base")
    guarded.commit("chore: end", {"guard.yaml": None})
    code, said = check(guarded, "--base", "base")
    assert code == 1
    assert "case-weakened [" in said
    guarded.git(
        *("commit", "-q", "--amend", "-m", "chore: end"),
        *("-m", "Case-Weakened: guard.yaml: it is served elsewhere now"),
    )
    code, said = check(guarded, "--base", "base")
    assert code == 0, said


def test_what_came_and_went_is_judged_too(repo: ScratchRepo) -> None:
    repo.commit("docs: base", {"README.md": "1\n"})
    repo.git("branch", "base")
    config = CONFIG % "/nowhere"
    repo.commit("feat: guard", {"guard.yaml": config, "skills/greeter/SKILL.md": SKILL})
    repo.commit("chore: end", {"guard.yaml": None})
    assert check(repo, "--base", "base")[0] == 1


def test_without_a_guard_yaml_in_any_commit_it_is_a_mistake(repo: ScratchRepo) -> None:
    repo.commit("docs: base", {"README.md": "1\n"})
    repo.commit("docs: more", {"README.md": "2\n"})
    code, said = check(repo, "--base", "HEAD^")
    assert (code, "there is no guard.yaml here" in said) == (2, True)


def test_a_guard_yaml_that_is_gone_on_disk_alone_is_a_mistake(guarded: ScratchRepo) -> None:
    guarded.commit("docs: more", {"README.md": "2\n"})
    (guarded.root / "guard.yaml").unlink()
    assert check(guarded, "--base", "HEAD^")[0] == 2


def test_a_base_beyond_the_end_of_a_shallow_clone(guarded: ScratchRepo) -> None:
    tip = guarded.commit("docs: more", {"README.md": "2\n"})
    assert check(guarded, "--base", "HEAD^")[0] == 0
    (guarded.root / ".git/shallow").write_text(f"{tip}\n")
    code, said = check(guarded, "--base", "HEAD^")
    assert code == 3
    assert "git fetch --unshallow" in said
