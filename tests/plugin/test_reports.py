"""A plugin's report: what is tried before a run, and what one that can't be written ends in."""

from __future__ import annotations

import pytest

from tests.commands.calling import Outcome, call_guard
from tests.conftest import ScratchRepo
from tests.guard_command import case, clerk, config

PLUGIN = """\
import os
from guard.plugin import Skip, TargetError, hookimpl, probe

def check():
    if os.environ.get("PROBE") == "skip":
        raise Skip("there is no line")
    if os.environ.get("PROBE") == "bug":
        raise KeyError("line")

@probe(check)
def send(report):
    if os.environ.get("SEND") == "fails":
        raise TargetError("nobody takes it", "call again")
    if os.environ.get("SEND") == "bug":
        raise KeyError("line")
    return f"sent {len(report.cases)}"

@hookimpl
def guard_reports():
    return {"wire": send, "plain": lambda report: "plain"}
"""


@pytest.fixture
def wired(repo: ScratchRepo) -> ScratchRepo:
    files = {
        **config(clerk(), plugins=["wire.py"]),
        **case("echo hello", trials=1),
        "wire.py": PLUGIN,
    }
    repo.commit("feat: begin", files)
    return repo


def run(repo: ScratchRepo, *options: str) -> Outcome:
    both = ("--report", "wire=../wire", "--report", "plain=../plain")
    return call_guard(repo.root, "run", *both, *options)


def test_both_are_written(wired: ScratchRepo) -> None:
    assert run(wired).code == 0
    assert (wired.root.parent / "wire").read_text() == "sent 1"
    assert (wired.root.parent / "plain").read_text() == "plain"


@pytest.mark.parametrize(
    ("how", "code", "said"),
    [
        ("skip", 3, "guard: there is no line\n"),
        ("bug", 2, "guard: --report wire: its probe raised KeyError: 'line'\n"),
    ],
)
def test_where_the_probe_fails_nothing_is_run(
    wired: ScratchRepo, monkeypatch: pytest.MonkeyPatch, how: str, code: int, said: str
) -> None:
    monkeypatch.setenv("PROBE", how)
    assert run(wired) == Outcome(code, "", said)
    assert not (wired.root.parent / "plain").exists()
    # It is asked of a writer that was asked for.
    assert call_guard(wired.root, "run", "--report", "plain=../plain").code == 0


@pytest.mark.parametrize(
    ("how", "code", "said"),
    [
        ("fails", 3, "guard: nobody takes it\n  do  call again\n"),
        ("bug", 2, "guard: --report wire: its writer raised KeyError: 'line'\n"),
    ],
)
def test_one_that_can_not_be_written_buries_nothing_and_is_no_success(
    wired: ScratchRepo, monkeypatch: pytest.MonkeyPatch, how: str, code: int, said: str
) -> None:
    monkeypatch.setenv("SEND", how)
    done = run(wired)
    assert (done.code, done.err) == (code, said)
    assert "PASS" in done.out
    assert (wired.root.parent / "plain").read_text() == "plain"
    assert run(wired, "--report-only").code == code
    # The run counts: its verdict is the case's last one.
    assert "PASS" in call_guard(wired.root, "agents").out


def test_a_regression_outranks_a_report_that_can_not_be_sent(
    wired: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEND", "fails")
    wired.write(case("echo bye", trials=1))
    done = run(wired)
    assert done.code == 1
    assert "nobody takes it" in done.err
