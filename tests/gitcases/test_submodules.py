"""docs/git.md B 26: an agent that lies in a submodule, and hooks that run inside one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import ScratchRepo
from tests.gitcases.stories import BETTER_TALK, FIX, WITHOUT_CASE
from tests.hooks.installed import BAD_TALK, FILES, GOOD_TALK, TALK, TALK_CASE, Installed, case
from tests.invariants import snapshot_state

HELD = "1 held when run now (greets 2 of 2)"
BROKEN = "✗ greets   0 of 2"


@pytest.fixture
def held(watched: Installed, tmp_path: Path) -> ScratchRepo:
    """Agent talk lies in a submodule; returns its files in the repository of `watched`."""
    source = tmp_path / "source"
    source.mkdir()
    ScratchRepo(source).git("init", "-q")
    ScratchRepo(source).commit("feat: talk", {"SKILL.md": GOOD_TALK})
    watched.git("rm", "-rq", "skills/talk")
    watched.git("submodule", "--quiet", "add", str(source), "skills/talk")
    watched.bypass("feat: a submodule", {})
    return ScratchRepo(watched.root / "skills/talk")


def test_026_a_moved_gitlink_is_a_changed_agent(watched: Installed, held: ScratchRepo) -> None:
    """The skill lies in a submodule: its cases run on the commit that is staged of it."""
    held.commit("feat: mean it", {"SKILL.md": BETTER_TALK})
    watched.git("add", "skills/talk")
    assert HELD in watched.accept("feat(talk): mean it")
    held.commit("feat: say less", {"SKILL.md": BAD_TALK})
    watched.git("add", "skills/talk")
    assert BROKEN in watched.refuse("feat(talk): say less")


@pytest.mark.parametrize("hidden", ["all", "dirty", "none"])
def test_026_a_fix_that_moves_a_gitlink_owes_its_case(
    watched: Installed, held: ScratchRepo, hidden: str
) -> None:
    """A fix in a submodule arrives as a moved gitlink: it owes a case, whatever git ignores."""
    watched.git("config", "-f", ".gitmodules", "submodule.skills/talk.ignore", hidden)
    held.commit("feat: say less", {"SKILL.md": BAD_TALK})
    watched.git("add", "--force", "skills/talk")
    watched.bypass("feat(talk): say less", {TALK_CASE: None, "evals/talk/x.md": case("x", "name")})
    held.commit("fix: say hello", {"SKILL.md": GOOD_TALK})
    watched.git("add", "--force", "skills/talk")
    said = watched.refuse("fix(talk): say hello")
    assert WITHOUT_CASE in said
    assert "skills/talk" in said
    watched.stage({name: text for name, text in FIX.items() if name != TALK})
    watched.git("add", "--force", "skills/talk")
    assert "greets 2 of 2" in watched.accept("fix(talk): say hello")
    # Its broken state is the gitlink as it was before.
    done = watched.guard("verify", "greets")
    assert (done.returncode, "greets PROVEN" in done.stdout) == (0, True), done.stdout + done.stderr


def test_026_a_submodule_whose_commit_is_not_here_is_named(
    watched: Installed, held: ScratchRepo
) -> None:
    """A gitlink to a commit that no store here has: it could not be established, and how to."""
    watched.git("update-index", "--cacheinfo", f"160000,{'1' * 40},skills/talk")
    said = watched.refuse("feat(talk): something")
    assert "refused: greets can't be run with this change" in said
    assert "skills/talk is a submodule whose commit 1111111111 is not here" in said
    assert "git submodule update --init --recursive skills/talk" in said
    assert watched.call_hook("pre-commit").returncode == 3
    watched.git("add", "skills/talk")
    shutil.rmtree(watched.root / ".git/modules")
    shutil.rmtree(held.root)
    held.root.mkdir()
    assert watched.guard("run", "--at", "HEAD", "greets", "--no-cache").returncode == 3


def test_026_hooks_inside_a_submodule_see_it_alone(watched: Installed, tmp_path: Path) -> None:
    """Inside a submodule git's variables name a directory below modules/: it is judged alone."""
    source = tmp_path / "inner"
    source.mkdir()
    ScratchRepo(source).git("init", "-q")
    ScratchRepo(source).commit("feat: all", FILES)
    watched.git("submodule", "--quiet", "add", str(source), "inner")
    watched.bypass("feat: a submodule", {})
    inner = Installed(watched.root / "inner")
    inner.install()
    above = snapshot_state(watched)
    inner.stage({TALK: BAD_TALK})
    assert BROKEN in inner.refuse("feat(talk): say less")
    inner.stage({TALK: BETTER_TALK})
    assert HELD in inner.accept("feat(talk): mean it")
    assert (watched.trials("greets"), inner.trials("greets")) == (0, 4)
    differing = {name for name, state in snapshot_state(watched).items() if state != above[name]}
    assert differing <= {"files"}
    watched.git("add", "inner")
    watched.accept("chore: move inner")
