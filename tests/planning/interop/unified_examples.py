"""Example problems of unified-planning, and variants of their plans."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any

from unified_planning.plans import ActionInstance, SequentialPlan, TimeTriggeredPlan

PARTS = 4
"""Parts of the examples in tests that take long; collection builds no example."""


@cache
def examples() -> dict[str, Any]:
    """Return the examples of unified-planning by name."""
    from unified_planning.test.examples import get_example_problems

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dict(get_example_problems())


def plans_of(names: Iterable[str]) -> Iterator[tuple[Any, int, Any]]:
    """Yield the plans of examples: the example, the number of the plan, and the plan."""
    for name in names:
        example = examples()[name]
        for number, plan in enumerate(example.valid_plans + example.invalid_plans):
            yield example, number, plan


def variants(plan: Any, seed: int, count: int = 12) -> Iterator[Any]:
    """Yield variations of a plan: steps dropped, swapped, repeated or changed."""
    choose = random.Random(seed)
    timed = isinstance(plan, TimeTriggeredPlan)
    for _ in range(count):
        rows = list(plan.timed_actions if timed else plan.actions)
        place, other = choose.randrange(len(rows)), choose.randrange(len(rows))
        match choose.choice("drst" if timed else "drsa"):
            case "d":
                del rows[place]
            case "r":
                rows.insert(place, _another(rows[other]))
            case "s" if not timed:
                rows[place], rows[other] = rows[other], rows[place]
            case "a":
                rows[place] = _shuffled(rows[place], choose) or rows[place]
            case _:
                start, instance, length = rows[place]
                later = choose.choice([-5, -1, Fraction(-1, 100), Fraction(1, 100), 1, 2, 5])
                if length is not None and choose.random() < 0.3:
                    length += Fraction(1, 100)
                rows[place] = (max(Fraction(0), start + later), instance, length)
        kind = TimeTriggeredPlan if timed else SequentialPlan
        yield kind(rows, plan.environment)


def _another(row: Any) -> Any:
    """Return a distinct copy of a step: unified-planning compares steps by identity."""
    if isinstance(row, ActionInstance):
        return ActionInstance(row.action, row.actual_parameters)
    start, instance, length = row
    return start, _another(instance), length


def _shuffled(instance: Any, choose: random.Random) -> Any:
    from unified_planning.exceptions import UPTypeError

    arguments = list(instance.actual_parameters)
    choose.shuffle(arguments)
    try:
        return ActionInstance(instance.action, tuple(arguments))
    except UPTypeError:
        return None
