"""The way of a request to a hosted model: an end to its time, and to the size of its reply.

The HTTP client of the SDKs has a time-out for silence alone and reads whatever comes, so a server
that trickles holds it for ever, and one that floods it fills the memory.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from hvr.base.proxies import DIRECT
from hvr.errors import UsageError
from hvr.models import failures
from hvr.models.config import ModelOptions
from hvr.models.errors import ModelError

QUIET_S = 10.0
"""Seconds of silence before it is said that an answer is being waited for."""

_CONNECTED = (".connect_tcp.complete", ".start_tls.complete")
_OF_THE_WAY = frozenset({"content-encoding", "content-length", "transfer-encoding"})
_SURROUNDINGS = (
    *(
        name
        for proxy in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
        for name in (proxy, proxy.lower())
    ),
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)
"""The variables of the environment that the HTTP client follows when it is made."""

_TOO_LONG = "Receive buffer too long"  # what h11 says of headers

_log = logging.getLogger(__name__)


def http_of(module: Any) -> Any:
    """Return the HTTP library that a module of an SDK uses: httpx2, or httpx in older ones."""
    return getattr(module, "httpx2", None) or module.httpx


def bounded_client(http: Any, name: str, options: ModelOptions) -> Any:
    """Return an HTTP client for an SDK, whose requests end in time and whose replies fit.

    The time-out of a request is that of all of it, from looking up the server's address to the last
    byte. Redirects are not followed: the key could go to another server. A server of this machine
    is never asked through a proxy of the environment.

    Raises:
        UsageError: the address is none, or a proxy or certificates of the environment cannot be
            used.
    """
    try:
        http.URL(options.base_url or "")
    except http.InvalidURL as error:
        raise UsageError(f"base_url is no address: {error}", field="base_url") from None

    class BoundedClient(http.Client):  # type: ignore[misc]
        """Raises `ModelError` where a reply takes too long, is too large, or leads elsewhere."""

        def send(self, request: Any, **given: Any) -> Any:
            """Send a request and return its reply with all of its body."""
            given |= {"stream": True, "follow_redirects": False}
            timeouts = request.extensions.get("timeout") or {}
            bounds = _Bounds(http, name, options, timeouts.get("read") or options.timeout)
            streams: list[Any] = []

            def note(event: str, info: dict[str, Any]) -> None:
                if event.endswith(_CONNECTED):
                    streams.append(info.get("return_value"))

            request.extensions = {**request.extensions, "trace": note}
            send, end = super().send, time.monotonic() + bounds.seconds

            def asked() -> Any:
                try:
                    return bounds.whole(send(request, **given), end)
                except http.RemoteProtocolError as error:
                    raise bounds.breach(str(error)) from None

            outcome = _aside(asked)
            try:
                return bounds.awaited(outcome)
            finally:
                if not outcome.done():
                    _hang_up(streams)

    mounts = None if failures.proxy(name, options) else dict.fromkeys(DIRECT)
    _warn_of_clear_text(name, options)
    try:
        # What nobody asked to be packed need not be unpacked.
        return BoundedClient(
            timeout=options.timeout, headers={"Accept-Encoding": "identity"}, mounts=mounts
        )
    except (ValueError, OSError, ImportError, http.InvalidURL) as error:
        named = [name for name in _SURROUNDINGS if os.environ.get(name)]
        about = f"; it follows {', '.join(named)} of the environment" if named else ""
        raise UsageError(f"no connection can be made ready: {error}{about}") from error


def _warn_of_clear_text(name: str, options: ModelOptions) -> None:
    """Say that a proxy reads the key, where nothing encrypts it."""
    via = failures.proxy(name, options)
    if via is not None and options.api_key and (options.base_url or "").startswith("http:"):
        _log.warning(
            "%s: the key goes through %s in clear text; use an https address, or name the server "
            "in NO_PROXY",
            name,
            via,
        )


@dataclass(frozen=True)
class _Bounds:
    """The bounds of one request."""

    http: Any
    name: str
    options: ModelOptions
    seconds: float

    def awaited(self, outcome: Future[Any]) -> Any:
        """Return what comes in time."""
        quiet = min(QUIET_S, self.seconds)
        if not wait([outcome], quiet).done and self.seconds > quiet:
            _log.info(
                "%s: no answer after %.3g s yet; waiting up to %.3g s",
                self.name,
                quiet,
                self.seconds,
            )
            wait([outcome], self.seconds - quiet)
        if not outcome.done():
            raise failures.timed_out(self.name, self.options, self.seconds)
        return outcome.result()

    def breach(self, reason: str) -> ModelError:
        """Return the error for a reply that breaks the rules of HTTP, or breaks off."""
        if "disconnected" in reason or "closed connection" in reason:
            return failures.connection_closed(self.name, self.options, reason)
        what = f"it breaks the rules of HTTP: {reason}"
        if reason == _TOO_LONG:
            what = "its headers are too long: is a proxy or a gateway on the way?"
        return failures.malformed_reply(self.name, self.options, what)

    def whole(self, reply: Any, end: float) -> Any:
        """Return a reply with all of its body, unpacked."""
        try:
            if reply.has_redirect_location:
                place = reply.headers["location"]
                raise failures.redirected(self.name, self.options, reply.status_code, place)
            packed = self._read(reply.iter_raw(), end)
        finally:
            reply.close()
        # Piece by piece: a small body may unpack to a very large one.
        unpacked = self.http.Response(
            reply.status_code, headers=reply.headers, content=iter(packed)
        )
        try:
            body = b"".join(self._read(unpacked.iter_bytes(), end))
        except self.http.DecodingError as error:
            reason = f"it cannot be unpacked: {error}"
            raise failures.malformed_reply(self.name, self.options, reason) from None
        headers = [(k, v) for k, v in reply.headers.multi_items() if k.lower() not in _OF_THE_WAY]
        return self.http.Response(
            reply.status_code, headers=headers, content=body, request=reply.request
        )

    def _read(self, pieces: Iterable[bytes], end: float) -> list[bytes]:
        kept: list[bytes] = []
        size = 0
        for piece in pieces:
            size += len(piece)
            if size > self.options.reply_bytes:
                reason = f"it is larger than {self.options.reply_bytes / 1e6:g} MB"
                raise failures.malformed_reply(self.name, self.options, reason)
            if time.monotonic() > end:
                raise failures.timed_out(self.name, self.options, self.seconds)
            kept.append(piece)
        return kept


def _aside(work: Callable[[], Any]) -> Future[Any]:
    """Do something in a thread that is left to itself when nobody waits for it any more.

    Looking up an address, shaking hands and reading headers have time-outs for each of their steps
    alone, and cannot be interrupted otherwise.
    """
    outcome: Future[Any] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True, name="hvr-request").start()
    return outcome


def _hang_up(streams: Iterable[Any]) -> None:
    for stream in streams:
        with suppress(Exception):  # it is closed already, or no socket
            # Closing would free its number for another file while the thread still uses it.
            socket.socket.shutdown(stream.get_extra_info("socket"), socket.SHUT_RDWR)
