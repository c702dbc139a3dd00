"""The file format of a transcript: JSON lines, a header and then one line an exchange.

    {"format": "hvr-transcript", "version": 1, "model": …, "simulated": …, "hvr": …, "date": …, …}
    {"number": 1, "purpose": …, "digest": …, "messages": […], "settings": {…}, "answer": {…},
     "error": null, "usage": {…}, "seconds": …, "date": …}

A line that a crash cut off at the end of the file is left out when it is read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hvr.base.texts import check_fields, read_log
from hvr.errors import BudgetError, CassetteError, DataFileError, LLMError
from hvr.models.errors import KINDS, CancelledError, ModelError
from hvr.models.model import Answer, Message, Request, Usage

FORMAT = "hvr-transcript"
VERSION = 1
NAME = "llm.jsonl"
"""The name of the transcript in the folder of a run."""

_ERRORS: Mapping[str, type[LLMError]] = {
    e.__name__: e for e in (LLMError, BudgetError, CassetteError, ModelError, CancelledError)
}


@dataclass(frozen=True)
class Exchange:
    """A request and its answer or error.

    Args:
        line: the line of the file, as plain JSON values.
    """

    line: Mapping[str, Any]

    @property
    def request(self) -> Request:
        """The request."""
        messages = tuple(Message(m["role"], m["text"]) for m in self.line["messages"])
        settings = dict(self.line["settings"])
        stop = tuple(settings.pop("stop"))
        return Request(messages=messages, purpose=self.line["purpose"], stop=stop, **settings)

    @property
    def usage(self) -> Usage:
        """The usage."""
        return Usage(**self.line["usage"])

    @property
    def failed(self) -> bool:
        """Whether it ended with an error."""
        return self.line["error"] is not None

    def outcome(self) -> Answer:
        """Return the answer as recorded, from `replay`.

        Raises:
            LLMError: the error that was recorded.
        """
        error = self.line["error"]
        if error is not None:
            raise error_from(error, self.usage)
        answer = {k: v for k, v in self.line["answer"].items() if k != "source"}
        return Answer(usage=self.usage, source="replay", **answer)


def request_json(request: Request) -> dict[str, Any]:
    """Return the messages and settings of a request; not its purpose, which is not sent."""
    return {
        "messages": [asdict(m) for m in request.messages],
        "settings": {
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "seed": request.seed,
            "schema": dict(request.schema) if request.schema is not None else None,
            "stop": list(request.stop),
        },
    }


def digest(request: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a request as `request_json` gives it, in one canonical spelling."""
    text = json.dumps(request, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def error_json(error: LLMError) -> dict[str, Any]:
    """Return an error as plain JSON values."""
    known = next(c.__name__ for c in type(error).__mro__ if c.__name__ in _ERRORS)
    value: dict[str, Any] = {"type": known, "message": str(error)}
    if isinstance(error, ModelError):
        value |= {
            "kind": error.kind,
            "status": error.status,
            "retry_after": error.retry_after,
        }
    return value


def error_from(value: Mapping[str, Any], usage: Usage | None = None) -> LLMError:
    """Return the error that `error_json` described."""
    kind = _ERRORS[value["type"]]
    if kind is ModelError:
        return ModelError(
            value["message"],
            kind=value["kind"],
            status=value["status"],
            retry_after=value["retry_after"],
            usage=usage,
        )
    return kind(value["message"])


def file_of(path: Path) -> Path:
    """Return the transcript that a path names: itself, or the one in the folder of a run."""
    return path / NAME if path.is_dir() else path


def read(path: Path) -> tuple[Mapping[str, Any], tuple[Exchange, ...]]:
    """Read the header and the exchanges of a transcript, or of the run folder that has one.

    Raises:
        DataFileError: it is missing, unreadable or corrupt.
    """
    file = file_of(path)
    if not file.exists():
        raise DataFileError(f"there is no transcript {file}")
    lines = [_object(value, file, number) for number, value in read_log(file)]
    header = lines[0][1] if lines else {}
    if header.get("format") != FORMAT or not isinstance(header.get("model"), str):
        raise DataFileError(f"{file}: no transcript of a model; its first line must be its header")
    if header.get("version") != VERSION:
        raise DataFileError(
            f"{file}: transcript of version {header.get('version')!r}; this hvr reads {VERSION}"
        )
    return header, tuple(_exchange(line, file, number) for number, line in lines[1:])


def _object(value: Any, file: Path, number: int) -> tuple[int, dict[str, Any]]:
    if not isinstance(value, dict):
        raise DataFileError(f"{file}, line {number}: not a JSON object")
    return number, value


def _exchange(line: Mapping[str, Any], file: Path, number: int) -> Exchange:
    exchange = Exchange(line)
    try:
        _check(exchange)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise DataFileError(
            f"{file}, line {number}: not an exchange of a transcript ({reason})"
        ) from None
    return exchange


def _check(exchange: Exchange) -> None:
    """Raise unless everything that replaying needs is there."""
    check_fields(Usage, exchange.line["usage"])
    asked = request_json(exchange.request)
    if digest(asked) != exchange.line["digest"]:
        raise ValueError("the digest does not fit the request: the line was edited")
    exchange.line["number"], exchange.line["seconds"], exchange.line["date"]
    error = exchange.line["error"]
    if error is None:
        answer = exchange.outcome()
        if not isinstance(answer.text, str):
            raise TypeError("the answer has no text")
    elif error["type"] not in _ERRORS or error.get("kind", "other") not in KINDS:
        raise ValueError(f"unknown error {error['type']!r}")
    else:
        error_from(error)
