"""Errors that end the conversation with a client."""

from __future__ import annotations

from hvr.errors import HvrError


class ProtocolError(HvrError):
    """The other side does not speak AI2-THOR's protocol, or refused a message."""
