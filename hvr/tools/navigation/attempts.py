"""What an errand has tried: which calls may be made again, and which look-ups lead nowhere."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum

from hvr.tools.calling.guard import MOST_EQUAL_FAILURES
from hvr.tools.calling.values import CallFailure, CallOutcome, ToolCall
from hvr.tools.navigation.lookups import call_key

ATTEMPTS = MOST_EQUAL_FAILURES
"""How often one and the same call is made before it is given up."""

TOO_OFTEN = 2 * ATTEMPTS
"""How often in a row a look-up's tool may fail, whatever it is called with, until it is left."""

IN_VAIN = 8
"""Failures of calls that had failed before, while nothing changed, until none is made again.

One that goes well in the end, so that its tool has come back, gives all of them back.
"""

FOR_NOTHING = 15
"""Look-ups for one want that answer and bring nothing nearer, until it is given up."""

UNSURE = frozenset({CallFailure.TIMED_OUT, CallFailure.UNAVAILABLE, CallFailure.WRONG_TYPE,
                    CallFailure.EMPTY})  # fmt: skip
"""Failures of the tool itself, which may pass; it may have changed the world all the same."""


class Insistence(Enum):
    """What is tried again."""

    NONE = "nothing that failed"
    OTHER = "tools that rest, with what they were not called with yet"
    SOME = "calls that failed, and tools that rest"
    MOST = "wanted calls that were refused, too, though nothing has changed since"
    END = "and wanted calls are made though one before them could not be"


class CallAttempts:
    """How the calls of an errand went; `done` is the number of its wants that are done by then.

    Args:
        refusals: how often a call that was refused is made while nothing has changed.
    """

    def __init__(self, refusals: int) -> None:
        self._refusals = refusals
        self._made = 0
        self._failed: dict[str, int] = {}
        self._failed_in: dict[str, int] = {}
        self._row: dict[str, int] = {}
        self._rests: dict[str, int] = {}
        self._broken: dict[str, set[str]] = {}
        self._back: set[str] = set()
        self._in_vain = 0
        self._refused: dict[str, int | None] = {}
        self._answered: dict[str, int] = {}

    @property
    def given_up(self) -> frozenset[str]:
        """The tools that failed too often in a row to look something up with."""
        return frozenset(name for name, times in self._row.items() if times >= TOO_OFTEN)

    @property
    def failing(self) -> bool:
        """Whether the last call of some tool failed."""
        return any(self._row.values())

    def count(self, outcome: CallOutcome, want: int | None, done: int) -> None:
        """Take in what came of a call.

        Args:
            outcome: of it.
            want: the number of the want that it was; None of a look-up.
            done: wants before it.
        """
        name, tool = call_key(outcome.call), outcome.call.tool
        self._made += 1
        if outcome.ok:
            self._in_vain = 0 if name in self._failed_in else self._in_vain
            self._failed_in.pop(name, None)
            self._row[tool] = 0
            # The tool works again, so that what it failed with may as well: once more.
            self._back |= self._broken.pop(tool, set())
            if want is None:
                self._answered[name] = done
            return
        self._in_vain += self._failed_in.get(name) == done
        self._failed_in[name] = done
        self._failed[name] = self._failed.get(name, 0) + 1
        self._row[tool] = self._row.get(tool, 0) + 1
        self._rests[tool] = self._made + min(2 ** (self._row[tool] - 1), FOR_NOTHING)
        if outcome.failure in UNSURE:
            self._broken.setdefault(tool, set()).add(name)
        if outcome.failure is CallFailure.BAD_ARGUMENTS:
            self._failed[name] = ATTEMPTS
        if outcome.failure is CallFailure.REFUSED:
            self._refused[name] = want

    def exhausted(self, call: ToolCall, failure: CallFailure | None = None) -> bool:
        """Say whether a call has failed as often as it is made, if it failed so."""
        most = self._refusals if failure is CallFailure.REFUSED else ATTEMPTS
        return self._failed.get(call_key(call), 0) >= most

    def vain(self, call: ToolCall, done: int) -> bool:
        """Say whether a call that failed is not made again: too many were, and nothing changed."""
        return self._in_vain >= IN_VAIN and self._failed_in.get(call_key(call)) == done

    def resting(self, tool: str) -> bool:
        """Say whether a tool that failed waits: 1, 2, 4 calls and so on."""
        return self._rests.get(tool, 0) > self._made

    def tried(self, patience: Insistence, done: int) -> set[str]:
        """Return the keys of look-ups that are not to be made again."""
        attempts = 1 if patience in (Insistence.NONE, Insistence.OTHER) else ATTEMPTS
        # What was read before something was written may have changed since.
        old = -1 if attempts == 1 else done
        tried = {name for name, when in self._answered.items() if old < 0 or when >= old}
        for name, times in self._failed.items():
            most = min(attempts, self._refusals) if name in self._refused else attempts
            most = min(most + (name in self._back), ATTEMPTS)
            tried |= {name} if times >= most else set()
        if self._in_vain >= IN_VAIN:
            tried |= {name for name, when in self._failed_in.items() if when == done}
        return tried

    def allow_refused(self, left: Collection[int]) -> list[int]:
        """Allow once more what was refused, now that the state has changed.

        Args:
            left: the wants that were given up and are not done.

        Returns:
            Those of them that may be tried again.
        """
        again = []
        for name, want in self._refused.items():
            if want is None:
                self._failed.pop(name, None)
            elif want in left:
                again.append(want)
                self._failed[name] = self._refusals - 1
        self._refused.clear()
        return again


class LookUpProgress:
    """What the look-ups for each goal of a request have brought, by the goal's number."""

    def __init__(self) -> None:
        self._best: dict[int, tuple[int, int]] = {}
        self._vain: dict[int, tuple[int, int]] = {}

    def look(self, goal: int, told: int, met: int, *, guess: bool) -> bool:
        """Take note of a look-up that answered; say whether there were too many for nothing.

        A combination of values that were not all said is a guess: there are many, and each brings
        new candidates, so only one that meets more constraints counts as progress.

        Args:
            goal: The number of the goal for which it was made.
            told: How much is known of the candidates now.
            met: How many constraints the best of them meet now.
            guess: Whether the look-up was made with such a combination.
        """
        told_before, met_before = self._best.get(goal, (0, 0))
        times, guesses = self._vain.get(goal, (0, 0))
        times = 0 if told > told_before else times + 1
        guesses = 0 if met > met_before else guesses + guess
        self._best[goal] = max(told, told_before), max(met, met_before)
        self._vain[goal] = times, guesses
        return max(times, guesses) >= FOR_NOTHING
