"""Printed commands begin with a form that works in the user's shell."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from guard.invocation import guard_command, pasteable


@pytest.fixture(autouse=True)
def fresh_answer() -> None:
    guard_command.cache_clear()


def test_a_bare_name_where_the_shell_finds_it() -> None:
    assert pasteable("do  guard prove x") == "do  guard prove x"


def test_the_whole_path_where_it_doesnt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    own = os.path.join(os.path.dirname(sys.executable), "guard")
    assert pasteable("guard run --owed, then git push") == f"{own} run --owed, then git push"
    assert pasteable("guard: refused; a guard is a word") == "guard: refused; a guard is a word"
    assert pasteable("/x/guard run") == "/x/guard run"
    assert pasteable('it says "guard prove x"') == 'it says "guard prove x"'
    assert pasteable("guard run: the working tree") == "guard run: the working tree"
    assert pasteable("! x\n  do  guard prove x") == f"! x\n  do  {own} prove x"


def test_a_framework_s_own_environment_is_not_the_user_s_shell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable))
    monkeypatch.setenv("PRE_COMMIT", "1")
    assert guard_command() != "guard"
