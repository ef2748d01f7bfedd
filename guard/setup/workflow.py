"""The workflow that judges pull requests and the default branch on GitHub."""

from __future__ import annotations

import json

FILE = ".github/workflows/guard.yml"

#: `guard ci` reads the event by itself: no value of it, such as a branch's name, meets a shell.
_TEXT = """\
# Regression Guard: the rules on each commit, the affected cases, the proofs they concern
name: guard
on:
  pull_request:
    types: [opened, synchronize, reopened, edited]  # edited: the title may become a fix
  push:
    branches: [{branch}]
permissions:
  contents: read
jobs:
  guard:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0  # a proof rebuilds the state before its fix
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: python -m pip install {requirement}
      - run: guard ci
"""


def workflow_text(branch: str, requirement: str) -> str:
    """Return the workflow for a default branch and what pip is told to install."""
    return _TEXT.format(branch=json.dumps(branch), requirement=json.dumps(requirement))
