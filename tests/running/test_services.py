"""A service that answers, one that refuses, and those that let everyone wait."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator

import pytest

from guard.running import services
from guard.running.services import find_silence
from tests.conftest import ScratchRepo
from tests.guard_command import GuardCommand, case, cases, config


@pytest.fixture
def mute() -> Iterator[str]:
    """The address of something that never takes a connection: its queue is full."""
    with contextlib.ExitStack() as stack:
        listening = stack.enter_context(socket.socket())
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        address = listening.getsockname()
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(address)
        yield f"127.0.0.1:{address[1]}"


@pytest.fixture
def closed() -> str:
    """An address on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return f"127.0.0.1:{listening.getsockname()[1]}"


def test_what_answers_is_no_silence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        assert find_silence(f"127.0.0.1:{listening.getsockname()[1]}") is None


def test_what_refuses_says_so_at_once(closed: str) -> None:
    began = time.monotonic()
    assert find_silence(closed) == f"nothing answers at {closed} (Connection refused)"
    assert time.monotonic() - began < services.ONE


def test_what_refused_is_asked_again(closed: str) -> None:
    assert find_silence(closed)
    with socket.create_server(("127.0.0.1", int(closed.rpartition(":")[2]))):
        assert find_silence(closed) is None


@pytest.mark.parametrize("address", ["192.0.2.1:5432", "[2001:db8::1]:5432", "db.invalid:5432"])
def test_a_host_that_is_nowhere_costs_seconds_and_no_more(address: str) -> None:
    began = time.monotonic()
    found = find_silence(address)
    assert found is not None
    assert found.startswith(f"nothing answers at {address} (")
    assert time.monotonic() - began < services.ALL + 5


def test_what_let_guard_wait_is_not_waited_for_again(
    mute: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "ONE", 0.3)
    monkeypatch.setattr(services, "_silent", {})
    first = find_silence(mute)
    assert first == f"nothing answers at {mute} (timed out)"
    monkeypatch.setattr(services, "ONE", 60.0)
    began = time.monotonic()
    assert find_silence(mute) == first
    assert time.monotonic() - began < 1
    # Later it is, for it may be there by now.
    monkeypatch.setattr(services, "REMEMBERED", 0.0)
    monkeypatch.setattr(services, "ONE", 0.3)
    assert find_silence(mute) == first


def test_a_name_that_takes_for_ever_is_given_up(mute: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "ALL", 0.5)
    monkeypatch.setattr(services, "_silent", {})
    assert find_silence(mute) == f"nothing answers at {mute} (no answer within 0.5 s)"


def test_cases_without_their_database_are_skipped_and_never_scored(
    repo: ScratchRepo, guard: GuardCommand, closed: str
) -> None:
    """A database host that can't be reached, from the command line to the reports."""
    needs = {"prerequisites": [f"tcp:{closed}"], "trials": 1}
    files = {**cases({"near": "echo hello", "wrong": "echo no"}, **needs)}
    files |= case("echo hello", id="far", prerequisites=["tcp:192.0.2.1:5432"], trials=1)
    repo.commit("feat: clerk", {**config(), **files})
    outcome = guard("run").ends_in(0)
    outcome.says(f"? near SKIP: nothing answers at {closed} (Connection refused)")
    outcome.says("? far SKIP: nothing answers at 192.0.2.1:5432 (")
    last = outcome.out.splitlines()[-1]
    assert last == (
        "nothing was tested: 0 of 3 cases ran; not established: far, near, wrong (SKIP); "
        "skipped is not passed: --strict ends in 3"
    )
    report = guard.report("--junit", "guard.xml")
    assert (report["verdict"], report["counts"]["PASS"]) == ("NOT_ESTABLISHED", 0)
    assert {(c["passed"], c["trials"], c["receipt"]) for c in report["cases"]} == {(0, 0, None)}
    assert 'tests="3" failures="0" errors="0" skipped="3"' in (repo.root / "guard.xml").read_text()
    assert guard("run", "--strict").ends_in(3).out.splitlines()[-1].endswith("near, wrong (SKIP)")
    # The same cases, once it is there, are scored.
    with socket.create_server(("127.0.0.1", int(closed.rpartition(":")[2]))):
        assert guard.verdicts("near", "wrong", ends_in=1) == {"near": "PASS", "wrong": "FAIL"}
