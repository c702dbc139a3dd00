"""The protocol between AI2-THOR's client and the stand-in for Unity, over named pipes or HTTP."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import http.client
import json
import os
import select
import struct
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from hvr.base.texts import parse_json
from hvr.errors import HvrError, MissingExtraError, UsageError

# Messages -----------------------------------------------------------------------------------------


class ProtocolError(HvrError):
    """The client violated AI2-THOR's protocol, or rejected a message."""


@dataclass(frozen=True)
class Reply:
    """One event for the client.

    Args:
        metadata: Metadata of the agent in AI2-THOR's schema. Unchanged objects are the same dicts
            as in earlier replies.
        image: RGB bytes for `screenWidth` x `screenHeight` pixels, from the bottom row up; None for
            no image. An unchanged image is the same object as before.
        fast: Whether the client may keep its lists of objects and images if they are unchanged, as
            after AI2-THOR's queries.
    """

    metadata: Mapping[str, Any]
    sequence_id: int
    image: bytes | None = None
    fast: bool = False


class Link(Protocol):
    """A connection to the client."""

    def exchange(self, reply: Reply) -> dict[str, Any] | None:
        """Send an event, and wait for the next action.

        Returns:
            The action; None if the client has stopped or disconnected.

        Raises:
            ProtocolError: The answer violates AI2-THOR's protocol.
        """
        ...


# Framing ------------------------------------------------------------------------------------------
# A field of a message consists of 1 byte for its type, 4 bytes for its length, and a body.

_HEAD = struct.Struct("!BI")


class Field(IntEnum):
    """The types of fields in messages."""

    METADATA = 1
    ACTION = 2
    RGB_IMAGE = 4
    METADATA_PATCH = 11
    END_OF_MESSAGE = 255


def field(kind: Field, body: bytes = b"") -> bytes:
    return _HEAD.pack(kind, len(body)) + body


def read_action(pipe: BinaryIO) -> dict[str, Any] | None:
    """Return the next action; None at the end of the stream.

    Raises:
        ProtocolError: The message is not an action.
    """
    body: bytes | None = None
    while True:
        head = pipe.read(_HEAD.size)
        if len(head) < _HEAD.size:
            return None
        kind, length = _HEAD.unpack(head)
        if kind == Field.END_OF_MESSAGE:
            break
        if kind != Field.ACTION:
            raise ProtocolError(
                f"the client sent a field of type {kind}, expected an action (type {Field.ACTION})"
            )
        body = pipe.read(length)
        if len(body) < length:
            return None
    if body is None:
        raise ProtocolError("the client sent a message without an action")
    return action_from(body)


def action_from(text: bytes) -> dict[str, Any]:
    """Return an action from its JSON; raise a ProtocolError for anything else."""
    try:
        action = parse_json(text, strict=False)
    except ValueError as error:
        raise ProtocolError(f"the client sent an action that is not JSON: {error}") from None
    if not isinstance(action, dict):
        raise ProtocolError(f"the client sent {text[:80]!r}, expected a JSON object")
    return action


# Multipart ----------------------------------------------------------------------------------------
# The body of a post, limited to the features that the client's parser understands.

_BOUNDARY = b"hvr-stand-in-7c1f3a0e5b9d42868f26d0c4a1e7b953"

CONTENT_TYPE = f"multipart/form-data; boundary={_BOUNDARY.decode('ascii')}"
"""Content type of the HTTP requests to the client."""


def body(metadata: bytes, token: str, image: bytes | None) -> bytes:
    """Return the multipart body with one event and, if given, an RGB image.

    The client's parser requires the spelling `Content-disposition` and a `Content-Type` in every
    part.
    """
    parts = [
        _part(b"metadata", b"text/plain; charset=utf-8", metadata),
        _part(b"token", b"text/plain; charset=utf-8", token.encode("utf-8")),
    ]
    if image is not None:
        parts.append(_part(b'image"; filename="image', b"image/raw-rgb", image))
    return b"".join(parts) + b"--" + _BOUNDARY + b"--\r\n"


def _part(name: bytes, content_type: bytes, content: bytes) -> bytes:
    return (
        b"--" + _BOUNDARY + b"\r\n"
        b"Content-Type: " + content_type + b"\r\n"
        b'Content-disposition: form-data; name="' + name + b'"\r\n\r\n' + content + b"\r\n"
    )


# Packing ------------------------------------------------------------------------------------------
# Encoding 80 objects takes longer than simulating the action, so cache the bytes of each object.
# The kitchen returns the same dict for an unchanged object. If only the agent has moved, the dict
# is new but differs in three fields, so encode these separately.

_OF_THE_VIEW = ("visible", "isInteractable", "distance")
_Fields = Mapping[str, Any]
_json = json.JSONEncoder(separators=(",", ":")).encode


class MetadataEncoder(ABC):
    """Encodes events in the format that the client reads; encoded objects are cached."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[_Fields, bytes, bytes]] = {}

    def envelope(self, reply: Reply) -> bytes:
        """Return the whole message with the event of one agent."""
        outer = {"thirdPartyCameras": [], "activeAgentId": 0, "sequenceId": reply.sequence_id}
        agents = self._list([self._agent(reply.metadata)])
        return self._map(4, [self._fields(outer), self._member("agents", agents)])

    def without_objects(self, reply: Reply) -> bytes:
        """Return the encoded metadata of the agent without `objects`."""
        fields = {k: v for k, v in reply.metadata.items() if k != "objects"}
        return self._map(len(fields), [self._fields(fields)])

    def _agent(self, metadata: Mapping[str, Any]) -> bytes:
        fields = {k: v for k, v in metadata.items() if k != "objects"}
        objects = self._member("objects", self._list(self._objects(metadata["objects"])))
        return self._map(len(fields) + 1, [self._fields(fields), objects])

    def _objects(self, entries: Iterable[_Fields]) -> list[bytes]:
        known: dict[str, tuple[_Fields, bytes, bytes]] = {}
        for entry in entries:
            object_id = entry["objectId"]
            known[object_id] = self._object(entry, self._known.get(object_id))
        self._known = known  # keep only the latest message, so that memory does not grow
        return [whole for _, _, whole in known.values()]

    def _object(
        self, entry: _Fields, before: tuple[_Fields, bytes, bytes] | None
    ) -> tuple[_Fields, bytes, bytes]:
        if before is not None and before[0] is entry:
            return before
        view = {name: entry[name] for name in _OF_THE_VIEW}
        if before is not None and {**before[0], **view} == entry:
            steady = before[1]
        else:
            steady = self._fields({k: v for k, v in entry.items() if k not in view})
        return entry, steady, self._map(len(entry), [steady, self._fields(view)])

    @abstractmethod
    def _fields(self, fields: _Fields) -> bytes:
        """Encode the members of a map, without its delimiters."""

    @abstractmethod
    def _member(self, name: str, value: bytes) -> bytes:
        """Encode one member of a map whose value is already encoded."""

    @abstractmethod
    def _map(self, size: int, members: list[bytes]) -> bytes:
        """Encode a map of `size` encoded members."""

    @abstractmethod
    def _list(self, items: list[bytes]) -> bytes: ...


class MsgpackEncoder(MetadataEncoder):
    """Encodes messages as msgpack, for named pipes."""

    def __init__(self) -> None:
        super().__init__()
        try:
            self._packer: Any = import_module("msgpack").Packer()
        except ImportError:
            raise MissingExtraError("msgpack", "thor") from None

    def _fields(self, fields: _Fields) -> bytes:
        # The header of a map takes 1 byte for up to 15 members, otherwise 3.
        packed: bytes = self._packer.pack(fields)
        return packed[1 if len(fields) < 16 else 3 :]

    def _member(self, name: str, value: bytes) -> bytes:
        key: bytes = self._packer.pack(name)
        return key + value

    def _map(self, size: int, members: list[bytes]) -> bytes:
        head: bytes = self._packer.pack_map_header(size)
        return head + b"".join(members)

    def _list(self, items: list[bytes]) -> bytes:
        head: bytes = self._packer.pack_array_header(len(items))
        return head + b"".join(items)


class JsonEncoder(MetadataEncoder):
    """Encodes messages as JSON, for HTTP."""

    def _fields(self, fields: _Fields) -> bytes:
        return _json(fields)[1:-1].encode("ascii")

    def _member(self, name: str, value: bytes) -> bytes:
        return _json(name).encode("ascii") + b":" + value

    def _map(self, size: int, members: list[bytes]) -> bytes:
        del size
        return b"{" + b",".join(filter(None, members)) + b"}"

    def _list(self, items: list[bytes]) -> bytes:
        return b"[" + b",".join(items) + b"]"


# Transports ---------------------------------------------------------------------------------------


_PAUSE = 0.005
_PIPE_SIZE = 1 << 20


class FifoLink:
    """A connection over the named pipes that the client has created.

    Opening a pipe blocks until the other side opens it, but the client may have died. Each pipe is
    therefore opened with a time limit and a check that the client is alive.

    Args:
        server_pipe: Path of the pipe to which this process writes.
        patience: Seconds to wait for the client to open its end.

    Raises:
        UsageError: The pipe does not exist or has no reader.
    """

    def __init__(
        self, server_pipe: Path, client_pipe: Path, encoder: MsgpackEncoder, patience: float = 60.0
    ) -> None:
        self._encoder = encoder
        self._writer = _open_writer(server_pipe, patience)
        self._reader_path = client_pipe
        self._reader: BinaryIO | None = None
        self._sent: Reply | None = None

    def exchange(self, reply: Reply) -> dict[str, Any] | None:
        try:
            self._send(reply)
            if self._reader is None:
                self._reader = self._open_reader()
            return None if self._reader is None else read_action(self._reader)
        except BrokenPipeError:
            return None

    def _send(self, reply: Reply) -> None:
        parts: list[bytes]
        if reply.fast and self._sent is not None and _looks_the_same(self._sent, reply):
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
        poll.register(self._writer, 0)  # reports when the client closes its end
        gone = any(fd != reader for fd, _ in poll.poll())
        os.set_blocking(reader, True)
        opened = os.fdopen(reader, "rb")
        if gone:
            opened.close()
            return None
        return opened


def refuse(server_pipe: Path, patience: float = 10.0) -> None:
    """Send an empty message, which makes a client stop waiting for the first event.

    Otherwise, the client would wait forever for the pipe to be opened. If the client does not open
    its end within `patience` seconds, nothing is sent.
    """
    try:
        writer = _open_writer(server_pipe, patience)
    except UsageError:
        return
    with contextlib.suppress(OSError):
        _write(writer, field(Field.END_OF_MESSAGE))
    os.close(writer)


def _looks_the_same(before: Reply, now: Reply) -> bool:
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
                    f"cannot open the pipe to the client, {path}: {error.strerror}; "
                    "the client may have ended"
                ) from None
        if time.monotonic() > deadline or os.getppid() != parent:
            raise UsageError(f"the pipe to the client, {path}, has no reader: the client has ended")
        time.sleep(_PAUSE)
    os.set_blocking(pipe, True)
    with contextlib.suppress(AttributeError, OSError):  # available only on Linux
        # the message for a whole kitchen exceeds the default size of a pipe
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)
    return pipe


_HTTP_PAUSE = 0.05


class HttpLink:
    """An HTTP connection to a listening client: requests carry events, responses carry actions.

    Args:
        token: Token of the client; empty if it did not start this process.
        patience: Seconds to wait for the client to listen.

    Raises:
        UsageError: No client listens at the address.
    """

    def __init__(
        self, host: str, port: int, token: str, encoder: JsonEncoder, patience: float = 0.0
    ) -> None:
        self._token = token
        self._encoder = encoder
        self._connection = _connect(host, port, patience)

    def exchange(self, reply: Reply) -> dict[str, Any] | None:
        content = body(self._encoder.envelope(reply), self._token, reply.image)
        headers = {"Content-Type": CONTENT_TYPE}
        try:
            self._connection.request("POST", "/train", content, headers)
            answer = self._connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            return None
        if answer.status == 403:
            raise ProtocolError("the client rejected the event: wrong token")
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
