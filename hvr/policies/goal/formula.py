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

from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.taxonomy import Taxonomy
from hvr.policies.goal.answer import GoalLiteral
from hvr.policies.goal.checking import CheckedGoal
from hvr.policies.goal.words import Meant


def stage_conditions(
    goal: CheckedGoal, taxonomy: Taxonomy, inventory: Inventory
) -> tuple[str, ...]:
    """Return the condition of each stage as PDDL text."""
    writer = _Writer(_bound(goal, taxonomy, inventory), taxonomy)
    return tuple(writer.condition(stage) for stage in goal.stages)


def constraints(goal: CheckedGoal, taxonomy: Taxonomy, inventory: Inventory) -> tuple[str, ...]:
    """Return what shall hold throughout as PDDL trajectory constraints."""
    things = _bound(goal, taxonomy, inventory)
    writer = _Writer(things, taxonomy)
    kept = [f"(always {writer.throughout(literal)})" for literal in goal.always]
    kept += [writer.throughout(literal, "at-most-once") for literal in goal.once]
    for name in goal.never_two:
        both = f"(not (= ?a ?b)) ({name} ?a) ({name} ?b)"
        kind = taxonomy.roles.thing_type
        kept.append(f"(always (not (exists (?a ?b - {kind}) (and {both}))))")
    return tuple(kept)


def _bound(goal: CheckedGoal, taxonomy: Taxonomy, inventory: Inventory) -> dict[str, Meant]:
    """Return the things, those that have to be one and the same throughout as objects."""
    things = dict(goal.things)
    spoken = [{arg for x in stage for arg in x.args} for stage in (*goal.stages, goal.always)]
    taken = {m.name for m in things.values() if m.named}
    for name, meant in goal.things.items():
        several = sum(name in names for names in spoken) > 1
        narrowed = len(meant.objects) < len(
            [n for c in meant.classes for n in inventory.of(c) if taxonomy.is_there(inventory, n)]
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

    def condition(self, stage: Sequence[GoalLiteral]) -> str:
        """Return the condition of one stage."""
        spoken = {arg for literal in stage for arg in literal.args}
        parts = [(literal, dict[str, str]()) for literal in stage]
        order = [name for name in self._things if name in spoken]
        return _conjunction(self._nested(order, parts))

    def throughout(self, literal: GoalLiteral, how: str = "") -> str:
        """Return a literal that is to be so on the way: of a kind, of all that are of it."""
        spoken = [n for n in dict.fromkeys(literal.args) if not self._fixed(n)]
        text = self._text(literal, {})
        for name in reversed(spoken):
            # One that is to be so all the time is any; what is never to be so is so of none.
            every = how or not literal.holds
            variables = f"({self._variables[name]} - {self._type(name)})"
            body = f"({how} {text})" if how and name == spoken[-1] else text
            text = f"({'forall' if every else 'exists'} {variables} {body})"
        return f"({how} {text})" if how and not spoken else text

    def _nested(
        self,
        order: Sequence[str],
        parts: Sequence[tuple[GoalLiteral, Mapping[str, str]]],
        known: Sequence[str] = (),
    ) -> list[str]:
        """Return conditions on some things, the first of them outermost.

        Args:
            order: the things.
            parts: what is to be said, with the objects that things stand for.
            known: things that there is a variable for already.
        """
        open_ = [n for n in order if not self._fixed(n) and n not in known]
        if not open_:
            return [self._text(literal, meant) for literal, meant in parts]
        first = open_[0]
        if not self._things[first].every:
            some = open_[: next((i for i, n in enumerate(open_) if self._things[n].every), None)]
            if len(some) == len(open_):
                groups = self._groups(some, parts)
                fixed = [part for part in parts if not set(part[0].args) & set(some)]
                written = [self._text(literal, meant) for literal, meant in fixed]
                return [*written, *(self._some(group, [], mine) for group, mine in groups)]
            return [self._some(some, open_[len(some) :], parts)]
        mine = _connected(first, open_[1:], parts)
        rest = [part for part in parts if part not in mine]
        later = {arg for literal, _ in mine for arg in literal.args}
        written = []
        for name in self._things[first].objects:
            bound = [(literal, {**meant, first: name}) for literal, meant in mine]
            written += self._nested([n for n in open_[1:] if n in later], bound)
        others = {arg for literal, _ in rest for arg in literal.args}
        return [*written, *self._nested([n for n in open_[1:] if n in others], rest)]

    def _some(
        self,
        some: Sequence[str],
        later: Sequence[str],
        parts: Sequence[tuple[GoalLiteral, Mapping[str, str]]],
    ) -> str:
        """Return that there are some things, of which the rest is true."""
        variables = " ".join(f"{self._variables[n]} - {self._type(n)}" for n in some)
        inner = [*self._distinct(some, parts), *self._nested(later, parts, some)]
        return f"(exists ({variables}) {_conjunction(inner)})"

    def _groups(
        self, some: Sequence[str], parts: Sequence[tuple[GoalLiteral, Mapping[str, str]]]
    ) -> list[tuple[list[str], list[tuple[GoalLiteral, Mapping[str, str]]]]]:
        """Return things that have to do with each other, with the literals on them.

        One quantifier over all things would have as many instances as there are ways to choose
        all of them; one for each group has few.
        """
        left = list(some)
        groups = []
        while left:
            more = {left[0]}
            reached = set[str]()
            while more != reached:
                reached = more
                spoken = {a for x, _ in parts if reached & set(x.args) for a in x.args}
                alike = {n for n in left for m in reached if self._differ(m, n)}
                more = reached | (spoken | alike) & set(left)
            mine = [part for part in parts if reached & set(part[0].args)]
            groups.append(([n for n in left if n in reached], mine))
            left = [n for n in left if n not in reached]
        return groups

    def _differ(self, one: str, other: str) -> bool:
        """Whether two things which may be of one kind have to be different ones."""
        first, second = self._things[one], self._things[other]
        shared = set(first.classes) & set(second.classes)
        return one != other and bool(shared) and first.apart and second.apart

    def _fixed(self, name: str) -> bool:
        return self._things[name].named or self._things[name].liquid

    def _distinct(
        self, some: Sequence[str], parts: Sequence[tuple[GoalLiteral, Mapping[str, str]]]
    ) -> list[str]:
        """Return that things which may be of one kind are different ones."""
        fixed = {a for literal, _ in parts for a in literal.args if self._things[a].named}
        told = []
        for one, other in combinations((*sorted(fixed), *some), 2):
            if other in some and self._differ(one, other):
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

    def _text(self, literal: GoalLiteral, meant: Mapping[str, str]) -> str:
        args = [self._name(arg, meant) for arg in literal.args]
        atom = f"({' '.join((literal.predicate, *args))})"
        return atom if literal.holds else f"(not {atom})"


def _connected(
    first: str, later: Sequence[str], parts: Sequence[tuple[GoalLiteral, Mapping[str, str]]]
) -> list[tuple[GoalLiteral, Mapping[str, str]]]:
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
