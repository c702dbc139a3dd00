"""Constrained decoding with the validator: the lines with which a plan stays executable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hvr.pddl import GroundAction, State, Task
from hvr.pddl.state import Operator
from hvr.pddl.task import applicable_actions

HEAD = "Actions:"
"""First line of an answer that contains steps."""

END = ""
"""The line that ends an answer."""


class NextSteps:
    """The lines that can follow the lines of a plan: each applicable step, or the end.

    It serves as a prefix function for transformers: `LineConstraint(tokenizer, NextSteps(task))`.
    Steps that return to an earlier state are left out, since no shortest plan contains one and weak
    models would repeat a pair of steps forever. The goal is unknown, so a plan may end after any
    step.

    Args:
        task: Task without numeric fluents; the plan begins in its initial state.
        most: Maximum number of steps.
    """

    def __init__(self, task: Task, most: int = 200) -> None:
        self._start = task.initial
        self._most = most
        self._known: dict[tuple[str, ...], Mapping[str, State]] = {}

    def __call__(self, lines: Sequence[str]) -> tuple[str, ...]:
        """Return the possible next lines, without line breaks."""
        if not lines:
            return (HEAD,)
        following = self._following(tuple(lines))
        return (*following, END) if len(lines) > 1 or not following else tuple(following)

    def _following(self, lines: tuple[str, ...]) -> Mapping[str, State]:
        if lines not in self._known:
            states = [self._start]
            for number in range(1, len(lines)):
                states.append(self._following(lines[:number])[lines[number]])
            steps = _reachable(states[-1], states) if len(lines) <= self._most else []
            self._known[lines] = {
                f"{len(lines)}. ({', '.join((action.name, *action.args))})": state
                for action, state in steps
            }
        return self._known[lines]


def _reachable(state: State, before: Sequence[State]) -> list[tuple[GroundAction, State]]:
    task, known = state.task, {earlier.bits for earlier in before}
    steps = []
    for action in applicable_actions(state):
        operator = task.ground(action)
        assert isinstance(operator, Operator)
        after = State(task, operator.apply(state.bits), state.values)
        if after.bits not in known:
            steps.append((action, after))
    return steps
