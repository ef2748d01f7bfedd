"""A server that speaks the part of LangSmith's API that is used, with real state behind it.

Datasets, examples, projects, runs and feedback are kept in memory; what a test does to them by
hand is what a person does in the dashboard. Nothing of the client is replaced.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from copy import deepcopy
from datetime import UTC, datetime
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler
from typing import Any, NamedTuple, cast
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

from tests.servers.loopback import served

KEY = "lsv2_pt_scripted0123456789"
TENANT = "11111111-2222-4333-8444-555555555555"
Rows = dict[str, dict[str, Any]]


class Answer(NamedTuple):
    """What one request gets."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = {}
    raw: bytes | None = None
    """Sent as it is, in place of ``body``."""
    seconds: float = 0.0
    """Waits so long before the answer, or until the server is closed."""


class Asked(NamedTuple):
    """One request."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    data: bytes

    @property
    def name(self) -> str:
        """What is asked, without the query: ``GET /datasets``."""
        return f"{self.method} {self.path}"

    def json(self) -> Any:
        """Return the body as JSON."""
        return json.loads(self.data)

    def parts(self) -> dict[str, Any]:
        """Return the parts of a multipart body by their names, each of them JSON."""
        head = f"content-type: {self.headers['content-type']}\r\n\r\n".encode()
        message = BytesParser(EmailMessage, policy=HTTP).parsebytes(head + self.data)
        found: dict[str, Any] = {}
        for part in message.iter_parts():
            name = part.get_param("name", header="content-disposition")
            found[str(name)] = json.loads(cast("bytes", part.get_payload(decode=True)))
        return found


class LangSmith:
    """The state, and ways to break the server."""

    def __init__(self) -> None:
        self.url = ""
        self.closing = threading.Event()
        self._lock = threading.RLock()
        self.reset()

    def reset(self) -> None:
        """Forget everything; nothing is broken."""
        self.datasets: Rows = {}
        self.examples: Rows = {}
        self.projects: Rows = {}
        self.runs: Rows = {}
        self.feedback: Rows = {}
        self.asked: list[Asked] = []
        self.drops_traces = False
        self.late_looks = 0
        """How often a run is asked for in vain before it is there."""
        self.breaks: Callable[[Asked], Answer | None] = lambda asked: None
        """Answers a request in place of the server, or returns None."""

    @property
    def state(self) -> Mapping[str, Rows]:
        """All that it keeps, as it is now."""
        with self._lock:
            return deepcopy(
                {
                    "datasets": self.datasets,
                    "examples": self.examples,
                    "projects": self.projects,
                    "runs": self.runs,
                    "feedback": self.feedback,
                }
            )

    @property
    def written(self) -> list[str]:
        """The requests that change something."""
        return [one.name for one in self.asked if one.method != "GET"]

    def examples_of(self, dataset: str) -> dict[str, dict[str, Any]]:
        """Return case → example of a dataset, by its name."""
        ids = [row["id"] for row in self.datasets.values() if row["name"] == dataset]
        rows = [row for row in self.examples.values() if row["dataset_id"] in ids]
        return {row["metadata"].get("case", row["id"]): row for row in rows}

    def add_dataset(self, name: str, metadata: Mapping[str, Any]) -> str:
        """Make a dataset by hand."""
        number = str(uuid4())
        row = {"id": number, "name": name, "metadata": dict(metadata), **_times()}
        self.datasets[number] = row
        return number

    def add_example(self, dataset: str, metadata: Mapping[str, Any], **row: Any) -> str:
        """Add an example by hand, to a dataset named by its id."""
        example = {"inputs": {}, "outputs": {}, "metadata": dict(metadata), **row}
        return self._put_example(str(uuid4()), dataset, example)

    def answer(self, asked: Asked) -> Answer:
        """Answer one request."""
        with self._lock:
            self.asked.append(asked)
            broken = self.breaks(asked)
            if broken is not None:
                return broken
            if asked.headers.get("x-api-key") != KEY and asked.path != "/info":
                return Answer(401, {"detail": f"Invalid token {asked.headers.get('x-api-key')}"})
            first, *rest = asked.path.strip("/").split("/")
            if first == "v1":
                return self._platform_examples(asked, rest[2])
            handler: Callable[[Asked, list[str]], Answer] | None
            handler = getattr(self, f"_{first}", None)
            return handler(asked, rest) if handler else Answer(404, {"detail": "no such route"})

    def _info(self, asked: Asked, rest: list[str]) -> Answer:
        flags = {"dataset_examples_multipart_enabled": True}
        limits = {"use_multipart_endpoint": True, "size_limit_bytes": 20_971_520}
        info = {"version": "0.15.0", "instance_flags": flags, "batch_ingest_config": limits}
        return Answer(200, info)

    def _datasets(self, asked: Asked, rest: list[str]) -> Answer:
        if asked.method == "GET":
            names = asked.query.get("name")
            rows = [r for r in self.datasets.values() if names is None or r["name"] in names]
            return Answer(200, rows)
        body = asked.json()
        if any(row["name"] == body["name"] for row in self.datasets.values()):
            return Answer(409, {"detail": "Dataset with this name already exists."})
        number = self.add_dataset(body["name"], body["extra"]["metadata"])
        self.datasets[number]["description"] = body.get("description")
        return Answer(200, self.datasets[number])

    def _platform_examples(self, asked: Asked, dataset: str) -> Answer:
        if dataset not in self.datasets:
            return Answer(404, {"detail": "dataset not found"})
        parts = asked.parts()
        ids = [name for name in parts if "." not in name]
        for number in ids:
            given = {
                k: parts[f"{number}.{k}"] for k in ("inputs", "outputs") if f"{number}.{k}" in parts
            }
            if asked.method == "PATCH":
                self.examples[number] |= {**parts[number], **given, "modified_at": _now()}
            else:
                self._put_example(number, dataset, {"metadata": {}, **parts[number], **given})
        return Answer(200, {"example_ids": ids, "count": len(ids), "as_of": _now()})

    def _put_example(self, number: str, dataset: str, example: Mapping[str, Any]) -> str:
        # The real one sorts every example into a split of its own accord.
        metadata = {**example["metadata"], "dataset_split": ["base"]}
        own = {"id": number, "dataset_id": dataset, "metadata": metadata, **_times()}
        self.examples[number] = {"outputs": None, **example, **own}
        return number

    def _examples(self, asked: Asked, rest: list[str]) -> Answer:
        if asked.method == "DELETE":
            if rest[0] not in self.examples:
                return Answer(404, {"detail": "Example not found"})
            del self.examples[rest[0]]
            return Answer(200, {})
        wanted = asked.query["dataset"][0]
        rows = [row for row in self.examples.values() if row["dataset_id"] == wanted]
        start, most = int(asked.query["offset"][0]), int(asked.query["limit"][0])
        return Answer(200, rows[start : start + most])

    def _sessions(self, asked: Asked, rest: list[str]) -> Answer:
        if asked.method == "GET":
            return Answer(200, list(self.projects.values())[:1])
        if asked.method == "PATCH":
            row = self.projects[rest[0]]
            row |= {name: value for name, value in asked.json().items() if value is not None}
            return Answer(200, row)
        body = asked.json()
        known = next((p for p in self.projects.values() if p["name"] == body["name"]), None)
        if known is not None:
            upsert = asked.query.get("upsert") == ["True"]
            return Answer(200, known) if upsert else Answer(409, {"detail": "it exists"})
        own = {"tenant_id": TENANT, "start_time": _now()}
        made: dict[str, Any] = {"reference_dataset_id": None, **body, **own}
        self.projects[body["id"]] = made
        return Answer(200, made)

    def _runs(self, asked: Asked, rest: list[str]) -> Answer:
        if asked.method == "GET":
            if self.late_looks > 0:
                self.late_looks -= 1
                return Answer(404, {"detail": "Run not found"})
            found = self.runs.get(rest[0])
            return Answer(200, found) if found else Answer(404, {"detail": "Run not found"})
        if rest != ["multipart"]:
            return Answer(404, {"detail": "no such route"})
        parts = asked.parts()
        for name, body in parts.items():
            kind, number, *field = name.split(".")
            if kind != "post" or self.drops_traces:
                continue
            row = self.runs.setdefault(number, {"status": "success"})
            row |= {field[0]: body} if field else body
        return Answer(202, {"message": "Runs batch ingested"})

    def _feedback(self, asked: Asked, rest: list[str]) -> Answer:
        body = asked.json()
        if body["run_id"] not in self.runs and not self.drops_traces:
            return Answer(404, {"detail": "Run not found"})
        self.feedback[body["id"]] = body
        return Answer(200, body)


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _times() -> dict[str, str]:
    return {"created_at": _now(), "modified_at": _now()}


def langsmith_server() -> AbstractContextManager[LangSmith]:
    """Serve until the end of the block."""
    state = LangSmith()
    return served(state, _handler_of(state))


def _handler_of(state: LangSmith) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Headers and body in one packet: the second would wait for the first one's receipt.
        wbufsize = -1
        disable_nagle_algorithm = True

        def __getattr__(self, name: str) -> Any:
            if name in ("do_GET", "do_POST", "do_PATCH", "do_DELETE"):
                return self._serve
            raise AttributeError(name)

        def _serve(self) -> None:
            url = urlsplit(self.path)
            data = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.command, url.path, parse_qs(url.query), headers, data)
            answer = state.answer(asked)
            if answer.seconds:
                state.closing.wait(answer.seconds)
            if answer.status == 0:
                self.close_connection = True
                return
            body = json.dumps(answer.body).encode() if answer.raw is None else answer.raw
            with suppress(BrokenPipeError, ConnectionResetError):  # the client went away
                self.send_response(answer.status)
                for name, value in {"content-type": "application/json", **answer.headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler


def wait_until(holds: Callable[[], bool], seconds: float = 5.0) -> bool:
    """Wait until something holds; tell whether it does."""
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.02)
    return holds()
