"""Deviations: differences between expected and observed states, grouped by object."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from hvr.execution.observation import AudioEvent, Expected, Observed, SoundKind, Truth
from hvr.knowledge.scene_graph import SceneGraph
from hvr.knowledge.triples import NO_ROOM
from hvr.knowledge.wording import Wording, load_wording
from hvr.pddl.formulas import (
    And,
    Atom,
    Comparison,
    Exists,
    Expression,
    Forall,
    FunctionTerm,
    Imply,
    Not,
    Number,
    NumericExpression,
    Or,
    Trajectory,
)
from hvr.pddl.model import GroundAction
from hvr.values import Value
from hvr.worlds.thor.skills import SHUFFLE

# Deviations ---------------------------------------------------------------------------------------
# One value for each relevant difference between a run and its domain. Deviations do not know how
# they were found (`monitor`) or handled (`recovery`).


class DeviationKind(StrEnum):
    DROPPED = "dropped"
    """The held object is no longer in the hand, and no action put it down."""
    ACTION_FAILED = "action failed"
    """The environment refused the action for none of the reasons below."""
    BLOCKED = "blocked"
    """The object is present but obstructed: it cannot be reached, seen or grasped."""
    OCCUPIED = "occupied"
    """The receptacle has no room because of other objects in or on it."""
    WRONG_OBJECT = "wrong object"
    """The action affected an object other than the intended one."""
    MISSING_PRECONDITION = "missing precondition"
    """A precondition does not hold: an earlier step is missing or was undone."""
    NO_EFFECT = "no effect"
    """The action was reported as done, but none of its effects is visible."""
    WRONG_EFFECT = "wrong effect"
    """The action had only some of its effects, or an unexpected one."""
    CHANGED_BY_OTHERS = "changed by others"
    """Something unrelated to the action changed."""
    MISPERCEIVED = "misperceived"
    """The belief about an object out of view turns out to be wrong."""
    MISSING_OBJECT = "missing object"
    """An object is not at its believed place and is not visible anywhere else."""
    GOAL_UNMET = "goal unmet"
    """All steps of the plan were done, but the goal does not hold."""
    CONSTRAINT_BROKEN = "constraint broken"
    """A trajectory constraint is violated beyond repair."""


class Side(StrEnum):
    """The side of an action on which a condition was violated."""

    PRE = "pre"
    """A precondition, which had to hold before the action."""
    POST = "post"
    """A postcondition: an effect, or a fact that should have stayed the same."""


class Deviation(Value):
    """A difference between the predicted and the observed outcome of a step.

    Args:
        side: Whether a precondition (pre) or a postcondition (post) was violated.
        literals: PDDL literals that should hold but do not. Empty only if the environment refused
            an action whose preconditions held.
        step: 1-based number of the step, or of the step after which the deviation was noticed.
        action: Action of the step; None if the goal of a finished plan is unmet.
        explanation: The deviation in one sentence.
        objects: Names of the objects involved, most relevant first.
        evidence: Sounds and messages that support the explanation.
    """

    kind: DeviationKind
    side: Side
    literals: tuple[Expression, ...]
    step: int
    action: GroundAction | None
    explanation: str
    objects: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()

    json_shape = "*"


def constraint_broken(
    constraint: Trajectory,
    step: int,
    action: GroundAction | None,
    wording: Wording | None = None,
    *,
    by_others: bool = False,
) -> Deviation:
    """Return the deviation of a trajectory constraint broken by the robot or `by_others`."""
    formula = constraint.formulas[0]
    violated = formula if constraint.operator == "always" else Not(formula)
    return Deviation(
        DeviationKind.CONSTRAINT_BROKEN,
        Side.POST,
        (violated,),
        step,
        action,
        f"A constraint is violated after step {step}: {constraint_clause(constraint, wording)}."
        f"{' The cause is not the robot.' if by_others else ''}",
    )


# Comparison ---------------------------------------------------------------------------------------
# The difference between an expected and an observed state, as facts.


class Difference(Value):
    """Facts in which the world differs from the domain's prediction.

    Args:
        missing: Expected facts that do not hold.
        unexpected: Facts that hold but were not expected.
        numbers: Expected values that differ, such as `(= (fuel t1) 3)`.
    """

    missing: tuple[Atom, ...] = ()
    unexpected: tuple[Atom, ...] = ()
    numbers: tuple[Comparison, ...] = ()

    json_shape = "missing unexpected numbers-"

    def __bool__(self) -> bool:
        return bool(self.missing or self.unexpected or self.numbers)

    def explain(self) -> str:
        parts = []
        if self.missing or self.numbers:
            parts.append("expected " + " ".join(map(str, (*self.missing, *self.numbers))))
        if self.unexpected:
            parts.append("saw " + " ".join(map(str, self.unexpected)))
        return "; ".join(parts)


def compare_states(
    expected: Iterable[Atom], observed: Iterable[Atom], scene: SceneGraph
) -> Difference:
    """Compare two states of the same objects.

    Unexpected `near` facts are ignored. Expected ones also hold if the object is in the hand, or at
    most one move or turn away.
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
# The differences of one step that need an explanation, grouped by object.

PLACE_PREDICATES = frozenset({"on", "in"})
"""Predicates that state an object's place."""


@dataclass
class UnexplainedDifferences:
    """The differences in the outcome of one step that no deviation explains yet.

    Temperatures are ignored, because they change by themselves. `near` facts about objects that
    the action does not name are ignored, because the robot has moved.
    """

    action: GroundAction
    expected: Expected
    observed: Observed
    missing: set[Atom] = field(default_factory=set, init=False)
    """Atoms that should hold but do not."""
    unexpected: set[Atom] = field(default_factory=set, init=False)
    """Atoms that hold but should not."""

    def __post_init__(self) -> None:
        expected, observed = self.expected, self.observed
        drifting = observed.sorts.drifting
        should = expected.after if observed.success else expected.before
        different = compare_states(should, observed.atoms, observed.scene)
        new = should - expected.before
        self.missing |= {a for a in different.missing if self._counts_as_missing(a, new)}
        self.unexpected |= {
            a
            for a in different.unexpected
            if observed.value(a) is Truth.TRUE
            and not (a.predicate in drifting and a in expected.before)
        }
        if observed.lost or observed.gained:
            within = self._with_contents(self.touched())
            self.missing |= {a for a in observed.lost if self._counts_as_change(a, within)}
            self.unexpected |= {a for a in observed.gained if self._counts_as_change(a, within)}

    def __bool__(self) -> bool:
        return bool(self.missing or self.unexpected)

    @property
    def literals(self) -> frozenset[Expression]:
        return frozenset({*self.missing, *(Not(a) for a in self.unexpected)})

    def effects(self) -> list[Expression]:
        """Return the literals that the action should have made true.

        A `near` fact is included only if it became true and the action names its object; other
        `near` facts depend on the robot's position.
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
        """Return the objects that the action names or that its effects mention."""
        return {*self.action.args, *(n for e in self.effects() for n in atom_of(e).args)}

    def forget(
        self,
        names: Collection[str] | None,
        *,
        hand: bool = False,
        only: Collection[str] | None = None,
    ) -> None:
        """Remove differences that a deviation explains.

        Args:
            names: Objects whose differences are removed, as well as facts without arguments; None
                means all objects.
            hand: Whether to also remove all facts without arguments, which describe the robot's
                hand.
            only: Predicates to which the removal is limited; None means all predicates.
        """

        def explained(a: Atom) -> bool:
            if hand and not a.args:
                return True
            about = names is None or not a.args or not set(a.args).isdisjoint(names)
            return about and (only is None or a.predicate in only)

        self.missing = {a for a in self.missing if not explained(a)}
        self.unexpected = {a for a in self.unexpected if not explained(a)}

    def groups(self) -> Iterator[tuple[Expression, ...]]:
        """Yield groups of differences that probably have the same cause.

        One group contains the facts about an object, its switch, and its current or former place.
        """
        # Union-find over objects; sorted input keeps the order of the groups deterministic.
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
        """Return the receptacles that the object is or was directly in or on."""
        observed = self.observed
        atoms = (*self.expected.before, *observed.atoms, *observed.gained, *observed.lost)
        return {a.args[1] for a in atoms if a.predicate in PLACE_PREDICATES and a.args[0] == name}

    def _counts_as_missing(self, atom: Atom, new: Collection[Atom]) -> bool:
        if atom.predicate == "near":
            return atom in new and atom.args[0] in self.action.args
        if atom.predicate in self.observed.sorts.drifting and atom not in new:
            return False
        return self.observed.value(atom) is Truth.FALSE

    def _counts_as_change(self, atom: Atom, within: frozenset[str]) -> bool:
        sorts = self.observed.sorts
        if atom.predicate in sorts.remembered | sorts.drifting | {"near"}:
            return False
        own = self.observed.success and atom.predicate in self.expected.effects
        return not (own and not within.isdisjoint(atom.args))

    def _with_contents(self, names: set[str]) -> frozenset[str]:
        """Return the objects, the objects they control, and all current and former contents."""
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
    """Return the atom of a literal; any other formula becomes an atom named by its text."""
    atom = literal.operand if isinstance(literal, Not) else literal
    return atom if isinstance(atom, Atom) else Atom(str(atom))


def subjects(literals: Iterable[Expression]) -> tuple[str, ...]:
    """Return the objects that literals mention, starting with each literal's first argument."""
    atoms = [atom_of(literal) for literal in literals]
    first = [a.args[0] for a in atoms if a.args]
    others = [n for a in atoms for n in a.args[1:]]
    return tuple(dict.fromkeys((*first, *others)))


def _subject(atom: Atom) -> str:
    return atom.args[0] if atom.args else "hand"


# Clauses ------------------------------------------------------------------------------------------
# Sentences that explain deviations and refusals.

# PDDL literals as clauses of a sentence.


def literal_clause(literal: Expression, wording: Wording | None = None) -> str:
    """Return a literal as a clause, such as `mug-1 is not in the hand`."""
    positive = not isinstance(literal, Not)
    atom = literal.operand if isinstance(literal, Not) else literal
    clause = ""
    if isinstance(atom, Comparison):
        clause = _compared(atom, positive)
    elif isinstance(atom, Atom):
        clause = (wording or load_wording()).clause(atom.predicate, atom.args, positive=positive)
    return clause or (f"{atom} holds" if positive else f"{atom} does not hold")


def constraint_clause(constraint: Trajectory, wording: Wording | None = None) -> str:
    """Return a trajectory constraint as a clause, or as PDDL if no clause can express it."""
    from hvr.language.paraphrase import KEPT  # rarely needed

    if constraint.operator not in KEPT:
        return str(constraint)
    parts = [condition_clause(formula, wording) for formula in constraint.formulas]
    return KEPT[constraint.operator].format(*parts)


def condition_clause(formula: Expression, wording: Wording | None = None) -> str:
    """Return a condition as a clause, such as `if mug-1 is in the hand, tap-1 is off`."""
    match formula:
        case And(operands) if operands:
            return " and ".join(condition_clause(one, wording) for one in operands)
        case Or(operands) if operands:
            return f"either {' or '.join(condition_clause(one, wording) for one in operands)}"
        case Imply(left, right):
            return f"if {condition_clause(left, wording)}, {condition_clause(right, wording)}"
        case Not(Exists((variable,), body)) | Exists((variable,), body) | Forall((variable,), body):
            kind = " or ".join(variable.types)
            word = "no" if isinstance(formula, Not) else "a"
            word = "every" if isinstance(formula, Forall) else word
            return condition_clause(body, wording).replace(variable.name, f"{word} {kind}")
        case Not(Not(operand)):
            return condition_clause(operand, wording)
        case Not(operand) if not isinstance(operand, Atom | Comparison):
            return f"it is not so that {condition_clause(operand, wording)}"
    return literal_clause(formula, wording)


def _compared(condition: Comparison, positive: bool) -> str:
    left, right = _amount(condition.left), _amount(condition.right)
    if not isinstance(condition.left, FunctionTerm) or not right:
        return ""
    verb = "is" if positive else "is not"
    return f"{left} {verb} {_COMPARISONS[condition.operator]}{right}"


def _amount(expression: NumericExpression) -> str:
    if isinstance(expression, Number):
        return str(expression)
    if not isinstance(expression, FunctionTerm):
        return ""
    name = re.sub(r"[-_]+", " ", expression.function)
    of = f" of {' and '.join(expression.args)}" if expression.args else ""
    return f"the {name}{of}"


_COMPARISONS = {"=": "", ">=": "at least ", "<=": "at most ", ">": "more than ", "<": "less than "}


def negated(literal: Expression) -> Expression:
    return literal.operand if isinstance(literal, Not) else Not(literal)


def literal_clauses(
    literals: Iterable[Expression], most: int = 3, *, wording: Wording | None = None
) -> str:
    """Return literals as clauses joined by commas and `and`, without duplicates.

    Args:
        most: Maximum number of clauses; if there are more, the text ends with the number left out.
    """
    clauses = list(dict.fromkeys(literal_clause(literal, wording) for literal in literals))
    if len(clauses) > most:
        clauses = [*clauses[: most - 1], f"{len(clauses) - most + 1} more things"]
    if len(clauses) > 1:
        return ", ".join(clauses[:-1]) + " and " + clauses[-1]
    return "".join(clauses)


# Explanation --------------------------------------------------------------------------------------
# The sentence that explains a deviation, and the sounds that support it.


class RawDeviation(Value):
    """A deviation without its explanation.

    Args:
        literals: Literals that should hold but do not.
        objects: The objects involved, most relevant first. For `dropped`: the object and its
            current place. For `wrong object`: the intended and the affected object, or the object,
            its intended place and its current place. For `occupied`: the place, its occupants, and
            the object to be placed.
        since: Step in which the first object was last seen; None if it is in view.
    """

    kind: DeviationKind
    literals: tuple[Expression, ...]
    objects: tuple[str, ...]
    evidence: tuple[str, ...] = ()
    since: int | None = None


class Explanation(Value):
    """Describes the deviations of one step in sentences."""

    action: GroundAction | None
    sounds: tuple[AudioEvent, ...]
    wording: Wording | None = None

    def sentence(self, finding: RawDeviation) -> str:
        named = finding.objects
        first = named[0] if named else str(self.action)
        so = literal_clauses(
            [negated(literal) for literal in finding.literals], wording=self.wording
        )
        message = f": {finding.evidence[0].rstrip('.')}" if finding.evidence else ""
        match finding.kind:
            case DeviationKind.DROPPED:
                where = f"; it is now on {named[1]}" if len(named) > 1 else ""
                return f"{first} is no longer in the hand{where}."
            case DeviationKind.OCCUPIED:
                inside = [n for n in named[1:-1] if n != named[-1]]
                verb = "is" if len(inside) == 1 else "are"
                by = f": {', '.join(inside[:3])} {verb} there" if inside else ""
                return f"{first} has no room for {named[-1]}{by}."
            case DeviationKind.BLOCKED:
                return f"{self.action} cannot reach {first}{message}."
            case DeviationKind.ACTION_FAILED:
                return f"{self.action} was refused{message}."
            case DeviationKind.MISSING_PRECONDITION:
                return f"{self.action} is not possible, because {so or 'a condition is unmet'}."
            case DeviationKind.NO_EFFECT:
                return f"{self.action} was reported as done but changed nothing:  {so}."
            case DeviationKind.WRONG_OBJECT if len(named) == 1:
                return f"{self.action} acted on something other than {first}{message}."
            case DeviationKind.WRONG_OBJECT if len(named) == 2:
                return f"{self.action} acted on {named[1]} instead of {first}: {so}."
            case DeviationKind.WRONG_OBJECT:
                return f"{first} is at {named[-1]} instead of {named[1]}."
            case DeviationKind.WRONG_EFFECT:
                return f"{self.action} did not have the expected effect:  {so}."
            case DeviationKind.CHANGED_BY_OTHERS:
                return f"Something other than {self.action} changed the room:  {so}."
            case DeviationKind.MISPERCEIVED:
                return f"The belief since step {finding.since} was wrong:  {so}."
            case DeviationKind.MISSING_OBJECT:
                return f"{first} is not where it was last seen, in step {finding.since}: {so}."
            case DeviationKind.GOAL_UNMET:
                return f"The plan is complete, but the goal does not hold:  {so}."
            case DeviationKind.CONSTRAINT_BROKEN:
                return f"A constraint is violated:  {so}."

    def heard(self, finding: RawDeviation) -> tuple[str, ...]:
        relevant = _RELEVANT_SOUNDS.get(finding.kind, frozenset())
        types = {name.rpartition("-")[0] for name in finding.objects}
        return tuple(
            f"heard: {sound}"
            for sound in self.sounds
            if sound.noise in relevant and sound.object_type.lower() in types
        )


_RELEVANT_SOUNDS = {
    DeviationKind.DROPPED: frozenset({SoundKind.DROPPED, SoundKind.BROKEN, SoundKind.POURED}),
    DeviationKind.WRONG_OBJECT: frozenset(SoundKind),
    DeviationKind.WRONG_EFFECT: frozenset(SoundKind),
    DeviationKind.CHANGED_BY_OTHERS: frozenset(SoundKind),
}


# Refusals -----------------------------------------------------------------------------------------
# Why the environment refused an action, judged by its message and the preconditions.

IN_THE_WAY = (
    "not found within the specified visibility",
    "not interactable",
    "occluded",
    "obstructed",
    "is blocking",
    "blocked",
    "in the way",
    "Collided with",
    "cannot be reached",
    "can be reached",
    "too far",
    "would collide",
)
"""Parts of AI2-THOR's and hvr's messages about an object that cannot be reached."""

ALREADY = ("if it's already on!", "if it's already off!")
"""Parts of AI2-THOR's messages about a switch that is already in the requested position."""

_PLACES = frozenset({"on", "in"})


def classify_refusal(action: GroundAction, observed: Observed) -> RawDeviation:
    """Return the kind and the violated literals of a refused action.

    A violated precondition determines the kind; if all preconditions hold, the environment's
    message does. Lack of room is checked first, because the domain may not know what occupies a
    place.
    """
    message = (observed.error,) if observed.error else ()
    unmet = observed.unmet
    occupants = [
        literal
        for literal in unmet
        if isinstance(literal, Not)
        and isinstance(literal.operand, Atom)
        and literal.operand.predicate in _PLACES
    ]
    error = observed.error
    # The place is occupied if every unmet literal requires some object not to be there.
    if any(part in error for part in NO_ROOM) or (occupants and len(occupants) == len(unmet)):
        return _occupied(action, observed, occupants, message)
    if unmet:
        names = dict.fromkeys(n for e in unmet for n in _arguments(e))
        return RawDeviation(
            DeviationKind.MISSING_PRECONDITION, unmet, (*names,) or action.args, message
        )
    if any(part in error for part in IN_THE_WAY):
        return RawDeviation(DeviationKind.BLOCKED, (), action.args[-1:], message)
    if any(part in error for part in ALREADY):
        # The switch is not in that position, so the robot turned the switch of another object.
        return RawDeviation(DeviationKind.WRONG_OBJECT, (), action.args[:1], message)
    return RawDeviation(DeviationKind.ACTION_FAILED, (), action.args, message)


def _occupied(
    action: GroundAction,
    observed: Observed,
    occupants: Sequence[Expression],
    message: tuple[str, ...],
) -> RawDeviation:
    place = action.args[-1]
    inside = [  # newest occupants first
        a
        for a in (*sorted(observed.gained, key=str), *sorted(observed.atoms, key=str))
        if a.predicate in _PLACES and a.args[1] == place
    ]
    literals: tuple[Expression, ...] = tuple(occupants)
    if not literals and len(action.args) == 2:
        literals = (Atom("fits", action.args),)
    names = (place, *(a.args[0] for a in inside), action.args[0])
    return RawDeviation(DeviationKind.OCCUPIED, literals, tuple(dict.fromkeys(names)), message)


def _arguments(literal: Expression) -> tuple[str, ...]:
    atom = literal.operand if isinstance(literal, Not) else literal
    return atom.args if isinstance(atom, Atom) else ()
