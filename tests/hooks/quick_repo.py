"""A repository whose hooks leave a mark whenever they start Python, and start the real one then.

The interpreter is a script that notes the stage. Behind it the real one runs, told that what is
installed is one empty folder beside the repository: the real ones may be changing just now.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from guard_hooks.shim import shim_text
from tests.conftest import ScratchRepo
from tests.hooks.installed import FILES, Files

Done = subprocess.CompletedProcess[str]
Env = Mapping[str, str]
NONE: Env = {}
STAGES = ("pre-commit", "commit-msg")
#: Called as `python -E -P -c PROGRAM STAGE …`.
NOTING = """\
#!/bin/sh
echo "$5" >>"$RECORD"
exec {python} -E -P {start} "$0" "$@"
"""
START = """\
import os, sys
import guard.hookruns.fastpath as fastpath

sys.executable, program = sys.argv[1], sys.argv[5]
fastpath.files_that_decide = lambda: [os.environ["SITE"]]
sys.argv = ["-c", *sys.argv[6:]]
exec(program)
"""
BOTH = list(STAGES)


class QuickRepo(ScratchRepo):
    """A guarded repository, whose next commit of nothing guarded needs no Python."""

    def __init__(self, root: Path) -> None:
        super().__init__(root / "repo")
        self.folder = root
        self.site = root / "site"
        self.python = root / "the python's"

    @property
    def listed(self) -> Path:
        """The list that the hooks take."""
        return self.root / ".git" / "guard" / "fast"

    @property
    def env(self) -> dict[str, str]:
        """What the noting interpreter needs."""
        return {"RECORD": str(self.folder / "record"), "SITE": str(self.site)}

    def run(
        self, *argv: str, input: str | None = None, env: Mapping[str, str] | None = None
    ) -> Done:
        """Run a program so that its hooks leave their marks."""
        return super().run(*argv, input=input, env={**self.env, **(env or {})})

    def started(self) -> list[str]:
        """Return the stages that started Python since this was last asked."""
        file = self.folder / "record"
        found = file.read_text().split() if file.exists() else []
        file.unlink(missing_ok=True)
        return found

    def stage(self, files: Files) -> None:
        """Write files and stage everything."""
        self.write(files)
        self.git("add", "--all")

    def bypass(self, message: str, files: Files) -> None:
        """Commit without hooks."""
        self.commit(message, files, "--no-verify")

    def try_commit(self, *args: str, cwd: Path | None = None, env: Env = NONE) -> Done:
        """Run ``git commit`` with its hooks."""
        return ScratchRepo(cwd or self.root).run(
            "git", "commit", "-q", *args, env={**self.env, **env}
        )

    def starts(self, *args: str, cwd: Path | None = None, env: Env = NONE) -> list[str]:
        """Commit what is staged; return the stages that started Python. Fail where it's refused."""
        self.started()
        done = self.try_commit(*(args or ("-m", "docs: say more")), cwd=cwd, env=env)
        assert done.returncode == 0, done.stdout + done.stderr
        return self.started()

    def install(self, earlier: str | None = None) -> None:
        """Put the hooks of both stages in place, behind an earlier one where it is given."""
        folder = self.root / ".git" / "hooks"
        folder.mkdir(exist_ok=True)
        for stage in STAGES:
            text = shim_text(stage, str(self.python), earlier.encode() if earlier else None)
            write_program(folder / stage, text.decode())
            if earlier:
                write_program(folder / f"{stage}.guard-kept", earlier)

    def warm(self) -> None:
        """Commit until the hooks have their list."""
        for number, expected in enumerate([["pre-commit"], []]):
            self.stage({"warm.txt": f"{number}\n"})
            assert self.starts("-m", "docs: warm") == expected


def write_program(path: Path, text: str) -> None:
    """Write a file that can be started."""
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def make_quick(folder: Path, files: Files = FILES, *, object_format: str = "sha1") -> QuickRepo:
    """Return a guarded repository with our hooks, committed past them."""
    found = QuickRepo(folder)
    found.site.mkdir(parents=True)
    os.utime(found.site, (1_000_000_000, 1_000_000_000))
    (folder / "start.py").write_text(START)
    start = f"'{folder / 'start.py'}'"
    write_program(found.python, NOTING.format(python=f"'{sys.executable}'", start=start))
    found.root.mkdir()
    found.git("init", "-q", f"--object-format={object_format}")
    found.commit("feat: all", files)
    found.install()
    return found


def copy_quick(source: QuickRepo, folder: Path) -> QuickRepo:
    """Return a copy of a repository, its list as if it had been written there."""
    shutil.copytree(source.folder, folder, symlinks=True)
    found = QuickRepo(folder)
    found.install()
    replace_in_list(found, str(source.folder), str(folder))
    replace_in_program(found.python, str(source.folder), str(folder))
    return found


def replace_in_list(repo: QuickRepo, old: str, new: str) -> None:
    """Edit the list without making it newer than it was."""
    dated = repo.listed.stat().st_mtime_ns
    text = repo.listed.read_text()
    assert old in text
    repo.listed.write_text(text.replace(old, new))
    os.utime(repo.listed, ns=(dated, dated))


def replace_in_program(path: Path, old: str, new: str) -> None:
    """Edit a program in its place."""
    path.write_text(path.read_text().replace(old, new))


def stage_unguarded(quick: QuickRepo) -> None:
    """Stage what needs no Python."""
    quick.stage({"README.md": "more\n"})


def stage_more(quick: QuickRepo) -> None:
    """Stage more of it, without writing the rest of the index."""
    with (quick.root / "README.md").open("a") as file:
        file.write("more\n")
    quick.git("add", "README.md")
