"""Transport through HTTP: this process posts events, the responses are actions."""

from __future__ import annotations

import http.client
import time
from typing import Any

from hvr.doors.stand_in import multipart
from hvr.doors.stand_in.errors import ProtocolError
from hvr.doors.stand_in.framing import action_from
from hvr.doors.stand_in.packing import JsonEncoder
from hvr.doors.stand_in.reply import Reply
from hvr.errors import UsageError

_PAUSE = 0.05


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
        content = multipart.body(self._encoder.envelope(reply), self._token, reply.image)
        headers = {"Content-Type": multipart.CONTENT_TYPE}
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
            time.sleep(_PAUSE)
        else:
            return connection
