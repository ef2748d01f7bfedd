"""The real command line in a scratch repository, and agents whose cases say what they do.

The agent ``clerk`` runs each case's utterance as a shell script in its workspace, so that a
test says in one line how a trial goes; ``$GUARD_TRIAL`` is the trial's number.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.guard_process import run_guard

if TYPE_CHECKING:
    from tests.conftest import ScratchRepo

CLERK: Mapping[str, Any] = {
    "paths": ["agent/rules.md"],
    "workspace": "agent",
    "target": "command",
    "options": {"argv": ["sh", "-c", "{utterance}"]},
    "cases": ["evals/*.md"],
}
HELLO: Mapping[str, Any] = {"reply_contains": ["hello"]}


class Outcome(NamedTuple):
    """How a call ended, and what it printed."""

    argv: tuple[str, ...]
    code: int
    out: str
    err: str

    def ends_in(self, code: int) -> Outcome:
        """Assert the exit code; return the outcome."""
        assert self.code == code, f"{self}, not {code}"
        return self

    def says(self, *texts: str) -> Outcome:
        """Assert that the report, on standard output, holds each text."""
        for text in texts:
            assert text in self.out, f"{text!r} is not on stdout of {self}"
        return self

    def says_not(self, *texts: str) -> Outcome:
        """Assert that neither stream holds any of the texts."""
        for text in texts:
            assert text not in self.out + self.err, f"{text!r} is in {self}"
        return self

    def refuses(self, *texts: str) -> Outcome:
        """Assert exit 2, nothing on stdout, and one or two lines that hold each text."""
        assert self.code == 2, f"{self}, not 2"
        assert not self.out, f"{self} wrote to stdout"
        lines = self.err.splitlines()
        assert 1 <= len(lines) <= 2, f"{len(lines)} lines on stderr of {self}"
        for text in texts:
            assert text in self.err, f"{text!r} is not on stderr of {self}"
        return self

    def __str__(self) -> str:
        """The whole run, for an assertion that fails."""
        call = " ".join(("guard", *self.argv))
        return f"`{call}`: exit {self.code}\n--- out\n{self.out}\n--- err\n{self.err}\n---"


class GuardCommand:
    """Calls guard as a user does: a process of its own in the repository's folder."""

    def __init__(self, repo: ScratchRepo) -> None:
        self.repo = repo

    def __call__(
        self, *argv: str, env: Mapping[str, str] | None = None, folder: str = "."
    ) -> Outcome:
        done = run_guard(argv, self.repo.root / folder, env or {})
        outcome = Outcome(argv, done.returncode, done.stdout, done.stderr)
        assert "Traceback" not in outcome.err, str(outcome)
        return outcome

    def start(self, *argv: str) -> subprocess.Popen[str]:
        """Start guard in a process group of its own; the caller ends it."""
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "guard", *argv],
            cwd=self.repo.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def report(self, *argv: str, ends_in: int = 0, **values: Any) -> dict[str, Any]:
        """Run cases; return the JSON report, after checking what every report must agree on."""
        outcome = self("run", *argv, "--json", "-", **values).ends_in(ends_in)
        found: dict[str, Any] = json.loads(outcome.out)
        assert found["exit_code"] == ends_in, str(outcome)
        return found

    def verdicts(self, *argv: str, ends_in: int = 0, **values: Any) -> dict[str, str]:
        """Run cases; return id → verdict."""
        report = self.report(*argv, ends_in=ends_in, **values)
        return {case["id"]: case["verdict"] for case in report["cases"]}


def config(
    agents: Mapping[str, Mapping[str, Any]] | None = None, /, **top: Any
) -> dict[str, str | bytes | None]:
    """Return guard.yaml with the agents (default: the clerk), and the clerk's one file."""
    document = {"version": 1, **top, "agents": agents or {"clerk": CLERK}}
    # JSON is YAML, and needs no second writer here.
    return {"guard.yaml": json.dumps(document, indent=1), "agent/rules.md": "Be kind.\n"}


def clerk(**changes: Any) -> dict[str, Mapping[str, Any]]:
    """Return the clerk with changed keys, as `config` takes it."""
    return {"clerk": {**CLERK, **changes}}


def case(
    script: str = "echo hello", expected: Mapping[str, Any] = HELLO, /, **keys: Any
) -> dict[str, str]:
    """Return one case file: its utterance is a script, its id "one" where none is given."""
    fields = {"id": "one", "utterance": script, "expected": expected, **keys}
    lines = [f"{name}: {json.dumps(value)}" for name, value in fields.items()]
    return {f"evals/{fields['id']}.md": "\n".join(["---", *lines, "---", "Why.", ""])}


def cases(scripts: Mapping[Any, str], /, **keys: Any) -> dict[str, str]:
    """Return case files of ids and scripts, all with the same further keys."""
    return {
        path: text
        for name, script in scripts.items()
        for path, text in case(script, id=name, **keys).items()
    }


def passes_in(*trials: int) -> str:
    """Return a script that says hello in the trials of these numbers alone."""
    numbers = "|".join(map(str, trials)) or "none"
    return f"case $GUARD_TRIAL in {numbers}) echo hello;; *) echo no;; esac"


def trial_verdicts(case: Mapping[str, Any]) -> Sequence[str]:
    """Return the verdicts of a reported case's trials, in order."""
    return [run["verdict"] for run in case["runs"]]
