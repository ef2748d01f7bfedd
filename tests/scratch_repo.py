"""A real git repository that a test may do anything with; also for what runs outside of pytest."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path


class ScratchRepo:
    """A real git repository in a temporary folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def git(self, *args: str, check: bool = True, input: str | None = None) -> str:
        done = self.run("git", *args, input=input)
        if check:
            assert done.returncode == 0, f"git {args}: {done.stdout}{done.stderr}"
        return done.stdout

    def run(
        self, *argv: str, input: str | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            argv,
            cwd=self.root,
            input=input,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            env={**os.environ, **(env or {})},
            check=False,
        )

    def write(self, files: Mapping[str, str | bytes | None]) -> None:
        """Write files below the root; None removes one."""
        for name, content in files.items():
            path = self.root / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(
        self, message: str, files: Mapping[str, str | bytes | None] | None = None, *flags: str
    ) -> str:
        """Write files, stage everything, commit; return the commit's id."""
        self.write(files or {})
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message, *flags)
        return self.git("rev-parse", "HEAD").strip()
