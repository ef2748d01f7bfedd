"""An agent that is run by a program outside its repository, which can be exchanged."""

from __future__ import annotations

import os
from pathlib import Path

from tests.conftest import ScratchRepo

SKILL = "agent/SKILL.md"
CONFIG = """\
version: 1
plugins: [client/guard_plugin.py]
agents:
  clerk:
    paths: [agent/**]
    target: brewer
    options: {told: TOLD}
    cases: [evals/*.md]
"""
#: The target: what the file outside says is its version, its model, and how it answers.
PLUGIN = '''\
"""A client whose version lies outside the repository."""
import json
import pathlib

from guard.plugin import Fingerprint, Observation, Option, Target, TargetError, hookimpl


def told(options):
    return json.loads(pathlib.Path(options["told"]).read_text())


def run(trial):
    try:
        now = told(trial.options)
    except OSError:
        raise TargetError("brew is not there")
    skill = pathlib.Path(trial.workspace, "SKILL.md").read_text()
    asks = "Ask" in skill and now["answers"]
    models = now["models"]
    model = models[(trial.number - 1) % len(models)] if models else None
    reply = "Which currency?" if asks else "Booked."
    program = f"brew {now['version']}" if now["version"] else None
    return Observation(reply=reply, program=program, model=model)


def fingerprint(options):
    try:
        version = told(options)["version"]
    except OSError:
        return Fingerprint(program="brew")
    return Fingerprint(program=f"brew {version}" if version else "", model="")


@hookimpl
def guard_targets():
    options = (Option("told", "text", required=True),)
    return [
        Target("brewer", run, "a file", options, deterministic=True, fingerprint=fingerprint)
    ]
'''
CASE = """\
---
id: NAME
utterance: the taxi was 400 euro
expected: {reply_contains: ["Which currency"]}
---
It converted 400 euro on its own authority. Nobody had asked for that.
"""


class Brewer:
    """The program outside, and the repository that it drives."""

    def __init__(self, repo: ScratchRepo, folder: Path) -> None:
        self.repo = repo
        self.file = folder / "brew.json"
        self.be("1.0")
        repo.commit(
            "feat: clerk",
            {
                "guard.yaml": CONFIG.replace("TOLD", str(self.file)),
                "client/guard_plugin.py": PLUGIN,
                SKILL: "Ask which currency.\n",
                "evals/taxi.md": CASE.replace("NAME", "taxi"),
            },
        )

    def be(self, version: str, *models: str, answers: bool = True) -> None:
        """Install another version."""
        import json

        told = {"version": version, "models": models, "answers": answers}
        self.file.write_text(json.dumps(told))

    def vanish(self) -> None:
        """Take it away."""
        os.remove(self.file)
