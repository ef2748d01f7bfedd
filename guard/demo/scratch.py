"""The scratch repository of the demo: real commands, and nothing of the user's in reach."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from shlex import quote
from types import TracebackType
from typing import Final, NamedTuple

from guard.errors import GuardError, UsageError

FILES: Final = os.path.join(os.path.dirname(__file__), "files")
#: Seconds after which a command of the demo hangs.
TIMEOUT: Final = 120
#: Variables that would carry the user's repository, settings or plugins into the demo.
FOREIGN: Final = ("GIT_", "GUARD_", "PRE_COMMIT", "PREK_")
#: The user's own git configuration may sign commits, move hooks or ignore files.
GIT_CONFIG: Final = """\
[user]
\tname = Guard Demo
\temail = demo@example.com
[init]
\tdefaultBranch = main
[core]
\tautocrlf = false
\texcludesFile = /dev/null
[advice]
\tdetachedHead = false
"""


class Ended(NamedTuple):
    """How a command of the demo ended, and all that it printed."""

    code: int
    output: str


class Scratch:
    """A temporary folder with an empty remote, a place for the repository, and `guard` on PATH."""

    def __init__(self) -> None:
        if shutil.which("git") is None:
            raise UsageError("git is not on PATH, and the demo makes real commits", "install git")
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="guard-demo-"))
        self.repo = os.path.join(self.folder, "expenses")
        self.kept = False
        os.mkdir(self.repo)
        self.write("../gitconfig", GIT_CONFIG)
        self._write_program("guard", "-E -P -m guard")
        self._write_program("python3", "")
        self._env = self._environment(os.environ)

    def _write_program(self, name: str, arguments: str) -> None:
        """Put a program on the demo's PATH: this very guard, and its Python."""
        command = f"{quote(sys.executable)} {arguments}".rstrip()
        self.write(f"../bin/{name}", f'#!/bin/sh\nexec {command} "$@"\n')
        os.chmod(os.path.join(self.folder, "bin", name), 0o755)

    def _environment(self, source: Mapping[str, str]) -> dict[str, str]:
        env = {name: value for name, value in source.items() if not name.startswith(FOREIGN)}
        programs = os.path.join(self.folder, "bin")
        return {
            **env,
            "PATH": os.pathsep.join((programs, env.get("PATH", os.defpath))),
            "GIT_CONFIG_GLOBAL": os.path.join(self.folder, "gitconfig"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TEMPLATE_DIR": "",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_PAGER": "cat",
        }

    def run(self, command: str) -> Ended:
        """Run a line of shell in the repository. Raises `GuardError` where it hangs."""
        try:
            done = subprocess.run(
                ("sh", "-c", command),
                cwd=self.repo,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise GuardError(f"demo: `{command}` did not end in {TIMEOUT} s") from error
        return Ended(done.returncode, done.stdout.decode("utf-8", "replace"))

    def copy_file(self, path: str) -> None:
        """Bring one of the demo's own files into the repository."""
        with open(os.path.join(FILES, path), encoding="utf-8") as file:
            self.write(path, file.read())

    def write(self, path: str, text: str) -> None:
        """Write a file of the repository."""
        target = os.path.join(self.repo, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as file:
            file.write(text)

    def replace(self, path: str, old: str, new: str) -> None:
        """Replace a text that stands once in a file of the repository."""
        with open(os.path.join(self.repo, path), encoding="utf-8") as file:
            before = file.read()
        if before.count(old) != 1:
            raise GuardError(f"demo: {path} holds {old!r} {before.count(old)} times, not once")
        self.write(path, before.replace(old, new))

    def __enter__(self) -> Scratch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self.kept:
            shutil.rmtree(self.folder, ignore_errors=True)
