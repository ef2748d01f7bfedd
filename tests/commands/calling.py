"""Calls guard's command line as a user does, in a process of its own or in this one."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from guard.cli import main
from tests.conftest import ScratchRepo
from tests.guard_process import run_guard


class Outcome(NamedTuple):
    """How a call ended, and what it printed."""

    code: int
    out: str
    err: str


def call_guard(folder: Path, *arguments: str) -> Outcome:
    """Call guard from a folder, in this process: no terminal, nothing on standard input."""
    out, err = io.StringIO(), io.StringIO()
    before, stdin = os.getcwd(), sys.stdin
    os.chdir(folder)
    sys.stdin = io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(arguments)
            except SystemExit as ended:  # argparse's own way out
                code = int(ended.code or 0)
    finally:
        os.chdir(before)
        sys.stdin = stdin
    return Outcome(code, out.getvalue(), err.getvalue())


def start_guard(
    repo: ScratchRepo, *arguments: str, env: Mapping[str, str] | None = None
) -> Outcome:
    """Call guard in a process of its own."""
    done = run_guard(arguments, repo.root, env or {})
    return Outcome(done.returncode, done.stdout, done.stderr)
