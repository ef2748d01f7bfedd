from __future__ import annotations

from pathlib import Path

import pytest

from guard.errors import Skip
from guard.trials.environment import shared_environment, trial_environment


def test_only_what_is_allowed_is_passed_on() -> None:
    source = {
        "PATH": "/a:/b",
        "LANG": "de_DE.UTF-8",
        "LC_TIME": "C",
        "TZ": "UTC",
        "TERM": "xterm-256color",
        "HOME": "/home/me",
        "GIT_DIR": "/x",
        "GIT_AUTHOR_NAME": "me",
        "SECRET": "x",
        "VIRTUAL_ENV": "/a",
    }
    env = shared_environment((), source=source)
    assert env.items() >= {"PATH": "/a:/b", "LC_TIME": "C", "TZ": "UTC", "TERM": "dumb"}.items()
    assert not env.keys() & {"HOME", "GIT_DIR", "GIT_AUTHOR_NAME", "SECRET", "VIRTUAL_ENV"}
    assert env["GIT_CONFIG_NOSYSTEM"] == "1"


CACHES = (
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
    "TMP",
    "TEMP",
    "PYTHONPYCACHEPREFIX",
    "PYTHONPATH",
    "PYTHONUSERBASE",
    "PIP_CACHE_DIR",
    "UV_CACHE_DIR",
    "NODE_COMPILE_CACHE",
    "NODE_PATH",
    "npm_config_cache",
    "DENO_DIR",
    "BUN_INSTALL_CACHE_DIR",
    "GOCACHE",
    "GOMODCACHE",
    "CARGO_TARGET_DIR",
    "RUSTC_WRAPPER",
    "CCACHE_DIR",
    "SCCACHE_DIR",
    "GRADLE_USER_HOME",
    "JAVA_TOOL_OPTIONS",
    "RUBYLIB",
    "PERL5LIB",
    "JULIA_DEPOT_PATH",
    "HF_HOME",
    "SOURCE_DATE_EPOCH",
)


def test_no_cache_that_trials_would_share_is_passed_on() -> None:
    source = {"PATH": "/bin", **dict.fromkeys(CACHES, "/shared")}
    env = trial_environment("/run/t1", shared_environment((), source=source))
    assert "/shared" not in env.values()
    named = shared_environment(
        ["GOCACHE", "PYTHONPYCACHEPREFIX", "HOME"], "", {**source, "HOME": "/h"}
    )
    env = trial_environment("/run/t1", named)
    assert (env["GOCACHE"], env["HOME"]) == ("/shared", "/run/t1/home")
    assert env["PYTHONPYCACHEPREFIX"].startswith("/run/t1/")


def test_a_variable_is_passed_by_name_and_missing_is_a_skip() -> None:
    assert shared_environment(["KEY"], source={"KEY": "x"})["KEY"] == "x"
    for source in ({}, {"KEY": ""}):
        with pytest.raises(Skip, match="the variable KEY is not set"):
            shared_environment(["KEY"], source=source)


@pytest.mark.parametrize(
    ("venv", "extra"),
    [
        ("/home/me/.cache/pre-commit/repo1/py_env-python3.11", {}),
        ("/x/py_env-python3", {}),
        ("/home/me/.cache/prek/hooks/python-abc", {}),
        ("/custom/store/repo1/env", {"PRE_COMMIT_HOME": "/custom/store"}),
    ],
)
def test_a_hooks_own_environment_leaves_the_path(venv: str, extra: dict[str, str]) -> None:
    source = {"PATH": f"{venv}/bin:/usr/bin", "VIRTUAL_ENV": venv, **extra}
    assert shared_environment((), source=source)["PATH"] == "/usr/bin"


def test_the_users_own_environment_stays_on_the_path() -> None:
    source = {"PATH": "/home/me/p/.venv/bin:/usr/bin", "VIRTUAL_ENV": "/home/me/p/.venv"}
    assert shared_environment((), source=source)["PATH"] == source["PATH"]


def test_the_agents_interpreter_comes_first(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    python = str(tmp_path / "bin/python")
    env = shared_environment((), python, {"PATH": "/usr/bin"})
    assert env["PATH"] == f"{tmp_path}/bin:/usr/bin"
    assert "VIRTUAL_ENV" not in env
    (tmp_path / "pyvenv.cfg").touch()
    assert shared_environment((), python, {"PATH": "/usr/bin"})["VIRTUAL_ENV"] == str(tmp_path)


def test_homes_and_caches_are_the_trials_own() -> None:
    env = trial_environment("/run/t1", {"PATH": "/bin"}, 7)
    own = {name: value for name, value in env.items() if value.startswith("/run/t1")}
    assert {"HOME", "TMPDIR", "XDG_CONFIG_HOME", "PYTHONPYCACHEPREFIX"} <= own.keys()
    assert (env["GUARD_TRIAL"], env["GIT_CEILING_DIRECTORIES"]) == ("7", "/run/t1")
    other = trial_environment("/run/t2", {"PATH": "/bin"}, 8)
    assert not set(own.values()) & set(other.values())
