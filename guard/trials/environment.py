"""The environment of a trial: an allow-list, a HOME of its own, and nothing of git's.

What a trial sees must not depend on who started guard: a hook of git exports GIT_* variables,
pre-commit puts its own virtual environment first (docs/git.md 90), a terminal has a colour.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from typing import Final

from guard.errors import Skip
from guard.nesting import inherited

#: Inherited by all that a trial starts.
TAG: Final = "GUARD_TRIAL_TAG"
#: What says how a program writes dates, numbers and words.
LOCALE: Final = ("LANG", "LANGUAGE", "TZ")
ALLOWED = ("PATH", *LOCALE)
ALLOWED_PREFIX = "LC_"
#: The same in every trial.
FIXED = {
    "TERM": "dumb",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"
HOOK_MANAGERS = ("pre-commit", "prek")


def shared_environment(
    names: Sequence[str], python: str = "", source: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return what all trials of an agent get, with the variables it asks for by name.

    ``python`` is the agent's own interpreter, absolute; its folder comes first on PATH.
    Raises `Skip` where a variable asked for is missing or empty.
    """
    source = os.environ if source is None else source
    env = {k: v for k, v in source.items() if k in ALLOWED or k.startswith(ALLOWED_PREFIX)}
    env["PATH"] = _search_path(source, python)
    env.update(FIXED)
    if python and (venv := virtual_environment(python)):
        env["VIRTUAL_ENV"] = venv
    for name in names:
        if not source.get(name):
            raise Skip(f"the variable {name} is not set", f"export {name}=…")
        env[name] = source[name]
    return env


def trial_environment(
    folder: str, shared: Mapping[str, str] | None = None, number: int = 1
) -> dict[str, str]:
    """Return the environment of one trial whose home and temporary files lie in ``folder``."""
    home, temporary = os.path.join(folder, "home"), os.path.join(folder, "tmp")
    return {
        **(shared_environment(()) if shared is None else shared),
        "HOME": home,
        "TMPDIR": temporary,
        "XDG_CONFIG_HOME": home + "/.config",
        "XDG_CACHE_HOME": home + "/.cache",
        "XDG_DATA_HOME": home + "/.local/share",
        "XDG_STATE_HOME": home + "/.local/state",
        "PYTHONPYCACHEPREFIX": home + "/.cache/python",
        "GIT_CEILING_DIRECTORIES": folder,
        "GUARD_TRIAL": str(number),
        **inherited(),
        TAG: os.urandom(16).hex(),
    }


def find_program(name: str) -> str | None:
    """Return where trials find a program, by the PATH that they get; None where they don't.

    The same by hand and under a hook manager, which puts an environment of its own first.
    """
    return shutil.which(name, path=_search_path(os.environ, ""))


def virtual_environment(python: str) -> str:
    """Return the virtual environment that an interpreter belongs to, or nothing."""
    folder = os.path.dirname(os.path.dirname(python))
    return folder if os.path.isfile(os.path.join(folder, "pyvenv.cfg")) else ""


def _search_path(source: Mapping[str, str], python: str) -> str:
    entries = (source.get("PATH") or DEFAULT_PATH).split(os.pathsep)
    hook_folder = _hook_environment(source)
    kept = [entry for entry in entries if not hook_folder or entry != hook_folder]
    return os.pathsep.join([os.path.dirname(python), *kept] if python else kept)


def _hook_environment(source: Mapping[str, str]) -> str:
    """Return the folder of programs that a hook manager put first on PATH, or nothing."""
    venv = source.get("VIRTUAL_ENV", "").rstrip("/")
    if not venv:
        return ""
    homes = [source[name] for name in ("PRE_COMMIT_HOME", "PREK_HOME") if source.get(name)]
    made_for_hooks = (
        os.path.basename(venv).startswith("py_env-")
        or any(part in HOOK_MANAGERS for part in venv.split("/"))
        or any(venv.startswith(home.rstrip("/") + "/") for home in homes)
    )
    return os.path.join(venv, "bin") if made_for_hooks else ""
