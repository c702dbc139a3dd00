"""The states that the actions of a plan lead through."""

from __future__ import annotations

from collections.abc import Iterable

from hvr.errors import InconsistentEffectError, UndefinedValueError
from hvr.pddl import Misfit, Task
from hvr.pddl.conditions import Operator
from hvr.pddl.numeric import Values


def execute(task: Task, operators: Iterable[Operator | Misfit]) -> list[tuple[int, Values]]:
    """Return the states before, between and after actions, up to the first that cannot be done."""
    bits, values = task.initial.bits, task.initial.values
    derived = bool(task.derived_predicates)
    states = [(bits, values)]
    for operator in operators:
        if isinstance(operator, Misfit):
            break
        try:
            if not operator.precondition.holds(bits, values):
                break
            after = operator.apply(bits, values)
            if operator.numeric:
                values = operator.apply_numbers(bits, values)
        except (InconsistentEffectError, UndefinedValueError):
            break
        bits = task.close(after, values) if derived else after
        states.append((bits, values))
    return states
