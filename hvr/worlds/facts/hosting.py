"""The process that an environment of a world runs in; `hvr.worlds.facts.apart` is at the other end.

It reads one JSON request a line from standard input and answers each with one JSON line on what was
standard output at the start. The environment itself finds an empty input, and what it prints goes
to standard error, so hvr never takes it for an answer.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

from hvr.errors import HvrError, SimulatorError
from hvr.pddl import parse_problem
from hvr.worlds.facts.environment import FactEnvironment, Observation, Sending, place_of
from hvr.worlds.facts.folder import WorldFolder
from hvr.worlds.facts.timed_environment import METHODS

MOST_FACTS = 1_000_000
"""An observation with more facts or numbers is refused."""
MOST_CHARACTERS = 10_000
"""A longer text of an environment is cut."""


def main() -> None:
    """Answer requests until there are none."""
    requests, replies = _own_streams()
    env: FactEnvironment | None = None
    # From here on the time is the environment's: a busy machine starts Python slowly.
    replies.write(b'{"value": null}\n')
    replies.flush()
    for line in requests:
        request = json.loads(line)
        try:
            if request["call"] == "open":
                env = _opened(request)
                reply: dict[str, Any] = {"value": [m for m in METHODS if hasattr(env, m)]}
            else:
                assert env is not None
                reply = {"value": _CALLS[request["call"]](env, request)}
        except HvrError as error:
            reply = {"error": str(error), "code": error.exit_code, "known": True}
        except (Exception, SystemExit) as error:
            said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            said = f"{said[:MOST_CHARACTERS]}{place_of(error)}"
            reply = {"error": said, "code": 2, "known": False}
        replies.write(json.dumps(reply).encode() + b"\n")
        replies.flush()


def _own_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Return the streams to hvr, out of the environment's reach."""
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, replies


def _opened(request: dict[str, Any]) -> FactEnvironment:
    sys.path[:] = request["path"]
    world = WorldFolder(Path(request["folder"]))
    problem = parse_problem(request["problem"], world.domain)
    return world.open_here(problem, request["seed"])


def _reset(env: FactEnvironment, _: dict[str, Any]) -> None:
    env.reset()


def _step(env: Any, request: dict[str, Any]) -> str:
    name, *args = request["action"]
    call = getattr(env, request["call"])
    answer: object = call(name, tuple(args), *request.get("further", ()))
    if not isinstance(answer, str):
        raise SimulatorError(
            f"the environment answers ({' '.join(request['action'])}) with "
            f"{type(answer).__name__}, not with a text (empty for done, else why not)",
            exit_code=2,
        )
    return answer[:MOST_CHARACTERS]


def _stop(env: Any, request: dict[str, Any]) -> None:
    name, *args = request["action"]
    env.stop(name, tuple(args))


def _wait(env: Any, request: dict[str, Any]) -> None:
    env.wait(request["seconds"])


def _observe(env: FactEnvironment, _: dict[str, Any]) -> dict[str, Any]:
    seen: object = env.observe()
    if not isinstance(seen, Observation):
        raise SimulatorError(
            f"the environment shows {type(seen).__name__}, not an Observation", exit_code=2
        )
    facts = [_names(fact) for fact in _limited(seen.facts)]
    values = [
        [_names(term), str(value)[:MOST_CHARACTERS], repr(value)[:MOST_CHARACTERS]]
        for term, value in _limited(seen.numbers.items())
    ]
    return {"facts": facts, "numbers": values, "hidden": list(map(str, seen.hidden))}


def _sent(env: FactEnvironment, _: dict[str, Any]) -> dict[str, Any]:
    told = env.sent() if isinstance(env, Sending) else {}
    plain: dict[str, Any] = json.loads(json.dumps(dict(told), default=repr))
    return plain


def _close(env: FactEnvironment, _: dict[str, Any]) -> None:
    close = getattr(env, "close", None)
    if callable(close):
        close()


_CALLS: dict[str, Callable[[FactEnvironment, dict[str, Any]], Any]] = {
    "reset": _reset, "step": _step, "start": _step, "end": _step, "stop": _stop, "wait": _wait,
    "observe": _observe, "sent": _sent, "close": _close,
}  # fmt: skip


def _limited(items: Any) -> Iterator[Any]:
    """Yield items, and refuse too many: an endless iterator would fill the memory."""
    yield from islice(it := iter(items), MOST_FACTS)
    for _ in it:
        raise SimulatorError(
            f"the environment shows more than {MOST_FACTS:,} facts or numbers", exit_code=2
        )


def _names(fact: object) -> list[str] | str:
    """Return the names of a fact; for anything else the text that messages show."""
    if isinstance(fact, tuple) and all(isinstance(name, str) for name in fact):
        return list(fact)
    return repr(fact)[:MOST_CHARACTERS]


if __name__ == "__main__":
    main()
