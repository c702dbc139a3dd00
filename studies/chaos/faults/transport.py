"""Faults below the protocol: connections, headers, lengths, encodings, time, size."""

from __future__ import annotations

import gzip
import itertools
import json
import zlib
from collections.abc import Iterator

from studies.chaos.faults.fault import BOTH, TOLERATED, WELL, Fault, saying
from studies.chaos.wire import Act, Talk, head

_MEGABYTE = b" " * (1 << 20)
_HUGE = 300
"""Size in megabytes of a reply that a client should not keep."""


def _good(talk: Talk) -> bytes:
    return json.dumps(talk.good()).encode()


def _leave(talk: Talk, how: str) -> None:
    if how == "reset":
        talk.reset()
    elif how == "hang":
        talk.hang()


def _partly(share: float, how: str) -> Act:
    def act(talk: Talk) -> None:
        body = _good(talk)
        talk.send(head(len(body)), body[: int(len(body) * share)])
        _leave(talk, how)

    return act


def _after(data: bytes, how: str) -> Act:
    def act(talk: Talk) -> None:
        talk.send(data)
        _leave(talk, how)

    return act


def _length(value: str | None) -> Act:
    return lambda talk: talk.reply(_good(talk), headers={"Content-Length": value})


def _longer_than_said(talk: Talk) -> None:
    body = _good(talk)
    talk.send(head(len(body) // 2), body)


def _two_lengths(talk: Talk) -> None:
    body = _good(talk)
    again = f"Content-Length: {len(body) + 5}\r\n\r\n".encode()
    talk.send(head(len(body))[:-2] + again, body)


def _chunked(*chunks: bytes) -> Act:
    """Return an act that sends raw chunks; without any, a correct reply in chunks."""

    def act(talk: Talk) -> None:
        body = _good(talk)
        pieces = [body[i : i + 50] for i in range(0, len(body), 50)]
        whole = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"
        start = head(0, headers={"Content-Length": None, "Transfer-Encoding": "chunked"})
        talk.send(start, *(chunks or (whole,)))

    return act


def _encoded(name: str, encode: object = None) -> Act:
    def act(talk: Talk) -> None:
        body = _good(talk)
        data = encode(body) if callable(encode) else body
        talk.reply(data, headers={"Content-Encoding": name})

    return act


def _bomb(body: bytes) -> bytes:
    """Return a few hundred kilobytes that decompress to hundreds of megabytes."""
    del body
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    parts = [packer.compress(_MEGABYTE) for _ in range(_HUGE)]
    return b"".join([*parts, packer.compress(b"{}"), packer.flush()])


def _huge(first: bytes, last: bytes) -> Act:
    def act(talk: Talk) -> None:
        talk.send(head(len(first) + _HUGE * len(_MEGABYTE) + len(last)), first)
        talk.stream(itertools.repeat(_MEGABYTE, _HUGE))
        talk.send(last)

    return act


def _endless_body(talk: Talk) -> None:
    talk.send(head(0, headers={"Content-Length": None}))
    # Large enough to detect buffering, small enough not to exhaust the machine.
    talk.stream(itertools.repeat(_MEGABYTE, _HUGE * 7))
    talk.hang()


def _trickle(what: str) -> Act:
    def act(talk: Talk) -> None:
        body = _good(talk)
        start = head(len(body) + 100_000)
        slow = itertools.chain(
            (start[i : i + 1] for i in range(30)), itertools.repeat(b"x")
        ) if what == "headers" else itertools.repeat(b" ")  # fmt: skip
        if what == "body":
            talk.send(start)
        talk.stream(slow, pause=0.3)

    return act


def _headers(lines: Iterator[bytes]) -> Act:
    def act(talk: Talk) -> None:
        talk.send(b"HTTP/1.1 200 OK\r\n")
        talk.stream(lines)

    return act


def _folded(talk: Talk) -> None:
    body = _good(talk)
    start = head(len(body))[:-2] + b"X-Long: one\r\n two\r\n\r\n"
    talk.send(start, body)


_TLS_ALERT = b"\x15\x03\x03\x00\x02\x02\x28"
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

FAULTS: tuple[Fault, ...] = (
    Fault("reset-before-the-request", lambda t: t.reset(), greets=True),
    Fault("end-before-the-request", lambda _: None, greets=True),
    Fault("reset-after-the-request", lambda t: t.reset(), protocols=BOTH),
    Fault("end-after-the-request", lambda _: None, protocols=BOTH),
    Fault("hang-before-anything", lambda t: t.hang(), protocols=BOTH, says="within|time"),
    Fault("reset-in-the-headers", _after(b"HTTP/1.1 200 OK\r\nContent-", "reset")),
    Fault("end-in-the-headers", _after(b"HTTP/1.1 200 OK\r\nContent-", "end"), protocols=BOTH),
    Fault("hang-in-the-headers", _after(b"HTTP/1.1 200 OK\r\nContent-", "hang")),
    Fault("reset-in-the-body", _partly(0.6, "reset")),
    Fault("end-in-the-body", _partly(0.6, "end"), protocols=BOTH),
    Fault("hang-in-the-body", _partly(0.6, "hang"), protocols=BOTH),
    Fault("trickle-in-the-body", _trickle("body"), protocols=BOTH),
    Fault("trickle-in-the-headers", _trickle("headers")),
    Fault("endless-100-continue", lambda t: t.stream(itertools.repeat(_CONTINUE), pause=0.01)),
    Fault("endless-headers", _headers(b"X-%d: yes\r\n" % n for n in itertools.count())),
    Fault("one-endless-header", _headers(itertools.chain([b"X: "], itertools.repeat(_MEGABYTE)))),
    Fault("tls-on-http", saying(_TLS_ALERT)),
    Fault("tls-greeting", saying(_TLS_ALERT), greets=True),
    Fault("another-protocol", saying(b"SSH-2.0-OpenSSH_9.6\r\n"), greets=True),
    Fault("http-0.9", saying(b"ready")),
    Fault("http-2-without-asking", saying(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" * 4)),
    Fault("header-without-a-colon", saying(b"HTTP/1.1 200 OK\r\nnonsense\r\n\r\n{}")),
    Fault("header-with-zeros", saying(b"HTTP/1.1 200 OK\r\nX: a\x00b\r\n\r\n{}")),
    Fault("header-that-is-folded", _folded, TOLERATED),
    Fault("length-too-long", _length("99999"), protocols=BOTH),
    Fault("length-too-short", _longer_than_said, protocols=BOTH),
    Fault("length-negative", _length("-1")),
    Fault("length-not-a-number", _length("long")),
    Fault("length-astronomic", _length("9" * 30)),
    Fault("two-lengths", _two_lengths, TOLERATED),
    Fault("no-length", _length(None), WELL),
    Fault("chunks", _chunked(), WELL, protocols=BOTH),
    Fault("chunks-cut-off", _chunked(b'10\r\n{"choices": [{"f')),
    Fault("chunk-size-nonsense", _chunked(b"zz\r\n{}\r\n0\r\n\r\n")),
    Fault("chunk-size-huge", _chunked(b"f" * 20 + b"\r\n{}\r\n0\r\n\r\n")),
    Fault("chunk-without-end", _chunked(b"1" * 100_000)),
    Fault("gzip", _encoded("gzip", gzip.compress), WELL),
    Fault("gzip-that-is-none", _encoded("gzip")),
    Fault("gzip-cut-off", _encoded("gzip", lambda b: gzip.compress(b)[:-20]), TOLERATED),
    Fault("gzip-bomb", _encoded("gzip", _bomb), protocols=BOTH),
    Fault("unknown-encoding", _encoded("zpaq"), TOLERATED),
    Fault("huge-body", _huge(b'{"choices": [{"message": {"content": "', b'"}}]}'),
          protocols=BOTH),
    Fault("endless-body", _endless_body),
    Fault("no-content-type", lambda t: t.reply(t.good(), headers={"Content-Type": None}),
          TOLERATED),
    Fault("wrong-content-type",
          lambda t: t.reply(t.good(), headers={"Content-Type": "image/png"}), TOLERATED),
    Fault("unknown-charset", lambda t: t.reply(
        t.good(), headers={"Content-Type": "application/json; charset=klingon"}), TOLERATED),
    Fault("event-stream", lambda t: t.reply(
        b"data: " + _good(t) + b"\n\ndata: [DONE]\n\n",
        headers={"Content-Type": "text/event-stream"}), TOLERATED),
)  # fmt: skip
