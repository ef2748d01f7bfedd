"""What the commit-msg hook may import: every module costs each commit its time."""

from __future__ import annotations

import sys

import pytest

from tests.conftest import ScratchRepo
from tests.guarded_repo import FIX, FIXED_SKILL, RETAINED, SKILL
from tests.hooked_repo import HookedRepo

PROGRAM = """\
import sys
from guard_hooks.commit_msg import main
code = main()
print(*sorted(sys.modules), sep="\\n")
raise SystemExit(code)
"""
#: Each is dear by itself; `guard.yamlfile` stands for what the store keeps parsed.
NEVER = (
    "argparse",
    "asyncio",
    "dataclasses",
    "git",
    "importlib.metadata",
    "inspect",
    "logging",
    "pathlib",
    "pluggy",
    "psutil",
    "pydantic",
    "rich",
    "shutil",
    "tempfile",
    "yaml",
    "guard.cli",
    "guard.engine",
    "guard.plugin.api",
    "guard.plugin.manager",
    "guard.results",
    "guard.snapshot",
    "guard.yamlfile",
)


@pytest.fixture
def hooked(repo: ScratchRepo) -> HookedRepo:
    found = HookedRepo(repo.root)
    found.commit("feat: base", RETAINED)
    return found


def imported(hooked: HookedRepo, message: str) -> set[str]:
    """Run the hook until the store knows all, then once more; return what that imported."""
    (hooked.root / "message").write_text(message)
    run_once(hooked)
    return run_once(hooked)


def run_once(hooked: HookedRepo) -> set[str]:
    done = hooked.run(sys.executable, "-E", "-P", "-c", PROGRAM, "message")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return set(done.stdout.split("\n"))


def test_a_touched_skill(hooked: HookedRepo) -> None:
    hooked.stage({SKILL: FIXED_SKILL})
    found = imported(hooked, "docs: reword")
    assert {"guard.rules.fix_needs_case", "guard.rules.case_weakened"} <= found
    assert not found.intersection(NEVER)


def test_a_fix_with_all_it_needs(hooked: HookedRepo) -> None:
    hooked.commit("chore: start again", {name: None for name in FIX if name != SKILL})
    hooked.stage({**FIX})
    found = imported(hooked, "fix: ask")
    assert {"guard.rules.comparison", "guard.messages.cosmetic"} <= found
    assert not found.intersection(NEVER)


def test_nothing_guarded(hooked: HookedRepo) -> None:
    hooked.stage({"README.md": "x\n"})
    found = imported(hooked, "fix: the ledger")
    assert "guard.judging.guarded" in found
    assert not found.intersection(NEVER)
    assert not [name for name in found if name.startswith("guard.rules")]
