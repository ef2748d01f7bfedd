"""docs/git.md I: what counts as failing before the fix."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.gitcases.stories import (
    BETTER_TALK,
    FIX,
    accept_push,
    add_remote,
    break_talk,
    refuse_push,
)
from tests.hooks.installed import (
    BAD_TALK,
    CONFIG,
    GOOD_TALK,
    TALK,
    TALK_CASE,
    Installed,
    case,
    skill,
)

MORE = "skills/talk/more.md"
MESSAGE = "fix(talk): say hello again"
#: Says what git finds around a workspace, around {repo}, and in its environment.
LOOK = (
    "for d in . {repo} $HOME $TMPDIR ..; do (cd $d && git rev-parse --git-dir 2>&1 | cut -c1-27); "
    "done; env | grep ^GIT_ | cut -d= -f1 | sort; cat SKILL.md"
)
NOWHERE = "fatal: not a git repository\n"
VARIABLES = "GIT_CEILING_DIRECTORIES\nGIT_CONFIG_GLOBAL\nGIT_CONFIG_NOSYSTEM\n"


def verified(watched: Installed, code: int) -> dict[str, Any]:
    """Return what `guard verify` reports of the one record."""
    done = watched.guard("verify", "--json", "-", "--strict")
    assert done.returncode == code, done.stdout + done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["regressions"]
    assert len(found) == 1
    return found[0]


# 101 -------------------------------------------------------------------------------------


def test_101_case_that_passes_before_its_fix(watched: Installed, tmp_path: Path) -> None:
    """A case that can't see its bug is VACUOUS: verify and push refuse it; a sharper one proves."""
    break_talk(watched)
    add_remote(watched, tmp_path)
    watched.stage({**FIX, TALK_CASE: case("greets", "say")})
    watched.accept(MESSAGE)
    assert "greets VACUOUS: " in refuse_push(watched, "up", "main")
    assert verified(watched, 1)["verdict"] == "VACUOUS"
    watched.stage(FIX)
    watched.accept(MESSAGE, "--amend")
    assert verified(watched, 0)["verdict"] == "PROVEN"
    assert "1 regression proven" in accept_push(watched, "up", "main")


@pytest.mark.parametrize(
    ("deterministic", "verdict"), [("true", "INCONCLUSIVE"), ("false", "VACUOUS")]
)
def test_101_bug_that_shows_now_and_then(
    watched: Installed, deterministic: str, verdict: str
) -> None:
    """One pass is no proof of vacuity: it is looked at again, and again, before that is said."""
    odd = "[ $((GUARD_TRIAL % 2)) = 1 ] && echo name, say hello || cat SKILL.md"
    script = f"[sh, -c, {json.dumps(odd)}], deterministic: {deterministic}"
    config = CONFIG.replace("[cat, SKILL.md], deterministic: true", script, 1)
    watched.bypass("chore: odd", {"guard.yaml": config})
    break_talk(watched)
    watched.stage(FIX)
    watched.accept(MESSAGE)
    found = verified(watched, 3 if verdict == "INCONCLUSIVE" else 1)
    assert found["verdict"] == verdict
    assert 0 < found["before"]["passed"] < found["before"]["trials"]


# 102 -------------------------------------------------------------------------------------


@pytest.fixture
def two_steps(watched: Installed, tmp_path: Path) -> Installed:
    """A bug that either of two files can hide, and a remote that has it."""
    config = CONFIG.replace("[cat, SKILL.md]", "[cat, SKILL.md, more.md]", 1)
    watched.bypass("chore: two files", {"guard.yaml": config, MORE: "Smile.\n"})
    break_talk(watched)
    add_remote(watched, tmp_path)
    return watched


def first_step(watched: Installed) -> None:
    watched.bypass("feat(talk): part 1", {MORE: "Smile, and say hello.\n"})


def second_step(watched: Installed) -> None:
    watched.stage(FIX)
    watched.accept(MESSAGE)


def on_main(watched: Installed) -> None:
    first_step(watched)
    second_step(watched)


def on_a_branch(watched: Installed) -> None:
    watched.git("checkout", "-qb", "topic")
    on_main(watched)


def by_merge(watched: Installed) -> None:
    on_a_branch(watched)
    watched.git("checkout", "-q", "main")
    watched.bypass("docs: main", {"main.txt": "1\n"})
    watched.git("merge", "-q", "--no-ff", "-m", "Merge branch 'topic'", "topic")
    watched.bypass("docs: later", {"main.txt": "2\n"})


def by_squash(watched: Installed) -> None:
    on_a_branch(watched)
    watched.git("checkout", "-q", "main")
    watched.git("merge", "-q", "--squash", "topic")
    watched.git("commit", "-q", "-m", f"{MESSAGE} (#3)")
    watched.git("branch", "-qD", "topic")


def in_one_commit(watched: Installed) -> None:
    watched.write({MORE: "Smile, and say hello.\n"})
    second_step(watched)


@pytest.mark.parametrize(
    ("fix", "state"),
    [
        (on_main, "branch"),
        (by_merge, "branch"),
        (by_squash, "live"),
        (in_one_commit, "live"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_102_fix_in_two_commits(
    two_steps: Installed, fix: Callable[[Installed], None], state: str
) -> None:
    """Before the second commit the first one hides the bug: what stood before both shows it."""
    fix(two_steps)
    found = verified(two_steps, 0)
    assert (found["verdict"], found["state"]) == ("PROVEN", state)
    assert "1 regression proven" in accept_push(two_steps, "up", "HEAD")


def test_102_first_step_that_is_published(two_steps: Installed) -> None:
    """Nothing before it is of this branch: the case doesn't show the bug, and says so."""
    first_step(two_steps)
    two_steps.git("push", "-q", "--no-verify", "up", "main")
    second_step(two_steps)
    assert verified(two_steps, 1)["verdict"] == "VACUOUS"


@pytest.mark.parametrize(
    ("later", "state"),
    [
        (GOOD_TALK.replace("Does talk", "Does talk politely"), "live"),
        (skill("talk", "say hello, for hello is polite"), "pinned"),
    ],
    ids=["elsewhere", "same line"],
)
def test_102_text_that_changed_since(watched: Installed, later: str, state: str) -> None:
    """The fix is taken back in today's text; where that changed too, the old text stands in."""
    break_talk(watched)
    watched.stage(FIX)
    watched.accept(MESSAGE)
    watched.bypass("docs(talk): more", {TALK: later})
    found = verified(watched, 0)
    assert (found["verdict"], found["state"]) == ("PROVEN", state)


# 103 --------------------------------------------------------------------------------------


@pytest.mark.parametrize("inside", [False, True])
def test_103_a_workspace_lies_in_no_repository(
    watched: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: bool
) -> None:
    """A case that asks git finds no repository, even where the temporary folder lies in one."""
    config = CONFIG.replace("[cat, SKILL.md]", f"[sh, -c, '{LOOK}']", 1)
    watched.bypass("feat: look", {"guard.yaml": config, ".gitignore": "tmp/\n"})
    if inside:
        temporary = watched.root / "tmp"
        temporary.mkdir()
        for name in ("TMPDIR", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME"):
            monkeypatch.setenv(name, str(temporary))
    for name, value in {"GIT_AUTHOR_NAME": "A", "GIT_EDITOR": ":", "GIT_TRACE2": "0"}.items():
        monkeypatch.setenv(name, value)
    watched.stage({TALK: BETTER_TALK})
    assert "greets 2 of 2" in watched.accept("feat(talk): mean it")
    said = watched.guard("show", "greets#1").stdout
    replied = [line.strip() for line in said.splitlines()]
    assert replied.count(NOWHERE.strip()) == 5, said
    found = [line for line in replied if line.startswith("GIT_")]
    assert found == VARIABLES.split()
    if inside:
        assert list((watched.root / "tmp").iterdir()) == []
    watched.stage({TALK: BAD_TALK})
    watched.refuse("feat(talk): say less")
