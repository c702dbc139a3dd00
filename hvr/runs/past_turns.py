"""The turns of a dialogue that were carried out, and what they changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from hvr.execution.deviations import PLACE_PREDICATES
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.goal_builder import Goal
from hvr.language.grammar import Reader
from hvr.pddl import And, Atom, Exists, Expression, Not, Or, TypedName, parse_formula
from hvr.runs.result import Run

if TYPE_CHECKING:
    from hvr.planning.plans import Planned


@dataclass(frozen=True)
class PastTurn:
    """A request that was carried out, with its plans and the scene before it.

    `run` is None if an error ended the request after it had changed the scene.
    """

    request: str
    before: Inventory
    run: Run | None
    planned: tuple[Planned, ...]

    @property
    def acted(self) -> tuple[str, ...]:
        """The objects in the plans' actions, most recent first."""
        names = [n for p in self.planned for a in p.plan.actions for n in a.args]
        return tuple(dict.fromkeys(reversed(names)))


def brought_about(
    goals: Sequence[Goal], turns: Sequence[PastTurn], now: Inventory, reader: Reader
) -> bool:
    """Return whether one of the turns made a goal true that did not hold before it."""
    kinds = {n: reader.taxonomy.pddl_type(c) for n, c in now.classes.items()}
    objects = [TypedName(n, (kind,)) for n, kind in kinds.items()]

    def is_one(fact: Atom, atom: Atom, types: Mapping[str, tuple[str, ...]]) -> bool:
        """Return whether a fact is an instance of an atom, whose variables have `types`."""
        return fact.predicate == atom.predicate and all(
            reader.domain.has_type((kinds.get(own, ""),), types[asked])
            if asked in types
            else own == asked
            for own, asked in zip(fact.args, atom.args, strict=True)
        )

    wanted = [parse_formula(s.wanted, reader.domain, objects) for g in goals for s in g.stages]
    asked = [one for formula in wanted for one in _positive(formula, {})]
    for before, after in pairwise([*(turn.before for turn in turns), now]):
        new = [any(is_one(f, *one) for f in after.facts - before.facts) for one in asked]
        if any(new) and all(any(is_one(f, *one) for f in after.facts) for one in asked):
            return True
    return False


def _positive(
    formula: Expression, types: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[Atom, Mapping[str, tuple[str, ...]]]]:
    match formula:
        case Atom():
            yield formula, types
        case And(operands):
            for operand in operands:
                yield from _positive(operand, types)
        case Exists(variables, body):
            yield from _positive(body, {**types, **{v.name: v.types for v in variables}})


def moved(names: Sequence[str], turns: Sequence[PastTurn], now: Inventory) -> bool:
    """Return whether one of the turns moved one of the objects."""
    changed = (now.facts ^ turn.before.facts for turn in turns)
    return any(
        a.predicate in PLACE_PREDICATES and a.args[0] in names for facts in changed for a in facts
    )


def handled(done: PastTurn, goal: Goal, reader: Reader) -> list[str]:
    acted = [n for p in done.planned for a in p.plan.actions for n in a.args]
    kinds = {n: reader.taxonomy.pddl_type(c) for n, c in done.before.classes.items()}
    objects = [TypedName(n, (kind,)) for n, kind in kinds.items()]
    found: dict[str, None] = {}

    def collect(formula: Expression, types: Mapping[str, tuple[str, ...]]) -> None:
        match formula:
            case Atom():
                for arg in formula.args:
                    if arg in kinds:
                        found[arg] = None
                    for name in _binding(types.get(arg, ()), acted, kinds, done.before, reader):
                        found[name] = None
            case Not(operand) if isinstance(operand, Atom):
                collect(operand, types)
            case And(operands) | Or(operands):
                for operand in operands:
                    collect(operand, types)
            case Exists(variables, body):
                collect(body, {**types, **{v.name: v.types for v in variables}})

    for stage in goal.stages:
        collect(parse_formula(stage.wanted, reader.domain, objects, file="<goal>"), {})
    return list(found)


def _binding(
    types: Sequence[str],
    acted: Sequence[str],
    kinds: Mapping[str, str],
    inventory: Inventory,
    reader: Reader,
) -> list[str]:
    if not types:
        return []
    used = [n for n in acted if kinds.get(n) in types]
    if used:
        return [used[-1]]
    classes = [c for kind in types if (c := reader.taxonomy.class_of_type(kind))]
    return [n for c in classes for n in inventory.of(c)][:1]


def same_verb(one: str, other: str) -> bool:
    return bool(one and other) and one.split()[0] == other.split()[0]
