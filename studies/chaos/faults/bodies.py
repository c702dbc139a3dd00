"""Complete replies whose bodies violate the protocol."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from studies.chaos.faults.fault import BOTH, REFUSED, SERVER, TOLERATED, Fault, changed, replying
from studies.chaos.wire import Act, Talk

_DEEP = b"[" * 100_000 + b"]" * 100_000
_SORRY = "I am sorry, I cannot help with kitchens."


def _encoded(edit: Callable[[bytes], bytes]) -> Act:
    return lambda talk: talk.reply(edit(json.dumps(talk.good()).encode()))


def _message(**fields: Any) -> Act:
    def act(talk: Talk) -> None:
        finish = fields.get("finish", "stop")
        message = {"role": "assistant", **{k: v for k, v in fields.items() if k != "finish"}}
        choice = {"index": 0, "message": message, "finish_reason": finish}
        talk.reply(talk.good(choices=[choice]))

    return act


def _candidate(**fields: Any) -> Act:
    return lambda talk: talk.reply(talk.good(candidates=[{"index": 0, **fields}]))


def _usage(value: object) -> Act:
    """Return an act that sets all token counts of a good reply to a value."""

    def act(talk: Talk) -> None:
        names = (
            ("promptTokenCount", "candidatesTokenCount", "totalTokenCount")
            if talk.protocol == "gemini"
            else ("prompt_tokens", "completion_tokens", "total_tokens")
        )
        field = "usageMetadata" if talk.protocol == "gemini" else "usage"
        talk.reply({**talk.good(), field: dict.fromkeys(names, value)})

    return act


def _no_json() -> Iterator[Fault]:
    texts: Mapping[str, bytes] = {
        "empty": b"",
        "spaces": b" " * 1000,
        "a-word": b"ready",
        "html": b"<!doctype html><html><body>Please log in</body></html>",
        "cut-off": b'{"choices": [{"message": {"content": "Mug, Coff',
        "utf-16": json.dumps({"choices": []}).encode("utf-16"),
        "not-utf-8": b'{"choices": [{"message": {"content": "\xff\xfe\xc3"}}]}',
        "deeply-nested": _DEEP,
        "deep-objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        "a-number-of-many-digits": b'{"created": ' + b"9" * 50_000 + b"}",
        "half-of-a-pair": b'{"choices": [{"message": {"content": "\\ud83d"}}]}',
        "zeros": b"\x00" * 4096,
    }
    for name, text in texts.items():
        right = TOLERATED | {1} if name == "half-of-a-pair" else SERVER
        both = name in ("empty", "cut-off", "deeply-nested", "html")
        protocols = BOTH if both else ("openai",)
        yield Fault(f"body-{name}", replying(text), right, protocols=protocols)


def _wrong_types() -> Iterator[Fault]:
    value: object
    for name, value in (
        ("null", None), ("a-number", 7), ("a-text", "ready"), ("a-list", []), ("true", True),
        ("an-object", {}),
    ):  # fmt: skip
        yield Fault(f"body-is-{name}", replying(value), protocols=BOTH)
    for name, value in (
        ("null", None), ("empty", []), ("a-text", "ready"), ("an-object", {}), ("numbers", [1, 2]),
        ("nulls", [None]),
    ):  # fmt: skip
        yield Fault(f"choices-{name}", changed(choices=value))
        yield Fault(f"candidates-{name}", changed(candidates=value), protocols=("gemini",))
    for name, value in (("a-number", 7), ("a-list", ["ready"]), ("an-object", {"text": "ready"})):
        yield Fault(f"content-{name}", _message(content=value))
    yield Fault("message-null", changed(choices=[{"index": 0, "message": None}]))
    yield Fault("content-null", _message(content=None), says="empty|no text|nothing")
    yield Fault("content-empty", _message(content=""), says="empty|no text|nothing")
    yield Fault("parts-null", _candidate(content={"parts": None}), protocols=("gemini",))
    yield Fault("part-a-number", _candidate(content={"parts": [3]}), protocols=("gemini",))
    yield Fault("tool-calls-only", _message(
        content=None, finish="tool_calls", tool_calls=[{"id": "1", "type": "function",
        "function": {"name": "rm", "arguments": "-rf"}}]))  # fmt: skip
    yield Fault("model-is-a-list", changed(model=["a"]), TOLERATED)


def _withheld() -> Iterator[Fault]:
    named = "refus|withh|filter|declin"
    yield Fault("refusal", _message(content=None, refusal=_SORRY), says=named)
    yield Fault("content-filter", _message(content="", finish="content_filter"), says=named)
    yield Fault("content-filter-midway", _message(content="1. Ma", finish="content_filter"),
                says=named)  # fmt: skip
    for reason in ("SAFETY", "RECITATION", "PROHIBITED_CONTENT"):
        yield Fault(f"gemini-{reason.lower()}", _candidate(finishReason=reason), says=named,
                    protocols=("gemini",))  # fmt: skip
    yield Fault("gemini-prompt-blocked", replying({"promptFeedback": {"blockReason": "SAFETY"}}),
                says=named + "|block", protocols=("gemini",))  # fmt: skip
    yield Fault("gemini-unknown-finish", _candidate(finishReason="TIRED"), protocols=("gemini",))


def _errors_with_200() -> Iterator[Fault]:
    words = "the quota of kittens is used up"
    bodies: Mapping[str, object] = {
        "openai": {"error": {"message": words, "type": "x", "code": "rate_limit_exceeded"}},
        "text": {"error": words},
        "detail": {"detail": words},
        "code": {"code": 429, "message": words},
        "vllm": {"object": "error", "message": words, "code": 503},
        "list": {"errors": [{"message": words}]},
        "beside-null-choices": {"choices": None, "error": {"message": words, "code": 502}},
    }
    for name, body in bodies.items():
        right = REFUSED if name in ("detail", "list") else SERVER
        both = BOTH if name in ("openai", "code") else ("openai",)
        yield Fault(f"ok-with-error-{name}", replying(body), right, "kittens", protocols=both)


def _usages() -> Iterator[Fault]:
    values: Mapping[str, object] = {
        "text": "many", "not-a-number": math.nan, "infinite": math.inf, "negative": -5,
        "huge": 10**30, "a-list": [1], "true": True, "a-fraction": 1.5, "an-object": {},
    }  # fmt: skip
    for name, value in values.items():
        both = BOTH if name in ("text", "negative") else ("openai",)
        yield Fault(f"usage-{name}", _usage(value), TOLERATED, protocols=both)
    yield Fault("usage-itself-text", changed(usage="many"), TOLERATED)
    # A negative count would free budget for the next request; an unknown count stays reserved.
    yield Fault("negative-usage-against-a-budget", _usage(-1_000_000),
                words=("--max-tokens", "4000"), says="budget|max-tokens|limit")  # fmt: skip


FAULTS: tuple[Fault, ...] = (
    *_no_json(),
    *_wrong_types(),
    *_withheld(),
    *_errors_with_200(),
    *_usages(),
    Fault("body-with-a-bom", _encoded(lambda b: b"\xef\xbb\xbf" + b), TOLERATED),
    Fault("body-with-more-behind-it", _encoded(lambda b: b + b"}}}}")),
    Fault("body-twice", _encoded(lambda b: b + b)),
    Fault("duplicate-keys", _encoded(lambda b: b'{"choices": 1, ' + b[1:]), TOLERATED),
    Fault("not-a-number", _encoded(lambda b: b'{"x": NaN, ' + b[1:]), TOLERATED),
    Fault("deep-beside-a-good-answer", _encoded(lambda b: b'{"x": ' + _DEEP + b", " + b[1:]),
          TOLERATED, protocols=BOTH),
    Fault("unknown-fields", changed(extra={"a": [1, {"b": None}]}, object="banana"), TOLERATED),
)  # fmt: skip
