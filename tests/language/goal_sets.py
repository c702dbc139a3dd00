"""Goals as sets of literals over types, independent of variable names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from hvr.execution.world import World, open_world
from hvr.language.goal_builder import Goal
from hvr.pddl import Domain, TypedName, parse_formula
from hvr.pddl.formulas import And, Atom, Exists, Expression, Forall, Imply, Not, Or
from hvr.worlds.kitchen import Kitchen


@lru_cache(maxsize=8)
def world_of(scene: str) -> World:
    """Return a kitchen that tests only read."""
    return open_world(Kitchen(scene))


@dataclass(frozen=True)
class Wanted:
    """The literals of a goal.

    Args:
        stages: Count of each literal per stage, such as `on mug diningtable` or `not dirty mug`.
        notes: Assumptions of the reader.
    """

    stages: tuple[Counter[str], ...]
    notes: tuple[str, ...]

    @property
    def last(self) -> Counter[str]:
        return self.stages[-1]


def wanted_of(goal: Goal, domain: Domain, objects: Sequence[TypedName]) -> Wanted:
    """Return the literals of a goal with types in place of objects and variables."""
    kinds = {o.name: "/".join(o.types) for o in objects}
    kinds |= {"water": "water", "coffee": "coffee", "wine": "wine"}
    stages = []
    for stage in goal.stages:
        formula = parse_formula(stage.wanted, domain, list(objects), file="<goal>")
        found: Counter[str] = Counter()
        _collect(formula, kinds, True, found)
        stages.append(found)
    return Wanted(tuple(stages), goal.notes)


def _collect(
    formula: Expression, kinds: Mapping[str, str], positive: bool, found: Counter[str]
) -> None:
    match formula:
        case Atom(predicate, args):
            words = [predicate, *(kinds.get(a, a) for a in args)]
            found[("" if positive else "not ") + " ".join(words)] += 1
        case Not(operand):
            _collect(operand, kinds, not positive, found)
        case And(operands) | Or(operands):
            for operand in operands:
                _collect(operand, kinds, positive, found)
        case Exists(variables, body) | Forall(variables, body):
            types = {v.name: "/".join(sorted(v.types)) for v in variables}
            _collect(body, {**kinds, **types}, positive, found)
        case Imply(left, right):
            _collect(left, kinds, not positive, found)
            _collect(right, kinds, positive, found)
        case _:
            pass
