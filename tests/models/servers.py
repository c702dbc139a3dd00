"""Local servers that speak the providers' protocols and misbehave on request.

    with OpenAIServer([Reply("hello"), Reply(status=429)]) as server:
        ...  # server.url is the base URL; server.received has the requests

The replies may also be a function from the received request to a `Reply`. The last reply of a list
is repeated.
"""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Self

USAGE = {"input": 11, "output": 7, "cached": 3, "reasoning": 2}


@dataclass(frozen=True)
class Received:
    """A received request."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def text(self) -> str:
        """All text in it, whatever the protocol."""
        if "messages" in self.body:
            return "\n".join(m["content"] for m in self.body["messages"])
        contents = [self.body.get("systemInstruction", {}), *self.body["contents"]]
        return "\n".join(p["text"] for c in contents for p in c.get("parts", ()))


@dataclass(frozen=True)
class Reply:
    """A server's reply to a request.

    Args:
        text: The model's answer.
        status: HTTP status; from 400, the body is an error with `message`.
        message: Message of the error.
        param: Parameter of the error (OpenAI), or its reason (Gemini).
        finish: Finish reason in the protocol's spelling.
        headers: Additional headers.
        hang: Seconds before the reply.
        raw: Body that violates the protocol.
        usage: Token counts; None omits them.
        hang_up: Whether to close the connection without a reply.
        calls: Names and arguments of the tools that the model calls.
    """

    text: str = "ready"
    status: int = 200
    message: str = "it went wrong"
    param: str | None = None
    finish: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    hang: float = 0.0
    raw: bytes | None = None
    usage: Mapping[str, int] | None = field(default_factory=lambda: dict(USAGE))
    hang_up: bool = False
    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()


Behaviour = Callable[[Received], Reply]


class _Server:
    """The part shared by both protocols."""

    path: ClassVar[str] = ""

    def __init__(self, behaviour: Behaviour | Sequence[Reply] = (Reply(),)) -> None:
        self.received: list[Received] = []
        self._behaviour = behaviour
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}{self.path}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def body(self, reply: Reply, asked: Received) -> Any:
        """Return the JSON of a successful reply."""
        raise NotImplementedError

    def error(self, reply: Reply) -> Any:
        """Return the JSON of an error."""
        raise NotImplementedError

    def _next(self, asked: Received) -> Reply:
        with self._lock:
            self.received.append(asked)
            number = len(self.received)
        if callable(self._behaviour):
            return self._behaviour(asked)
        return self._behaviour[min(number, len(self._behaviour)) - 1]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", 0))
                body = json.loads(self.rfile.read(length))
                headers = {k.lower(): v for k, v in self.headers.items()}
                asked = Received(self.path, headers, body)
                reply = server._next(asked)
                if reply.hang:
                    server._over.wait(reply.hang)
                if reply.hang_up:
                    return
                content = server.body(reply, asked) if reply.status < 400 else server.error(reply)
                data = json.dumps(content).encode() if reply.raw is None else reply.raw
                try:
                    self.send_response(reply.status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(data)))
                    for name, value in reply.headers.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:
                    pass  # the client has given up waiting

            def log_message(self, *_: Any) -> None: ...

        return Handler


class OpenAIServer(_Server):
    """OpenAI's chat completions."""

    path = "/v1"

    def body(self, reply: Reply, asked: Received) -> Any:
        usage = None
        if reply.usage is not None:
            prompt, answer = reply.usage["input"], reply.usage["output"]
            reasoning = reply.usage.get("reasoning", 0)
            usage = {
                "prompt_tokens": prompt,
                "completion_tokens": answer + reasoning,
                "total_tokens": prompt + answer + reasoning,
                "prompt_tokens_details": {"cached_tokens": reply.usage.get("cached", 0)},
                "completion_tokens_details": {"reasoning_tokens": reasoning},
            }
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1700000000,
            "model": f"{asked.body['model']}-2024-07-18",
            "choices": [
                {
                    "index": 0,
                    "message": {
                        "role": "assistant",
                        "content": reply.text,
                        **({"tool_calls": _openai_calls(reply)} if reply.calls else {}),
                    },
                    "finish_reason": reply.finish or "stop",
                }
            ],
            "usage": usage,
        }

    def error(self, reply: Reply) -> Any:
        return {
            "error": {
                "message": reply.message,
                "type": "invalid_request_error",
                "param": reply.param,
                "code": None,
            }
        }


class GeminiServer(_Server):
    """Gemini's REST protocol."""

    def body(self, reply: Reply, asked: Received) -> Any:
        if reply.finish == "BLOCKED":
            return {"promptFeedback": {"blockReason": "SAFETY"}}
        content: dict[str, Any] = {
            "candidates": [
                {
                    "content": {
                        "role": "model",
                        "parts": [{"functionCall": {"name": n, "args": a}} for n, a in reply.calls]
                        or [{"text": reply.text}],
                    },
                    "finishReason": reply.finish or "STOP",
                    "index": 0,
                }
            ],
            "modelVersion": f"{asked.path.split('/')[-1].split(':')[0]}-001",
        }
        if reply.usage is not None:
            content["usageMetadata"] = {
                "promptTokenCount": reply.usage["input"],
                "candidatesTokenCount": reply.usage["output"],
                "cachedContentTokenCount": reply.usage.get("cached", 0),
                "thoughtsTokenCount": reply.usage.get("reasoning", 0),
                "totalTokenCount": sum(reply.usage.values()),
            }
        return content

    def error(self, reply: Reply) -> Any:
        details = []
        if reply.param is not None:
            kind = "type.googleapis.com/google.rpc.ErrorInfo"
            details.append({"@type": kind, "reason": reply.param})
        error = {
            "code": reply.status,
            "message": reply.message,
            "status": "FAILED",
            "details": details,
        }
        return {"error": error}


class RawServer:
    """A server that passes each connection to a function once the request has arrived.

    Args:
        act: Called with the connection; may run until the client hangs up.
    """

    def __init__(self, act: Callable[[socket.socket], object]) -> None:
        self.asked = 0
        self._act = act
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.close()
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def _serve(self) -> None:
        with suppress(OSError):  # the test is over
            while True:
                connection, _ = self._listening.accept()
                with self._lock:
                    self._open.append(connection)
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):  # the client has hung up
            # Closing a connection with unread data resets it and loses the sent data.
            head, _, body = _until(connection, b"\r\n\r\n").partition(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", head)
            while len(body) < int(length[1] if length else 0):
                body += connection.recv(65536)
            self.asked += 1
            self._act(connection)


def _until(connection: socket.socket, end: bytes) -> bytes:
    came = b""
    while end not in came:
        piece = connection.recv(65536)
        if not piece:
            raise OSError("the client hung up")
        came += piece
    return came


def _openai_calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for number, (name, arguments) in enumerate(reply.calls)
    ]


class ResponsesServer(OpenAIServer):
    """OpenAI's responses."""

    def body(self, reply: Reply, asked: Received) -> Any:
        message = {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": reply.text, "annotations": []}],
        }
        calls = [
            {
                "type": "function_call",
                "call_id": f"call_{number}",
                "name": name,
                "arguments": json.dumps(arguments),
            }
            for number, (name, arguments) in enumerate(reply.calls)
        ]
        used = reply.usage or {}
        return {
            "id": "resp_1",
            "object": "response",
            "model": f"{asked.body['model']}-2025-08-07",
            "status": "incomplete" if reply.finish else "completed",
            "incomplete_details": {"reason": reply.finish} if reply.finish else None,
            "error": None,
            "output": [{"type": "reasoning", "summary": []}, *(calls or [message])],
            "usage": {
                "input_tokens": used.get("input"),
                "input_tokens_details": {"cached_tokens": used.get("cached", 0)},
                "output_tokens": used.get("output", 0) + used.get("reasoning", 0),
                "output_tokens_details": {"reasoning_tokens": used.get("reasoning", 0)},
            },
        }


class AnthropicServer(_Server):
    """Anthropic's messages."""

    def body(self, reply: Reply, asked: Received) -> Any:
        calls = [
            {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": arguments}
            for number, (name, arguments) in enumerate(reply.calls)
        ]
        used = reply.usage or {}
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": f"{asked.body['model']}-20250929",
            "content": calls or [{"type": "text", "text": reply.text}],
            "stop_reason": reply.finish or ("tool_use" if calls else "end_turn"),
            "usage": {
                "input_tokens": used.get("input", 0) - used.get("cached", 0),
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": used.get("cached", 0),
                "output_tokens": used.get("output"),
            },
        }

    def error(self, reply: Reply) -> Any:
        kinds = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}
        kind = kinds.get(reply.status, "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": reply.message}}
