"""Errors that end the conversation with a client."""

from __future__ import annotations

from hvr.errors import HvrError


class ProtocolError(HvrError):
    """What the other side sent is not AI2-THOR's protocol, or it refused what was sent."""
