"""Replies, and the protocol of the transports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


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
