"""The workflow is YAML, calls commands that there are, and quotes what others may name."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from guard import __version__
from guard.cli import COMMANDS
from guard.setup.workflow import workflow_text
from tests.blocks import blocks, read_page


@pytest.mark.parametrize("branch", ["main", "release/1.x", "ü #1", 'a"b'])
def test_it_is_read_as_it_is_meant(branch: str) -> None:
    found: Any = yaml.safe_load(workflow_text(branch, "regression-guard==0.1.0"))
    # YAML 1.1 reads the key `on` as true.
    assert found[True]["push"]["branches"] == [branch]
    assert found["permissions"] == {"contents": "read"}
    checkout = found["jobs"]["guard"]["steps"][0]
    assert checkout["with"]["fetch-depth"] == 0


def test_every_command_is_there_and_no_value_of_an_event_is_in_a_script() -> None:
    requirement = "regression-guard @ git+https://git.example.org/a@v1"
    steps: Any = yaml.safe_load(workflow_text("main", requirement))["jobs"]["guard"]["steps"]
    scripts = [step["run"] for step in steps if "run" in step]
    assert f'pip install "{requirement}"' in scripts[0]
    called = [found[1] for text in scripts for found in re.finditer(r"^guard (\S+)", text, re.M)]
    assert called == ["ci"]
    assert set(called) <= set(COMMANDS)
    assert not any("${{" in script for script in scripts)
    assert not any("|| true" in script for script in scripts)


def test_a_pull_request_whose_title_changes_is_judged_again() -> None:
    found: Any = yaml.safe_load(workflow_text("main", "x"))
    assert "edited" in found[True]["pull_request"]["types"]
    assert "synchronize" in found[True]["pull_request"]["types"]


def test_the_page_shows_what_is_written() -> None:
    page = blocks(read_page("docs/ci.md"), "yaml")
    [shown, *_] = [block.text for block in page if block.heading == "GitHub Actions"]
    written = workflow_text("main", f"regression-guard=={__version__}")
    assert shown == written
    assert shown != workflow_text("trunk", f"regression-guard=={__version__}")
