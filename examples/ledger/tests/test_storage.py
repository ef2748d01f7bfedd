"""The real storage: what trials are spared, these tests drive."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.error import HTTPError

import pytest

from ledger.storage import HttpQueue, WriteOnceFolder


class Desk(BaseHTTPRequestHandler):
    """Takes in what is put; a message about nothing is refused."""

    got: list[object]

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.got.append(message)
        self.send_response(204 if message else 400)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def desk() -> Iterator[HttpQueue]:
    Desk.got = []
    server = HTTPServer(("127.0.0.1", 0), Desk)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield HttpQueue(f"http://127.0.0.1:{server.server_port}/review")
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_message_is_put(desk: HttpQueue) -> None:
    desk.put({"total": 451_00})
    assert Desk.got == [{"total": 451_00}]


def test_a_queue_that_refuses_is_an_error(desk: HttpQueue) -> None:
    with pytest.raises(HTTPError):
        desk.put({})


def test_a_paper_is_kept_once_and_read_only(tmp_path: Path) -> None:
    archive = WriteOnceFolder(tmp_path / "archive")
    references = {archive.keep("taxi.txt", b"451,00") for _ in range(2)}
    assert references == {file.name for file in archive.path.iterdir()}
    assert archive.keep("taxi.txt", b"452,00") not in references
    assert {file.stat().st_mode & 0o777 for file in archive.path.iterdir()} == {0o444}
