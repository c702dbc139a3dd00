"""Servers that echo the key they received and leak other people's keys."""

from __future__ import annotations

import json
from typing import Any

from studies.chaos.faults.fault import ANY_ANSWER, ASKED, BOTH, REFUSED, TOLERATED, Fault
from studies.chaos.wire import Act, Talk, error_of

_MOST_CALLS = 120


def _error(status: int) -> Act:
    def act(talk: Talk) -> None:
        assert talk.asked is not None
        sent = talk.asked.headers.get("authorization", "")
        message = f"{sent} is not known here: {talk.spoken}"
        talk.reply(error_of(talk.protocol, message, status), status)

    return act


def _cut_off(talk: Talk) -> None:
    """Pad the message so that its truncation cuts the key in two."""
    message = "sorry " * 48 + talk.spoken
    talk.reply(error_of(talk.protocol, message, 500), 500)


def _header(talk: Talk) -> None:
    shown = {"X-Your-Key": talk.spoken, "Set-Cookie": f"key={talk.spoken}"}
    talk.reply(error_of(talk.protocol, "busy", 429), 429, shown)


def _reason(talk: Talk) -> None:
    talk.reply(b"", f"500 {talk.spoken}")


def _retry_after(talk: Talk) -> None:
    talk.reply(error_of(talk.protocol, "busy", 429), 429, {"Retry-After": talk.spoken})


def _location(talk: Talk) -> None:
    where = talk.spoken.replace(" ", "/")
    talk.reply(b"", 302, {"Location": f"http://user:{where}@127.0.0.1:9/"})


def _no_json(talk: Talk) -> None:
    talk.reply(f"<html>{talk.spoken}</html>".encode())


def _error_with_200(talk: Talk) -> None:
    talk.reply({"error": {"message": talk.spoken, "code": 500}})


def _body(talk: Talk) -> None:
    talk.reply(talk.good(talk.answer().replace("Brew coffee", f"Brew coffee ({talk.spoken})")))


def _fields(talk: Talk) -> None:
    names = ("id", "object", "model", "system_fingerprint", "service_tier", "modelVersion",
             "responseId")  # fmt: skip
    changes: dict[str, Any] = dict.fromkeys(names, talk.spoken)
    talk.reply(talk.good(**changes))


def _finish(talk: Talk) -> None:
    body = talk.good()
    for choice in body.get("choices") or body["candidates"]:
        choice.update({"finish_reason": talk.spoken, "finishReason": talk.spoken})
    talk.reply(body)


def _usage(talk: Talk) -> None:
    counts = dict.fromkeys(
        ("prompt_tokens", "completion_tokens", "total_tokens", "promptTokenCount"), talk.spoken
    )
    talk.reply(talk.good(usage=counts, usageMetadata=counts))


def _refusal(talk: Talk) -> None:
    message = {"role": "assistant", "content": None, "refusal": talk.spoken}
    talk.reply(talk.good(choices=[{"index": 0, "message": message, "finish_reason": "stop"}]))


def _escaped(talk: Talk) -> None:
    """Leak keys as JSON escapes, which become readable only when decoded."""
    text = "".join(f"\\u{ord(c):04x}" for c in talk.spoken)
    message = json.dumps(error_of(talk.protocol, "KEY", 400)).replace("KEY", text)
    talk.reply(message.encode(), 400)


FAULTS: tuple[Fault, ...] = (
    Fault("keys-in-an-error-401", _error(401), ASKED, protocols=BOTH),
    Fault("keys-in-an-error-500", _error(500), protocols=BOTH, quick=True),
    Fault("keys-in-an-error-that-is-cut", _cut_off, protocols=BOTH),
    Fault("keys-in-an-error-as-escapes", _escaped, REFUSED),
    Fault("keys-in-headers", _header),
    Fault("keys-in-the-reason", _reason),
    Fault("keys-in-retry-after", _retry_after),
    Fault("keys-in-a-redirect", _location, REFUSED),
    Fault("keys-in-no-json", _no_json, protocols=BOTH),
    Fault("keys-in-an-error-with-200", _error_with_200, protocols=BOTH),
    Fault("keys-in-a-refusal", _refusal),
    Fault("keys-in-the-answer", _body, ANY_ANSWER, protocols=BOTH, most=_MOST_CALLS),
    Fault("keys-in-other-fields", _fields, TOLERATED, protocols=BOTH),
    Fault("keys-in-the-finish", _finish, TOLERATED, protocols=BOTH),
    Fault("keys-in-the-usage", _usage, TOLERATED, protocols=BOTH),
)
