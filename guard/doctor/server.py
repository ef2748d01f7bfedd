"""A bare repository: whether its hook judges what is pushed, and by what."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from typing import Final

from guard.doctor import Finding, broken, holds, look
from guard.doctor.hooks import INSTALL, OURS
from guard.judging.protected import find_policy, find_protected, why_nothing
from guard.output import printable, shell_path
from guard.session import Session
from guard.setup.hooks_folder import find_hooks_folder
from guard.wording.units import count

STAGE: Final = "pre-receive"
#: Where hosts keep the scripts that their own hook calls.
FOLDERS: Final = ("pre-receive.d", "../custom_hooks/pre-receive.d")
_CALLS_GUARD: Final = re.compile(rb"\bguard(?:-| hook )pre-receive\b")
_PYTHON: Final = re.compile(rb"(?m)^python=(.+)$")


def check_server(session: Session) -> Iterator[Finding]:
    """Check the pre-receive hook, and the guard.yaml that is in force."""
    yield from check_hook(find_hooks_folder(session.repo))
    yield from check_policy(session)


def check_hook(folder: str) -> Iterator[Finding]:
    """Check that a hook calls guard, and can."""
    calling = [path for path in _scripts(folder) if _calls_guard(_read(path))]
    if not calling:
        yield broken(f"no hook calls guard at {STAGE}", INSTALL)
        return
    path = calling[0]
    yield holds(f"hook: {printable(path)}")
    if not os.access(path, os.X_OK):
        yield broken(f"{printable(path)} isn't executable: git skips it", _executable(path))
    named = _PYTHON.search(_read(path))
    python = shlex.split(os.fsdecode(named[1]))[0] if named else ""
    if python and not os.access(python, os.X_OK):
        yield broken(f"{printable(python)}, which the hook calls, is gone: it refuses all", INSTALL)


def _executable(path: str) -> str:
    return f"chmod +x {shell_path(path)}"


def _scripts(folder: str) -> Iterator[str]:
    yield os.path.join(folder, STAGE)
    for name in FOLDERS:
        place = os.path.normpath(os.path.join(folder, name))
        if os.path.isdir(place):
            yield from (os.path.join(place, file) for file in sorted(os.listdir(place)))


def _calls_guard(text: bytes) -> bool:
    return OURS in text[:200] or _CALLS_GUARD.search(text) is not None


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError:
        return b""


def check_policy(session: Session) -> Iterator[Finding]:
    """Say by which guard.yaml a push is judged."""
    protected = find_protected(session.repo)
    found = find_policy(session.repo, session.store, protected, session.disabled)
    if found.problem is not None:
        said = f"guard.yaml of {protected.name} can't be used: {found.problem.message}"
        yield broken(said, f"mend it, and push that to {protected.name}")
    if found.policy is None:
        if found.problem is None:
            said, mend = why_nothing(session.repo, protected)
            yield look(f"nothing is enforced yet: {said}", mend)
        return
    agents = count(len(found.policy.project.agents), "agent")
    yield holds(f"pushes are judged by guard.yaml of {protected.name}: {agents}")
