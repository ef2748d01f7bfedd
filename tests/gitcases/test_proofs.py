"""docs/git.md I: what a proof is made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gitcases.stories import BETTER_TALK
from tests.hooks.installed import BAD_TALK, CONFIG, TALK, Installed

#: Says what git finds around a workspace, around {repo}, and in its environment.
LOOK = (
    "for d in . {repo} $HOME $TMPDIR ..; do (cd $d && git rev-parse --git-dir 2>&1 | cut -c1-27); "
    "done; env | grep ^GIT_ | cut -d= -f1 | sort; cat SKILL.md"
)
NOWHERE = "fatal: not a git repository\n"
VARIABLES = "GIT_CEILING_DIRECTORIES\nGIT_CONFIG_GLOBAL\nGIT_CONFIG_NOSYSTEM\n"


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
