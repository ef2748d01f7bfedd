"""The workflow that judges pull requests and the default branch on GitHub."""

from __future__ import annotations

import json

FILE = ".github/workflows/guard.yml"

#: Values of the event reach the shell by variables alone: a branch may be named anything.
_TEXT = """\
# Regression Guard: the rules on each commit, the affected cases, every retained regression
name: guard
on:
  pull_request:
  push:
    branches: [{branch}]
permissions:
  contents: read
jobs:
  guard:
    runs-on: ubuntu-latest
    env:
      BASE: >-
        ${{{{ github.event_name == 'pull_request' && format('origin/{{0}}', github.base_ref)
        || github.event.before }}}}
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0  # a proof rebuilds the state before its fix
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: python -m pip install {requirement}
      - run: guard check --base "$BASE"
      - run: guard run --affected="$BASE"
      - run: guard verify
"""


def workflow_text(branch: str, requirement: str) -> str:
    """Return the workflow for a default branch and what pip is told to install."""
    return _TEXT.format(branch=json.dumps(branch), requirement=json.dumps(requirement))
