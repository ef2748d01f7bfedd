"""Serves a test's own API on the loopback."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Protocol, TypeVar


class State(Protocol):
    """What a server keeps, and what its answers wait by."""

    url: str
    closing: threading.Event


S = TypeVar("S", bound=State)


@contextmanager
def served(state: S, handler: type[BaseHTTPRequestHandler]) -> Generator[S]:
    """Serve until the end of the block, at ``state.url``."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield state
    finally:
        state.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
