"""A bare git directory of guard's own, which reads the objects of a repository.

Nothing of the user's or the machine's decides what happens here: no configuration but what is
written below, no attributes but committed ones, no filters, no hooks, no merge drivers, no
remote to fetch from.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from typing import Final

from guard.closing import Closing
from guard.errors import UnreadableError
from guard.git import PLUMBING_ENV, Completed, Repo, said_by_git
from guard.objects import FETCH_MISSING

CONFIG: Final = """\
[core]
\trepositoryformatversion = {version}
\tbare = true
\tattributesFile = /dev/null
\texcludesFile = /dev/null
\thooksPath = /dev/null
\tlogAllRefUpdates = false
\tautocrlf = false
\teol = lf
\tsafecrlf = false
\tsymlinks = true
\tfileMode = true
\tignoreCase = false
\tprecomposeUnicode = false
{extensions}[merge]
\trenames = true
\tdirectoryRenames = true
\trenormalize = false
\trenameLimit = 5000
"""
ENVIRONMENT: Final = {
    **PLUMBING_ENV,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    # The commits made here are made of trees alone: the same trees give the same ids.
    "GIT_AUTHOR_NAME": "guard",
    "GIT_AUTHOR_EMAIL": "guard",
    "GIT_AUTHOR_DATE": "@0 +0000",
    "GIT_COMMITTER_NAME": "guard",
    "GIT_COMMITTER_EMAIL": "guard",
    "GIT_COMMITTER_DATE": "@0 +0000",
}


class OwnGit(Closing):
    """A git directory in ``folder``, which is there and goes with whoever made it."""

    def __init__(self, repo: Repo, folder: str) -> None:
        self.repo = repo
        self.folder = folder
        for name in ("objects", "refs"):
            os.mkdir(os.path.join(folder, name))
        self._write("HEAD", "ref: refs/heads/none\n")
        extended = repo.object_format != "sha1"
        extensions = f"[extensions]\n\tobjectFormat = {repo.object_format}\n" if extended else ""
        self._write("config", CONFIG.format(version=int(extended), extensions=extensions))
        home = {"HOME": folder, "XDG_CONFIG_HOME": folder, "GIT_DIR": folder}
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        self._env = {**inherited, **ENVIRONMENT, **home}

    def _write(self, name: str, text: str) -> None:
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def run(
        self,
        *args: str,
        input: bytes | None = None,
        env: Mapping[str, str] | None = None,
        ok: tuple[int, ...] | None = (0,),
    ) -> Completed:
        """Run git here. Raises `UnreadableError` where its code isn't in ``ok``."""
        done = subprocess.run(
            ("git", *args),
            input=input or b"",
            capture_output=True,
            env={**self._env, **self.repo.object_stores, **(env or {})},
            cwd=self.folder,
            check=False,
        )
        if ok is not None and done.returncode not in ok:
            said = said_by_git(done.stderr) or "it said nothing"
            # A partial clone: nothing fetches here what a merge would have to read.
            hint = FETCH_MISSING if b"unable to read" in done.stderr else ""
            raise UnreadableError(f"git {args[0]} ended in {done.returncode}: {said}", hint)
        return Completed(done.returncode, done.stdout, done.stderr)
