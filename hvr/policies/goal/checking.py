"""Check a goal that a model wrote: its words, its types, and what can be true in the scene at all.

What is wrong is said so that the model can mend it: each problem is a sentence of its own, with the
words that would do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from hvr.knowledge.roles import CONTAINS, PORTABLE
from hvr.pddl.diagnostics import nearest
from hvr.pddl.model import Atom
from hvr.policies.goal.answer import GoalAnswer, GoalLiteral, WrittenThing
from hvr.policies.goal.words import GoalWords, Meant

_MOST_NAMED = 8
_PLACING = frozenset(("on", "in"))


@dataclass(frozen=True)
class CheckedGoal:
    """A goal whose words are known and can be true.

    Args:
        things: what its names stand for, in the order of the answer.
        stages: what shall hold, one stage after the other.
        always: what shall hold throughout.
        once: what shall become so once at most.
        never_two: predicates that shall never hold of two things at once.
        problems: what is wrong with the answer; the rest is of use only when this is empty.
    """

    things: dict[str, Meant]
    stages: tuple[tuple[GoalLiteral, ...], ...]
    always: tuple[GoalLiteral, ...] = ()
    once: tuple[GoalLiteral, ...] = ()
    never_two: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def check_goal(answer: GoalAnswer, words: GoalWords) -> CheckedGoal:
    """Return a goal with its words resolved, or what is wrong with it."""
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
    """Resolves names and collects what is wrong."""

    def __init__(self, words: GoalWords) -> None:
        self.words = words
        self.things: dict[str, Meant] = {}
        self.problems: list[str] = []

    def problem(self, text: str) -> None:
        self.problems.append(text)

    # Names ----------------------------------------------------------------------------------

    def declare(self, thing: WrittenThing) -> None:
        """Take in a thing; one that is named twice counts once."""
        if not thing.name or thing.name in self.things:
            self.problem(f"the name {thing.name!r} of a thing is not its own")
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
        meant = Meant(thing.name, kinds, objects, thing.every, moved or thing.apart)
        self.things[thing.name] = meant
        if thing.where and classes:
            self._narrow(thing, meant)

    def _narrow(self, thing: WrittenThing, meant: Meant) -> None:
        """Leave only the objects of which the descriptions hold now."""
        wrong = [
            x.predicate for x in thing.where if x.predicate not in self.words.domain.predicates
        ]
        if wrong:
            self.problems += [self.words.unknown_predicate(name) for name in wrong]
            return
        left = tuple(
            name for name in meant.objects
            if all(self._is_so(x, thing.name, name) == x.holds for x in thing.where)
        )  # fmt: skip
        if not left:
            said = " ".join(map(str, thing.where))
            label = " or ".join(meant.classes[:_MOST_NAMED])
            self.problem(f"of no {label} here it is true now that {said}")
        classes = tuple(dict.fromkeys(self.words.inventory.classes[n] for n in left))
        self.things[thing.name] = replace(meant, classes=classes, objects=left)

    def _is_so(self, literal: GoalLiteral, name: str, candidate: str) -> bool:
        """Whether a literal holds now, with a candidate for its thing and any object of a kind."""
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
        if literal.predicate in _PLACING:  # which of the two a place takes, the scene knows
            names = tuple(_PLACING)
        return any(Atom(n, row) in self.words.inventory.facts for n in names for row in rows)

    def alone(self, name: str) -> None:
        """Take in a predicate of which no two things shall be true at once."""
        known = self.words.predicates.get(name)
        if known is None:
            self.problem(self.words.unknown_predicate(name))
        elif len(known.parameters) != 1:
            self.problem(f'"never_two" takes predicates of one thing, and {name} is none')

    def read(self, written: Iterable[GoalLiteral]) -> list[GoalLiteral]:
        """Return the literals whose words are known."""
        read = []
        for literal in written:
            predicate = self.words.predicates.get(literal.predicate)
            if predicate is None:
                self.problem(self.words.unknown_predicate(literal.predicate))
                continue
            if len(literal.args) != len(predicate.parameters):
                wanted = " ".join((predicate.name, *(p.name for p in predicate.parameters)))
                self.problem(f"{literal} has {len(literal.args)} arguments: it is ({wanted})")
                continue
            args = [self._arg(literal, place) for place in range(len(literal.args))]
            if all(args):
                read.append(GoalLiteral(literal.predicate, tuple(map(str, args)), literal.holds))
        return read

    def _arg(self, literal: GoalLiteral, place: int) -> str | None:
        """Return the name of an argument, which is known from here on; None if it means nothing."""
        arg, words = literal.args[place], self.words
        liquid = words.liquid_at(literal.predicate, place)
        lower = arg.lower()
        if liquid != (lower in words.liquids) and (liquid or arg not in self.things):
            known = " or ".join(words.liquids)
            self.problem(
                f"{literal}: {arg!r} is no liquid; argument {place + 1} is {known}"
                if liquid
                else f"{literal}: {arg!r} is a liquid; argument {place + 1} is the thing that has "
                f"it in it{self._said_of_liquids(lower)}"
            )
            return None
        if liquid:
            self.things.setdefault(lower, Meant(lower, liquid=True))
            return lower
        if arg in self.things:
            return arg
        if lower in words.inventory.classes:
            kind = words.inventory.classes[lower]
            self.things[lower] = Meant(lower, (kind,), (lower,), named=True)
            return lower
        classes = words.classes_of(arg)
        if not classes:
            near = nearest(arg, self.things)
            self.problem(f"did you mean {near!r} by {arg!r}?" if near else words.unknown_kind(arg))
            return None
        # Who declares one mug and then writes "Mug" means this one.
        declared = [m.name for m in self.things.values() if m.classes == classes and not m.every]
        if len(declared) == 1:
            return declared[0]
        moved = any(words.taxonomy.plays(c, PORTABLE) for c in classes)
        self.things[arg] = Meant(arg, classes, words.objects_of(classes), apart=moved)
        return arg

    def _said_of_liquids(self, liquid: str) -> str:
        """Return how goals say what a thing holds, and how that is."""
        roles, methods = self.words.taxonomy.roles, self.words.taxonomy.methods
        holds = [f"({name} x {liquid})" for name in roles.predicates(CONTAINS)]
        states = [f"({state_of} x) where it is to be {state}"
                  for state, state_of in methods.contents]  # fmt: skip
        return f": {', and '.join((*holds, *states))}" if holds else ""

    # What can be true -----------------------------------------------------------------------

    def fit(self, literal: GoalLiteral) -> None:
        """Leave only the classes of which a literal can be true, or say that there is none."""
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
            f"{literal} can never hold: {a_label} lacks the affordance {needed}; what has it: "
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

    def _keep(self, meant: Meant, classes: Sequence[str]) -> None:
        known = self.words.inventory.classes
        objects = tuple(n for n in meant.objects if known[n] in classes)
        kept = tuple(c for c in meant.classes if c in classes)
        self.things[meant.name] = replace(meant, classes=kept, objects=objects)

    def placed(self, literal: GoalLiteral) -> GoalLiteral:
        """Return a literal with the predicate that its place takes: in a sink, on a table."""
        if literal.predicate not in _PLACING or not self.things[literal.args[1]].classes:
            return literal
        outer = self.things[literal.args[1]].classes[0]
        return replace(literal, predicate=self.words.relation(outer))


def _listed(names: Sequence[str], most: int = _MOST_NAMED) -> str:
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")
