"""A model server that repeats keys wherever a reply has room for them.

    with OpenAIServer(Echoing(make_coffee, keys)) as server:
        ...  # hvr plan "make coffee" --scene FloorPlan1 --base-url server.url

Between its answers it fails temporarily and also repeats keys then: with status 429 and 500, and
with an error at status 200.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Sequence
from dataclasses import replace

from tests.model_server import MACROS, Answering, question
from tests.models.servers import Received, Reply

MASK = " [key]"


class Echoing:
    """The server's behaviour.

    Args:
        model: Function that answers.
        texts: Keys to repeat, in their spellings.
        end: Reply to the third request and all later ones; None to continue.
    """

    def __init__(self, model: Answering, texts: Sequence[str], end: Reply | None = None) -> None:
        self._model = model
        self._texts = itertools.cycle(texts)
        self._all = " ".join(texts)
        self._end = end
        self._lock = threading.Lock()
        self._number = 0

    def __call__(self, asked: Received) -> Reply:
        with self._lock:
            self._number += 1
            number, text = self._number, next(self._texts)
        if self._end is not None and number >= 3:
            return self._end
        faults = (None, self._failed(500, text), None, self._failed(429, text), self._broken())
        fault = faults[number % len(faults)]
        return fault if fault is not None and number <= 12 else self._answer(asked, text)

    def _answer(self, asked: Received, text: str) -> Reply:
        if asked.path.endswith("/embeddings"):
            return self._vectors(asked)
        known = question(asked)
        said = self._model(replace(known, text=known.text.replace(MASK, "")))
        if known.purpose == "macro_plan":
            said = said.replace(MACROS[1], f"{MACROS[1]} {text}")
        elif known.purpose == "select":
            said = f"{said}, {text.split()[0]}"
        said = said.replace("Description:", f"Description: {self._all} {text}")
        choice = {
            "message": {"content": said, "role": self._all, "name": text},
            "finish_reason": f"stop {text}",
        }
        counts = {"prompt_tokens": text, "completion_tokens": [text], text: self._all}
        body = {"model": f"m-{text}", "choices": [choice], "usage": counts, "id": self._all}
        return self._raw(body, text)

    def _vectors(self, asked: Received) -> Reply:
        rows = [
            {
                "index": i,
                "embedding": [float(word.count(c)) for c in "abcdefghijklmnopqrst"] + [1.0],
            }
            for i, word in enumerate(asked.body["input"])
        ]
        return self._raw({"data": rows, "model": self._all, "object": "list"}, "")

    def _failed(self, status: int, text: str) -> Reply:
        headers = {"Retry-After": "0", "X-RateLimit": _one_line(text)}
        return Reply(status=status, message=f"{self._all} {text}", param=text, headers=headers)

    def _broken(self) -> Reply:
        return self._raw({"error": {"message": self._all, "type": "server_error"}}, self._all)

    def _raw(self, body: object, text: str) -> Reply:
        word = _one_line(text)
        headers = {"X-Request-Id": word, "Set-Cookie": f"key={word}", "X-Echo": f"Bearer {word}"}
        return Reply(raw=json.dumps(body).encode(), headers=headers)


def _one_line(text: str) -> str:
    return " ".join(text.encode("ascii", "replace").decode().split())
