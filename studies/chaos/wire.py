"""A server that sends exactly the bytes of a fault."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from tests.model_server import in_form, make_coffee, question
from tests.models.servers import Received

Protocol = Literal["openai", "gemini"]
_NEVER = 3600.0
_STALLED = 60.0


@dataclass(frozen=True)
class Talk:
    """One request and its connection.

    Args:
        asked: The request; None until it has been read.
        number: 1-based number of the request.
        over: Event that is set when the server stops.
        spoken: Sentence with keys, for servers that leak them.
    """

    connection: socket.socket
    asked: Received | None
    number: int
    protocol: Protocol
    over: threading.Event
    spoken: str = ""

    def send(self, *parts: bytes) -> None:
        """Send bytes; do nothing if the client has disconnected."""
        for part in parts:
            self.connection.sendall(part)

    def stream(self, parts: Iterable[bytes], pause: float = 0.0) -> None:
        """Send parts one after another until the client or the server stops."""
        for part in parts:
            if self.over.wait(pause) if pause else self.over.is_set():
                return
            self.connection.sendall(part)

    def hang(self) -> None:
        self.connection.settimeout(0.2)
        while not self.over.is_set():
            try:
                if not self.connection.recv(4096):
                    return
            except TimeoutError:
                continue

    def reset(self) -> None:
        # A linger time of zero turns closing into a reset.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def reply(
        self, body: object, status: int | str = 200, headers: Mapping[str, str | None] | None = None
    ) -> None:
        """Send a complete HTTP response.

        Args:
            body: Bytes, or a value to encode as JSON.
            status: HTTP status, or the rest of the status line after the version.
        """
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send(head(len(data), status, headers), data)

    def answer(self) -> str:
        assert self.asked is not None
        try:
            known = question(self.asked)
            return in_form(known, make_coffee(known), self.asked.body)
        except (AssertionError, KeyError, IndexError):
            return "ready"  # the request is not a planning question

    def good(self, text: str | None = None, **changes: Any) -> dict[str, Any]:
        return {**body_of(self.protocol, self.answer() if text is None else text), **changes}


Act = Callable[[Talk], None]


def head(
    length: int, status: int | str = 200, headers: Mapping[str, str | None] | None = None
) -> bytes:
    first = f"{status} Said" if isinstance(status, int) else status
    values: dict[str, str | None] = {
        "Content-Type": "application/json",
        "Content-Length": str(length),
        "Connection": "close",
        **(headers or {}),
    }
    lines = [f"{name}: {value}" for name, value in values.items() if value is not None]
    return "\r\n".join([f"HTTP/1.1 {first}", *lines, "", ""]).encode("latin-1", "replace")


def body_of(protocol: Protocol, text: str) -> dict[str, Any]:
    if protocol == "gemini":
        return {
            "candidates": [
                {
                    "content": {"role": "model", "parts": [{"text": text}]},
                    "finishReason": "STOP",
                    "index": 0,
                }
            ],
            "modelVersion": "test-model-001",
            "usageMetadata": {
                "promptTokenCount": 11,
                "candidatesTokenCount": 7,
                "totalTokenCount": 18,
            },
        }
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1700000000,
        "model": "test-model-2024-07-18",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }


def error_of(protocol: Protocol, message: str, status: int = 400) -> dict[str, Any]:
    if protocol == "gemini":
        return {"error": {"code": status, "message": message, "status": "FAILED", "details": []}}
    return {"error": {"message": message, "type": "server_error", "param": None, "code": None}}


class ChaosServer:
    """A server that answers each request as instructed.

    Args:
        act: Function that answers a request; with `greets`, it is called before the request is
            read.
        greets: Whether the server sends first, which no HTTP server does.
        spoken: Sentence with keys, for servers that leak them.
    """

    def __init__(
        self,
        act: Act | None = None,
        protocol: Protocol = "openai",
        *,
        greets: bool = False,
        spoken: str = "",
    ) -> None:
        self.calls = 0
        """Complete requests, or connections of a server that greets."""
        self.changed = threading.Condition()
        """Callback for each request."""
        self._act = act or behave
        self._protocol: Protocol = protocol
        self._greets = greets
        self._spoken = spoken
        self._over = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=256)
        self._thread = threading.Thread(target=self._listen, daemon=True)

    @property
    def url(self) -> str:
        path = "/v1" if self._protocol == "openai" else ""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}{path}"

    @property
    def spec(self) -> str:
        """The spec by which hvr reaches the server as a model."""
        return f"{self._protocol}:test-model"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        with contextlib.suppress(OSError):
            # Closing alone does not wake a thread blocked in accept().
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()

    def _listen(self) -> None:
        while not self._over.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            connection.settimeout(_STALLED)
            asked = None if self._greets else _read(connection)
            if asked is None and not self._greets:
                return
            with self.changed:
                self.calls += 1
                number = self.calls
                self.changed.notify_all()
            connection.settimeout(_NEVER)
            talk = Talk(connection, asked, number, self._protocol, self._over, self._spoken)
            self._act(talk)


def behave(talk: Talk) -> None:
    talk.reply(talk.good())


def _read(connection: socket.socket) -> Received | None:
    file = connection.makefile("rb")
    first = file.readline().decode("latin-1").split()
    headers: dict[str, str] = {}
    while line := file.readline().strip():
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    length = int(headers.get("content-length", 0))
    data = file.read(length)
    if len(first) < 2 or len(data) < length:
        return None
    return Received(first[1], headers, json.loads(data) if data else {})
