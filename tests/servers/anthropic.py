"""A scripted server that speaks Anthropic's messages API on the loopback.

Each request is answered by the next step of a script, or by a function of the request; what was
asked is kept. Nothing of the client is replaced: it is driven over HTTP.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from http.server import BaseHTTPRequestHandler
from itertools import count
from typing import Any, NamedTuple

from tests.servers.loopback import served

MODEL = "claude-haiku-4-5-20251001"
USAGE = {"input_tokens": 1000, "output_tokens": 100}


class Step(NamedTuple):
    """How one request is answered."""

    text: str = ""
    """What the model says."""
    status: int = 200
    headers: Mapping[str, str] = {}
    cut: bool = False
    """End the connection in the middle of the stream."""
    ends: bool = True
    """Send the events that end a message; without them the stream ends early, and cleanly."""
    stop: str = "end_turn"
    error: str = ""
    """The type of an error that comes in the middle of the stream."""
    raw: bytes = b""
    """Sent as the stream's body, in place of events."""
    seconds: float = 0.0
    """Waits so long before the answer, or until the server is closed."""
    pause: float = 0.0
    """Waits so long after the first event."""
    id: str = ""
    """The response's id; a new one where it is empty."""
    model: str = MODEL
    call: Mapping[str, Any] | None = None
    """What it calls the tool with that the request offers, where it says nothing."""


def score(value: Any, reason: str = "as the rubric asks", **more: Any) -> Step:
    """Return a vote."""
    return Step(json.dumps({"reason": reason, "score": value}), **more)


Script = Callable[[Mapping[str, Any]], Step]


class Scripted:
    """The script, and what was asked by now."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[Mapping[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.closing = threading.Event()
        self._steps: list[Step] = []
        self._script: Script = lambda request: score(1)
        self._lock = threading.Lock()
        self._numbers = count(1)

    def answers(self, *steps: Step, then: Script | None = None) -> Scripted:
        """Answer by these steps, and by ``then`` when they are used up; forget what was asked."""
        with self._lock:
            self._steps = list(steps)
            self._script = then or (lambda request: steps[-1] if steps else score(1))
            self.requests.clear()
            self.headers.clear()
        return self

    def next(self, request: Mapping[str, Any], headers: Mapping[str, str]) -> Step:
        """Take a request; return how it is answered."""
        with self._lock:
            self.requests.append(request)
            self.headers.append(headers)
            step = self._steps.pop(0) if self._steps else self._script(request)
            return step if step.id else step._replace(id=f"msg_{next(self._numbers)}")


def shown_reply(request: Mapping[str, Any]) -> str:
    """Return the reply that a judge is shown, out of its block."""
    text = str(request["messages"][0]["content"])
    lines = text.partition("\nREPLY\n")[2].split("\n")
    assert all(line.startswith("| ") for line in lines), text
    return "\n".join(line.removeprefix("| ") for line in lines)


def scripted_server() -> AbstractContextManager[Scripted]:
    """Serve until the end of the block."""
    scripted = Scripted()
    return served(scripted, _handler_of(scripted))


def _handler_of(scripted: Scripted) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            request = json.loads(self.rfile.read(length))
            step = scripted.next(request, {k.lower(): v for k, v in self.headers.items()})
            if step.seconds:
                scripted.closing.wait(step.seconds)
            with suppress(BrokenPipeError, ConnectionResetError):  # the client went away
                self._answer(step, request)

        def _answer(self, step: Step, request: Mapping[str, Any]) -> None:
            self.close_connection = True
            if step.status != 200:
                body = {"type": "error", "error": {"type": "some_error", "message": step.text}}
                self._head(step, "application/json", json.dumps(body).encode())
                return
            if not request.get("stream"):
                body = _message(step, request)
                self._head(step, "application/json", json.dumps(body).encode())
                return
            self._head(step, "text/event-stream")
            for data in [step.raw] if step.raw else _events(step):
                self._chunk(data)
                if step.pause:
                    time.sleep(step.pause)
            if not step.cut:
                self._chunk(b"")

        def _head(self, step: Step, kind: str, body: bytes | None = None) -> None:
            self.send_response(step.status)
            self.send_header("connection", "close")
            for name, value in {"content-type": kind, **step.headers}.items():
                self.send_header(name, value)
            if body is None:
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
            else:
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def _chunk(self, data: bytes) -> None:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler


def _message(step: Step, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the whole message, for a client that doesn't stream."""
    content: dict[str, Any] = {"type": "text", "text": step.text}
    if step.call is not None:
        name = request["tools"][0]["name"]
        content = {"type": "tool_use", "id": f"toolu_{step.id}", "name": name, "input": step.call}
    head = {"id": step.id, "type": "message", "role": "assistant", "model": step.model}
    ended = {"stop_reason": step.stop, "stop_sequence": None, "usage": USAGE}
    return {**head, **ended, "content": [content]}


def _events(step: Step) -> Iterator[bytes]:
    start: dict[str, Any] = {
        "id": step.id,
        "type": "message",
        "role": "assistant",
        "model": step.model,
    }
    start |= {"content": [], "stop_reason": None, "stop_sequence": None}
    half = len(step.text) // 2 if step.cut else len(step.text)
    yield _event("message_start", message={**start, "usage": {**USAGE, "output_tokens": 1}})
    block = {"type": "text", "text": ""}
    yield _event("content_block_start", index=0, content_block=block)
    delta = {"type": "text_delta", "text": step.text[:half]}
    yield _event("content_block_delta", index=0, delta=delta)
    if step.error:
        yield _event("error", error={"type": step.error, "message": "busy"})
    if step.cut or step.error or not step.ends:
        return
    yield _event("content_block_stop", index=0)
    ended = {"stop_reason": step.stop, "stop_sequence": None}
    yield _event("message_delta", delta=ended, usage=USAGE)
    yield _event("message_stop")


def _event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
