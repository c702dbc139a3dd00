"""Make PDDL of a checked goal: each stage a condition, what shall always hold a constraint.

Things become variables, in the order in which the answer names them: a place that is named before
"every mug" is one place for all of them, one that is named after it may be another for each. Where
there are several stages, what more than one of them speaks of is bound to an object: a variable
would mean another thing in each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from hvr.language.taxonomy import Taxonomy
from hvr.policies.goal.checking import CheckedGoal, Literal
from hvr.policies.goal.words import Meant
from hvr.retrieval.inventory import Inventory


def stage_conditions(
    goal: CheckedGoal, taxonomy: Taxonomy, inventory: Inventory
) -> tuple[str, ...]:
    """Return the condition of each stage as PDDL text."""
    writer = _Writer(_bound(goal, inventory), taxonomy)
    return tuple(writer.condition(stage) for stage in goal.stages)


def constraints(goal: CheckedGoal, taxonomy: Taxonomy, inventory: Inventory) -> tuple[str, ...]:
    """Return what shall hold throughout as PDDL trajectory constraints."""
    things = _bound(goal, inventory)
    written = []
    for literal in goal.always:
        # What shall never be true of a kind shall be true of none of them.
        mine = {
            name: replace(m, every=not (literal.holds or m.named or m.liquid))
            for name, m in things.items()
        }
        written.append(f"(always {_Writer(mine, taxonomy).condition([literal])})")
    return tuple(written)


def _bound(goal: CheckedGoal, inventory: Inventory) -> dict[str, Meant]:
    """Return the things, those that have to be one and the same throughout as objects."""
    things = dict(goal.things)
    spoken = [{arg for x in stage for arg in x.args} for stage in (*goal.stages, goal.always)]
    taken = {m.name for m in things.values() if m.named}
    for name, meant in goal.things.items():
        several = sum(name in names for names in spoken) > 1
        narrowed = len(meant.objects) < len(
            [n for c in meant.classes for n in inventory.of(c) if inventory.true("present", n)]
        )
        if meant.every or meant.named or meant.liquid or not (several or narrowed):
            continue
        free = [n for n in meant.objects if n not in taken] or list(meant.objects)
        things[name] = replace(meant, objects=(free[0],), named=True)
        taken.add(free[0])
    return things


class _Writer:
    """Writes conditions; names of things become PDDL variables."""

    def __init__(self, things: Mapping[str, Meant], taxonomy: Taxonomy) -> None:
        self._things = things
        self._taxonomy = taxonomy
        self._variables = {name: f"?x{n}" for n, name in enumerate(things, start=1)}

    def condition(self, stage: Sequence[Literal]) -> str:
        """Return the condition of one stage."""
        spoken = {arg for literal in stage for arg in literal.args}
        parts = [(literal, dict[str, str]()) for literal in stage]
        order = [name for name in self._things if name in spoken]
        return _conjunction(self._nested(order, parts))

    def _nested(
        self, order: Sequence[str], parts: Sequence[tuple[Literal, Mapping[str, str]]]
    ) -> list[str]:
        """Return conditions on some things, the first of them outermost."""
        open_ = [n for n in order if not self._fixed(n)]
        if not open_:
            return [self._text(literal, meant) for literal, meant in parts]
        first = open_[0]
        if not self._things[first].every:
            some = open_[: next((i for i, n in enumerate(open_) if self._things[n].every), None)]
            variables = " ".join(f"{self._variables[n]} - {self._type(n)}" for n in some)
            inner = [*self._distinct(some, parts), *self._nested(open_[len(some) :], parts)]
            return [f"(exists ({variables}) {_conjunction(inner)})"]
        mine = _connected(first, open_[1:], parts)
        rest = [part for part in parts if part not in mine]
        later = {arg for literal, _ in mine for arg in literal.args}
        written = []
        for name in self._things[first].objects:
            bound = [(literal, {**meant, first: name}) for literal, meant in mine]
            written += self._nested([n for n in open_[1:] if n in later], bound)
        others = {arg for literal, _ in rest for arg in literal.args}
        return [*written, *self._nested([n for n in open_[1:] if n in others], rest)]

    def _fixed(self, name: str) -> bool:
        return self._things[name].named or self._things[name].liquid

    def _distinct(
        self, some: Sequence[str], parts: Sequence[tuple[Literal, Mapping[str, str]]]
    ) -> list[str]:
        """Return that things which may be of one kind are different ones."""
        fixed = {a for literal, _ in parts for a in literal.args if self._things[a].named}
        told = []
        for one, other in combinations((*sorted(fixed), *some), 2):
            shared = set(self._things[one].classes) & set(self._things[other].classes)
            if shared and other in some:
                told.append(f"(not (= {self._name(one)} {self._name(other)}))")
        return told

    def _type(self, name: str) -> str:
        types = [self._taxonomy.pddl_type(c) for c in self._things[name].classes]
        return types[0] if len(types) == 1 else f"(either {' '.join(types)})"

    def _name(self, name: str, meant: Mapping[str, str] | None = None) -> str:
        if meant and name in meant:
            return meant[name]
        if self._things[name].liquid:
            return name
        return self._things[name].objects[0] if self._fixed(name) else self._variables[name]

    def _text(self, literal: Literal, meant: Mapping[str, str]) -> str:
        args = [self._name(arg, meant) for arg in literal.args]
        atom = f"({' '.join((literal.predicate, *args))})"
        return atom if literal.holds else f"(not {atom})"


def _connected(
    first: str, later: Sequence[str], parts: Sequence[tuple[Literal, Mapping[str, str]]]
) -> list[tuple[Literal, Mapping[str, str]]]:
    """Return the literals about a thing, and about what is named after it and related to it."""
    reached = {first}
    while True:
        mine = [part for part in parts if reached & set(part[0].args)]
        more = {a for literal, _ in mine for a in literal.args if a in later} - reached
        if not more:
            return mine
        reached |= more


def _conjunction(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"(and {' '.join(parts)})"
