"""A domain with a problem, compiled on demand.

Predicates that no action changes are static: their atoms are looked up, never stored. Every
other atom gets a bit when it is first met, so a task costs what its initial state, its plans
and its goal mention, not what could be grounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from hvr.errors import HvrError, PddlSemanticError, UnknownObjectError
from hvr.pddl import conditions
from hvr.pddl.conditions import Condition, Operator, conjunction, disjunction
from hvr.pddl.diagnostics import nearest
from hvr.pddl.expressions import TOTAL_COST
from hvr.pddl.facts import Facts, Relation, bindings, necessary_literals
from hvr.pddl.model import (
    OBJECT,
    And,
    Arithmetic,
    Atom,
    Domain,
    Equal,
    Exists,
    Expression,
    Forall,
    FunctionTerm,
    GroundAction,
    Imply,
    Increase,
    Not,
    Number,
    NumericExpression,
    Or,
    Problem,
    TypedName,
    When,
    changed_predicates,
)
from hvr.pddl.state import State

_CACHE_BYTES = 64_000_000
Binding = Mapping[str, str]


class GroundingLimitError(HvrError):
    """A quantifier has more instances than the limit of the task; the plan cannot be judged."""


class MisfitKind(StrEnum):
    """Why an action cannot be an action of a task at all."""

    UNKNOWN_ACTION = "unknown action"
    UNKNOWN_OBJECT = "unknown object"
    WRONG_ARITY = "wrong arity"
    WRONG_TYPE = "wrong type"


@dataclass(frozen=True, slots=True)
class Misfit:
    """How an action fails to fit a task; `suggestion` is the nearest known name or ""."""

    kind: MisfitKind
    message: str
    suggestion: str = ""


class Task:
    """A domain and a problem of it, with the ground operators made so far.

    A task grows as it is used and is not to be shared between threads.

    Args:
        domain: the domain.
        problem: the problem; it must be of this domain, as `parse_problem` makes sure.
        instance_limit: how many quantifier instances one action or formula may have.
    """

    def __init__(
        self, domain: Domain, problem: Problem, *, instance_limit: int = 2_000_000
    ) -> None:
        self.domain = domain
        self.problem = problem
        self.instance_limit = instance_limit
        self.objects: dict[str, tuple[str, ...]] = {
            o.name: o.types for o in (*domain.constants, *problem.objects)
        }
        self.fluent_predicates = frozenset(
            p for action in domain.actions.values() for p in changed_predicates(action.effect)
        )
        changing = self.fluent_predicates
        self.static_facts = Facts(a for a in problem.init if a.predicate not in changing)
        self._index: dict[Atom, int] = {}
        self._fluents: list[Atom] = []
        self._members: dict[tuple[str, ...], dict[str, None]] = {}
        self._operators: dict[GroundAction, Operator] = {}
        self._conditions: dict[Expression, Condition] = {}
        self._instances = 0
        # Sorted: the same input gives the same bits in every process.
        self.initial = self.state(sorted(problem.init, key=lambda a: (a.predicate, a.args)))

    # Atoms and objects ----------------------------------------------------------------------

    def is_static(self, predicate: str) -> bool:
        """Say whether no action changes a predicate."""
        return predicate not in self.fluent_predicates

    def index(self, atom: Atom) -> int:
        """Return the bit number of a fluent atom."""
        index = self._index.get(atom)
        if index is None:
            index = self._index[atom] = len(self._fluents)
            self._fluents.append(atom)
        return index

    def fluent(self, index: int) -> Atom:
        """Return the atom of a bit number."""
        return self._fluents[index]

    def atoms_in(self, bits: int) -> Iterator[Atom]:
        """Yield the atoms of the set bits."""
        return (self._fluents[i] for i, c in enumerate(reversed(f"{bits:b}")) if c == "1")

    def state(self, atoms: Iterable[Atom]) -> State:
        """Return the state in which exactly these fluents are true; static atoms are skipped."""
        size = len(self._fluents)
        indexes = [self.index(a) for a in atoms if a.predicate in self.fluent_predicates]
        size = max(size, len(self._fluents))
        data = bytearray(size // 8 + 1)
        for i in indexes:
            data[i >> 3] |= 1 << (i & 7)
        return State(self, int.from_bytes(data, "little"))

    def members(self, types: tuple[str, ...]) -> dict[str, None]:
        """Return the objects of (either of) some types, as the keys of a dict."""
        found = self._members.get(types)
        if found is None:
            if types == (OBJECT,):
                found = dict.fromkeys(self.objects)
            else:
                has_type = self.domain.has_type
                found = {name: None for name, own in self.objects.items() if has_type(own, types)}
            self._members[types] = found
        return found

    # Actions --------------------------------------------------------------------------------

    def misfit(self, action: GroundAction) -> Misfit | None:
        """Say how an action fails to fit (unknown names, arity, types), or None if it fits."""
        schema = self.domain.actions.get(action.name)
        if schema is None:
            names = self.domain.actions
            message = f"the domain has no action {action.name!r}"
            return Misfit(MisfitKind.UNKNOWN_ACTION, message, nearest(action.name, names))
        parameters = schema.parameters
        if len(action.args) != len(parameters):
            count = len(parameters)
            plural = "" if count == 1 else "s"
            message = f"{schema} takes {count} argument{plural}, not {len(action.args)}"
            return Misfit(MisfitKind.WRONG_ARITY, message)
        for name in action.args:
            if name not in self.objects:
                message = f"the problem has no object {name!r}"
                return Misfit(MisfitKind.UNKNOWN_OBJECT, message, nearest(name, self.objects))
        for name, parameter in zip(action.args, parameters, strict=True):
            if name not in self.members(parameter.types):
                message = (
                    f"{name!r} is of type {' or '.join(self.objects[name])}, and the parameter "
                    f"{parameter.name} of {action.name} is of type {' or '.join(parameter.types)}"
                )
                return Misfit(MisfitKind.WRONG_TYPE, message)
        return None

    def ground(self, action: GroundAction) -> Operator:
        """Compile an action, or return what was compiled before.

        Raises:
            UnknownObjectError: an argument is no object of the problem.
            PddlSemanticError: the action is unknown, or has the wrong number or types of arguments.
            GroundingLimitError: its quantifiers have too many instances.
        """
        found = self.try_ground(action)
        if isinstance(found, Operator):
            return found
        hint = f"; did you mean {found.suggestion!r}?" if found.suggestion else ""
        unknown = found.kind is MisfitKind.UNKNOWN_OBJECT
        raise (UnknownObjectError if unknown else PddlSemanticError)(
            f"{action}: {found.message}{hint}"
        )

    def try_ground(self, action: GroundAction) -> Operator | Misfit:
        """Compile an action like `ground`, but return a misfit instead of raising.

        Raises:
            GroundingLimitError: its quantifiers have too many instances.
        """
        operator = self._operators.get(action)
        if operator is not None:
            return operator
        misfit = self.misfit(action)
        if misfit is not None:
            return misfit
        schema = self.domain.actions[action.name]
        binding = dict(zip((p.name for p in schema.parameters), action.args, strict=True))
        self._instances = 0
        precondition = self._condition(schema.precondition, binding, True)
        effects = _Effects()
        self._effect(schema.effect, binding, conditions.TRUE, effects)
        operator = Operator(
            action,
            precondition,
            effects.add,
            effects.delete,
            tuple(effects.conditional),
            tuple(effects.costs),
        )
        # A mask is as long as the state, so large tasks keep fewer operators.
        if len(self._operators) * (len(self._fluents) // 2 + 256) > _CACHE_BYTES:
            self._operators.clear()
        self._operators[action] = operator
        return operator

    # Formulas -------------------------------------------------------------------------------

    @property
    def goal(self) -> Condition:
        """The compiled goal."""
        return self.condition(self.problem.goal)

    def condition(self, formula: Expression, binding: Binding | None = None) -> Condition:
        """Compile a formula: quantifiers expanded, static parts decided.

        Raises:
            PddlSemanticError: the formula has a free variable that `binding` does not bind.
            GroundingLimitError: its quantifiers have too many instances.
        """
        if not binding and (known := self._conditions.get(formula)) is not None:
            return known
        self._instances = 0
        try:
            result = self._condition(formula, binding or {}, True)
        except KeyError as error:
            raise PddlSemanticError(f"{error.args[0]} is not bound in {formula}") from None
        if not binding:
            if len(self._conditions) > 1000:
                self._conditions.clear()
            self._conditions[formula] = result
        return result

    def instances(
        self, variables: tuple[TypedName, ...], body: Expression, positive: bool, binding: Binding
    ) -> Iterator[dict[str, str]]:
        """Yield the bindings under which the static part of `body` (or its negation) holds.

        Under the others the body is known to be false (or true).
        """
        literals = [
            (literal, sign)
            for literal, sign in necessary_literals(body, positive)
            if isinstance(literal, Equal) or literal.predicate not in self.fluent_predicates
        ]
        for found in bindings(variables, literals, binding, self._static, self.members):
            self._instances += 1
            if self._instances > self.instance_limit:
                raise GroundingLimitError(
                    f"a quantifier has more than {self.instance_limit} instances here"
                )
            yield found

    def _static(self, predicate: str) -> Relation:
        return self.static_facts.relation(predicate)

    def _condition(self, formula: Expression, binding: Binding, positive: bool) -> Condition:
        match formula:
            case Atom(predicate, args):
                row = tuple([binding[a] if a[0] == "?" else a for a in args])
                if predicate not in self.fluent_predicates:
                    true = row in self.static_facts.relation(predicate)
                    return conditions.TRUE if true == positive else conditions.FALSE
                bit = 1 << self.index(Atom(predicate, row))
                return Condition(bit) if positive else Condition(0, bit)
            case Equal(left, right):
                same = _value(left, binding) == _value(right, binding)
                return conditions.TRUE if same == positive else conditions.FALSE
            case Not(operand):
                return self._condition(operand, binding, not positive)
            case And(operands):
                parts = (self._condition(o, binding, positive) for o in operands)
                return conjunction(parts) if positive else disjunction(parts)
            case Or(operands):
                parts = (self._condition(o, binding, positive) for o in operands)
                return disjunction(parts) if positive else conjunction(parts)
            case Imply(left_, right_):
                sides = ((left_, not positive), (right_, positive))
                parts = (self._condition(o, binding, sign) for o, sign in sides)
                return disjunction(parts) if positive else conjunction(parts)
            case Forall(variables, body) | Exists(variables, body):
                # "All" is a conjunction, in which only instances that can fail matter; "exists"
                # a disjunction, in which only those that can hold do.
                all_ = isinstance(formula, Forall) == positive
                found = self.instances(variables, body, positive != all_, binding)
                parts = (self._condition(body, b, positive) for b in found)
                return conjunction(parts) if all_ else disjunction(parts)
            case When() | Increase():
                raise TypeError(f"an effect is not a formula: {formula}")

    def _effect(
        self, effect: Expression, binding: Binding, condition: Condition, into: _Effects
    ) -> None:
        match effect:
            case Atom(predicate, args):
                row = tuple([binding[a] if a[0] == "?" else a for a in args])
                into.change(condition, 1 << self.index(Atom(predicate, row)), 0)
            case Not(Atom(predicate, args)):
                row = tuple([binding[a] if a[0] == "?" else a for a in args])
                into.change(condition, 0, 1 << self.index(Atom(predicate, row)))
            case And(operands):
                for operand in operands:
                    self._effect(operand, binding, condition, into)
            case Forall(variables, body):
                guard = body.condition if isinstance(body, When) else And(())
                for found in self.instances(variables, guard, True, binding):
                    self._effect(body, found, condition, into)
            case When(guard, body):
                guarded = conjunction((condition, self._condition(guard, binding, True)))
                if guarded is not conditions.FALSE:
                    self._effect(body, binding, guarded, into)
            case Increase(_, amount):
                into.costs.append((condition, self._amount(amount, binding)))
            case _:
                raise TypeError(f"not an effect: {effect}")

    # Costs ----------------------------------------------------------------------------------

    def plan_cost(self, steps: int, total_cost: Fraction) -> Fraction | None:
        """Return the value of the metric for a plan, its length when the problem has none.

        Args:
            steps: the number of steps.
            total_cost: the sum of the costs of the steps.

        Returns:
            the value, or None when the metric reads a function that has no value.
        """
        metric = self.problem.metric
        if metric is None:
            return Fraction(steps)
        start = self.problem.numeric_init.get(FunctionTerm(TOTAL_COST), Decimal(0))
        known = {
            FunctionTerm(TOTAL_COST): Fraction(start) + total_cost,
            FunctionTerm("total-time"): Fraction(steps),
        }
        value = self._amount(metric.expression, {}, known)
        return value if isinstance(value, Fraction) else None

    def _amount(
        self,
        expression: NumericExpression,
        binding: Binding,
        known: Mapping[FunctionTerm, Fraction] | None = None,
    ) -> Fraction | FunctionTerm:
        match expression:
            case Number(value):
                return Fraction(value)
            case FunctionTerm(function, args):
                term = FunctionTerm(function, tuple(_value(a, binding) for a in args))
                if known and term in known:
                    return known[term]
                number = self.problem.numeric_init.get(term)
                return term if number is None else Fraction(number)
            case Arithmetic(operator, operands):
                values: list[Fraction] = []
                for operand in operands:
                    part = self._amount(operand, binding, known)
                    if isinstance(part, FunctionTerm):
                        return part
                    values.append(part)
                return _calculate(operator, values)


class _Effects:
    """The effects of an action while it is being compiled."""

    def __init__(self) -> None:
        self.add = 0
        self.delete = 0
        self.conditional: list[tuple[Condition, int, int]] = []
        self.costs: list[tuple[Condition, Fraction | FunctionTerm]] = []
        self._last: Condition = conditions.TRUE

    def change(self, condition: Condition, add: int, delete: int) -> None:
        if condition is conditions.TRUE:
            self.add |= add
            self.delete |= delete
        elif self.conditional and condition is self._last:
            # The effects of one (when …) share its condition.
            _, old_add, old_delete = self.conditional[-1]
            self.conditional[-1] = condition, old_add | add, old_delete | delete
        else:
            self.conditional.append((condition, add, delete))
            self._last = condition


def _value(name: str, binding: Binding) -> str:
    return binding[name] if name.startswith("?") else name


def _calculate(operator: str, values: list[Fraction]) -> Fraction | FunctionTerm:
    first, rest = values[0], values[1:]
    match operator:
        case "+":
            return sum(rest, first)
        case "-":
            return first - sum(rest, Fraction(0)) if rest else -first
        case "*":
            for value in rest:
                first *= value
            return first
        case _:
            for value in rest:
                if value == 0:
                    return FunctionTerm("/", tuple(map(str, values)))
                first /= value
            return first
