"""A Python that has LangGraph imported, and runs each program that it is given in a fork of it.

The import costs most of a second; the programs are the real ones, which the target lays.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from guard.plugin import Finished

_PROGRAM = """\
import importlib, json, os, runpy, sys, traceback
for name in ("langgraph.graph", "langgraph.checkpoint.memory", "langgraph.store.memory"):
    importlib.import_module(name)
importlib.import_module("langgraph.prebuilt")
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if not child:
        for number, name in ((0, os.devnull), (1, asked["out"]), (2, asked["err"])):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT), number)
        os.environ.update(asked["env"])
        sys.argv = asked["argv"]
        code = 0
        try:
            runpy.run_path(sys.argv[0], run_name="__main__")
        except BaseException:
            traceback.print_exc()
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""


class Zygote:
    """The process; one program at a time."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-W", "ignore", "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, argv: Sequence[str], env: Mapping[str, str], folder: Path) -> Finished:
        """Run a Python program to its end: ``argv`` without the interpreter."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        out, err = folder / "stdout", folder / "stderr"
        asked = {"argv": list(argv), "env": dict(env), "out": str(out), "err": str(err)}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        texts = (out.read_text(), err.read_text())
        return Finished(None, *texts, -code) if code < 0 else Finished(code, *texts)

    def close(self) -> None:
        """End it."""
        self._process.communicate("")
