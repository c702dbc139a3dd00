"""HTTP error statuses with typical server messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from studies.chaos.faults.fault import (
    ASKED,
    BOTH,
    REFUSED,
    SERVER,
    TOLERATED,
    WELL,
    Fault,
    replying,
)
from studies.chaos.wire import Act, Talk, error_of

_BUSY = "the model is overloaded today"
_RIGHT = {
    400: REFUSED, 401: ASKED, 402: REFUSED, 403: ASKED, 404: ASKED, 405: REFUSED, 408: SERVER,
    409: REFUSED, 413: REFUSED, 418: REFUSED, 422: REFUSED, 425: REFUSED, 429: SERVER,
    451: REFUSED, 499: REFUSED, 500: SERVER, 501: REFUSED, 502: SERVER, 503: SERVER, 504: SERVER,
    520: SERVER, 529: SERVER, 599: SERVER,
}  # fmt: skip
_OF_BOTH = (400, 401, 404, 429, 500, 503)


def failing(status: int, headers: Mapping[str, str] | None = None) -> Act:
    def act(talk: Talk) -> None:
        talk.reply(error_of(talk.protocol, _BUSY, status), status, headers)

    return act


def _retry(name: str, value: str, *, header: str = "Retry-After", says: str = "") -> Fault:
    return Fault(f"retry-after-{name}", failing(429, {header: value}), says=says)


def _redirect(status: int, where: str) -> Act:
    def act(talk: Talk) -> None:
        assert talk.asked is not None
        target = where or talk.asked.path
        talk.reply(b"", status, {"Location": target})

    return act


def _statuses() -> Iterator[Fault]:
    for status, right in _RIGHT.items():
        yield Fault(
            f"status-{status}",
            failing(status),
            right,
            # The server's own message helps the user.
            says="" if status == 401 else "overloaded",
            protocols=BOTH if status in _OF_BOTH else ("openai",),
        )


FAULTS: tuple[Fault, ...] = (
    *_statuses(),
    Fault("status-299-with-an-answer", lambda t: t.reply(t.good(), 299), TOLERATED),
    Fault("status-204", replying(b"", 204)),
    Fault("status-600", failing(600)),
    Fault("status-999", failing(999)),
    Fault("status-0", replying(b"{}", "000 Zero")),
    Fault("status-not-a-number", replying(b"{}", "fine OK")),
    Fault("status-without-a-reason", lambda t: t.reply(t.good(), "200"), WELL),
    Fault("redirect-to-itself", _redirect(307, ""), REFUSED, protocols=BOTH),
    Fault("redirect-nowhere", _redirect(308, "http://127.0.0.1:9/v1/chat/completions"), REFUSED),
    Fault("redirect-to-a-file", _redirect(302, "file:///etc/passwd"), REFUSED),
    Fault("redirect-to-garbage", _redirect(301, "http://[::1"), REFUSED),
    Fault("redirect-to-nowhere", replying(b"", 302), REFUSED),
    _retry("words", "soon"),
    _retry("negative", "-5"),
    _retry("not-a-number", "nan"),
    _retry("infinite", "1e999"),
    _retry("a-day", "86400", says="86400|wait"),
    _retry("many-digits", "9" * 5000),
    _retry("year-9999", "Fri, 31 Dec 9999 23:59:59 GMT"),
    _retry("year-zero", "Mon, 00 Jan 0000 00:00:00 GMT"),
    _retry("superscript", "²", header="retry-after-ms"),
    Fault("empty-error-429", replying(b"", 429), says="429|too many"),
    Fault("html-error-502", replying(b"<html><h1>Bad Gateway</h1></html>", 502,
                                     {"Content-Type": "text/html"})),
    Fault("error-of-ten-megabytes", replying(b'{"error": {"message": "' + b"busy " * 2_000_000
                                             + b'"}}', 500), protocols=BOTH),
    Fault("error-with-escapes", lambda t: t.reply(error_of(
        t.protocol, "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e\x00busy\r\nerror: forged", 503), 503),
          protocols=BOTH),
    Fault("error-that-is-deeply-nested", replying(
        b'{"error": {"message": ' + b"[" * 50_000 + b"]" * 50_000 + b"}}", 500), protocols=BOTH),
    Fault("error-message-is-a-number", replying({"error": {"message": 7, "code": []}}, 500),
          protocols=BOTH),
    Fault("error-is-a-list", replying([{"error": {"message": _BUSY}}], 500), protocols=BOTH),
)  # fmt: skip
