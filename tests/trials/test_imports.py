from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from guard.globs import compile_globs
from guard.model import ERROR, PASS, Agent
from guard.plugin.api import Trial
from guard.results import Observation, TrialResult
from guard.trials import sandbox
from guard.trials.imports import Imports, checkouts_of
from guard.trials.kept import Left
from guard.trials.stage import Stage
from guard.trials.trial import regrade, run_trial
from tests.conftest import ScratchRepo
from tests.environments import EDITABLE, by_finder, by_path, copied, make_environment
from tests.staging import case_of, run_argv, staged

SOURCES: Mapping[str, str] = {
    "src/pkg/__init__.py": "",
    "src/pkg/core.py": "SAYS = 'committed'\n",
    "src/pkg/__main__.py": "from pkg.core import SAYS\nprint(SAYS)\n",
    ".gitignore": ".venv/\nbuild/\n",
}
#: What the user's checkout holds by the time that the trial runs.
EDITED: Mapping[str, str] = {"src/pkg/core.py": "SAYS = 'edited...'\n"}
AGENT = Agent("expense", paths=("src/**",), workspace="")
ARGV = ["python", "-m", "pkg"]


def switch_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behave as on a machine without mount namespaces."""
    monkeypatch.setattr(sandbox, "_no_namespaces", "switched off in this test")


@pytest.fixture(params=["a namespace", "no namespace"])
def sandboxed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """With a mount namespace, where the machine has one, and without."""
    if request.param == "no namespace":
        switch_off(monkeypatch)
    return str(request.param) == "a namespace"


@contextmanager
def on_stage(
    repo: ScratchRepo,
    python: Path | None = None,
    *,
    agent: Agent = AGENT,
    argv: list[str] = ARGV,
    edited: Mapping[str, str] = EDITED,
    **more: Any,
) -> Generator[Stage]:
    """A stage of what is committed; the checkout says something else by then."""
    found = staged(
        repo,
        argv=argv,
        agent=agent,
        hide_from_target=compile_globs(agent.paths),
        python=[str(python)] if python else [],
        **more,
    )
    with found as stage:
        repo.write(edited)
        yield stage


def run(repo: ScratchRepo, python: Path | None = None, **more: Any) -> TrialResult:
    with on_stage(repo, python, **more) as stage:
        return run_trial(stage, case_of(), 1)


def said(result: TrialResult) -> str:
    return (result.observation.stdout + result.observation.stderr).strip()


def nothing_left(workspace: str) -> Left:
    """Return what a trial that did nothing left behind."""
    return Left(Observation())


def by_hand(*argv: str | Path) -> str:
    """Run a program as the user would, outside of any trial."""
    return subprocess.run(argv, cwd="/", capture_output=True, text=True, check=False).stdout


def on_path(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> None:
    entries = [*map(str, folders), os.environ["PATH"]]
    monkeypatch.setenv("PATH", os.pathsep.join(entries))


# Editable installs --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", EDITABLE)
def test_an_editable_install_is_led_into_the_workspace(
    repo: ScratchRepo, tmp_path: Path, kind: str, sandboxed: bool
) -> None:
    repo.write(SOURCES)
    python = make_environment(repo.root / ".venv" if sandboxed else tmp_path / "environment")
    EDITABLE[kind](python, repo.root / "src/pkg")
    with on_stage(repo, python) as stage:
        result = run_trial(stage, case_of(), 1)
        assert by_hand(python, "-m", "pkg") == "edited...\n"
    assert (said(result), result.verdict, result.observation.loaded) == ("committed", PASS, True)
    if not sandboxed:
        assert "not controlled" in result.isolation


def test_without_this_the_users_checkout_would_be_run(
    repo: ScratchRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def as_it_is(self: Imports, env: Mapping[str, str], workspace: str) -> dict[str, str]:
        return dict(env)

    switch_off(monkeypatch)
    repo.write(SOURCES)
    by_finder(python := make_environment(tmp_path / "environment"), repo.root / "src/pkg")
    monkeypatch.setattr(Imports, "settled", as_it_is)
    assert said(run(repo, python)) == "edited...\n".strip()


def test_an_activated_environment_is_the_agents(
    repo: ScratchRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write(SOURCES)
    by_path(python := make_environment(tmp_path / "environment"), repo.root / "src/pkg")
    on_path(monkeypatch, python.parent)
    assert said(run(repo)) == "committed"
    repo.write(SOURCES)
    assert said(run(repo, argv=["sh", "-c", "cd /; python -m pkg"])) == "committed"


def test_a_script_that_was_installed_tells_its_interpreter(
    repo: ScratchRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write(SOURCES)
    python = make_environment(tmp_path / "environment")
    by_finder(python, repo.root / "src/pkg")
    script = python.parent / "agent"
    script.write_text(f"#!{python}\nimport runpy; runpy.run_module('pkg', run_name='__main__')\n")
    script.chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/agent").symlink_to(script)
    on_path(monkeypatch, tmp_path / "bin")
    result = run(repo, argv=["agent"])
    assert (said(result), result.observation.loaded) == ("committed", True)


def test_what_the_workspace_does_not_hold_comes_from_the_tree(
    repo: ScratchRepo, tmp_path: Path
) -> None:
    helper = "lib/helper/__init__.py"
    repo.write({"agent/main.py": "import helper\n", helper: "print('committed')\n"})
    by_path(python := make_environment(tmp_path / "environment"), repo.root / "lib/helper")
    agent = Agent("expense", paths=("agent/**",), workspace="agent")
    edited = {helper: "print('edited')\n"}
    result = run(repo, python, agent=agent, argv=["python", "main.py"], edited=edited)
    assert (said(result), result.observation.loaded) == ("committed", True)


def test_another_checkout_of_the_repository_is_led_into_the_workspace_too(
    repo: ScratchRepo, tmp_path: Path
) -> None:
    repo.commit("start", SOURCES)
    by_path(python := make_environment(tmp_path / "environment"), repo.root / "src/pkg")
    linked = ScratchRepo(tmp_path / "linked")
    repo.git("worktree", "add", "-q", str(linked.root))
    repo.write(EDITED)
    assert by_hand(python, "-m", "pkg") == "edited...\n"
    assert said(run(linked, python, edited={})) == "committed"


# What can't be led there --------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["a copy", "another clone"])
def test_an_installed_copy_is_an_error_that_names_it(
    repo: ScratchRepo, tmp_path: Path, kind: str
) -> None:
    repo.write(SOURCES)
    python = make_environment(tmp_path / "environment")
    if kind == "a copy":
        copied(python, repo.root / "src/pkg")
    else:
        (clone := ScratchRepo(tmp_path / "clone")).root.mkdir()
        clone.write(SOURCES)
        by_path(python, clone.root / "src/pkg")
    result = run(repo, python)
    assert (result.verdict, result.observation.loaded) == (ERROR, False)
    assert result.reason.startswith("agent_not_loaded: src/pkg/__init__.py was loaded from ")
    assert str(tmp_path) in result.reason
    assert result.reason.endswith("(`options: {env: {PYTHONPATH: src}}` mends that)")
    repo.write(SOURCES)
    mended = run(repo, python, run=with_variables(PYTHONPATH="src"))
    assert (said(mended), mended.observation.loaded) == ("committed", True)


def test_another_package_of_an_environment_is_nobodys_business(
    repo: ScratchRepo, tmp_path: Path
) -> None:
    repo.write({**SOURCES, "main.py": "import other, pkg.core\nprint(other.__file__)\n"})
    python = make_environment(tmp_path / "environment")
    by_path(python, repo.root / "src/pkg")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/__init__.py").touch()
    copied(python, tmp_path / "other")
    result = run(repo, python, argv=["python", "main.py"])
    assert (result.verdict, result.observation.loaded) == (PASS, True)
    assert "site-packages/other" in said(result)


def test_a_program_that_leaves_no_byte_code_cannot_be_told_from(
    repo: ScratchRepo, tmp_path: Path
) -> None:
    repo.write(SOURCES)
    by_path(python := make_environment(tmp_path / "environment"), repo.root / "src/pkg")
    quiet = run(repo, python, argv=["python", "-B", "-m", "pkg"])
    assert (said(quiet), quiet.observation.loaded) == ("committed", None)
    shell = run(repo, argv=["sh", "-c", "echo"])
    assert (shell.verdict, shell.observation.loaded) == (PASS, None)


def test_an_interpreter_is_asked_once_and_none_for_no_python(
    repo: ScratchRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write(SOURCES)
    by_path(python := make_environment(tmp_path / "environment"), repo.root / "src/pkg")
    real: Callable[..., Any] = subprocess.run
    started: list[str] = []

    def counted(argv: list[str], **more: Any) -> Any:
        started.append(argv[0])
        return real(argv, **more)

    monkeypatch.setattr(subprocess, "run", counted)
    for _ in range(2):
        with on_stage(repo, python) as stage:
            assert [run_trial(stage, case_of(), n).verdict for n in (1, 2)] == [PASS, PASS]
    assert started.count(str(python)) == 1
    started.clear()
    run(repo, argv=["sh", "-c", "true"])
    assert not [program for program in started if "python" in program]
    repo.write({**SOURCES, "src/pkg/new.py": ""})
    with on_stage(repo, python) as stage:
        assert regrade(stage, case_of(), nothing_left).verdict == PASS
    assert str(python) not in started


def test_an_interpreter_that_cannot_be_asked_is_run_all_the_same(
    repo: ScratchRepo, tmp_path: Path
) -> None:
    repo.write({"say.py": ""})
    odd = tmp_path / "odd/python"
    odd.parent.mkdir()
    odd.write_text('#!/bin/sh\n[ "$1" = -c ] && exit 3\necho "said $PYTHONDONTWRITEBYTECODE"\n')
    odd.chmod(0o755)
    result = run(repo, odd, argv=["python", "say.py"])
    assert (said(result), result.observation.loaded) == ("said 1", None)


# Search paths that are stated ---------------------------------------------------------------


def test_a_path_that_the_user_passes_is_led_into_the_workspace(
    repo: ScratchRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    switch_off(monkeypatch)
    repo.write(SOURCES)
    (tmp_path / "other").mkdir()
    stated = os.pathsep.join([str(repo.root / "src"), str(repo.root / "gone"), str(tmp_path)])
    monkeypatch.setenv("PYTHONPATH", stated)
    asks = AGENT._replace(env=("PYTHONPATH",))
    script = "import os; print(os.environ['PYTHONPATH'])"
    told = said(run(repo, agent=asks, argv=["python", "-c", script])).split(os.pathsep)
    assert (told[0].endswith("/ws/src"), told[1:]) == (True, [str(tmp_path)])
    repo.write(SOURCES)
    result = run(repo, agent=asks)
    assert (said(result), result.observation.loaded) == ("committed", True)
    assert "No module named pkg" in said(run(repo))


def test_a_folder_of_programs_is_led_into_the_workspace(
    repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    switch_off(monkeypatch)
    program = repo.root / "bin/agent"
    repo.write({"bin/agent": "#!/bin/sh\necho committed\n"})
    program.chmod(0o755)
    on_path(monkeypatch, program.parent)
    edited = {"bin/agent": "#!/bin/sh\necho edited\n"}
    assert said(run(repo, argv=["agent"], edited=edited)) == "committed"
    assert by_hand("agent") == "edited\n"


def with_variables(**stated: str) -> Any:
    """Return a target that sets variables for its program."""

    def start(trial: Trial) -> Observation:
        env = {name: trial.fill(value) for name, value in stated.items()}
        done = trial.run_program(trial.options["argv"], env=env)
        return Observation(stdout=done.stdout, stderr=done.stderr, exit_status=done.exit_status)

    return start


def test_what_a_target_states_is_led_there_and_joined(repo: ScratchRepo, tmp_path: Path) -> None:
    repo.write(
        {**SOURCES, "more/extra.py": "print('extra')\n", "main.py": "import extra, pkg.core\n"}
    )
    by_path(python := make_environment(tmp_path / "environment"), repo.root / "src/pkg")
    for stated in ("more", "{workspace}/more", str(repo.root / "more")):
        more: Any = {"run": with_variables(PYTHONPATH=stated), "argv": ["python", "main.py"]}
        result = run(repo, python, **more)
        assert (said(result), result.observation.loaded) == ("extra", True)


# Byte-code ----------------------------------------------------------------------------------


def test_byte_code_of_another_place_or_state_is_never_run(
    repo: ScratchRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Same size, same second: nothing but the folder of its byte-code tells two states apart."""
    shared = tmp_path / "shared"
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(shared))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    agent = AGENT._replace(env=("PYTHONPYCACHEPREFIX", "SOURCE_DATE_EPOCH"))
    targets = (run_argv, with_variables(PYTHONPYCACHEPREFIX=str(shared)))
    for target in targets:
        for word in ("committed", "different"):
            repo.write({**SOURCES, "src/pkg/core.py": f"SAYS = '{word}'\n"})
            os.utime(repo.root / "src/pkg/core.py", (1_700_000_000, 1_700_000_000))
            argv = ["sh", "-c", "touch -d @1700000000 pkg/core.py; python -m pkg"]
            inside = agent._replace(workspace="src")
            assert said(run(repo, agent=inside, argv=argv, edited={}, run=target)) == word
    assert not shared.exists()


@pytest.mark.parametrize("mode", ["TIMESTAMP", "UNCHECKED_HASH"])
def test_committed_byte_code_of_another_state_is_never_run(repo: ScratchRepo, mode: str) -> None:
    repo.write(SOURCES)
    core = repo.root / "src/pkg/core.py"
    compiles = (
        "import py_compile as p, sys; "
        f"p.compile(sys.argv[1], invalidation_mode=p.PycInvalidationMode.{mode})"
    )
    by_hand("env", "-u", "PYTHONPYCACHEPREFIX", "python3", "-c", compiles, core)
    assert list(core.parent.glob("__pycache__/core.*.pyc"))
    repo.write({"src/pkg/core.py": "SAYS = 'different'\n"})
    argv = ["sh", "-c", f"touch -d @{int(core.stat().st_mtime)} pkg/core.py; python -m pkg"]
    inside = AGENT._replace(workspace="src")
    assert said(run(repo, agent=inside, argv=argv, edited={})) == "different"
    if mode == "UNCHECKED_HASH":
        plain = by_hand(
            "env",
            "-u",
            "PYTHONPYCACHEPREFIX",
            "sh",
            "-c",
            f"cd {core.parent.parent}; python3 -m pkg",
        )
        assert plain == "committed\n"


def test_an_agent_may_compile_itself(repo: ScratchRepo) -> None:
    repo.write(SOURCES)
    inside = AGENT._replace(workspace="src")
    argv = ["sh", "-c", "python -m compileall -q -f . >/dev/null && python -m pkg"]
    result = run(repo, agent=inside, argv=argv, edited={})
    assert (said(result), result.verdict) == ("committed", PASS)


# Checkouts ----------------------------------------------------------------------------------


def test_all_checkouts_of_a_repository_are_known(repo: ScratchRepo, tmp_path: Path) -> None:
    from guard.git import find_repo

    repo.commit("start", SOURCES)
    inner = repo.root / "linked"
    repo.git("worktree", "add", "-q", str(inner))
    for folder in (repo.root, inner):
        found = find_repo(str(folder))
        assert checkouts_of(found) == (str(inner), str(repo.root))
        found.close()
