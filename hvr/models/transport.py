"""HTTP clients for providers, and errors for failed requests."""

from __future__ import annotations

import logging
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from hvr.base.proxies import DIRECT, Proxy, proxy_of
from hvr.errors import UsageError
from hvr.models.config import ModelOptions
from hvr.models.errors import Kind, ModelError, kind_of, retry_after
from hvr.models.model import Usage
from hvr.models.replies import Complaint

# Failures -----------------------------------------------------------------------------------------

_ADVICE: Mapping[Kind, str] = {
    "auth": "the key is missing or wrong; set it in the environment (docs/how-to/models.md)",
    "forbidden": "the key has no access to this model",
    "missing": "there is no such model, or the base URL is wrong",
    "rate": "too many requests, or the quota is used up",
    "server": "the server failed",
    "overflow": "the prompt is too long for the server",
    "timeout": "the server timed out",
    "request": "the server rejected the request",
    "refused": "the provider's filter withheld the answer",
    "garbled": "the server's reply cannot be read",
}
_CODES: Mapping[Kind, str] = {
    "refused": "content_filter content_policy content_policy_violation moderation_blocked "
    "responsibleaipolicyviolation prohibited_content safety sensitive refusal blocked",
    "overflow": "context_length_exceeded request_too_large string_above_max_length",
    "auth": "invalid_api_key incorrect_api_key api_key_invalid api_key_expired unauthenticated "
    "unauthorized authentication_error invalid_authentication",
    "forbidden": "permission_denied permission_error forbidden access_denied",
    "missing": "model_not_found not_found not_found_error notfounderror",
    "rate": "rate_limit_exceeded rate_limit_error rate_limited rate_limit ratelimiterror "
    "too_many_requests resource_exhausted insufficient_quota quota_exceeded",
    "timeout": "timeout timeouterror request_timeout gateway_timeout deadline_exceeded",
    "server": "server_error internal internal_error internal_server_error unavailable "
    "service_unavailable overloaded overloaded_error api_error",
    "request": "invalid_request_error invalid_request invalid_argument bad_request badrequesterror "
    "failed_precondition",
}
"""Error codes of providers, the most specific kind first."""

_WORDS: Mapping[Kind, tuple[str, ...]] = {
    "refused": ("content management policy", "content filter", "content policy", "safety system"),
    "overflow": ("context length", "context size", "context window"),
    "rate": ("rate limit", "too many requests", "quota"),
    "auth": ("api key", "unauthorized", "authentication"),
    "timeout": ("timed out", "timeout", "deadline"),
    "forbidden": ("permission", "forbidden", "access denied"),
    "missing": ("not found", "does not exist", "no such model", "unknown model"),
}
# If there is an HTTP status, only these kinds are more specific than the status.
_FINER_THAN_STATUS: tuple[Kind, ...] = ("refused", "overflow", "auth")
_IN_WORDS_WITH_STATUS: tuple[Kind, ...] = ("refused", "overflow")
HOSTED: Mapping[str, str] = {
    "openai": "https://api.openai.com/v1",
    "responses": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com",
}
"""Default base URL of each provider."""

_OK = 200
_LOGIN = 407
_GATEWAY_ERRORS = (502, 503, 504)
_ERRORS = range(400, 600)
_READ = 20_000
_SHOWN = 300
_LINE = 60
_SHOWN_CODES = 3


def kind_of_complaint(complaint: Complaint, status: int = _OK) -> Kind:
    """Classify a server's error by its codes, status and message."""
    codes = {re.sub(r"[^a-z0-9]+", "_", code.lower()).strip("_") for code in complaint.codes}
    by_code = [kind for kind, known in _CODES.items() if codes & set(known.split())]
    words = complaint.message.lower()
    by_words = [kind for kind, known in _WORDS.items() if any(w in words for w in known)]
    if status != _OK:
        finer = [kind for kind in by_code if kind in _FINER_THAN_STATUS]
        finer += [kind for kind in by_words if kind in _IN_WORDS_WITH_STATUS]
        return finer[0] if finer else kind_of(status)
    numbers = [int(code) for code in codes if code.isdecimal() and len(code) == 3]
    by_number = [kind_of(number) for number in numbers if number in _ERRORS]
    specific = [kind for kind in (*by_code, *by_number) if kind not in ("request", "server")]
    return (*specific, *by_words, *by_code, *by_number, "server")[0]


class Failures:
    """Creates the errors for failed requests to a model, with secrets redacted."""

    def __init__(self, name: str, options: ModelOptions) -> None:
        self._name, self._options = name, options

    def reported(
        self,
        complaint: Complaint,
        *,
        status: int = _OK,
        headers: Mapping[str, str] | None = None,
        usage: Usage | None = None,
    ) -> ModelError:
        """Return the error for a message from the server, which may come with status 200."""
        kind = kind_of_complaint(complaint, status)
        if answered := self._proxy_answer(complaint, status):
            return ModelError(f"{self._name}: {answered}", kind=kind, status=status)
        codes = f", {'/'.join(complaint.codes[:_SHOWN_CODES])}" if status == _OK else ""
        shown = self._brief(f"status {status}{codes}: {complaint.message}").rstrip(": ")
        return ModelError(
            f"{self._name}: {_ADVICE[kind]} ({shown})",
            kind=kind,
            status=None if status == _OK else status,
            retry_after=retry_after(headers or {}),
            usage=usage,
        )

    def refused(self, words: str, usage: Usage) -> ModelError:
        shown = self._brief(words)
        what = f"the model refused to answer{': ' + shown if shown else ''}"
        return ModelError(f"{self._name}: {what}", kind="refused", usage=usage)

    def filtered(self, reason: str, usage: Usage, text: str = "") -> ModelError:
        """Return the error for an answer that a content filter stopped after `text`."""
        excerpt = f"; it begins with {self._brief(text)!r}" if text.strip() else ""
        what = f"the provider's filter withheld the answer ({self._brief(reason)}{excerpt})"
        return ModelError(f"{self._name}: {what}", kind="refused", usage=usage)

    def timed_out(self, seconds: float | None = None) -> ModelError:
        waited = max(round(self._options.timeout if seconds is None else seconds, 1), 0.1)
        what = f"no answer within {waited:g} s{self._place('from')}{self._via()}"
        advice = "raise the timeout if the model is slow"
        return ModelError(f"{self._name}: {what}; {advice}", kind="timeout")

    def redirected(self, status: int, place: str) -> ModelError:
        return ModelError(
            f"{self._name}: the server redirects to {self._brief(place)} (status {status}), which "
            "hvr does not follow because the key would be sent there; correct the base URL",
            kind="request",
            status=status,
        )

    def not_connected(self, reason: str) -> ModelError:
        advice = "is the server running, and is the base URL correct?"
        if via := self._via():
            advice = "is the proxy running, and may it connect to the server?"
        what = f"no connection{self._place('to')}{via} ({self._brief(reason)})"
        return ModelError(f"{self._name}: {what}; {advice}", kind="connection")

    def connection_closed(self, reason: str) -> ModelError:
        what = f"the reply{self._place('from')}{self._via()} broke off"
        cause = f"the server closed the connection ({self._brief(reason)})"
        return ModelError(f"{self._name}: {what}: {cause}", kind="connection")

    def malformed(self, reason: str) -> ModelError:
        what = f"the reply{self._place('from')} cannot be read ({self._brief(reason)})"
        return ModelError(f"{self._name}: {what}", kind="garbled")

    def not_json(self, body: bytes, reason: str) -> ModelError:
        """Return the error for a body that is not valid JSON; it names the likely cause."""
        text = body[:_READ].decode("utf-8", "replace").strip().lstrip("\ufeff")
        start = text[:_LINE].lower()
        advice = "does the base URL point to the API"
        if not text:
            what = "it is empty"
        elif start.startswith(("<!doctype html", "<html", "<head", "<body")) or "<html" in start:
            title = re.search(r"<title[^>]*>(.*?)</title>", text, re.DOTALL | re.IGNORECASE)
            titled = f" titled {' '.join(title[1].split())!r}" if title else ""
            what = f"it is a web page{titled}, not JSON: {advice}, such as …/v1?"
        elif re.match(r"(data|event|id|retry)?:", start):
            what = "it is an event stream, but hvr expects one JSON document: turn streaming off"
        elif text[0] in "{[":
            what = f"it is not complete JSON: {reason}"
        else:
            what = f"it is not JSON, and begins with {text[:_LINE]!r}: {advice}?"
        return self.malformed(what)

    def no_call(self, usage: Usage) -> ModelError:
        what = "the model called no tool; asking for the call as JSON"
        return ModelError(f"{self._name}: {what}", kind="schema", usage=usage)

    def without_text(self, usage: Usage, *, calls: Sequence[str], cut: bool) -> ModelError:
        """Return the error for an answer without text.

        Args:
            calls: Names of the tools that the model called.
            cut: Whether the answer ended at the token limit.
        """
        if calls:
            named = self._brief(", ".join(calls[:_SHOWN_CODES]))
            what = f"the model answered with tool calls ({named}) instead of text, but hvr "
            what += "offers no tools: disable tools on the server, or use another model"
        else:
            count = f" ({usage.reasoning} tokens)" if usage.reasoning else ""
            what = f"the model reasoned{count} and wrote no answer"
            what += ": raise max_tokens, or lower the reasoning effort" if cut else ""
        return ModelError(f"{self._name}: {what}", kind="empty", usage=usage)

    def _proxy_answer(self, complaint: Complaint, status: int) -> str | None:
        """Return the error message if a proxy sent the reply; None if the server did."""
        # Only a proxy asks for its own login. A proxy that cannot reach the server sends no error
        # codes in the API's format, whereas a gateway of the server usually does.
        proxy = proxy_to(self._name, self._options)
        from_server = status not in _GATEWAY_ERRORS or complaint.codes
        if proxy is None or (status != _LOGIN and from_server):
            return None
        cause = "cannot reach the server or got no answer from it; is the base URL correct?"
        if status == _LOGIN:
            cause = f"requires a login: put the user and password into {proxy.variable}"
        shown = self._brief(f"status {status}: {complaint.message}").rstrip(": ")
        return f"{self._options.scrubber.text(str(proxy))} {cause} ({shown})"

    def _brief(self, text: str) -> str:
        # Redact before shortening: a truncated key would no longer be recognised.
        line = " ".join(self._options.scrubber.text(text[:_READ])[:_READ].split())
        return line if len(line) <= _SHOWN else line[:_SHOWN] + "…"

    def _via(self) -> str:
        proxy = proxy_to(self._name, self._options)
        return "" if proxy is None else self._options.scrubber.text(f" through {proxy}")

    def _place(self, preposition: str) -> str:
        url = self._options.base_url
        return f" {preposition} {self._options.scrubber.text(url)}" if url else ""


def root_message(error: BaseException) -> str:
    """Return the message (or, if empty, the class name) of the innermost error in a chain."""
    while (below := error.__cause__ or error.__context__) is not None:
        error = below
    return str(error) or type(error).__name__


def proxy_to(name: str, options: ModelOptions) -> Proxy | None:
    """Return the proxy that the environment sets for a model's server, if any."""
    return proxy_of(options.base_url or HOSTED.get(name.partition(":")[0], ""))


# Transport ----------------------------------------------------------------------------------------
# The timeout of the SDKs' HTTP clients covers only silence, and they read replies of any size.
# Without bounds, a server that trickles would block hvr forever, and one that floods would exhaust
# its memory.

QUIET_S = 10.0
"""Seconds of silence after which a notice says that hvr is waiting."""

_CONNECTED = (".connect_tcp.complete", ".start_tls.complete")
_HOP_HEADERS = frozenset({"content-encoding", "content-length", "transfer-encoding"})
_SURROUNDINGS = (
    *(
        name
        for proxy in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
        for name in (proxy, proxy.lower())
    ),
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)
"""Environment variables that the HTTP client reads when it is created."""

_TOO_LONG = "Receive buffer too long"  # h11's message about headers that are too long

_log = logging.getLogger(__name__)


def http_of(module: Any) -> Any:
    """Return the HTTP library used by an SDK module: httpx2 or, in older versions, httpx."""
    return getattr(module, "httpx2", None) or module.httpx


def bounded_client(http: Any, name: str, options: ModelOptions) -> Any:
    """Return an HTTP client for an SDK that bounds the time and size of each reply.

    The timeout covers the whole request, from the DNS lookup to the last byte. Redirects are not
    followed, since they could send the key to another server. Local servers are never reached
    through a proxy.

    Raises:
        UsageError: The base URL is invalid, or the environment's proxy or certificate settings are.
    """
    try:
        http.URL(options.base_url or "")
    except http.InvalidURL as error:
        raise UsageError(f"base_url is not a valid URL: {error}", field="base_url") from None

    class BoundedClient(http.Client):  # type: ignore[misc]
        """A client that raises `ModelError` for redirects, and for slow or oversized replies."""

        def send(self, request: Any, **given: Any) -> Any:
            given |= {"stream": True, "follow_redirects": False}
            timeouts = request.extensions.get("timeout") or {}
            bounds = _Bounds(http, name, options, timeouts.get("read") or options.timeout)
            streams: list[Any] = []

            def note(event: str, info: dict[str, Any]) -> None:
                if event.endswith(_CONNECTED):
                    streams.append(info.get("return_value"))

            request.extensions = {**request.extensions, "trace": note}
            send, end = super().send, time.monotonic() + bounds.seconds

            def fetch() -> Any:
                try:
                    return bounds.whole(send(request, **given), end)
                except http.RemoteProtocolError as error:
                    raise bounds.breach(str(error)) from None

            outcome = _in_thread(fetch)
            try:
                return bounds.awaited(outcome)
            finally:
                if not outcome.done():
                    _shut_down(streams)

    mounts = None if proxy_to(name, options) else dict.fromkeys(DIRECT)
    _warn_of_clear_text(name, options)
    try:
        # Uncompressed replies need no second size check.
        return BoundedClient(
            timeout=options.timeout, headers={"Accept-Encoding": "identity"}, mounts=mounts
        )
    except (ValueError, OSError, ImportError, http.InvalidURL) as error:
        named = [name for name in _SURROUNDINGS if os.environ.get(name)]
        about = f"; it uses {', '.join(named)} from the environment" if named else ""
        raise UsageError(f"cannot set up the HTTP client: {error}{about}") from error


def _warn_of_clear_text(name: str, options: ModelOptions) -> None:
    via = proxy_to(name, options)
    if via is not None and options.api_key and (options.base_url or "").startswith("http:"):
        _log.warning(
            "%s: the key goes through %s in clear text; use an https address, or add the server "
            "to NO_PROXY",
            name,
            via,
        )


@dataclass(frozen=True)
class _Bounds:
    http: Any
    name: str
    options: ModelOptions
    seconds: float

    @property
    def failures(self) -> Failures:
        return Failures(self.name, self.options)

    def awaited(self, outcome: Future[Any]) -> Any:
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
            raise self.failures.timed_out(self.seconds)
        return outcome.result()

    def breach(self, reason: str) -> ModelError:
        if "disconnected" in reason or "closed connection" in reason:
            return self.failures.connection_closed(reason)
        what = f"it violates HTTP: {reason}"
        if reason == _TOO_LONG:
            what = "its headers are too long: is there a proxy or gateway in between?"
        return self.failures.malformed(what)

    def whole(self, reply: Any, end: float) -> Any:
        try:
            if reply.has_redirect_location:
                place = reply.headers["location"]
                raise self.failures.redirected(reply.status_code, place)
            packed = self._read(reply.iter_raw(), end)
        finally:
            reply.close()
        # Decompress in pieces, because a small body may expand to a very large one.
        unpacked = self.http.Response(
            reply.status_code, headers=reply.headers, content=iter(packed)
        )
        try:
            body = b"".join(self._read(unpacked.iter_bytes(), end))
        except self.http.DecodingError as error:
            reason = f"it cannot be decompressed: {error}"
            raise self.failures.malformed(reason) from None
        headers = [(k, v) for k, v in reply.headers.multi_items() if k.lower() not in _HOP_HEADERS]
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
                raise self.failures.malformed(reason)
            if time.monotonic() > end:
                raise self.failures.timed_out(self.seconds)
            kept.append(piece)
        return kept


def _in_thread(work: Callable[[], Any]) -> Future[Any]:
    """Run work in a daemon thread that is abandoned when its caller stops waiting."""
    # Address lookup, TLS handshake and reading headers only have timeouts per step, and cannot be
    # interrupted.
    outcome: Future[Any] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True, name="hvr-request").start()
    return outcome


def _shut_down(streams: Iterable[Any]) -> None:
    for stream in streams:
        with suppress(Exception):  # closed already, or not a socket
            # Closing would free the descriptor for another file while the thread still uses it.
            socket.socket.shutdown(stream.get_extra_info("socket"), socket.SHUT_RDWR)
