"""Other tools that hook into a commit, as far as they are there: their hooks, one folder each.

Looked for beside the Python that runs this, in BENCH_PEERS (folders of programs, as PATH) and on
PATH itself. Each gets a hook that does nothing but `true`, or its own default rules.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.fixtures import git, write

STAGES = ("pre-commit", "commit-msg")
#: What all repositories hold, so that each tool finds its own settings.
SETTINGS: Mapping[str, str] = {
    ".pre-commit-config.yaml": """\
repos:
  - repo: local
    hooks:
      - {id: a, name: a, language: system, entry: "true", always_run: true, pass_filenames: false,
         stages: [pre-commit]}
      - {id: b, name: b, language: system, entry: "true", always_run: true, pass_filenames: false,
         stages: [commit-msg]}
""",
    "lefthook.yml": "".join(f"{s}: {{commands: {{a: {{run: 'true'}}}}}}\n" for s in STAGES),
    "commitlint.config.mjs": "export default { extends: ['@commitlint/config-conventional'] };\n",
}


class Peer(NamedTuple):
    """A tool to compare with."""

    name: str
    program: str
    stages: tuple[str, ...]
    """Where it has a hook."""
    how: str
    """How to get it."""
    make: Callable[[Path, Path, str], None]
    """Given the repository, a folder for its hooks and its program: make the hooks."""
    python: bool = False
    """Whether each of its stages starts Python."""


def installed_by(*call: str, env: Mapping[str, str] | None = None) -> Callable[..., None]:
    """Let a tool write its own hooks into the repository, and move them to the folder."""

    def make(root: Path, folder: Path, program: str) -> None:
        hooks = root / ".git" / "hooks"
        words = [program, *call]
        # Some look for themselves on PATH when they are called.
        path = os.pathsep.join([os.path.dirname(program), os.environ["PATH"]])
        subprocess.run(
            words,
            cwd=root,
            check=True,
            capture_output=True,
            env={**os.environ, "PATH": path, **(env or {})},
        )
        for stage in STAGES:
            shutil.move(hooks / stage, folder / stage)

    return make


def calling(*words: str) -> Callable[..., None]:
    """Write a commit-msg hook that calls the tool on the message."""

    def make(root: Path, folder: Path, program: str) -> None:
        text = f"exec '{program}' {' '.join(words)} \"$1\" >/dev/null\n"
        write_hook(folder / "commit-msg", text)

    return make


def write_hook(path: Path, text: str) -> None:
    """Write a hook of `sh`."""
    path.write_text(f"#!/bin/sh\n{text}", encoding="utf-8")
    path.chmod(0o755)


def _lefthook(root: Path, folder: Path, program: str) -> None:
    """Call the program itself: what pip installs is a start of Python before it."""
    packages = Path(program).parent.parent.glob("lib/python*/site-packages/lefthook/bin/*/lefthook")
    native = next(packages, program)
    installed_by("install", "-f")(root, folder, program)
    for stage in STAGES:
        text = (folder / stage).read_text(encoding="utf-8")
        head, _, rest = text.partition("\n")
        chosen = f"export LEFTHOOK_BIN='{native}'\n"
        (folder / stage).write_text(f"{head}\n{chosen}{rest}", encoding="utf-8")


PIP, NPM = "pip install {}", "npm install @commitlint/cli @commitlint/config-conventional"
BOTH = STAGES
TYPES = ("--hook-type", "pre-commit", "--hook-type", "commit-msg")
PEERS = (
    Peer("prek", "prek", BOTH, PIP, installed_by("install", "-f", *TYPES)),
    Peer("lefthook", "lefthook", BOTH, PIP, _lefthook),
    Peer("pre-commit", "pre-commit", BOTH, PIP, installed_by("install", "-f", *TYPES), True),
    Peer(
        "gitlint", "gitlint", BOTH[1:], "pip install gitlint-core", calling("--msg-filename"), True
    ),
    Peer(
        "commitizen",
        "cz",
        BOTH[1:],
        "pip install commitizen",
        calling("check", "--commit-msg-file"),
        True,
    ),
    Peer("commitlint", "commitlint", BOTH[1:], NPM, calling("--edit")),
)


def find_program(name: str) -> str:
    """Return a program's path; empty where it isn't there."""
    folders = [os.path.dirname(sys.executable), os.environ.get("BENCH_PEERS", "")]
    path = os.pathsep.join([*filter(None, folders), os.environ["PATH"]])
    return shutil.which(name, path=path) or ""


def find_peers() -> list[tuple[Peer, str]]:
    """Return the peers that are installed with their programs; say how to get the others."""
    found: list[tuple[Peer, str]] = []
    for peer in PEERS:
        program = find_program(peer.program)
        if program:
            found.append((peer, program))
        else:
            print(f"{peer.name} is not installed here: {peer.how.format(peer.name)}")
    return found


def add_settings(root: Path, programs: Sequence[str]) -> None:
    """Write and commit every tool's settings; commitlint finds its rules beside the repository."""
    write(root, dict(SETTINGS))
    modules = [Path(p).parent.parent for p in programs if Path(p).parent.name == ".bin"]
    if modules:
        (root / ".git" / "info" / "exclude").write_text("node_modules\n", encoding="utf-8")
        (root / "node_modules").symlink_to(modules[0])
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "chore: settings")
