"""A local HTTP server that fails in the ways of networks, proxies and the service."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

import pytest
from process_document_service import Client


class Handler(BaseHTTPRequestHandler):
    """Records a request and gives the next answer."""

    protocol_version = "HTTP/1.1"
    server: _Server

    def answer(self) -> None:
        length = int(self.headers.get("content-length", "0"))
        lower = {name.lower(): value for name, value in self.headers.items()}
        fake = self.server.fake
        fake.received.append(Received(self.command, self.path, lower, self.rfile.read(length)))
        reply = fake.answers.pop(0) if len(fake.answers) > 1 else fake.answers[0]
        reply(self)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

    def respond(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def drop(self) -> None:
        """Close the connection at once."""
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


class _Server(ThreadingHTTPServer):
    fake: FakeService


Answer: TypeAlias = Callable[[Handler], None]


@dataclass
class Received:
    """A request as it arrived. The names of its headers are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class FakeService:
    """The server. The last answer is that to all further requests."""

    url: str
    answers: list[Answer] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)

    def client(self, **options: Any) -> Client:
        return Client(self.url, key="pds_key", **options)


@pytest.fixture
def service() -> Iterator[FakeService]:
    server = _Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.fake = FakeService(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.fake
    finally:
        server.shutdown()
        thread.join()
        server.socket.close()


def json_answer(status: int, body: object, headers: dict[str, str] | None = None) -> Answer:
    content = json.dumps(body).encode()
    return lambda handler: handler.respond(status, content, {"content-type": "application/json", **(headers or {})})


def problem(status: int, code: str, headers: dict[str, str] | None = None, **more: object) -> Answer:
    body = {"status": status, "code": code, "title": "Title.", "detail": "Detail.", "request_id": "r1", **more}
    return json_answer(status, body, {"content-type": "application/problem+json", **(headers or {})})
