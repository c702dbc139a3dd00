"""Which steps may not happen at the same time: PDDL 2.1's rule of no moving targets.

Two steps interfere when one changes an atom or number that the other reads, or when both change
one, unless both add it, both delete it, or both only increase or decrease it (Fox & Long 2003,
section 8.2). What stands in a condition counts as read, needed or not.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product, repeat

from hvr.base.nested import Steps, finish
from hvr.pddl import (
    Atom,
    Comparison,
    Exists,
    Expression,
    Forall,
    FunctionTerm,
    Not,
    NumericExpression,
    State,
    Task,
    TypedName,
    When,
)
from hvr.pddl.compiler import Binding, value
from hvr.pddl.conditions import Operator
from hvr.pddl.facts import match_row
from hvr.pddl.model import And, NumericEffect, functions_of, parts_of
from hvr.pddl.numeric import Values
from hvr.values import Value


class StepParts(Value):
    """A step as it is written, for what it reads, and as it is compiled, for what it changes.

    Attributes:
        binding: what the variables of the step stand for.
        precondition: its condition.
        effect: its effect; conditions in it count where they hold.
        operators: its effects, compiled.
        numbers: further numeric expressions that it reads.
        further: further conditions and effects, each with what its variables stand for.
    """

    binding: Binding
    precondition: Expression
    effect: Expression
    operators: tuple[Operator, ...]
    numbers: tuple[NumericExpression, ...] = ()
    further: tuple[tuple[Expression, Expression, Binding], ...] = ()


class Access:
    """What one step reads and changes: bits of atoms, indexes of numbers."""

    __slots__ = ("added", "assigned", "deleted", "increased", "numbers_read", "read")

    def __init__(self) -> None:
        self.read = 0
        self.added = 0
        self.deleted = 0
        self.numbers_read: set[int] = set()
        self.increased: set[int] = set()
        self.assigned: set[int] = set()


def access(state: State, step: StepParts) -> Access:
    """Return what a step reads and changes, happening in a state."""
    bits, values = state.bits, state.values
    result = Access()
    # What is read is taken from the text: compiled conditions have lost the literals that cannot
    # matter, and the rule is about what is written.
    reader = _Reader(state.task, result)
    reader.formula(step.precondition, step.binding)
    reader.effect(step.effect, step.binding, bits, values)
    for number in step.numbers:
        reader.number(number, step.binding)
    for condition, effect, binding in step.further:
        reader.formula(condition, binding)
        reader.effect(effect, binding, bits, values)
    for operator in step.operators:
        result.added |= operator.add
        result.deleted |= operator.delete
        for guard, add, delete in operator.conditional:
            if guard.holds(bits, values):
                result.added |= add
                result.deleted |= delete
        for guard, (symbol, index, _) in operator.numeric:
            if guard.holds(bits, values):
                additive = symbol in ("increase", "decrease")
                (result.increased if additive else result.assigned).add(index)
    return result


def interferences(task: Task, steps: list[Access]) -> Iterator[tuple[int, int, str]]:
    """Yield pairs of steps that interfere, and the atom or number that they contend for."""
    for (i, one), (j, two) in combinations(enumerate(steps), 2):
        # Two that add, two that delete, two that increase: in any order the result is the same.
        atoms = (
            one.read & (two.added | two.deleted)
            | two.read & (one.added | one.deleted)
            | one.added & two.deleted
            | one.deleted & two.added
        )
        if atoms:
            yield i, j, str(task.fluent((atoms & -atoms).bit_length() - 1))
            continue
        written_one, written_two = one.increased | one.assigned, two.increased | two.assigned
        numbers = (
            (one.numbers_read & written_two)
            | (two.numbers_read & written_one)
            | (one.assigned & written_two)
            | (two.assigned & written_one)
        )
        if numbers:
            yield i, j, str(task.term(min(numbers)))


class _Reader:
    def __init__(self, task: Task, into: Access) -> None:
        self.task = task
        self.into = into
        self._rules: set[Atom] = set()

    def formula(self, formula: Expression, binding: Binding) -> None:
        """Note all that a formula mentions, in every instance of its quantifiers."""
        task = self.task
        # What is still to be looked at: the next last.
        stack: list[Iterator[tuple[Expression, Binding]]] = [iter([(formula, binding)])]
        while stack:
            item = next(stack[-1], None)
            if item is None:
                stack.pop()
                continue
            part, own = item
            match part:
                case Atom(predicate, args):
                    if predicate not in task.fluent_predicates:
                        continue
                    row = tuple([own[a] if a[0] == "?" else a for a in args])
                    if predicate in task.derived_predicates:
                        self._derived(Atom(predicate, row))
                    else:
                        self.into.read |= 1 << task.index_of(predicate, row)
                case Comparison(_, left, right):
                    self.number(left, own)
                    self.number(right, own)
                case Forall(variables, body) | Exists(variables, body):
                    stack.append(zip(repeat(body), self._instances(variables, own)))
                case _:
                    stack.append(zip(parts_of(part), repeat(own)))

    def _instances(self, variables: tuple[TypedName, ...], binding: Binding) -> Iterator[Binding]:
        names = [v.name for v in variables]
        for row in product(*(self.task.members(v.types) for v in variables)):
            yield {**binding, **dict(zip(names, row, strict=True))}

    def effect(self, effect: Expression, binding: Binding, bits: int, values: Values) -> None:
        """Note what the conditions that hold and the amounts in an effect mention."""
        finish(self._effect(effect, binding, bits, values))

    def _effect(
        self, effect: Expression, binding: Binding, bits: int, values: Values
    ) -> Steps[None]:
        match effect:
            case When(condition, body):
                # Read in either case: flattened, the action has the condition or its negation
                # among its preconditions (Fox & Long 2003, definition 7).
                self.formula(condition, binding)
                if self.task.condition(condition, binding).holds(bits, values):
                    yield self._effect(body, binding, bits, values)
            case Forall(variables, body):
                for instance in self.task.instances(variables, And(()), True, binding):
                    yield self._effect(body, instance, bits, values)
            case And(operands):
                for operand in operands:
                    if not isinstance(operand, Atom | Not):
                        yield self._effect(operand, binding, bits, values)
            case NumericEffect(_, _, amount):
                self.number(amount, binding)
            case _:
                pass

    def number(self, expression: NumericExpression, binding: Binding) -> None:
        """Note the fluents in a numeric expression."""
        for term in functions_of(expression):
            if term.function in self.task.fluent_functions:
                args = tuple([value(a, binding) for a in term.args])
                ground = FunctionTerm(term.function, args)
                self.into.numbers_read.add(self.task.number_index(ground))

    def _derived(self, atom: Atom) -> None:
        # No action changes a derived atom: what is read is all that its rules mention.
        if atom in self._rules:
            return
        self._rules.add(atom)
        for rule in self.task.domain.derived:
            if rule.predicate == atom.predicate:
                head = Atom(rule.predicate, tuple([p.name for p in rule.parameters]))
                binding = match_row(head, atom.args)
                if binding is not None:
                    self.formula(rule.body, binding)
