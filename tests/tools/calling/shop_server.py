"""An HTTP server for tests that records its requests; it runs in this process, on loopback."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Heard:
    """A received request."""

    method: str
    target: str
    headers: dict[str, str]
    body: str


@dataclass
class Shop:
    """A server: its address, received requests, and answers by path."""

    url: str = ""
    heard: list[Heard] = field(default_factory=list)
    answers: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    wait: float = 0.0

    def answer(self, path: str, value: Any, status: int = 200, **headers: str) -> None:
        """Set the JSON answer for a path, with headers."""
        named = {"Content-Type": "application/json"}
        named |= {name.replace("_", "-"): text for name, text in headers.items()}
        self.answers[path] = status, named, json.dumps(value).encode()


@contextmanager
def running() -> Iterator[Shop]:
    """Run a server for the duration of the block."""
    shop = Shop()

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            size = int(self.headers.get("Content-Length", 0))
            body = self.rfile.read(size).decode()
            shop.heard.append(Heard(self.command, self.path, dict(self.headers), body))
            path = self.path.partition("?")[0]
            status, headers, content = shop.answers.get(path, (404, {}, b"no such thing"))
            self.send_response(status)
            for name, text in headers.items():
                self.send_header(name, text)
            if not shop.wait:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            for byte in content:  # a slow server sends single bytes
                time.sleep(shop.wait)
                with suppress(ConnectionError):  # the client may disconnect early
                    self.wfile.write(bytes([byte]))

        def log_message(self, *_: object) -> None:
            pass

    for method in ("GET", "POST", "PUT", "DELETE", "PATCH"):
        setattr(Handler, f"do_{method}", Handler.handle_any)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    shop.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield shop
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
