"""What ran was the workspace's: installed agents, stale byte-code, state left in shared folders.

Each repository is proven or refuted as what is committed deserves, whatever else the machine
would run in its place.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from guard.trials import sandbox
from tests.commands.calling import call_guard
from tests.conftest import ScratchRepo
from tests.corpus.story import CASE, CONFIG, case, records, told
from tests.environments import EDITABLE, by_path, copied, make_environment
from tests.trials.test_sandbox import needs_namespaces

PYTHON = """\
version: 1
agents:
  clerk:
    paths: [src/**]
    workspace: .
    target: command
    options: {argv: [python, -m, clerk], deterministic: true}
    python: .venv/bin/python
    cases: [evals/*.md]
"""
CORE = "src/clerk/core.py"
PACKAGE = {
    "src/clerk/__init__.py": "",
    "src/clerk/__main__.py": "from clerk.core import answer\nprint(answer())\n",
    ".gitignore": ".venv/\nbuild/\n",
}
BROKEN = "def answer():\n    return 'Booked 4600 crowns.'\n"
FIXED = "def answer():\n    return 'Which currency? Ah.'\n"
assert len(BROKEN) == len(FIXED)
CANNOT_TELL = "which files a run loads is not controlled"

Install = Callable[[Path, Path], None]


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without mount namespaces: the user's checkout is there to be run."""
    monkeypatch.setattr(sandbox, "_no_namespaces", "switched off in this test")


def installed(
    repo: ScratchRepo, install: Install, *, broken: str = BROKEN, fixed: str = FIXED, **more: str
) -> Path:
    """Commit a bug and its fix in a src layout, whose package is installed from the checkout."""
    python = make_environment(repo.root / ".venv")
    base = {"guard.yaml": PYTHON, **PACKAGE, CORE: broken, **more}
    repo.commit("start", base)
    repo.commit("fix", {CORE: fixed, CASE: case(), **records()})
    install(python, repo.root / "src/clerk")
    return python


def runs(python: Path) -> str:
    """Return what the user's own environment runs, outside of any trial."""
    call = [str(python), "-m", "clerk"]
    return subprocess.run(call, cwd="/", capture_output=True, text=True, check=False).stdout


# Installed from the checkout ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "hidden"), [*((kind, False) for kind in EDITABLE), ("by_path", True)]
)
def test_a_src_layout_with_an_editable_install_is_proven(
    repo: ScratchRepo, request: pytest.FixtureRequest, kind: str, hidden: bool
) -> None:
    if not hidden:
        request.getfixturevalue("bare")
    python = installed(repo, EDITABLE[kind])
    assert runs(python) == "Which currency? Ah.\n"
    found, outcome = told(repo, "verify")
    assert (found["verdict"], found["state"], outcome.code) == ("PROVEN", "live", 0), outcome.out
    assert CANNOT_TELL not in outcome.out


@pytest.mark.usefixtures("bare")
def test_an_editable_install_makes_no_vacuous_case_pass(repo: ScratchRepo) -> None:
    """The broken state is right already: that the checkout holds the fix changes nothing."""
    installed(repo, by_path, broken=FIXED, fixed=f"{FIXED}# carefully\n")
    found, outcome = told(repo, "verify")
    assert (found["verdict"], outcome.code) == ("VACUOUS", 1), outcome.out


def test_an_installed_copy_proves_nothing(repo: ScratchRepo) -> None:
    """Both sides would run the copy; the report names it, and what it says mends it."""
    python = installed(repo, copied)
    assert runs(python) == "Which currency? Ah.\n"
    found, outcome = told(repo, "verify")
    assert (found["verdict"], outcome.code) == ("INCONCLUSIVE", 3), outcome.out
    assert "agent_not_loaded: " in found["reason"]
    assert ".venv/lib/python" in found["reason"]
    mended = PYTHON.replace("python, -m, clerk]", "python, -m, clerk], env: {PYTHONPATH: src}")
    repo.write({"guard.yaml": mended})
    found, outcome = told(repo, "verify")
    assert (found["verdict"], outcome.code) == ("PROVEN", 0), outcome.out


@pytest.mark.usefixtures("bare")
def test_an_environment_on_path_is_the_agents_as_well(
    repo: ScratchRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = PYTHON.replace("    python: .venv/bin/python\n", "")
    python = make_environment(tmp_path / "environment")
    monkeypatch.setenv("PATH", f"{python.parent}:{os.environ['PATH']}")
    repo.commit("start", {"guard.yaml": config, **PACKAGE, CORE: BROKEN})
    repo.commit("fix", {CORE: FIXED, CASE: case(), **records()})
    by_path(python, repo.root / "src/clerk")
    found, outcome = told(repo, "verify")
    assert (found["verdict"], outcome.code) == ("PROVEN", 0), outcome.out


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("vacuous", [False, True])
def test_a_path_that_the_user_passes_is_the_workspaces(
    repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch, vacuous: bool
) -> None:
    """A masked import: PYTHONPATH names the checkout, where the fix is in on both sides."""
    config = PYTHON.replace("    python: .venv/bin/python\n", "    env: [PYTHONPATH]\n")
    monkeypatch.setenv("PYTHONPATH", str(repo.root / "src"))
    repo.commit("start", {"guard.yaml": config, **PACKAGE, CORE: FIXED if vacuous else BROKEN})
    repo.commit("fix", {CORE: f"{FIXED}# so\n", CASE: case(), **records()})
    found, outcome = told(repo, "verify")
    assert found["verdict"] == ("VACUOUS" if vacuous else "PROVEN"), outcome.out


@pytest.mark.usefixtures("bare")
def test_a_fix_is_proven_as_it_is_made(repo: ScratchRepo) -> None:
    """Red by `guard prove` before the edit, green after it, with an editable install."""
    repo.commit("start", {"guard.yaml": PYTHON, **PACKAGE, CORE: BROKEN})
    by_path(make_environment(repo.root / ".venv"), repo.root / "src/clerk")
    repo.write({CASE: case()})
    red = call_guard(repo.root, "prove", "taxi")
    assert "0 of 2 passed" in red.out, red
    repo.write({CORE: FIXED})
    green = call_guard(repo.root, "prove", "taxi")
    assert green.code == 0, green
    assert CANNOT_TELL not in green.out


# Byte-code ----------------------------------------------------------------------------------

FLAT = PYTHON.replace("    python: .venv/bin/python\n", "").replace(
    "workspace: .", "workspace: src"
)


def compiled(repo: ScratchRepo, mode: str) -> None:
    """Leave byte-code of what the package holds now beside it, which says that it fits."""
    folder = repo.root / "src/clerk"
    how = f"invalidation_mode=p.PycInvalidationMode.{mode}"
    call = f"import py_compile as p; p.compile('core.py', {how})"
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    subprocess.run(["python3", "-c", call], cwd=folder, env=env, check=True)
    assert list(folder.glob("__pycache__/core.*.pyc"))


@pytest.mark.parametrize("mode", ["TIMESTAMP", "UNCHECKED_HASH"])
def test_committed_byte_code_of_the_fix_is_not_run_before_it(repo: ScratchRepo, mode: str) -> None:
    """It would turn the broken side green: same size, and believed without a look."""
    repo.write({CORE: FIXED})
    compiled(repo, mode)
    repo.commit("start", {"guard.yaml": FLAT, **PACKAGE, CORE: BROKEN})
    repo.commit("fix", {CORE: FIXED, CASE: case(), **records()})
    found, outcome = told(repo, "verify")
    assert (found["verdict"], outcome.code) == ("PROVEN", 0), outcome.out


def test_committed_byte_code_of_the_bug_is_not_run_after_it(repo: ScratchRepo) -> None:
    """It would turn the broken side red, though that was right already."""
    repo.write({CORE: BROKEN})
    compiled(repo, "UNCHECKED_HASH")
    start = {"guard.yaml": FLAT, **PACKAGE, CORE: FIXED}
    repo.commit("start", start)
    repo.commit("fix", {CORE: f"{FIXED}# so\n", CASE: case(), **records()})
    found, outcome = told(repo, "verify")
    assert (found["verdict"], outcome.code) == ("VACUOUS", 1), outcome.out


def test_one_cache_for_all_is_not_used(repo: ScratchRepo, tmp_path: Path) -> None:
    """Same size and same second on both sides, and a cache of byte-code that both are told of."""
    shared = tmp_path / "cache"
    run = "touch -d @1700000000 clerk/*.py; python3 -m clerk"
    argv = f'argv: [sh, -c, "{run}"], env: {{PYTHONPYCACHEPREFIX: {shared}}}'
    config = FLAT.replace("argv: [python, -m, clerk]", argv)
    repo.commit("start", {"guard.yaml": config, **PACKAGE, CORE: BROKEN})
    repo.commit("fix", {CORE: FIXED, CASE: case(), **records()})
    found, outcome = told(repo, "verify")
    assert (found["verdict"], outcome.code) == ("PROVEN", 0), outcome.out
    assert not shared.exists()


# Folders that all programs share ------------------------------------------------------------


def leaving(folder: str, later: str) -> tuple[str, Path]:
    """Return an agent whose answer is another one once a run has left a file in a folder."""
    state = Path(folder, f"guard-test-{os.getpid()}-{os.urandom(4).hex()}")
    first = "echo Booked" if "Which" in later else "echo Which currency?"
    return f"if [ -e {state} ]; then {later}; else {first}; fi\n>{state}\n", state


@needs_namespaces
@pytest.mark.parametrize(
    ("folder", "later", "verdict"),
    [
        ("/tmp", "echo Which currency?", "BROKEN_NOW"),
        ("/tmp", "echo Booked", "VACUOUS"),
        ("/dev/shm", "echo Which currency?", "BROKEN_NOW"),
    ],
)
def test_what_a_run_leaves_there_makes_no_proof(
    repo: ScratchRepo, folder: str, later: str, verdict: str
) -> None:
    script, state = leaving(folder, later)
    repo.commit("start", {"guard.yaml": CONFIG, "agent/act.sh": script})
    repo.commit("fix", {"agent/act.sh": script + "# so\n", CASE: case(), **records()})
    found, outcome = told(repo, "verify")
    assert (found["verdict"], outcome.code) == (verdict, 1), outcome.out
    assert not state.exists()


@pytest.mark.usefixtures("bare")
def test_without_a_namespace_it_makes_none_either(repo: ScratchRepo) -> None:
    """There it can't be kept apart: the trials disagree, and the report says what is shared."""
    script, state = leaving("/tmp", "echo Which currency?")
    repo.commit("start", {"guard.yaml": CONFIG, "agent/act.sh": script})
    repo.commit("fix", {"agent/act.sh": script + "# so\n", CASE: case(), **records()})
    try:
        found, outcome = told(repo, "verify")
    finally:
        state.unlink()
    assert found["verdict"] in ("INCONCLUSIVE", "VACUOUS"), outcome.out
    assert outcome.code != 0
    assert "not controlled" in outcome.out
