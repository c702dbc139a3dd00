"""Metadata as bytes, each object encoded once for as long as it stays the same.

Encoding 80 objects takes longer than simulating the action. The kitchen gives the same dict
for an object that has not changed; when only the agent has moved, an object's dict is new but
differs in three fields, so these are encoded apart from the others.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from hvr.doors.stand_in.reply import Reply
from hvr.errors import MissingExtraError

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
