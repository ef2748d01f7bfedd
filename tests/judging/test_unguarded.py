from __future__ import annotations

from guard.judging.unguarded import without_files
from guard.session import Session
from tests.conftest import ScratchRepo

CONFIG = """\
version: 1
agents:
  here: {paths: [skills/a/**], target: command}
  gone: {paths: [skill/b/**], target: command}
  only-cases: {paths: [evals/**], cases: [evals/*.md], target: command}
"""
CASE = "---\nid: x\nagent: only-cases\nexpected: {no_changes: true}\n---\nWhy.\n"


def test_an_agent_needs_a_file_of_its_own(repo: ScratchRepo) -> None:
    repo.write({"guard.yaml": CONFIG, "skills/a/SKILL.md": "Hello.\n", "evals/x.md": CASE})
    with Session.open(str(repo.root)) as session:
        assert without_files(session.project()) == ["gone", "only-cases"]
