"""Messages between client and stand-in: fields, replies, encoded metadata."""

from __future__ import annotations

import json
import struct
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from importlib import import_module
from typing import Any, BinaryIO, Protocol

from hvr.base.texts import parse_json
from hvr.errors import HvrError, MissingExtraError

# Errors -------------------------------------------------------------------------------------------
# Errors that end the conversation with a client.


class ProtocolError(HvrError):
    """The other side does not speak AI2-THOR's protocol, or refused a message."""


# Reply --------------------------------------------------------------------------------------------
# Replies, and the protocol of the transports.


@dataclass(frozen=True)
class Reply:
    """One event for the client.

    Args:
        metadata: of the agent, in AI2-THOR's schema. Dicts of unchanged objects are those of
            earlier replies.
        sequence_id: that of the action answered.
        image: RGB, `screenWidth` x `screenHeight` of the metadata, bottom row first; None
            when none is sent. The same object as before when nothing in it changed.
    """

    metadata: Mapping[str, Any]
    sequence_id: int
    image: bytes | None = None


class Link(Protocol):
    """A transport to the client."""

    def exchange(self, reply: Reply) -> dict[str, Any] | None:
        """Send an event and wait for the next action.

        Returns:
            the action, or None when the client has stopped or gone away.

        Raises:
            ProtocolError: what came is not AI2-THOR's protocol.
        """
        ...


# Framing ------------------------------------------------------------------------------------------
# The fields of a message in AI2-THOR's pipes: 1 byte type, 4 bytes length, body.

_HEAD = struct.Struct("!BI")


class Field(IntEnum):
    """The types of fields that the server sends or gets."""

    METADATA = 1
    ACTION = 2
    RGB_IMAGE = 4
    METADATA_PATCH = 11
    END_OF_MESSAGE = 255


def field(kind: Field, body: bytes = b"") -> bytes:
    """Return one field."""
    return _HEAD.pack(kind, len(body)) + body


def read_action(pipe: BinaryIO) -> dict[str, Any] | None:
    """Return the next action, or None at the end of the stream.

    Raises:
        ProtocolError: the stream is no message with an action.
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
                f"the client sent a field of type {kind}; only actions (type {Field.ACTION}) "
                "are known"
            )
        body = pipe.read(length)
        if len(body) < length:
            return None
    if body is None:
        raise ProtocolError("the client sent a message without an action")
    return action_from(body)


def action_from(text: bytes) -> dict[str, Any]:
    """Return an action from its JSON.

    Raises:
        ProtocolError: it is not a JSON object.
    """
    try:
        action = parse_json(text, strict=False)
    except ValueError as error:
        raise ProtocolError(f"the client sent an action that is not JSON: {error}") from None
    if not isinstance(action, dict):
        raise ProtocolError(f"the client sent {text[:80]!r} where a JSON object must be")
    return action


# Multipart ----------------------------------------------------------------------------------------
# The body of a post to the client, in the subset that its own parser understands.

_BOUNDARY = b"hvr-stand-in-7c1f3a0e5b9d42868f26d0c4a1e7b953"

CONTENT_TYPE = f"multipart/form-data; boundary={_BOUNDARY.decode('ascii')}"
"""The header of the post."""


def body(metadata: bytes, token: str, image: bytes | None) -> bytes:
    """Return the parts of one event.

    The spelling `Content-disposition` and a `Content-Type` in every part are what the parser
    looks for.

    Args:
        metadata: JSON.
        token: of the client.
        image: RGB bytes, or None.
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
# Metadata as bytes, each object encoded once for as long as it stays the same.
#
# Encoding 80 objects takes longer than simulating the action. The kitchen gives the same dict
# for an object that has not changed; when only the agent has moved, an object's dict is new but
# differs in three fields, so these are encoded apart from the others.

_OF_THE_VIEW = ("visible", "isInteractable", "distance")
_Fields = Mapping[str, Any]
_json = json.JSONEncoder(separators=(",", ":")).encode


class MetadataEncoder(ABC):
    """The envelope that the client reads, as bytes.

    Args:
        reuse: keep the bytes of unchanged objects; without it everything is encoded at every
            step, which is there for measuring.
    """

    def __init__(self, reuse: bool = True) -> None:
        self._reuse = reuse
        self._known: dict[str, tuple[_Fields, bytes, bytes]] = {}

    def envelope(self, reply: Reply) -> bytes:
        """Return the whole message of one agent."""
        outer = {"thirdPartyCameras": [], "activeAgentId": 0, "sequenceId": reply.sequence_id}
        agents = self._list([self._agent(reply.metadata)])
        return self._map(4, [self._fields(outer), self._member("agents", agents)])

    def without_objects(self, reply: Reply) -> bytes:
        """Return the agent's map less `objects`."""
        fields = {k: v for k, v in reply.metadata.items() if k != "objects"}
        return self._map(len(fields), [self._fields(fields)])

    def _agent(self, metadata: Mapping[str, Any]) -> bytes:
        fields = {k: v for k, v in metadata.items() if k != "objects"}
        objects = self._member("objects", self._list(self._objects(metadata["objects"])))
        return self._map(len(fields) + 1, [self._fields(fields), objects])

    def _objects(self, entries: Iterable[_Fields]) -> list[bytes]:
        if not self._reuse:
            return [self._map(len(entry), [self._fields(entry)]) for entry in entries]
        known: dict[str, tuple[_Fields, bytes, bytes]] = {}
        for entry in entries:
            object_id = entry["objectId"]
            known[object_id] = self._object(entry, self._known.get(object_id))
        self._known = known  # only what was in the latest message: memory does not grow
        return [whole for _, _, whole in known.values()]

    def _object(
        self, entry: _Fields, before: tuple[_Fields, bytes, bytes] | None
    ) -> tuple[_Fields, bytes, bytes]:
        """Return the object, its bytes without the fields of the view, and all its bytes."""
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
        """Return the members of a map, without what encloses them."""

    @abstractmethod
    def _member(self, name: str, value: bytes) -> bytes:
        """Return one member of a map from its encoded value."""

    @abstractmethod
    def _map(self, size: int, members: list[bytes]) -> bytes:
        """Return a map of `size` members."""

    @abstractmethod
    def _list(self, items: list[bytes]) -> bytes:
        """Return a list."""


class MsgpackEncoder(MetadataEncoder):
    """msgpack, for the pipes.

    Raises:
        MissingExtraError: msgpack, which comes with AI2-THOR's client, is not installed.
    """

    def __init__(self, reuse: bool = True) -> None:
        super().__init__(reuse)
        try:
            self._packer: Any = import_module("msgpack").Packer()
        except ImportError:
            raise MissingExtraError("msgpack", "thor") from None

    def _fields(self, fields: _Fields) -> bytes:
        # The head of a map is 1 byte long up to 15 members, then 3.
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
    """JSON, for HTTP."""

    def _fields(self, fields: _Fields) -> bytes:
        return _json(fields)[1:-1].encode("ascii")

    def _member(self, name: str, value: bytes) -> bytes:
        return _json(name).encode("ascii") + b":" + value

    def _map(self, size: int, members: list[bytes]) -> bytes:
        del size
        return b"{" + b",".join(filter(None, members)) + b"}"

    def _list(self, items: list[bytes]) -> bytes:
        return b"[" + b",".join(items) + b"]"
