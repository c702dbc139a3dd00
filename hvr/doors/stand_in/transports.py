"""The transports: two named pipes, or HTTP."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import http.client
import os
import select
import time
from pathlib import Path
from typing import Any, BinaryIO

from hvr.doors.stand_in import messages
from hvr.doors.stand_in.messages import (
    Field,
    JsonEncoder,
    MsgpackEncoder,
    ProtocolError,
    Reply,
    action_from,
    field,
    read_action,
)
from hvr.errors import UsageError

# Fifo ---------------------------------------------------------------------------------------------
# Transport through two named pipes, made by the client.

_PAUSE = 0.005
_PIPE_SIZE = 1 << 20


class FifoLink:
    """Messages through the pipes that the client made.

    Opening a pipe waits for the other side, which may have died: neither end is waited for
    blindly.

    Args:
        server_pipe: path of the pipe that this process writes.
        client_pipe: path of the pipe that it reads.
        encoder: makes the bytes of the metadata.
        patience: seconds to wait for the client to open its end.

    Raises:
        UsageError: there is no such pipe, or nobody reads it.
    """

    def __init__(
        self,
        server_pipe: Path,
        client_pipe: Path,
        encoder: MsgpackEncoder,
        patience: float = 60.0,
    ) -> None:
        self._encoder = encoder
        self._writer = _open_writer(server_pipe, patience)
        self._reader_path = client_pipe
        self._reader: BinaryIO | None = None
        self._sent: Reply | None = None

    def exchange(self, reply: Reply) -> dict[str, Any] | None:
        """Send an event and wait for the next action; None when the client has gone."""
        try:
            self._send(reply)
            if self._reader is None:
                self._reader = self._open_reader()
            return None if self._reader is None else read_action(self._reader)
        except BrokenPipeError:
            return None

    def _send(self, reply: Reply) -> None:
        parts: list[bytes]
        if self._sent is not None and _looks_the_same(self._sent, reply):
            parts = [field(Field.METADATA_PATCH, self._encoder.without_objects(reply))]
        else:
            parts = [field(Field.METADATA, self._encoder.envelope(reply))]
            if reply.image is not None:
                parts.append(field(Field.RGB_IMAGE, reply.image))
        self._sent = reply
        parts.append(field(Field.END_OF_MESSAGE))
        _write(self._writer, b"".join(parts))

    def _open_reader(self) -> BinaryIO | None:
        try:
            reader = os.open(self._reader_path, os.O_RDONLY | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        poll = select.poll()
        poll.register(reader, select.POLLIN)
        poll.register(self._writer, 0)  # tells when the client closes its end
        gone = any(fd != reader for fd, _ in poll.poll())
        os.set_blocking(reader, True)
        opened = os.fdopen(reader, "rb")
        if gone:
            opened.close()
            return None
        return opened


def refuse(server_pipe: Path, patience: float = 10.0) -> None:
    """Send an empty message, so that a client that waits for the first event gives up.

    Without it the client would wait for the pipe to be opened, for ever.
    """
    try:
        writer = _open_writer(server_pipe, patience)
    except UsageError:
        return
    with contextlib.suppress(OSError):
        _write(writer, field(Field.END_OF_MESSAGE))
    os.close(writer)


def _looks_the_same(before: Reply, now: Reply) -> bool:
    """Return whether objects and image are the very ones that the client already has."""
    old, new = before.metadata["objects"], now.metadata["objects"]
    return (
        now.image is before.image
        and len(old) == len(new)
        and all(a is b for a, b in zip(old, new, strict=True))
    )


def _write(pipe: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(pipe, rest) :]


def _open_writer(path: Path, patience: float) -> int:
    deadline, parent = time.monotonic() + patience, os.getppid()
    while True:
        try:
            pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            break
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise UsageError(
                    f"the pipe to the client cannot be opened: {path}: {error.strerror}; "
                    "has the client gone?"
                ) from None
        if time.monotonic() > deadline or os.getppid() != parent:
            raise UsageError(f"nobody reads the pipe to the client, {path}: it has gone")
        time.sleep(_PAUSE)
    os.set_blocking(pipe, True)
    with contextlib.suppress(AttributeError, OSError):  # only Linux has this
        # A message of a whole kitchen is larger than a pipe holds by default.
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)
    return pipe


# Wsgi ---------------------------------------------------------------------------------------------
# Transport through HTTP: this process posts events, the responses are actions.

_HTTP_PAUSE = 0.05


class HttpLink:
    """One kept connection to a client that listens.

    Args:
        host: where it listens.
        port: where it listens.
        token: that the client gave, empty when it did not start this process.
        encoder: makes the bytes of the metadata.
        patience: seconds to wait for the client to listen.

    Raises:
        UsageError: nobody listens there.
    """

    def __init__(
        self, host: str, port: int, token: str, encoder: JsonEncoder, patience: float = 0.0
    ) -> None:
        self._token = token
        self._encoder = encoder
        self._connection = _connect(host, port, patience)

    def exchange(self, reply: Reply) -> dict[str, Any] | None:
        """Send an event and wait for the next action; None when the client has stopped."""
        content = messages.body(self._encoder.envelope(reply), self._token, reply.image)
        headers = {"Content-Type": messages.CONTENT_TYPE}
        try:
            self._connection.request("POST", "/train", content, headers)
            answer = self._connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            return None
        if answer.status == 403:
            raise ProtocolError("the client refused the event: the token is not its own")
        if answer.status != 200:
            raise ProtocolError(f"the client answered {answer.status} {answer.reason}")
        action = action_from(text)
        return action if "action" in action else None


def _connect(host: str, port: int, patience: float) -> http.client.HTTPConnection:
    deadline = time.monotonic() + patience
    while True:
        connection = http.client.HTTPConnection(host, port)
        try:
            connection.connect()
        except OSError as error:
            if time.monotonic() >= deadline:
                raise UsageError(
                    f"no client listens at {host}:{port} ({error.strerror or error}): start "
                    f"Controller(start_unity=False, port={port}, server_class=WsgiServer) first"
                ) from None
            time.sleep(_HTTP_PAUSE)
        else:
            return connection
