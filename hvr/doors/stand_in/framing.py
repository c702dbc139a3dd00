"""The fields of a message in AI2-THOR's pipes: 1 byte type, 4 bytes length, body."""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Any, BinaryIO

from hvr.base.texts import parse_json
from hvr.doors.stand_in.errors import ProtocolError

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
