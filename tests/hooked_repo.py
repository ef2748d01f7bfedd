"""A scratch repository whose commits meet the real commit-msg hook."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.conftest import ScratchRepo

PROGRAM = "from guard_hooks.commit_msg import main; raise SystemExit(main())"
CALL = (sys.executable, "-E", "-P", "-c", PROGRAM)
SCRIPT = f"""#!/bin/sh
exec '{sys.executable}' -E -P -c '{PROGRAM}' "$1"
"""

Done = subprocess.CompletedProcess[str]


class HookedRepo(ScratchRepo):
    """A scratch repository with the hook."""

    def install(self) -> None:
        """Put the hook in place."""
        path = self.root / self.git("rev-parse", "--git-path", "hooks/commit-msg").strip()
        path.parent.mkdir(exist_ok=True)
        path.write_text(SCRIPT)
        path.chmod(0o755)

    def try_commit(self, *args: str, cwd: Path | None = None, **env: str) -> Done:
        """Run `git commit` with these arguments, and the hook with it."""
        return ScratchRepo(cwd or self.root).run("git", "commit", *args, env=env)

    def accept(self, *args: str, cwd: Path | None = None, **env: str) -> str:
        """Commit; fail where the hook refuses. Return what was said."""
        before = self.head()
        done = self.try_commit(*args, cwd=cwd, **env)
        assert done.returncode == 0, done.stderr
        assert self.head() != before
        return done.stderr

    def refuse(self, *args: str, cwd: Path | None = None, **env: str) -> str:
        """Commit; fail where the hook accepts. Return what was said."""
        before = self.head()
        done = self.try_commit(*args, cwd=cwd, **env)
        assert done.returncode == 1, done.stdout + done.stderr
        assert self.head() == before
        assert "guard: refused: " in done.stderr
        return done.stderr

    def judge(self, message: str | bytes, **env: str) -> Done:
        """Run the hook alone on what is staged."""
        file = self.root / ".git" / "COMMIT_EDITMSG"
        file.write_bytes(message if isinstance(message, bytes) else message.encode())
        return self.run(*CALL, ".git/COMMIT_EDITMSG", env=env)

    def stage(self, files: dict[str, str | bytes | None]) -> None:
        """Write files and stage everything."""
        self.write(files)
        self.git("add", "--all")

    def head(self) -> str:
        """Return the id of HEAD; empty before the first commit."""
        return self.git("rev-parse", "-q", "--verify", "HEAD", check=False).strip()
