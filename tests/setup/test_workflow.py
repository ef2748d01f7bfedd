"""The workflow is YAML, calls commands that there are, and quotes what others may name."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from guard.cli import COMMANDS
from guard.setup.workflow import workflow_text


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
    assert called == ["check", "run", "verify"]
    assert set(called) <= set(COMMANDS)
    assert not any("${{" in script for script in scripts)
    assert not any("|| true" in script for script in scripts)


def test_the_base_is_the_branch_of_a_pull_request_or_what_was_there_before_a_push() -> None:
    job: Any = yaml.safe_load(workflow_text("main", "x"))["jobs"]["guard"]
    assert job["env"]["BASE"] == (
        "${{ github.event_name == 'pull_request' && format('origin/{0}', github.base_ref)"
        " || github.event.before }}"
    )
