"""Checks a model's goal and translates it into PDDL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from hvr.base.printable import nearest
from hvr.knowledge.ontology import CONTAINS, PORTABLE
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.taxonomy import Taxonomy
from hvr.pddl.formulas import Atom
from hvr.policies.goal.answer import (
    GoalAnswer,
    GoalLiteral,
    GoalVocabulary,
    NameMeaning,
    WrittenThing,
)

# Checking -----------------------------------------------------------------------------------------
# The check covers words, types and affordances. Each problem is one sentence that lists the
# accepted words, so that the model can correct its answer.

_MOST_NAMED = 8
_PLACING = frozenset(("on", "in"))


@dataclass(frozen=True)
class CheckedGoal:
    """A goal whose names have been resolved.

    Args:
        stages: Literals to achieve, one group per stage.
        problems: Error messages; the other fields are valid only if there are none.
    """

    things: dict[str, NameMeaning]
    stages: tuple[tuple[GoalLiteral, ...], ...]
    always: tuple[GoalLiteral, ...] = ()
    once: tuple[GoalLiteral, ...] = ()
    never_two: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def check_goal(answer: GoalAnswer, words: GoalVocabulary) -> CheckedGoal:
    """Resolve the names of a goal, and collect the error messages about it."""
    checker = _Checker(words)
    for thing in answer.things:
        checker.declare(thing)
    stages = tuple(tuple(checker.read(stage)) for stage in answer.stages)
    always = tuple(checker.read(answer.always))
    once = tuple(checker.read(answer.once))
    for name in answer.never_two:
        checker.alone(name)
    literals = [*(x for stage in stages for x in stage), *always]
    if not checker.problems:
        for literal in literals:
            checker.fit(literal)
    if not checker.problems and not any(stages):
        checker.problem("the goal has no condition: 'stages' has to say what shall hold")
    stages = tuple(tuple(map(checker.placed, stage)) for stage in stages)
    problems = tuple(dict.fromkeys(checker.problems))
    return CheckedGoal(checker.things, stages, always, once, answer.never_two, problems)


class _Checker:
    def __init__(self, words: GoalVocabulary) -> None:
        self.words = words
        self.things: dict[str, NameMeaning] = {}
        self.problems: list[str] = []

    def problem(self, text: str) -> None:
        self.problems.append(text)

    # Names ----------------------------------------------------------------------------------

    def declare(self, thing: WrittenThing) -> None:
        if not thing.name or thing.name in self.things:
            self.problem(f"the name {thing.name!r} is empty or used twice: give each thing a name")
            return
        own = [k.lower() for k in thing.kinds if k.lower() in self.words.inventory.classes]
        classes: list[str] = [self.words.inventory.classes[n] for n in own]
        unknown = []
        for kind in thing.kinds:
            if kind.lower() in own:
                continue
            found = self.words.classes_of(kind)
            classes += found
            unknown += [] if found else [kind]
        if not classes:
            self.problems += [self.words.unknown_kind(kind) for kind in unknown]
            classes = []
        objects = tuple(own) or self.words.objects_of(classes)
        kinds = tuple(dict.fromkeys(classes))
        moved = any(self.words.taxonomy.plays(c, PORTABLE) for c in kinds)
        meant = NameMeaning(thing.name, kinds, objects, thing.every, moved or thing.apart)
        self.things[thing.name] = meant
        if thing.where and classes:
            self._narrow(thing, meant)

    def _narrow(self, thing: WrittenThing, meant: NameMeaning) -> None:
        wrong = [
            x.predicate for x in thing.where if x.predicate not in self.words.domain.predicates
        ]
        if wrong:
            self.problems += [self.words.unknown_predicate(name) for name in wrong]
            return
        left = tuple(
            name
            for name in meant.objects
            if all(self._holds_now(x, thing.name, name) == x.holds for x in thing.where)
        )
        if not left:
            text = " ".join(map(str, thing.where))
            label = " or ".join(meant.classes[:_MOST_NAMED])
            self.problem(f"no {label} here meets {text} now")
        classes = tuple(dict.fromkeys(self.words.inventory.classes[n] for n in left))
        self.things[thing.name] = replace(meant, classes=classes, objects=left)

    def _holds_now(self, literal: GoalLiteral, name: str, candidate: str) -> bool:
        rows: list[tuple[str, ...]] = [()]
        for arg in literal.args:
            if arg == name:
                options: Sequence[str] = (candidate,)
            elif arg in self.things:
                options = self.things[arg].objects
            elif arg.lower() in self.words.inventory.classes or arg.lower() in self.words.liquids:
                options = (arg.lower(),)
            else:
                options = self.words.objects_of(self.words.classes_of(arg))
            rows = [(*row, option) for row in rows for option in options]
        names: tuple[str, ...] = (literal.predicate,)
        if literal.predicate in _PLACING:  # the scene's facts decide which of the two applies
            names = tuple(_PLACING)
        return any(Atom(n, row) in self.words.inventory.facts for n in names for row in rows)

    def alone(self, name: str) -> None:
        known = self.words.predicates.get(name)
        if known is None:
            self.problem(self.words.unknown_predicate(name))
        elif len(known.parameters) != 1:
            self.problem(f'"never_two" takes predicates with one argument, which {name} is not')

    def read(self, written: Iterable[GoalLiteral]) -> list[GoalLiteral]:
        read = []
        for literal in written:
            predicate = self.words.predicates.get(literal.predicate)
            if predicate is None:
                self.problem(self.words.unknown_predicate(literal.predicate))
                continue
            if len(literal.args) != len(predicate.parameters):
                wanted = " ".join((predicate.name, *(p.name for p in predicate.parameters)))
                self.problem(f"expected ({wanted}), found {literal}")
                continue
            args = [self._arg(literal, place) for place in range(len(literal.args))]
            if all(args):
                read.append(GoalLiteral(literal.predicate, tuple(map(str, args)), literal.holds))
        return read

    def _arg(self, literal: GoalLiteral, place: int) -> str | None:
        arg, words = literal.args[place], self.words
        liquid = words.liquid_at(literal.predicate, place)
        lower = arg.lower()
        if liquid != (lower in words.liquids) and (liquid or arg not in self.things):
            known = " or ".join(words.liquids)
            self.problem(
                f"{literal}: {arg!r} is no liquid; argument {place + 1} is {known}"
                if liquid
                else f"{literal}: {arg!r} is a liquid; argument {place + 1} is the thing that has "
                f"it in it{self._liquid_hint(lower)}"
            )
            return None
        if liquid:
            self.things.setdefault(lower, NameMeaning(lower, liquid=True))
            return lower
        if arg in self.things:
            return arg
        if lower in words.inventory.classes:
            kind = words.inventory.classes[lower]
            self.things[lower] = NameMeaning(lower, (kind,), (lower,), named=True)
            return lower
        classes = words.classes_of(arg)
        if not classes:
            near = nearest(arg, self.things)
            self.problem(f"did you mean {near!r} by {arg!r}?" if near else words.unknown_kind(arg))
            return None
        # After declaring one mug, a model that writes "Mug" means that mug.
        declared = [m.name for m in self.things.values() if m.classes == classes and not m.every]
        if len(declared) == 1:
            return declared[0]
        moved = any(words.taxonomy.plays(c, PORTABLE) for c in classes)
        self.things[arg] = NameMeaning(arg, classes, words.objects_of(classes), apart=moved)
        return arg

    def _liquid_hint(self, liquid: str) -> str:
        roles, methods = self.words.taxonomy.roles, self.words.taxonomy.methods
        holds = [f"({name} x {liquid})" for name in roles.predicates(CONTAINS)]
        states = [
            f"({state_of} x) where it is to be {state}" for state, state_of in methods.contents
        ]
        return f": {', and '.join((*holds, *states))}" if holds else ""

    # What can be true -----------------------------------------------------------------------

    def fit(self, literal: GoalLiteral) -> None:
        """Keep only the classes for which a literal can hold; report an error if none is left."""
        if not literal.holds:
            return
        subject = self.things[literal.args[0]]
        able = [c for c in subject.classes if self.words.can_be(literal.predicate, c)]
        if not able or (subject.every and len(able) < len(subject.classes)):
            wrong = next(c for c in subject.classes if c not in able)
            self._cannot(literal, wrong)
            return
        self._keep(subject, able)
        if literal.predicate in _PLACING:
            self._fit_place(literal)

    def _cannot(self, literal: GoalLiteral, wrong: str) -> None:
        needed = self.words.requirements[literal.predicate]
        able = sorted(c for c in self.words.present if self.words.can_be(literal.predicate, c))
        a_label = self.words.taxonomy.a_label(wrong)
        self.problem(
            f"{literal} can never hold: {a_label} lacks the affordance {needed}; these have it: "
            f"{_listed(able) or 'nothing here'}"
        )

    def _fit_place(self, literal: GoalLiteral) -> None:
        inner, outer = (self.things[arg] for arg in literal.args)
        pairs = [(i, o) for i in inner.classes for o in outer.classes if self.words.fits(i, o)]
        inside = [i for i in inner.classes if any(i == a for a, _ in pairs)]
        if not pairs or (inner.every and len(inside) < len(inner.classes)):
            wrong = next(i for i in inner.classes if i not in inside)
            places = sorted(o for o in self.words.present if self.words.fits(wrong, o))
            self.problem(
                f"{literal} can never hold: {self.words.taxonomy.a_label(wrong)} cannot be put on "
                f"or in {_listed(outer.classes)}; it can be put on or in: "
                f"{_listed(places, len(places)) or 'nothing here'}"
            )
            return
        self._keep(inner, inside)
        self._keep(outer, [o for o in outer.classes if any(o == b for _, b in pairs)])

    def _keep(self, meant: NameMeaning, classes: Sequence[str]) -> None:
        known = self.words.inventory.classes
        objects = tuple(n for n in meant.objects if known[n] in classes)
        kept = tuple(c for c in meant.classes if c in classes)
        self.things[meant.name] = replace(meant, classes=kept, objects=objects)

    def placed(self, literal: GoalLiteral) -> GoalLiteral:
        """Return a literal with the predicate that suits its place: `in` a sink, `on` a table."""
        if literal.predicate not in _PLACING or not self.things[literal.args[1]].classes:
            return literal
        outer = self.things[literal.args[1]].classes[0]
        return replace(literal, predicate=self.words.relation(outer))


def _listed(names: Sequence[str], most: int = _MOST_NAMED) -> str:
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


# Formula ------------------------------------------------------------------------------------------
# Each stage becomes a condition; `always`, `once` and `never_two` become trajectory constraints.
#
# Things become variables in the order of the answer. A place declared before "every mug" is shared
# by all mugs; a place declared after it may differ for each mug. A thing used in several stages is
# bound to one object, because a variable could denote a different object in each stage.


def stage_conditions(
    goal: CheckedGoal, taxonomy: Taxonomy, inventory: Inventory
) -> tuple[str, ...]:
    """Return the condition of each stage as PDDL text."""
    writer = _Writer(_bound(goal, taxonomy, inventory), taxonomy)
    return tuple(writer.condition(stage) for stage in goal.stages)


def constraints(goal: CheckedGoal, taxonomy: Taxonomy, inventory: Inventory) -> tuple[str, ...]:
    """Return the PDDL trajectory constraints of a goal."""
    things = _bound(goal, taxonomy, inventory)
    writer = _Writer(things, taxonomy)
    kept = [f"(always {writer.throughout(literal)})" for literal in goal.always]
    kept += [writer.throughout(literal, "at-most-once") for literal in goal.once]
    for name in goal.never_two:
        both = f"(not (= ?a ?b)) ({name} ?a) ({name} ?b)"
        kind = taxonomy.roles.thing_type
        kept.append(f"(always (not (exists (?a ?b - {kind}) (and {both}))))")
    return tuple(kept)


def _bound(goal: CheckedGoal, taxonomy: Taxonomy, inventory: Inventory) -> dict[str, NameMeaning]:
    things = dict(goal.things)
    used = [{arg for x in stage for arg in x.args} for stage in (*goal.stages, goal.always)]
    taken = {m.name for m in things.values() if m.named}
    for name, meant in goal.things.items():
        several = sum(name in names for names in used) > 1
        narrowed = len(meant.objects) < len(
            [n for c in meant.classes for n in inventory.of(c) if taxonomy.is_there(inventory, n)]
        )
        if meant.every or meant.named or meant.liquid or not (several or narrowed):
            continue
        # two things share an object only if no other is left
        free = [n for n in meant.objects if n not in taken] or list(meant.objects)
        things[name] = replace(meant, objects=(free[0],), named=True)
        taken.add(free[0])
    return things


class _Writer:
    def __init__(self, things: Mapping[str, NameMeaning], taxonomy: Taxonomy) -> None:
        self._things = things
        self._taxonomy = taxonomy
        self._variables = {name: f"?x{n}" for n, name in enumerate(things, start=1)}

    def condition(self, stage: Sequence[GoalLiteral]) -> str:
        used = {arg for literal in stage for arg in literal.args}
        parts = [(literal, dict[str, str]()) for literal in stage]
        order = [name for name in self._things if name in used]
        return _conjunction(self._nested(order, parts))

    def throughout(self, literal: GoalLiteral, how: str = "") -> str:
        used = [n for n in dict.fromkeys(literal.args) if not self._fixed(n)]
        text = self._text(literal, {})
        for name in reversed(used):
            # "Always" requires a single witness; "never" and "at most once" apply to every object.
            every = how or not literal.holds
            variables = f"({self._variables[name]} - {self._type(name)})"
            body = f"({how} {text})" if how and name == used[-1] else text
            text = f"({'forall' if every else 'exists'} {variables} {body})"
        return f"({how} {text})" if how and not used else text

    def _nested(
        self,
        order: Sequence[str],
        parts: Sequence[tuple[GoalLiteral, Mapping[str, str]]],
        known: Sequence[str] = (),
    ) -> list[str]:
        open_ = [n for n in order if not self._fixed(n) and n not in known]
        if not open_:
            return [self._text(literal, meant) for literal, meant in parts]
        first = open_[0]
        if not self._things[first].every:
            some = open_[: next((i for i, n in enumerate(open_) if self._things[n].every), None)]
            # If no universal thing follows, give independent groups separate quantifiers.
            if len(some) == len(open_):
                groups = self._groups(some, parts)
                fixed = [part for part in parts if not set(part[0].args) & set(some)]
                written = [self._text(literal, meant) for literal, meant in fixed]
                return [*written, *(self._some(group, [], mine) for group, mine in groups)]
            return [self._some(some, open_[len(some) :], parts)]
        # Expand a universal thing by copying its literals for each object.
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
        variables = " ".join(f"{self._variables[n]} - {self._type(n)}" for n in some)
        inner = [*self._distinct(some, parts), *self._nested(later, parts, some)]
        return f"(exists ({variables}) {_conjunction(inner)})"

    def _groups(
        self, some: Sequence[str], parts: Sequence[tuple[GoalLiteral, Mapping[str, str]]]
    ) -> list[tuple[list[str], list[tuple[GoalLiteral, Mapping[str, str]]]]]:
        # A quantifier over all things has as many instances as the product of their domains; one
        # quantifier per group has far fewer.
        left = list(some)
        groups = []
        while left:
            more = {left[0]}
            reached = set[str]()
            while more != reached:
                reached = more
                used = {a for x, _ in parts if reached & set(x.args) for a in x.args}
                distinct = {n for n in left for m in reached if self._differ(m, n)}
                more = reached | (used | distinct) & set(left)
            mine = [part for part in parts if reached & set(part[0].args)]
            groups.append(([n for n in left if n in reached], mine))
            left = [n for n in left if n not in reached]
        return groups

    def _differ(self, one: str, other: str) -> bool:
        first, second = self._things[one], self._things[other]
        shared = set(first.classes) & set(second.classes)
        return one != other and bool(shared) and first.apart and second.apart

    def _fixed(self, name: str) -> bool:
        return self._things[name].named or self._things[name].liquid

    def _distinct(
        self, some: Sequence[str], parts: Sequence[tuple[GoalLiteral, Mapping[str, str]]]
    ) -> list[str]:
        fixed = {a for literal, _ in parts for a in literal.args if self._things[a].named}
        unequal = []
        for one, other in combinations((*sorted(fixed), *some), 2):
            if other in some and self._differ(one, other):
                unequal.append(f"(not (= {self._name(one)} {self._name(other)}))")
        return unequal

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
    reached = {first}
    while True:
        mine = [part for part in parts if reached & set(part[0].args)]
        more = {a for literal, _ in mine for a in literal.args if a in later} - reached
        if not more:
            return mine
        reached |= more


def _conjunction(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"(and {' '.join(parts)})"
