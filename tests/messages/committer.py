"""Commits through a real git whose hook keeps what it was given."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

from guard.git import find_repo
from guard.messages.cleanup import clean_raw, decode_message, effective_cleanup, stored_message
from guard_hooks.commit_msg import SETTINGS, read_settings
from tests.conftest import ScratchRepo

#: Writes what was typed above what git put into the file.
EDITOR = 'cat ../typed "$1" >../edited && cat ../edited >"$1"'
HOOK = f"""#!/bin/sh
cat "$1" >../seen
printf %s "${{GIT_EDITOR-unset}}" >../editor
git config -z --get-regexp '{SETTINGS}' >../settings
exit 0
"""


class Made(NamedTuple):
    """One commit: what was read of its message file, and what was stored."""

    cleaned: bytes
    text: str
    stored: str
    commit: bytes
    seen: bytes


class Committer:
    """A repository that records what its commit-msg hook sees."""

    def __init__(self, repo: ScratchRepo) -> None:
        self.root = repo.root
        self.repo = repo
        self.opened = find_repo(str(repo.root))
        hook = self.root / ".git/hooks/commit-msg"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(HOOK, encoding="utf-8")
        hook.chmod(0o755)
        repo.git("config", "core.editor", EDITOR + " #")
        repo.commit("feat: base", {"a": "1\n"}, "--no-verify")

    def commit(
        self, typed: bytes, *options: str | bytes, config: dict[str, str | None] | None = None
    ) -> Made | None:
        """Commit; return what came of it, None where git itself refuses."""
        beside = self.root.parent
        (beside / "typed").write_bytes(typed)
        values = {key: value for key, value in (config or {}).items() if value is not None}
        given = [word for key, value in values.items() for word in ("-c", f"{key}={value}")]
        args = [os.fsdecode(word) for word in (*given, "commit", *options)]
        call = ["git", *args, "--quiet", "--allow-empty", "--allow-empty-message"]
        done = subprocess.run(call, cwd=self.root, capture_output=True, check=False)
        if done.returncode:
            return None
        return self.read(call, beside)

    def read(self, call: list[str], beside: Path) -> Made:
        """Return what the hook saw of the last call, and what was stored."""
        editor = (beside / "editor").read_text(encoding="utf-8")
        seen = (beside / "seen").read_bytes()
        settings = read_settings(self.opened, (beside / "settings").read_bytes())
        cleanup = effective_cleanup(seen, settings, call, None if editor == "unset" else editor)
        cleaned = clean_raw(seen, cleanup)
        commit = subprocess.check_output(["git", "cat-file", "commit", "HEAD"], cwd=self.root)
        text = decode_message(cleaned, settings.get("i18n.commitencoding", ""))
        return Made(cleaned, text, stored_message(commit), commit, seen)
