"""The differences of one step that call for an explanation, grouped by what they are about."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from hvr.execution.compare import difference
from hvr.execution.observation import Expected, Observed, Truth
from hvr.pddl.model import Atom, Expression, GroundAction, Not

PLACES = frozenset({"on", "in"})
"""Predicates that say where something is."""


@dataclass
class Differences:
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
        different = difference(should, observed.atoms, observed.scene)
        new = should - expected.before
        self.missing |= {a for a in different.missing if self._is_missed(a, new)}
        self.unexpected |= {
            a for a in different.unexpected
            if observed.value(a) is Truth.TRUE
            and not (a.predicate in drifting and a in expected.before)
        }  # fmt: skip
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
            a for a in sorted(after - before, key=str)
            if a.predicate != "near" or a.args[0] in self.action.args
        ]  # fmt: skip
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
        return {a.args[1] for a in atoms if a.predicate in PLACES and a.args[0] == name}

    def _is_missed(self, atom: Atom, new: Collection[Atom]) -> bool:
        if atom.predicate == "near":
            return atom in new and atom.args[0] in self.action.args
        if atom.predicate in self.observed.sorts.drifting and atom not in new:
            return False
        return self.observed.value(atom) is Truth.FALSE

    def _is_odd(self, atom: Atom, within: frozenset[str]) -> bool:
        """Return whether a change of what the plan does not name calls for an explanation.

        Not if it is the action's own doing: what stands on a moved plate moves, too.
        """
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
            if a.predicate in PLACES:
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
