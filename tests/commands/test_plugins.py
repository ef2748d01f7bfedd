"""``guard plugins``: installed ones, the repository's own, those that don't load."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from guard.plugin import spec
from tests.commands.calling import call_guard
from tests.conftest import ScratchRepo

OWN = """\
from guard.plugin import Prerequisite, hookimpl

@hookimpl
def guard_prerequisites():
    return [Prerequisite("printer", lambda name: None)]

@hookimpl
def guard_is_fix(commit):
    return None
"""
#: Names of installed modules are used once: a process keeps what it imported.
SPARE = """\
from guard.plugin import Evaluator, hookimpl

@hookimpl
def guard_evaluators():
    return [Evaluator("tidy", lambda observation, expected: ()),
            Evaluator("short", lambda observation, expected: ())]

@hookimpl
def guard_is_fix(commit):
    return None
"""


def install(folder: Path, name: str, module: str, text: str) -> None:
    """Install a distribution with one plugin, as pip leaves it."""
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text(f"[guard]\n{name} = {module}\n", encoding="utf-8")
    (folder / f"{module}.py").write_text(text, encoding="utf-8")


def cells_of(out: str, name: str) -> list[str]:
    (line,) = (line for line in out.splitlines() if line.startswith(name + " "))
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


def test_the_built_in_ones_without_a_guard_yaml(repo: ScratchRepo) -> None:
    code, out, _ = call_guard(repo.root, "plugins")
    assert code == 0
    assert cells_of(out, "command") == ["command", "regression-guard", "target command"]
    assert cells_of(out, "claude-code")[2].startswith("target claude-code")


def test_one_of_the_repository_and_one_installed(
    repo: ScratchRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    install(tmp_path, "guard-spare", "guard_spare_evaluators", SPARE)
    repo.write({"guard.yaml": "version: 1\nplugins: [ü evals/own.py]\n", "ü evals/own.py": OWN})
    code, out, _ = call_guard(repo.root, "plugins")
    assert code == 0
    assert cells_of(out, "guard-spare")[1:] == [
        "guard-spare",
        "evaluators tidy, short; guard_is_fix",
    ]
    assert cells_of(out, "ü evals/own.py")[1] == "guard.yaml"
    assert out.splitlines()[-1] == f"{len(out.splitlines()) - 2} plugins"


def test_the_hooks_in_the_order_of_the_calls(
    repo: ScratchRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    install(tmp_path, "guard-spare", "guard_spare_order", SPARE)
    repo.write({"guard.yaml": "version: 1\nplugins: [own.py]\n", "own.py": OWN})
    code, out, _ = call_guard(repo.root, "plugins", "--hooks")
    assert code == 0
    named = [line.split()[0] for line in out.splitlines() if line.startswith("guard_")]
    assert named == [name for name in vars(spec) if name.startswith("guard_")]
    assert named[0] == "guard_agents"
    callers = next(line for line in out.splitlines() if line.startswith("guard_is_fix"))
    assert callers.split(None, 1)[1] == "guard-spare, own.py (the first result is used)"


def test_one_that_does_not_load_is_named_with_the_way_out(
    repo: ScratchRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    install(tmp_path, "guard-torn", "guard_torn_plugin", "import no_such_module_here\n")
    code, out, _ = call_guard(repo.root, "plugins")
    assert code == 2
    assert "! plugin guard-torn (guard-torn) does not load: ModuleNotFoundError" in out
    assert "GUARD_DISABLED_PLUGINS=guard-torn" in out
    assert cells_of(out, "command")

    monkeypatch.setenv("GUARD_DISABLED_PLUGINS", "guard-torn")
    code, out, _ = call_guard(repo.root, "plugins")
    assert code == 0
    assert "! guard-torn is switched off" in out


def test_one_of_the_repository_that_does_not_load(repo: ScratchRepo) -> None:
    repo.write({"guard.yaml": "version: 1\nplugins: [own.py]\n", "own.py": "def broken(:\n"})
    code, out, _ = call_guard(repo.root, "plugins")
    assert code == 2
    assert "own.py does not load: SyntaxError" in out
    code, out, _ = call_guard(repo.root, "-p", "no:own.py", "plugins")
    assert code == 0
    assert "own.py is switched off" in out


def test_outside_a_repository_and_with_a_wrong_guard_yaml(
    repo: ScratchRepo, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    assert call_guard(outside, "plugins").code == 2
    repo.write({"guard.yaml": "version: 3\n"})
    code, _, err = call_guard(repo.root, "plugins")
    assert code == 2
    assert "guard.yaml:1: version" in err
