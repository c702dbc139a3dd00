"""Actions whose condition and effect are conjunctions of literals, prepared for grounding.

Most actions of most domains are of this kind. Making one ground is then a few look-ups.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from hvr.pddl import conditions
from hvr.pddl.conditions import Conjunction, Operator
from hvr.pddl.model import (
    ActionSchema,
    And,
    Atom,
    DurativeActionSchema,
    Expression,
    GroundAction,
    Not,
    NumericEffect,
)

if TYPE_CHECKING:
    from hvr.pddl.facts import Row
    from hvr.pddl.numeric import Rational
    from hvr.pddl.task import Task

_Row = Callable[[tuple[str, ...]], Any]
_Literal = tuple[str, _Row, bool]


class Template:
    """An action schema prepared for grounding: see `template_of`."""

    __slots__ = ("_adds", "_constants", "_deletes", "_fluents", "_numeric", "_statics", "_task")

    def __init__(
        self,
        task: Task,
        literals: list[tuple[Atom, bool]],
        changes: list[tuple[Atom, bool]],
        numeric: list[NumericEffect],
        schema: ActionSchema | DurativeActionSchema,
    ) -> None:
        self._task = task
        # Arguments of literals are numbered: the parameters first, then the constants. A row is
        # then one `itemgetter` over the arguments of an action followed by the constants, in C.
        places = {p.name: place for place, p in enumerate(schema.parameters)}
        constants: list[str] = []
        for atom, _ in (*literals, *changes):
            for arg in atom.args:
                if arg not in places:
                    places[arg] = len(schema.parameters) + len(constants)
                    constants.append(arg)
        self._constants = tuple(constants)
        rows = [(a.predicate, _row([places[x] for x in a.args]), sign) for a, sign in literals]
        self._statics: list[_Literal] = [r for r in rows if task.is_static(r[0])]
        self._fluents: list[_Literal] = [r for r in rows if not task.is_static(r[0])]
        effects = [(a.predicate, _row([places[x] for x in a.args]), sign) for a, sign in changes]
        self._adds = [(name, row) for name, row, sign in effects if sign]
        self._deletes = [(name, row) for name, row, sign in effects if not sign]
        self._numeric = numeric

    def ground(self, action: GroundAction, duration: Rational | None = None) -> Operator:
        """Make an operator of an action that fits; `duration` is what `?duration` stands for."""
        task = self._task
        objects = action.args + self._constants
        condition = self._holds_for(objects)
        index_of = task.index_of
        add = delete = 0
        for predicate, row in self._adds:
            add |= 1 << index_of(predicate, row(objects))
        for predicate, row in self._deletes:
            delete |= 1 << index_of(predicate, row(objects))
        numeric = task.numeric_changes(self._numeric, action, duration) if self._numeric else ()
        return Operator(action, condition, add, delete, (), numeric)

    def condition(self, action: GroundAction) -> Conjunction:
        """Make the condition of an action that fits, without its effects."""
        return self._holds_for(action.args + self._constants)

    def _holds_for(self, objects: Row) -> Conjunction:
        task = self._task
        # Static literals first: where one fails, the others need no bits.
        for predicate, row, sign in self._statics:
            if (row(objects) in task.static_facts.relation(predicate)) is not sign:
                return conditions.FALSE
        positive = negative = 0
        for predicate, row, sign in self._fluents:
            bit = 1 << task.index_of(predicate, row(objects))
            if sign:
                positive |= bit
            else:
                negative |= bit
        if positive & negative:
            return conditions.FALSE
        return Conjunction(positive, negative)


def ground_directly(task: Task, schema: ActionSchema) -> Operator | None:
    """Make the operator of an action without parameters that is a conjunction of literals."""
    literals: list[tuple[Atom, bool]] = []
    changes: list[tuple[Atom, bool]] = []
    numeric: list[NumericEffect] = []
    if not _collect(schema.precondition, literals, None):
        return None
    if not _collect(schema.effect, changes, numeric):
        return None
    action = GroundAction(schema.name)
    condition = _ground_condition(task, literals)
    add = delete = 0
    for atom, sign in changes:
        bit = 1 << task.index_of(atom.predicate, atom.args)
        if sign:
            add |= bit
        else:
            delete |= bit
    numbers = task.numeric_changes(numeric, action) if numeric else ()
    return Operator(action, condition, add, delete, (), numbers)


def _ground_condition(task: Task, literals: list[tuple[Atom, bool]]) -> Conjunction:
    positive = negative = 0
    for atom, sign in literals:
        predicate = atom.predicate
        if predicate not in task.fluent_predicates:
            if (atom.args in task.static_facts.relation(predicate)) is not sign:
                return conditions.FALSE
            continue
        bit = 1 << task.index_of(predicate, atom.args)
        if sign:
            positive |= bit
        else:
            negative |= bit
    return conditions.FALSE if positive & negative else Conjunction(positive, negative)


def template_of(task: Task, schema: ActionSchema) -> Template | None:
    """Prepare a schema.

    None when it is not a conjunction of literals throughout, or has a single ground action.
    """
    if not schema.parameters:
        return None
    return template_of_parts(task, schema, schema.precondition, schema.effect)


def template_of_parts(
    task: Task,
    schema: ActionSchema | DurativeActionSchema,
    condition: Expression,
    effect: Expression,
) -> Template | None:
    """Prepare a condition and an effect of a schema, such as those at one end of its duration.

    None when they are not conjunctions of literals throughout.
    """
    literals: list[tuple[Atom, bool]] = []
    changes: list[tuple[Atom, bool]] = []
    numeric: list[NumericEffect] = []
    if not _collect(condition, literals, None) or not _collect(effect, changes, numeric):
        return None
    return Template(task, literals, changes, numeric, schema)


def _collect(
    expression: Expression,
    literals: list[tuple[Atom, bool]],
    numeric: list[NumericEffect] | None,
) -> bool:
    match expression:
        case Atom():
            literals.append((expression, True))
        case Not(Atom() as atom):
            literals.append((atom, False))
        case And(operands):
            return all(_collect(o, literals, numeric) for o in operands)
        case NumericEffect() if numeric is not None:
            numeric.append(expression)
        case _:
            return False
    return True


def _row(places: list[int]) -> _Row:
    """Return a function that picks arguments by their place, as a tuple."""
    if not places:
        return _nothing
    if len(places) == 1:
        place = places[0]
        return lambda objects: (objects[place],)
    return itemgetter(*places)


def _nothing(_: tuple[str, ...]) -> tuple[str, ...]:
    return ()
