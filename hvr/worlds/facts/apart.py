"""Environments in a process of their own: every call has a time-out, and the process ends with hvr.

Nothing in Python ends a function that hangs. The environment of a world is code of others, so it
runs in a child process (`hvr.worlds.facts.hosting`), which is killed with all that it has started
when it does not answer in time.
"""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import IO, Any

from hvr.base.processes import end, starting, supervised
from hvr.errors import SimulatorError
from hvr.pddl import Problem, print_problem
from hvr.worlds.facts.environment import Observation

TIMEOUT_S = 60.0
"""Seconds that each call may take, if nothing else is said."""
_START_S = 60.0
"""Seconds that Python may take to start, before any code of the environment runs."""
_MOST_REPLY = 256 * 2**20
_LAST_OUTPUT = 4096


class _Shown:
    """A value that an environment showed and that is none of hvr's, for messages."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


class ApartEnvironment:
    """An environment in a process of its own; see `hvr.worlds.facts.environment.FactEnvironment`.

    Args:
        folder: The folder of the world.
        problem: The problem that the environment is opened with.
        seed: The seed that the environment is opened with.
        timeout: Seconds that each call may take.

    Raises:
        SimulatorError: The environment cannot be opened, or not in time.
    """

    def __init__(self, folder: Path, problem: Problem, seed: int, timeout: float) -> None:
        self._timeout = timeout
        with starting():
            self._process = subprocess.Popen(
                supervised([sys.executable, "-m", "hvr.worlds.facts.hosting"]),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        self._replies: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._printed: deque[bytes] = deque(maxlen=2)
        for listen, stream in (
            (self._hear, self._process.stdout), (self._drop, self._process.stderr),
        ):  # fmt: skip
            threading.Thread(target=listen, args=(stream,), daemon=True).start()
        about: dict[str, Any] = {
            "folder": str(folder), "problem": print_problem(problem), "seed": seed,
            "path": sys.path,
        }  # fmt: skip
        self._answer("starting", max(timeout, _START_S))
        self.methods = frozenset(self._call("opening", "open", **about))
        """The methods for durative actions that the environment has."""

    # the environment

    def reset(self) -> None:
        """See `FactEnvironment`."""
        self._call("reset", "reset")

    def step(self, name: str, args: tuple[str, ...]) -> str:
        """See `FactEnvironment`."""
        action = (name, *args)
        return str(self._call(f"step ({' '.join(action)})", "step", action=action))

    def start(self, name: str, args: tuple[str, ...], duration: float) -> str:
        """See `TimedEnvironment`."""
        action = (name, *args)
        what = f"start ({' '.join(action)})"
        return str(self._call(what, "start", action=action, further=[duration]))

    def end(self, name: str, args: tuple[str, ...]) -> str:
        """See `TimedEnvironment`."""
        action = (name, *args)
        return str(self._call(f"end ({' '.join(action)})", "end", action=action))

    def stop(self, name: str, args: tuple[str, ...]) -> None:
        """See `TimedEnvironment`."""
        action = (name, *args)
        self._call(f"stop ({' '.join(action)})", "stop", action=action)

    def wait(self, seconds: float) -> None:
        """See `TimedEnvironment`; the seconds are added to its limit."""
        self._call(f"wait {seconds:g}", "wait", longer=seconds, seconds=seconds)

    def observe(self) -> Observation:
        """See `FactEnvironment`."""
        seen = self._call("observe", "observe")
        facts: list[Any] = [_names(fact) for fact in seen["facts"]]
        numbers: dict[Any, Any] = {
            _names(term): _number(text, shown) for term, text, shown in seen["numbers"]
        }
        return Observation(facts, numbers, frozenset(seen["hidden"]))

    def sent(self) -> dict[str, Any]:
        """See `Sending`."""
        told: dict[str, Any] = self._call("sent", "sent")
        return told

    def close(self) -> str:
        """Let the environment close, and end its process.

        Returns:
            What went wrong; empty if nothing did.
        """
        if self._process.poll() is not None:
            return ""
        try:
            self._call("close", "close")
        except SimulatorError as error:
            return str(error)
        finally:
            self._end()
        return ""

    # the process

    def _call(self, what: str, call: str, *, longer: float = 0.0, **about: Any) -> Any:
        """Return the answer to a request.

        Raises:
            SimulatorError: The environment fails, ends, or does not answer in time.
        """
        if self._process.poll() is not None:
            raise self._ended(what)
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"call": call, **about}).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise self._ended(what) from None
        return self._answer(what, self._timeout + longer)

    def _answer(self, what: str, seconds: float) -> Any:
        try:
            line = self._replies.get(timeout=seconds)
        except queue.Empty:
            self._end()
            raise SimulatorError(
                f"the environment did not finish {what} within {seconds:g} s and was ended"
                f"{self._last_output()}; --env-timeout, or env_timeout in world.toml, gives it "
                "more time"
            ) from None
        except BaseException:
            self._end()
            raise
        if not line.endswith(b"\n"):
            raise self._ended(what)
        reply = json.loads(line)
        if "error" in reply:
            where = "" if reply["known"] else f"the environment failed at {what}: "
            raise SimulatorError(where + reply["error"], exit_code=reply["code"])
        return reply["value"]

    def _ended(self, what: str) -> SimulatorError:
        with suppress(subprocess.TimeoutExpired):  # the answers end before the process does
            self._process.wait(1)
        code = self._process.poll()
        self._end()
        return SimulatorError(
            f"the environment ended at {what} ({_how(code)}){self._last_output()}", exit_code=2
        )

    def _end(self) -> None:
        end(self._process)
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()

    def _hear(self, stream: IO[bytes]) -> None:
        """Pass on each answer; a last one without an end says that there are no more."""
        while (line := stream.readline(_MOST_REPLY)).endswith(b"\n"):
            self._replies.put(line)
        self._replies.put(b"")
        stream.close()

    def _drop(self, stream: IO[bytes]) -> None:
        """Keep only the end of what the environment prints: it may print without end."""
        while block := stream.read1(_LAST_OUTPUT):  # type: ignore[attr-defined]
            self._printed.append(block)
        stream.close()

    def _last_output(self) -> str:
        lines = b"".join(self._printed).decode(errors="replace").strip().splitlines()
        return f"; it printed last: {lines[-1].strip()[:200]}" if lines else ""


def _names(shown: list[str] | str) -> tuple[str, ...] | _Shown:
    return tuple(shown) if isinstance(shown, list) else _Shown(shown)


def _number(text: str, shown: str) -> Fraction | _Shown:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return _Shown(shown)


def _how(code: int | None) -> str:
    """Say how a process ended; the supervisor gives 128 and the number of a signal."""
    if code is None:
        return "it no longer answers"
    number = code - 128
    if number in set(signal.Signals):
        return f"killed by {signal.Signals(number).name}"
    return f"exit code {code}"
