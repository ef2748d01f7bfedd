"""Repositories whose hooks a manager runs, set up by the snippets of docs/hooks.md."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.blocks import blocks, read_page
from tests.conftest import ScratchRepo
from tests.hooks.installed import FILES, Files, Installed

BIN = Path(sys.executable).parent
STAGES = ("commit-msg", "pre-commit", "pre-merge-commit", "pre-push")
FRAMEWORKS = ("pre-commit", "prek")
MANAGERS = (*FRAMEWORKS, "lefthook", "husky")
ALL = ("native", *MANAGERS)
CONFIG = ".pre-commit-config.yaml"

#: What husky 9 writes into .husky/_ when a package's `prepare` script runs it.
HUSKY = {
    "h": """\
#!/usr/bin/env sh
[ "$HUSKY" = "2" ] && set -x
n=$(basename "$0")
s=$(dirname "$(dirname "$0")")/$n

[ ! -f "$s" ] && exit 0

i="${XDG_CONFIG_HOME:-$HOME/.config}/husky/init.sh"
[ -f "$i" ] && . "$i"

[ "${HUSKY-}" = "0" ] && exit 0

export PATH="node_modules/.bin:$PATH"
sh -e "$s" "$@"
c=$?

[ $c != 0 ] && echo "husky - $n script failed (code $c)"
[ $c = 127 ] && echo "husky - command not found in PATH=$PATH"
exit $c
""",
    **dict.fromkeys(STAGES, '#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n'),
    ".gitignore": "*\n",
}


def snippet(heading: str, language: str, has: str = "") -> str:
    """Return the one block of docs/hooks.md under a heading, of a language, that has a text."""
    page = blocks(read_page("docs/hooks.md"), language)
    [found] = [b.text for b in page if b.heading == heading and has in b.text]
    return found


def framework_config() -> str:
    """Return a config that runs the guard of this environment, by pre-commit and by prek."""
    heading = "Install them by pre-commit or prek"
    types = snippet(heading, "yaml", "default_install_hook_types").partition("repos:")[0]
    return types + snippet(heading, "yaml", "repo: local")


def set_up(manager: str, repo: ScratchRepo, files: Files = FILES) -> Installed:
    """Return a guarded repository with its first commit, and the manager's hooks."""
    found = Installed(repo.root)
    found.bypass("feat: all", {**files, **files_of(manager)})
    start(manager, found)
    return found


def files_of(manager: str) -> Mapping[str, str]:
    """Return what a manager's users commit."""
    if manager in FRAMEWORKS:
        return {CONFIG: framework_config()}
    if manager == "lefthook":
        return {"lefthook.yml": snippet("Install them by lefthook", "yaml")}
    return {}


def start(manager: str, repo: Installed) -> None:
    """Install a manager's hooks, as its user would."""
    if manager == "native":
        repo.install()
    elif manager == "husky":
        write_husky(repo)
    elif manager == "lefthook":
        call(repo, "sh", "-e", "-c", snippet("Install them by lefthook", "sh"))
        repo.bypass("chore: lefthook", {})
    else:
        call(repo, manager, "install")


def write_husky(repo: Installed) -> None:
    """Do what husky does, and then what docs/hooks.md says."""
    repo.write({f".husky/_/{name}": text for name, text in HUSKY.items()})
    for stage in STAGES:
        (repo.root / ".husky/_" / stage).chmod(0o755)
    repo.git("config", "core.hooksPath", ".husky/_")
    call(repo, "sh", "-e", "-c", snippet("Install them by husky", "sh"))
    repo.bypass("chore: husky", {})


def call(repo: ScratchRepo, *argv: str) -> str:
    """Run a program; fail where it fails. Return what it said."""
    done = repo.run(*argv)
    assert done.returncode == 0, done
    return done.stdout + done.stderr


def with_remote(repo: Installed, folder: Path) -> Path:
    """Give a repository a remote `up` that has main; return its folder."""
    repo.git("init", "-q", "--bare", str(folder))
    repo.git("remote", "add", "up", str(folder))
    repo.git("push", "-q", "--no-verify", "up", "HEAD:main")
    repo.git("fetch", "-q", "up")
    return folder


def push(repo: Installed, *refs: str) -> tuple[bool, str]:
    """Push; return whether it went through, and all that was said."""
    done = repo.run("git", "push", "up", *refs)
    return done.returncode == 0, done.stdout + done.stderr


def commit(repo: Installed, message: str, *args: str) -> tuple[bool, str]:
    """Commit what is staged; return whether it was accepted, and all that was said."""
    done = repo.try_commit("-m", message, *args)
    return done.returncode == 0, done.stdout + done.stderr


def path_without(names: Iterable[str]) -> str:
    """Return a PATH with the usual programs, less those that this environment adds."""
    kept = [p for p in os.environ["PATH"].split(os.pathsep) if Path(p) != BIN]
    assert not any((Path(folder) / name).exists() for folder in kept for name in names)
    return os.pathsep.join(kept)
