"""A process that answers requests to a server, and that the server may end at any time.

Requests and answers are JSON documents on standard input and output, each preceded by its length as
eight bytes. The process ends when its input does. Run it as `python -m hvr.doors.worker`.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, BinaryIO

from hvr.base.declared import decode
from hvr.doors.operations import SessionState, answer, error_answer
from hvr.doors.schema import OPERATIONS

LENGTH = 8


def main() -> int:
    """Answer requests from standard input until it ends."""
    # Output printed by libraries must not be mixed with the answers.
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while (data := _read(requests)) is not None:
        text = json.dumps(_answered(json.loads(data)), ensure_ascii=True).encode()
        answers.write(len(text).to_bytes(LENGTH, "big") + text)
        answers.flush()
    return 0


def _read(stream: BinaryIO) -> bytes | None:
    head = stream.read(LENGTH)
    return stream.read(int.from_bytes(head, "big")) if len(head) == LENGTH else None


def _answered(asked: dict[str, Any]) -> dict[str, Any]:
    name = asked["name"]
    kind: type = SessionState if OPERATIONS[name].session else OPERATIONS[name].request
    try:
        return {"answer": answer(name, decode(kind, asked["request"]))}
    except Exception as error:  # the server reports it, and the next request may succeed
        return {"error": error_answer(error).to_json()}


if __name__ == "__main__":
    sys.exit(main())
