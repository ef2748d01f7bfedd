"""A repository of two agents, and the server that its copy is kept on."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator
from typing import Any

import pytest

from tests.commands.calling import Outcome, call_guard
from tests.conftest import ScratchRepo
from tests.guard_command import CLERK, case, config
from tests.servers.langsmith import KEY, LangSmith, langsmith_server

DATASET = "clerk (guard)"
LISTS = {
    "agent": "filer",
    "examples": [
        {"id": "ten", "inputs": {"n": 10, "utterance": "echo ten"}, "outputs": {"exit_code": 0}},
        {"id": "two", "inputs": {"n": 2, "utterance": "echo two"}, "outputs": {"exit_code": 0}},
    ],
}


@pytest.fixture(scope="session")
def served() -> Generator[LangSmith]:
    with langsmith_server() as state:
        yield state


@pytest.fixture
def server(served: LangSmith, monkeypatch: pytest.MonkeyPatch) -> Generator[LangSmith]:
    served.reset()
    monkeypatch.setenv("LANGSMITH_API_KEY", KEY)
    monkeypatch.setenv("LANGSMITH_ENDPOINT", served.url)
    monkeypatch.setattr("guard.commands.sync.PAUSES", (0.0, 0.0))
    monkeypatch.setattr("guard_langsmith.transport.PAUSE", 0.0)
    monkeypatch.setattr("guard_langsmith.health.PAUSES", (0.01, 0.02))
    monkeypatch.setattr("guard_langsmith.health.PATIENCE", 0.3)
    before = set(threading.enumerate())
    yield served
    # Those of the server end with their connection.
    left = {thread.name for thread in set(threading.enumerate()) - before}
    assert not {name for name in left if "process_request_thread" not in name}


class Kept:
    """The repository, whose copy is kept on the server."""

    def __init__(self, repo: ScratchRepo, server: LangSmith) -> None:
        self.repo = repo
        self.server = server

    def call(self, *arguments: str) -> Outcome:
        """Call guard; whatever comes of it, the key is not shown."""
        outcome = call_guard(self.repo.root, *arguments)
        assert KEY[:8] not in outcome.out + outcome.err
        assert "Traceback" not in outcome.err
        return outcome

    def sync(self, *options: str) -> Outcome:
        return self.call("sync", "langsmith", *options)

    def write_lists(self, document: Any) -> None:
        self.repo.write({"lists/filer.json": json.dumps(document, indent=1)})


@pytest.fixture
def kept(repo: ScratchRepo, server: LangSmith) -> Kept:
    filer = {**CLERK, "paths": ["agent/filer.md"], "cases": ["lists/*.json"]}
    agents = {"clerk": {**CLERK, "always": {"no_changes": True}}, "filer": filer}
    repo.commit(
        "feat: begin",
        {
            **config(agents, defaults={"trials": 1}),
            **case("echo hello", id="one"),
            **case("echo hello again", id="ask", input={"rate": 0.5}),
            "agent/filer.md": "File it.\n",
            "lists/filer.json": json.dumps(LISTS, indent=1),
        },
    )
    return Kept(repo, server)
