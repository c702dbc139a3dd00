"""Rewards for language models that call tools, computed from the resulting state.

```python
from hvr.tools.calling.rewards import ToolRewards

rewards = ToolRewards(environment, reference=calls)
(score,) = rewards.scores([completion])
```

The environment is reset before each completion is executed. It must simulate its tools: calls with
lasting effects would be made for real.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hvr.errors import HvrError, UsageError
from hvr.tools.calling.calls import Json, ToolCall, ToolEnvironment
from hvr.tools.logs.messages import FENCE, decoded, trace
from hvr.tools.logs.reading import events
from hvr.validation.rewards import MISSED, shaped
from hvr.values import Value

_Place = tuple[str | int, ...]


class ToolScore(Value):
    """The score of one completion.

    Attributes:
        reward: Reward from 0 to 1: 1 if the calls reach the goal state, otherwise at most `MISSED`.
        reached: Whether the final state is the goal state and the limit on calls was kept.
        rewards: Shaping reward of each call (potential-based), from -1 to 1.
        right: Number of required changes that the calls made.
        needed: Number of required changes.
        wrong: Number of values other than the required changes that differ from the goal state.
        failed: Number of calls that failed.
        says: Feedback for the model; empty if the goal state is reached.
    """

    reward: float
    reached: bool = False
    rewards: tuple[float, ...] = ()
    right: int = 0
    needed: int = 0
    wrong: int = 0
    failed: int = 0
    says: str = ""


class ToolRewards:
    """Scores completions that call tools by comparing the resulting state with a goal state.

    Args:
        environment: Tools with an observable state.
        reference: Calls that lead to the goal state.
        most: Maximum number of calls executed per completion.

    Raises:
        UsageError: The state is not observable, or a reference call fails.
    """

    def __init__(
        self, environment: ToolEnvironment, reference: Sequence[ToolCall], *, most: int = 50
    ) -> None:
        self._environment = environment
        self._most = most
        self._start = self._restart()
        for number, call in enumerate(reference, 1):
            outcome = environment.call(call)
            if outcome.failure is not None:
                raise UsageError(
                    f"reference call {number} ({call.tool}) fails: "
                    f"{outcome.error or outcome.failure.value}"
                )
        self._end = environment.state()
        self._goal = _places(self._end)
        self._needed = {
            place
            for place in self._start.keys() | self._goal.keys()
            if self._start.get(place, _ABSENT) != self._goal.get(place, _ABSENT)
        }

    def scores(
        self, completions: Sequence[str | Sequence[Mapping[str, Any]]], *, discount: float = 1.0
    ) -> list[ToolScore]:
        """Return the score of each completion: a string, or a message list in any log format.

        `discount` is the learner's discount factor, which applies to the shaping rewards.
        """
        return [self._score(completion, discount) for completion in completions]

    def _score(self, completion: str | Sequence[Mapping[str, Any]], discount: float) -> ToolScore:
        try:
            calls = calls_of(completion)
        except (HvrError, RecursionError) as error:
            return ToolScore(
                0.0, needed=len(self._needed), says=str(error) or "the answer is nested too deeply"
            )
        if not calls:
            return ToolScore(0.0, needed=len(self._needed), says="the answer contains no call")
        self._restart()
        potentials: list[float] = []
        failed: list[str] = []
        for call in calls[: self._most]:
            potentials.append(self._potential())
            outcome = self._environment.call(call)
            if outcome.failure is not None:
                failed.append(f"{call.tool}: {outcome.error or outcome.failure.value}")
        right, wrong = self._compare()
        reached = len(calls) <= self._most and self._environment.state() == self._end
        final = 1.0 if reached else MISSED * self._potential()
        says = list(failed[:3])
        if right < len(self._needed):
            says.append(
                f"missing required changes: {len(self._needed) - right} of {len(self._needed)}"
            )
        if wrong:
            says.append(f"{wrong} other value{' is' if wrong == 1 else 's are'} wrong")
        if len(calls) > self._most:
            says.append(f"{len(calls)} calls exceed the limit of {self._most}")
        return ToolScore(
            final,
            reached,
            shaped(potentials, float(reached), discount),
            right,
            len(self._needed),
            wrong,
            len(failed),
            "" if reached else "; ".join(says),
        )

    def _restart(self) -> dict[_Place, Json]:
        self._environment.reset()
        state = self._environment.state()
        if state is None:
            raise UsageError("cannot score these tools: their state is not observable")
        return _places(state)

    def _compare(self) -> tuple[int, int]:
        """Return how many required changes were made, and how many other values are wrong."""
        state = _places(self._environment.state())
        different = {
            place
            for place in state.keys() | self._goal.keys()
            if state.get(place, _ABSENT) != self._goal.get(place, _ABSENT)
        }
        return len(self._needed - different), len(different - self._needed)

    def _potential(self) -> float:
        right, wrong = self._compare()
        if not self._needed:
            return float(not wrong)
        return max(0.0, (right - wrong) / len(self._needed))


def calls_of(completion: str | Sequence[Mapping[str, Any]]) -> tuple[ToolCall, ...]:
    value: Any = completion
    if isinstance(completion, str):
        # A bare JSON answer, possibly in a code fence, has no message around its calls.
        value = decoded(FENCE.sub("", completion).strip())
    found = trace(events(value)).calls
    if not found and isinstance(completion, str):
        found = trace(events([{"role": "assistant", "content": completion}])).calls
    return tuple([ToolCall(call.tool, dict(call.arguments or {})) for call in found])


_ABSENT = object()


def _places(state: Json) -> dict[_Place, Json]:
    return dict(_leaves(state, ()))


def _leaves(value: Json, place: _Place) -> Iterator[tuple[_Place, Json]]:
    if isinstance(value, dict | list):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in parts:
            yield from _leaves(part, (*place, key))
    else:
        yield place, value
