"""Deviations: the differences between expected and observed states, grouped by their objects."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from hvr.execution.observation import Expected, Observed, Truth
from hvr.knowledge.scene_graph import SceneGraph
from hvr.pddl.model import Atom, Comparison, Expression, GroundAction, Not, Trajectory
from hvr.values import Value
from hvr.worlds.thor.skills import SHUFFLE

# Failures -----------------------------------------------------------------------------------------
# Deviations as values: one for every difference between a run and the domain that counts.
#
# They know nothing of how they were found (`detection`) or what is done about them
# (`recovery`); they can be compared, printed and written as JSON.


class DeviationKind(StrEnum):
    """The kind of a deviation."""

    DROPPED = "dropped"
    """What was in the hand is not there any more, and no action put it down."""
    ACTION_FAILED = "action failed"
    """The environment refused the action, and none of the kinds below says why."""
    BLOCKED = "blocked"
    """The object is there, but cannot be reached, seen or grasped: something is in the way."""
    OCCUPIED = "occupied"
    """The receptacle has no room: something else is in or on it."""
    WRONG_OBJECT = "wrong object"
    """The action had its effect, on another object than the one meant."""
    MISSING_PRECONDITION = "missing precondition"
    """The action needs something that does not hold: a step before it is missing or undone."""
    NO_EFFECT = "no effect"
    """The action was reported as done, and nothing of what it should do is to be seen."""
    WRONG_EFFECT = "wrong effect"
    """The action did only a part of what it should do, or something that it should not."""
    CHANGED_BY_OTHERS = "changed by others"
    """Something changed that the action has nothing to do with."""
    MISPERCEIVED = "misperceived"
    """What was believed of something not in view turns out to be otherwise."""
    MISSING_OBJECT = "missing object"
    """An object is not where it was believed to be, and nowhere else to be seen."""
    GOAL_UNMET = "goal unmet"
    """All steps of the plan were done, and the goal does not hold."""
    CONSTRAINT_BROKEN = "constraint broken"
    """Something that was to be kept throughout is no longer so, and nothing can repair it."""


class Side(StrEnum):
    """The side of an action that was violated."""

    PRE = "pre"
    """A precondition: what had to hold before the action."""
    POST = "post"
    """A postcondition: what had to hold after it, its effects and what should have stayed."""


class Deviation(Value):
    """One deviation of the observed outcome from the one that the domain predicts.

    Args:
        kind: its kind.
        side: whether a pre- or a postcondition is violated.
        literals: the violated condition: PDDL literals that should hold and were seen not
            to. Empty only where the environment refused an action and nothing that the
            domain knows was violated.
        step: number of the step in the run, from 1; the step after which it was noticed.
        action: the action of that step; None where the goal of a finished plan is unmet.
        explanation: one sentence.
        objects: names of the objects that it is about, the most telling first.
        evidence: sounds and messages that speak for it, in words.
    """

    kind: DeviationKind
    side: Side
    literals: tuple[Expression, ...]
    step: int
    action: GroundAction | None
    explanation: str
    objects: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "kind": self.kind.value,
            "side": self.side.value,
            "literals": [str(literal) for literal in self.literals],
            "step": self.step,
            "action": None if self.action is None else str(self.action),
            "explanation": self.explanation,
            "objects": list(self.objects),
            "evidence": list(self.evidence),
        }


def constraint_broken(constraint: Trajectory, step: int, action: GroundAction | None) -> Deviation:
    """Return the deviation of a constraint that is broken."""
    formula = constraint.formulas[0]
    wanted = formula if constraint.operator == "always" else Not(formula)
    return Deviation(
        DeviationKind.CONSTRAINT_BROKEN,
        Side.POST,
        (wanted,),
        step,
        action,
        f"What was to be kept is broken after step {step}: {constraint}.",
    )


# Compare ------------------------------------------------------------------------------------------
# The difference between an expected and an observed state, as facts.


class Difference(Value):
    """Facts in which the world differs from what the domain predicts.

    Args:
        missing: expected to hold and not seen to.
        unexpected: seen to hold and not expected to.
        numbers: values that were expected, as `(= (fuel t1) 3)`, and are others.
    """

    missing: tuple[Atom, ...] = ()
    unexpected: tuple[Atom, ...] = ()
    numbers: tuple[Comparison, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.missing or self.unexpected or self.numbers)

    def explain(self) -> str:
        """Return one line with what was expected and what was seen instead."""
        parts = []
        if self.missing or self.numbers:
            parts.append("expected " + " ".join(map(str, (*self.missing, *self.numbers))))
        if self.unexpected:
            parts.append("saw " + " ".join(map(str, self.unexpected)))
        return "; ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        numbers = {"numbers": [str(value) for value in self.numbers]} if self.numbers else {}
        return {
            "missing": [str(atom) for atom in self.missing],
            "unexpected": [str(atom) for atom in self.unexpected],
            **numbers,
        }


def compare_states(
    expected: Iterable[Atom], observed: Iterable[Atom], scene: SceneGraph
) -> Difference:
    """Compare two states over the same objects.

    Being near is one-sided: what the robot means to be near must be in reach, in the hand, or
    so close that a step or a look suffices, but more may be in reach than it means to use.
    """
    expected, observed = frozenset(expected), frozenset(observed)
    missing = [a for a in expected - observed if a.predicate != "near"]
    unexpected = [a for a in observed - expected if a.predicate != "near"]
    for atom in expected:
        if atom.predicate == "near":
            there = scene.objects.get(atom.args[0])
            if there is not None and not there.in_reach and there.distance > SHUFFLE:
                missing.append(atom)
    return Difference(tuple(sorted(missing, key=str)), tuple(sorted(unexpected, key=str)))


# Differences --------------------------------------------------------------------------------------
# The differences of one step that call for an explanation, grouped by what they are about.

PLACE_PREDICATES = frozenset({"on", "in"})
"""Predicates that say where something is."""


@dataclass
class UnexplainedDifferences:
    """Facts that are not as they should be and have not been explained yet.

    Two things do not count. Something hot or cold may be so no longer, or still (it cools and
    warms by itself, in its own time); and what the action does not name may be out of reach (the
    robot moved).

    Args:
        action: the action of the step.
        expected: the state before it, and the one that it should lead to.
        observed: what was observed after it.
    """

    action: GroundAction
    expected: Expected
    observed: Observed
    missing: set[Atom] = field(default_factory=set, init=False)
    """Atoms that should hold, and are seen not to."""
    unexpected: set[Atom] = field(default_factory=set, init=False)
    """Atoms that are seen to hold, and should not."""

    def __post_init__(self) -> None:
        expected, observed = self.expected, self.observed
        drifting = observed.sorts.drifting
        should = expected.after if observed.success else expected.before
        different = compare_states(should, observed.atoms, observed.scene)
        new = should - expected.before
        self.missing |= {a for a in different.missing if self._is_missed(a, new)}
        self.unexpected |= {
            a
            for a in different.unexpected
            if observed.value(a) is Truth.TRUE
            and not (a.predicate in drifting and a in expected.before)
        }
        if observed.lost or observed.gained:
            within = self._within(self.touched())
            self.missing |= {a for a in observed.lost if self._is_odd(a, within)}
            self.unexpected |= {a for a in observed.gained if self._is_odd(a, within)}

    def __bool__(self) -> bool:
        return bool(self.missing or self.unexpected)

    @property
    def literals(self) -> frozenset[Expression]:
        """The differences as the literals that should hold."""
        return frozenset({*self.missing, *(Not(a) for a in self.unexpected)})

    def effects(self) -> list[Expression]:
        """Return the literals that the action should have made true.

        Being near counts only for what the action names: where the robot stands follows.
        """
        before, after = self.expected.before, self.expected.after
        new: list[Expression] = [
            a
            for a in sorted(after - before, key=str)
            if a.predicate != "near" or a.args[0] in self.action.args
        ]
        gone: list[Expression] = [
            Not(a) for a in sorted(before - after, key=str) if a.predicate != "near"
        ]
        return new + gone

    def touched(self) -> set[str]:
        """Return the objects that the action names or should change."""
        return {*self.action.args, *(n for e in self.effects() for n in atom_of(e).args)}

    def forget(
        self,
        names: Collection[str] | None,
        *,
        hand: bool = False,
        only: Collection[str] | None = None,
    ) -> None:
        """Remove the differences that are explained.

        Args:
            names: facts about these objects, and about nothing; None for all objects.
            hand: and all facts that name nothing: those about the robot's hand.
            only: but facts of these predicates only.
        """

        def explained(a: Atom) -> bool:
            if hand and not a.args:
                return True
            about = names is None or not a.args or not set(a.args).isdisjoint(names)
            return about and (only is None or a.predicate in only)

        self.missing = {a for a in self.missing if not explained(a)}
        self.unexpected = {a for a in self.unexpected if not explained(a)}

    def groups(self) -> Iterator[tuple[Expression, ...]]:
        """Yield the differences, together those that may have one cause.

        Those about one object belong together, and those about a switch and what it switches, and
        about a thing and what it is or was on or in.
        """
        # Disjoint sets of objects, each known by its root; sorted input keeps the order fixed.
        joined: dict[str, str] = {}

        def root(name: str) -> str:
            while joined.setdefault(name, name) != name:
                name = joined[name]
            return name

        literals = sorted(self.literals, key=str)
        for literal in literals:
            atom = atom_of(literal)
            root(_subject(atom))
            if atom.predicate == "holding":
                joined[root("hand")] = root(atom.args[0])
        subjects = set(joined)
        pairs = [*self.observed.scene.controls]
        pairs += [(name, place) for name in subjects for place in self.places(name)]
        for a, b in pairs:
            if a in subjects and b in subjects:
                joined[root(a)] = root(b)
        groups: dict[str, list[Expression]] = {}
        for literal in literals:
            groups.setdefault(root(_subject(atom_of(literal))), []).append(literal)
        yield from map(tuple, groups.values())

    def places(self, name: str) -> set[str]:
        """Return the objects that an object is or was directly on or in."""
        observed = self.observed
        atoms = (*self.expected.before, *observed.atoms, *observed.gained, *observed.lost)
        return {a.args[1] for a in atoms if a.predicate in PLACE_PREDICATES and a.args[0] == name}

    def _is_missed(self, atom: Atom, new: Collection[Atom]) -> bool:
        if atom.predicate == "near":
            return atom in new and atom.args[0] in self.action.args
        if atom.predicate in self.observed.sorts.drifting and atom not in new:
            return False
        return self.observed.value(atom) is Truth.FALSE

    def _is_odd(self, atom: Atom, within: frozenset[str]) -> bool:
        sorts = self.observed.sorts
        if atom.predicate in sorts.remembered | sorts.drifting | {"near"}:
            return False
        own = self.observed.success and atom.predicate in self.expected.effects
        return not (own and not within.isdisjoint(atom.args))

    def _within(self, names: set[str]) -> frozenset[str]:
        """Return objects, what they switch, and all that is or was on or in these at any depth."""
        inside: dict[str, set[str]] = {}
        for switch, switched in self.observed.scene.controls:
            inside.setdefault(switch, set()).add(switched)
        for o in self.observed.scene.objects.values():
            for parent in o.parents:
                inside.setdefault(parent, set()).add(o.name)
        for a in self.observed.lost:
            if a.predicate in PLACE_PREDICATES:
                inside.setdefault(a.args[1], set()).add(a.args[0])
        reached, todo = set(names), list(names)
        while todo:
            new = inside.get(todo.pop(), set()) - reached
            reached |= new
            todo += new
        return frozenset(reached)


def atom_of(literal: Expression) -> Atom:
    """Return the atom of a literal; of another formula, one that is named by its text."""
    atom = literal.operand if isinstance(literal, Not) else literal
    return atom if isinstance(atom, Atom) else Atom(str(atom))


def subjects(literals: Iterable[Expression]) -> tuple[str, ...]:
    """Return the objects that literals are about: what is somewhere before where it is."""
    atoms = [atom_of(literal) for literal in literals]
    first = [a.args[0] for a in atoms if a.args]
    others = [n for a in atoms for n in a.args[1:]]
    return tuple(dict.fromkeys((*first, *others)))


def _subject(atom: Atom) -> str:
    return atom.args[0] if atom.args else "hand"
