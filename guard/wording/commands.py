"""Commands that several places print, so that they are the same everywhere."""

from __future__ import annotations

from guard.output import shell_path

#: What stands for a case's name, and for what is said to the agent: no name, no request.
NAME = "ID"
SAID = "WHAT WAS SAID"
#: What stands for a reason.
REASONS = ("REASON", "WHY")


def new_case(agent: str) -> str:
    """Return the command that makes a case of an agent, to be filled in."""
    return f'guard new-case {NAME} --agent {shell_path(agent)} --utterance "{SAID}"'


def retire(record: str) -> str:
    """Return the command that gives a regression up."""
    return f'guard regressions retire {shell_path(record)} --reason "WHY"'


def observe(case: str) -> str:
    """Return the command whose run shows a defect, and where it is then written down."""
    return f"guard run {shell_path(case)}    # then write the run that it names into observed_in"


def move(record: str, path: str) -> str:
    """Return the command by which a record names the file that its case is in now."""
    return f"guard regressions move {shell_path(record)} {shell_path(path)}"
