"""Environments in separate processes: each call has a time limit, and the process ends with hvr."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import IO, Any

from hvr.base.processes import end, starting, supervised
from hvr.errors import HvrError, SimulatorError
from hvr.pddl import Problem, parse_problem
from hvr.pddl.model import print_problem
from hvr.worlds.facts.environment import (
    CallReporter,
    FactEnvironment,
    Observation,
    close_environment,
    error_location,
)
from hvr.worlds.facts.folder import WorldFolder
from hvr.worlds.facts.timed_environment import METHODS

# Isolated environment -----------------------------------------------------------------------------
# Python cannot stop a function that hangs. The environment of a world is third-party code, so it
# runs in a child process, which is killed with all its descendants when a call exceeds its limit.

TIMEOUT_S = 60.0
"""Default time limit for each call, in seconds."""
_START_S = 60.0
"""Time limit in seconds for starting Python, before the environment's code runs."""
_MOST_REPLY = 256 * 2**20
_LAST_OUTPUT = 4096


class _Shown:
    """An invalid value from an environment, shown in error messages."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


class IsolatedEnvironment:
    """An environment in a separate process; see `hvr.worlds.facts.environment.FactEnvironment`.

    Args:
        timeout: Time limit for each call in seconds.

    Raises:
        SimulatorError: The environment cannot be opened, or not in time.
    """

    def __init__(
        self, folder: Path, problem: Problem, seed: int, timeout: float, scene: str = ""
    ) -> None:
        self._timeout = timeout
        with starting():
            self._process = subprocess.Popen(
                supervised([sys.executable, "-m", "hvr.worlds.facts.isolated"]),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        self._replies: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._printed: deque[bytes] = deque(maxlen=2)
        for listen, stream in (
            (self._read_replies, self._process.stdout),
            (self._drain, self._process.stderr),
        ):
            threading.Thread(target=listen, args=(stream,), daemon=True).start()
        about: dict[str, Any] = {
            "folder": str(folder),
            "problem": print_problem(problem),
            "seed": seed,
            "scene": scene,
            "path": sys.path,
        }
        try:
            self._reply("starting", max(timeout, _START_S))
            self.methods = frozenset(self._call("opening", "open", **about))
            """The environment's optional methods."""
        except BaseException:
            self._end()
            raise

    def reset(self) -> None:
        self._call("reset", "reset")

    def step(self, name: str, args: tuple[str, ...]) -> str:
        return str(self._act("step", name, args))

    def start(self, name: str, args: tuple[str, ...], duration: float) -> str:
        return str(self._act("start", name, args, further=[duration]))

    def end(self, name: str, args: tuple[str, ...]) -> str:
        return str(self._act("end", name, args))

    def stop(self, name: str, args: tuple[str, ...]) -> None:
        self._act("stop", name, args)

    def wait(self, seconds: float) -> None:
        self._call(f"wait {seconds:g}", "wait", longer=seconds, seconds=seconds)

    def observe(self) -> Observation:
        seen = self._call("observe", "observe")
        facts: list[Any] = [_names(fact) for fact in seen["facts"]]
        numbers: dict[Any, Any] = {
            _names(term): _number(text, shown) for term, text, shown in seen["numbers"]
        }
        rest = {name: frozenset(seen[name]) for name in ("hidden", "supposed", "estimates")}
        return Observation(facts, numbers, objects=seen["objects"], **rest)

    def request(self) -> str:
        return str(self._call("request", "request"))

    def outcome(self) -> bool | None:
        found: bool | None = self._call("outcome", "outcome")
        return found

    def sent(self) -> dict[str, Any]:
        return dict(self._call("sent", "sent"))

    def close(self) -> str:
        """Close the environment and end its process; return an error message or ""."""
        if self._process.poll() is not None:
            return ""
        try:
            self._call("close", "close")
        except SimulatorError as error:
            return str(error)
        finally:
            self._end()
        return ""

    def _act(self, call: str, name: str, args: tuple[str, ...], **about: Any) -> Any:
        action = (name, *args)
        return self._call(f"{call} ({' '.join(action)})", call, action=action, **about)

    def _call(self, what: str, call: str, *, longer: float = 0.0, **about: Any) -> Any:
        if self._process.poll() is not None:
            raise self._ended_error(what)
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"call": call, **about}).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise self._ended_error(what) from None
        return self._reply(what, self._timeout + longer)

    def _reply(self, what: str, seconds: float) -> Any:
        try:
            line = self._replies.get(timeout=seconds)
        except queue.Empty:
            self._end()
            raise SimulatorError(
                f"the environment did not finish {what} within {seconds:g} s and was stopped"
                f"{self._last_output()}; increase --env-timeout, or "
                "env_timeout in world.toml"
            ) from None
        except BaseException:
            self._end()
            raise
        if not line.endswith(b"\n"):
            raise self._ended_error(what)
        reply = json.loads(line)
        if "error" in reply:
            where = "" if reply["known"] else f"the environment failed at {what}: "
            raise SimulatorError(where + reply["error"], exit_code=reply["code"])
        return reply["value"]

    def _ended_error(self, what: str) -> SimulatorError:
        with suppress(subprocess.TimeoutExpired):  # the replies end before the process does
            self._process.wait(1)
        code = self._process.poll()
        self._end()
        return SimulatorError(
            f"the environment ended at {what} ({_exit_reason(code)}){self._last_output()}",
            exit_code=2,
        )

    def _end(self) -> None:
        end(self._process)
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()

    def _read_replies(self, stream: IO[bytes]) -> None:
        while (line := stream.readline(_MOST_REPLY)).endswith(b"\n"):
            self._replies.put(line)
        self._replies.put(b"")
        stream.close()

    def _drain(self, stream: IO[bytes]) -> None:
        while block := stream.read1(_LAST_OUTPUT):  # type: ignore[attr-defined]
            self._printed.append(block)
        stream.close()

    def _last_output(self) -> str:
        lines = b"".join(self._printed).decode(errors="replace").strip().splitlines()
        return f"; last output: {lines[-1].strip()[:200]}" if lines else ""


def _names(shown: list[str] | str) -> tuple[str, ...] | _Shown:
    return tuple(shown) if isinstance(shown, list) else _Shown(shown)


def _number(text: str, shown: str) -> Fraction | _Shown:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return _Shown(shown)


def _exit_reason(code: int | None) -> str:
    if code is None:
        return "it no longer responds"
    number = code - 128
    if number in set(signal.Signals):
        return f"killed by {signal.Signals(number).name}"
    return f"exit code {code}"


# Host process -------------------------------------------------------------------------------------
# The process that runs a world's environment.
#
# It reads one JSON request per line from standard input and writes one JSON reply per line to the
# original standard output. The environment itself gets an empty standard input, and its output goes
# to standard error, so hvr never mistakes it for a reply.

MAX_FACTS = 1_000_000
"""Maximum number of facts or numbers in an observation."""
MAX_CHARACTERS = 10_000
"""Maximum number of characters of a text from an environment."""


def main() -> None:
    """Run an environment in this process: answer calls from standard input until it ends."""
    requests, replies = _own_streams()
    env: FactEnvironment | None = None
    # Time limits of the environment start here, since Python starts slowly on a busy machine.
    replies.write(b'{"value": null}\n')
    replies.flush()
    for line in requests:
        request = json.loads(line)
        try:
            if request["call"] == "open":
                env = _opened(request)
                reply: dict[str, Any] = {
                    "value": [m for m in (*METHODS, *_POSING) if hasattr(env, m)]
                }
            else:
                assert env is not None
                value = _CALLS[request["call"]](env, request)
                # The results of other calls are unused and may not be JSON-serialisable.
                reply = {"value": value if request["call"] in _WITH_RESULT else None}
        except HvrError as error:
            reply = {"error": str(error), "code": error.exit_code, "known": True}
        except (Exception, SystemExit) as error:
            text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            text = f"{text[:MAX_CHARACTERS]}{error_location(error)}"
            reply = {"error": text, "code": 2, "known": False}
        replies.write(json.dumps(reply).encode() + b"\n")
        replies.flush()


def _own_streams() -> tuple[IO[bytes], IO[bytes]]:
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
    return world.open_here(problem, request["seed"], request["scene"])


def _step(env: Any, request: dict[str, Any]) -> str:
    name, *args = request["action"]
    call = getattr(env, request["call"])
    answer: object = call(name, tuple(args), *request.get("further", ()))
    if not isinstance(answer, str):
        raise SimulatorError(
            f"expected a string from the environment for ({' '.join(request['action'])}) (empty if "
            f"done, otherwise the reason), found {type(answer).__name__}",
            exit_code=2,
        )
    return answer[:MAX_CHARACTERS]


def _observe(env: FactEnvironment, _: dict[str, Any]) -> dict[str, Any]:
    seen: object = env.observe()
    if not isinstance(seen, Observation):
        raise SimulatorError(
            f"expected an Observation from the environment, found {type(seen).__name__}",
            exit_code=2,
        )
    facts = [_fact_as_json(fact) for fact in _limited(seen.facts)]
    values = [
        [_fact_as_json(term), str(value)[:MAX_CHARACTERS], repr(value)[:MAX_CHARACTERS]]
        for term, value in _limited(seen.numbers.items())
    ]
    names = {name: list(map(str, getattr(seen, name))) for name in _NAMED}
    objects = None if seen.objects is None else {str(n): str(t) for n, t in seen.objects.items()}
    return {"facts": facts, "numbers": values, "objects": objects, **names}


def _sent(env: FactEnvironment, _: dict[str, Any]) -> dict[str, Any]:
    told = env.sent() if isinstance(env, CallReporter) else {}
    plain: dict[str, Any] = json.loads(json.dumps(dict(told), default=repr))
    return plain


_POSING = ("request", "outcome")
_NAMED = ("hidden", "supposed", "estimates")
_WITH_RESULT = frozenset({"step", "start", "end", "observe", "sent", *_POSING})
_CALLS: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "reset": lambda env, _: env.reset(),
    "step": _step,
    "start": _step,
    "end": _step,
    "stop": lambda env, request: env.stop(request["action"][0], tuple(request["action"][1:])),
    "wait": lambda env, request: env.wait(request["seconds"]),
    "observe": _observe,
    "sent": _sent,
    "request": lambda env, _: env.request(),
    "outcome": lambda env, _: env.outcome(),
    "close": lambda env, _: close_environment(env),
}


def _limited(items: Any) -> Iterator[Any]:
    yield from islice(it := iter(items), MAX_FACTS)
    for _ in it:
        raise SimulatorError(
            f"the environment shows more than {MAX_FACTS:,} facts or numbers", exit_code=2
        )


def _fact_as_json(fact: object) -> list[str] | str:
    if isinstance(fact, tuple) and all(isinstance(name, str) for name in fact):
        return list(fact)
    return repr(fact)[:MAX_CHARACTERS]


if __name__ == "__main__":
    main()
