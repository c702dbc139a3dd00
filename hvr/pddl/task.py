"""A domain and a problem, grounded and compiled on demand.

Predicates that no action changes are static: their atoms are looked up, never stored. Every other
atom gets a bit when it is first used. The size of a task therefore depends on the atoms in its
initial state, plans and goal, not on the number of possible atoms. Numeric functions work the same
way: functions that never change are constants, the others get an index.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from hvr.base.printable import nearest, short
from hvr.errors import PddlSemanticError, UndefinedValueError, UnknownObjectError
from hvr.pddl import state as conditions
from hvr.pddl.compiler import (
    Binding,
    Compiler,
    Effects,
    Parts,
    Template,
    ground_directly,
    template_of,
)
from hvr.pddl.facts import Facts, Relation, Row, TypedNames, bindings, necessary_literals, rows_of
from hvr.pddl.formulas import (
    Arithmetic,
    Atom,
    Equal,
    Expression,
    Formula,
    FunctionTerm,
    IsViolated,
    Number,
    NumericEffect,
    NumericExpression,
    TypedName,
    changes_of,
    preferences_of,
)
from hvr.pddl.model import ActionSchema, Domain, DurativeActionSchema, GroundAction, Problem
from hvr.pddl.state import Conjunction, NumericChange, Operator, Rational, State, Values
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.pddl.axioms import Axioms
    from hvr.pddl.durative import DurativeTemplate


TOTAL_COST = FunctionTerm("total-cost")
T = TypeVar("T")

_CACHE_BYTES = 64_000_000


class MisfitKind(StrEnum):
    """The reason why an action does not belong to a task."""

    UNKNOWN_ACTION = "unknown action"
    UNKNOWN_OBJECT = "unknown object"
    WRONG_ARITY = "wrong arity"
    WRONG_TYPE = "wrong type"
    DURATIVE = "durative action"


class Misfit(Value):
    """The reason why an action does not belong to a task, with the nearest known name."""

    kind: MisfitKind
    message: str
    suggestion: str = ""


class Task:
    """A domain and a problem, with the operators grounded so far.

    A task caches its compiled parts and is not thread-safe.

    Args:
        instance_limit: The maximum number of quantifier instances in one action or formula.
        tolerance: The accepted error in numeric comparisons; VAL uses 0.0001.
    """

    def __init__(
        self,
        domain: Domain,
        problem: Problem,
        *,
        instance_limit: int = 200_000,
        tolerance: Rational = 0,
    ) -> None:
        self.domain = domain
        self.problem = problem
        self.instance_limit = instance_limit
        self.tolerance = tolerance
        self.objects = _objects(domain, problem)
        changes = list(_changes(domain, problem))
        self.derived_predicates = frozenset(rule.predicate for rule in domain.derived)
        self.fluent_predicates = self.derived_predicates.union(
            c.predicate for c in changes if isinstance(c, Atom)
        )
        self.fluent_functions = frozenset(
            c.fluent.function for c in changes if isinstance(c, NumericEffect)
        )
        changing = self.fluent_predicates
        self.static_facts = Facts(problem.init, lambda name: name not in changing)
        self.derived_bits = 0
        self._predicate_bits: dict[str, int] = {}
        # Keyed by predicate first: a combined key would cost one more object per atom.
        self._index: dict[str, dict[Row, int]] = {}
        self._predicates: list[str] = []
        self._rows: list[Row] = []
        self._number_index: dict[FunctionTerm, int] = {}
        self._terms: list[FunctionTerm] = []
        self._members: dict[tuple[str, ...], Mapping[str, object]] = {}
        self._near: dict[tuple[str, bool], str] = {}
        self._templates: dict[str, Template | None] = {}
        # Filled by `hvr.pddl.durative`, which is imported only for durative actions.
        self.durative_templates: dict[str, DurativeTemplate] = {}
        self._operators: dict[GroundAction, Operator] = {}
        self._preconditions: dict[GroundAction, Conjunction] = {}
        self._conditions: dict[Expression, Conjunction] = {}
        self.parts = Parts()
        self.preference_names = _preference_names(domain, problem)
        values = self._initial_values()
        self._axioms: Axioms | None = None
        if domain.derived:
            from hvr.pddl.axioms import Axioms

            self._axioms = Axioms(self)
        self.initial = self._initial_state(values)

    def with_problem(self, problem: Problem) -> Task:
        """Return the task of another problem of the domain.

        If the problems differ only in goals, constraints and changing facts, both tasks share their
        compiled parts and must not be used in different threads.
        """
        if not self._shares_statics(problem):
            limit = self.instance_limit
            return Task(self.domain, problem, instance_limit=limit, tolerance=self.tolerance)
        from copy import copy

        other = copy(self)
        other.problem = problem
        other.preference_names = _preference_names(self.domain, problem)
        other.initial = other._initial_state(other._initial_values())
        return other

    def _shares_statics(self, problem: Problem) -> bool:
        mine = self.problem
        return (
            not self.domain.derived  # derived atoms are counted for each task
            and problem.objects == mine.objects
            and problem.timed_init == mine.timed_init
            and self._static_part(problem) == self._static_part(mine)
        )

    def _static_part(self, problem: Problem) -> tuple[set[Atom], dict[FunctionTerm, Decimal]]:
        facts, functions = self.fluent_predicates, self.fluent_functions
        numbers = problem.numeric_init.items()
        return (
            {atom for atom in problem.init if atom.predicate not in facts},
            {term: number for term, number in numbers if term.function not in functions},
        )

    def _initial_state(self, values: Values) -> State:
        begin = rows_of(self.problem.init)
        # Sorted, so that every process assigns the same bits to the same input.
        names = sorted(self.fluent_predicates.intersection(begin))
        return self._state({name: sorted(begin[name]) for name in names}, values)

    def _initial_values(self) -> Values:
        values: dict[int, Rational] = {}
        # Share equal numbers: there may be many fluents with few distinct values.
        known: dict[Decimal, Rational] = {}
        for term, number in self.problem.numeric_init.items():
            if term.function in self.fluent_functions:
                if number not in known:
                    known[number] = conditions.exact(number)
                values[self.number_index(term)] = known[number]
        if TOTAL_COST.function in self.fluent_functions:
            # Competition problems start at 0; handwritten ones sometimes omit it.
            values.setdefault(self.number_index(TOTAL_COST), 0)
        return _as_values(values)

    # Atoms, numbers and objects -------------------------------------------------------------

    def is_static(self, predicate: str) -> bool:
        return predicate not in self.fluent_predicates

    def index(self, atom: Atom) -> int:
        return self.index_of(atom.predicate, atom.args)

    def index_of(self, predicate: str, args: tuple[str, ...]) -> int:
        """Return the bit index of a fluent atom, assigning one on first use."""
        known = self._index.get(predicate)
        if known is None:
            known = self._index[predicate] = {}
        index = known.get(args)
        if index is None:
            index = known[args] = len(self._rows)
            self._predicates.append(predicate)
            self._rows.append(args)
            if self.derived_predicates:
                # Only rules for derived predicates need `bits_of`.
                bit = 1 << index
                self._predicate_bits[predicate] = self._predicate_bits.get(predicate, 0) | bit
                if predicate in self.derived_predicates:
                    self.derived_bits |= bit
        return index

    def fluent(self, index: int) -> Atom:
        return Atom(self._predicates[index], self._rows[index])

    def atoms_in(self, bits: int) -> Iterator[Atom]:
        # Via text, because shifting a long integer once per bit copies it every time.
        text = f"{bits:b}"[::-1]
        index = text.find("1")
        while index >= 0:
            yield Atom(self._predicates[index], self._rows[index])
            index = text.find("1", index + 1)

    def bits_of(self, predicate: str) -> int:
        """Return the mask of a predicate's known atoms (0 in tasks without derived predicates)."""
        return self._predicate_bits.get(predicate, 0)

    def number_index(self, term: FunctionTerm) -> int:
        """Return the index of a ground numeric fluent, assigning one on first use."""
        index = self._number_index.get(term)
        if index is None:
            index = self._number_index[term] = len(self._terms)
            self._terms.append(term)
        return index

    def term(self, index: int) -> FunctionTerm:
        return self._terms[index]

    def number(self, term: FunctionTerm, values: Values) -> Rational | None:
        if term.function not in self.fluent_functions:
            constant = self.problem.numeric_init.get(term)
            return None if constant is None else conditions.exact(constant)
        index = self._number_index.get(term, len(values))
        return values[index] if index < len(values) else None

    def state(self, atoms: Iterable[Atom], values: Values = ()) -> State:
        """Return the state in which exactly these fluent atoms are true.

        Static and derived atoms are ignored; derived atoms are recomputed.
        """
        return self._state(rows_of(atoms), values)

    def _state(self, atoms: Mapping[str, Iterable[Row]], values: Values) -> State:
        # Set bits in a bytearray: setting them one by one in an integer copies it every time, which
        # is quadratic in the size of the initial state.
        data = bytearray(len(self._rows) // 8 + 1)
        for predicate, rows in atoms.items():
            if predicate in self.derived_predicates or predicate not in self.fluent_predicates:
                continue
            for row in rows:
                index = self.index_of(predicate, row)
                if index >> 3 >= len(data):
                    data.extend(bytes(len(data)))
                data[index >> 3] |= 1 << (index & 7)
        bits = int.from_bytes(data, "little")
        return State(self, bits, values, closed=self._axioms is None)

    def state_with(self, atoms: Iterable[Atom], numbers: Mapping[FunctionTerm, Fraction]) -> State:
        """Return the state with exactly these fluent atoms and numeric values.

        The arguments may come from `State.atoms` and `State.numbers` of another task's state.
        """
        known = {
            self.number_index(term): conditions.exact(number)
            for term, number in numbers.items()
            if term.function in self.fluent_functions
        }
        return self.state(atoms, _as_values(known))

    def close(self, bits: int, values: Values = ()) -> int:
        """Return `bits` with the derived atoms recomputed."""
        return bits if self._axioms is None else self._axioms.close(bits, values)

    def close_for_steps(self, bits: int, values: Values = ()) -> int:
        return bits if self._axioms is None else self._axioms.close_for_steps(bits, values)

    def members(self, types: tuple[str, ...]) -> Mapping[str, object]:
        objects = self._members.get(types)
        if objects is None:
            objects = self._members[types] = self.domain.members(self.objects, types)
        return objects

    # Actions --------------------------------------------------------------------------------

    def misfit(self, action: GroundAction) -> Misfit | None:
        """Return the reason why an action does not belong to the task, or None if it does."""
        schema = self.domain.schema(action.name)
        if schema is None:
            names = [*self.domain.actions, *self.domain.durative_actions]
            message = f"the domain has no action {short(action.name)!r}"
            return Misfit(MisfitKind.UNKNOWN_ACTION, message, self._nearest(action.name, names))
        parameters = schema.parameters
        if len(action.args) != len(parameters):
            count = len(parameters)
            plural = "" if count == 1 else "s"
            message = f"{schema} takes {count} argument{plural}, not {len(action.args)}"
            return Misfit(MisfitKind.WRONG_ARITY, message)
        for name in action.args:
            if name not in self.objects:
                message = f"the problem has no object {short(name)!r}"
                near = self._nearest(name, self.objects)
                return Misfit(MisfitKind.UNKNOWN_OBJECT, message, near)
        for name, parameter in zip(action.args, parameters, strict=True):
            if name not in self.members(parameter.types):
                message = (
                    f"{name!r} is of type {' or '.join(self.objects[name])}, but the parameter "
                    f"{parameter.name} of {action.name} is of type {' or '.join(parameter.types)}"
                )
                return Misfit(MisfitKind.WRONG_TYPE, message)
        return None

    def _nearest(self, name: str, known: Iterable[str]) -> str:
        # Cached: a plan may repeat the same typo in every step, and the search is slow.
        key = name, known is self.objects
        if key not in self._near:
            if len(self._near) > 1000:
                self._near.clear()
            self._near[key] = nearest(name, known)
        return self._near[key]

    def ground(self, action: GroundAction) -> Operator:
        """Return the compiled operator of an action.

        Raises:
            UnknownObjectError: An argument is not an object of the problem.
            PddlSemanticError: The action is unknown or durative, or the number or types of its
                arguments are wrong.
            GroundingLimitError: The action's quantifiers have too many instances.
        """
        compiled = self.try_ground(action)
        if isinstance(compiled, Operator):
            return compiled
        hint = f"; did you mean {compiled.suggestion!r}?" if compiled.suggestion else ""
        unknown = compiled.kind is MisfitKind.UNKNOWN_OBJECT
        raise (UnknownObjectError if unknown else PddlSemanticError)(
            f"{action}: {compiled.message}{hint}"
        )

    def try_ground(self, action: GroundAction) -> Operator | Misfit:
        """Compile an action like `ground`, but return a misfit if the task has no such action."""
        operator = self._operators.get(action)
        if operator is not None:
            return operator
        misfit = self.misfit(action)
        if misfit is not None:
            return misfit
        schema = self.domain.actions.get(action.name)
        if schema is None:
            return Misfit(MisfitKind.DURATIVE, f"{action.name!r} is a durative action")
        if action.name not in self._templates:
            self._templates[action.name] = template_of(self, schema)
        # Try the fast paths first: most actions are conjunctions of literals.
        template = self._templates[action.name]
        operator = None
        if template is not None:
            operator = template.ground(action)
        elif not schema.parameters:
            operator = ground_directly(self, schema)
        if operator is None:
            operator = self.operator(
                action,
                binding_of(schema, action),
                schema.precondition,
                schema.effect,
                self._preconditions.pop(action, None),
            )
        self._keep(self._operators, action, operator)
        return operator

    def _keep(self, cache: dict[GroundAction, T], action: GroundAction, compiled: T) -> None:
        # A mask is as long as the state, so large tasks cache fewer operators.
        if len(cache) * (len(self._rows) // 2 + 256) > _CACHE_BYTES:
            cache.clear()
        cache[action] = compiled

    def precondition(self, action: GroundAction) -> Conjunction:
        """Compile the precondition of an action that belongs to the task, without its effects.

        An action may have hundreds of conditional effects, which are not needed to test whether
        it is applicable.
        """
        operator = self._operators.get(action)
        if operator is not None:
            return operator.precondition
        template = self._templates.get(action.name)
        if template is not None:
            return template.condition(action)
        condition = self._preconditions.get(action)
        if condition is None:
            schema = self.domain.actions[action.name]
            condition = Compiler(self).condition(schema.precondition, binding_of(schema, action))
            self._keep(self._preconditions, action, condition)
        return condition

    def operator(
        self,
        action: GroundAction,
        binding: Binding,
        precondition: Expression,
        effect: Expression,
        condition: Conjunction | None = None,
    ) -> Operator:
        """Compile an effect and a precondition (or take `condition`) into an uncached operator."""
        compiler = Compiler(self)
        if condition is None:
            condition = compiler.condition(precondition, binding)
        effects = Effects()
        compiler.effect(effect, binding, conditions.TRUE, effects)
        preferences = [
            (preference.name, compiler.condition(preference.body, instance))
            for preference, instance in compiler.preferences(precondition, binding)
        ]
        return Operator(
            action,
            condition,
            effects.add,
            effects.delete,
            tuple(effects.conditional),
            tuple(effects.numeric),
            tuple(preferences),
        )

    def numeric_changes(
        self,
        effects: Iterable[NumericEffect],
        action: GroundAction,
        duration: Rational | None = None,
    ) -> tuple[tuple[Conjunction, NumericChange], ...]:
        schema = self.domain.schema(action.name)
        assert schema is not None
        compiler, into = Compiler(self, duration), Effects()
        binding = binding_of(schema, action)
        for effect in effects:
            compiler.effect(effect, binding, conditions.TRUE, into)
        return tuple(into.numeric)

    # Formulas -------------------------------------------------------------------------------

    @property
    def goal(self) -> Conjunction:
        """The compiled goal, without its preferences."""
        return self.condition(self.problem.goal)

    def condition(self, formula: Expression, binding: Binding | None = None) -> Conjunction:
        """Compile a formula: expand quantifiers and decide static parts.

        Raises:
            PddlSemanticError: The formula has a free variable that is not in `binding`.
            GroundingLimitError: The formula's quantifiers have too many instances.
        """
        if not binding and (known := self._conditions.get(formula)) is not None:
            return known
        try:
            result = Compiler(self).condition(formula, binding or {})
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
        """Yield the bindings under which `body` may be true; see `Compiler.instances`."""
        return Compiler(self).instances(variables, body, positive, binding)

    # The metric -----------------------------------------------------------------------------

    def metric_value(
        self, values: Values, total_time: Fraction, violated: dict[str, int]
    ) -> Fraction | None:
        """Return the value of the metric, by default `total_time`, or None if it is undefined.

        Args:
            total_time: The number of steps, or the makespan of a temporal plan.
            violated: The number of violated instances of each preference.
        """
        metric = self.problem.metric
        if metric is None:
            return total_time
        try:
            return conditions.rounded(self._metric(metric.expression, values, total_time, violated))
        except UndefinedValueError:
            return None

    def _metric(
        self,
        expression: NumericExpression,
        values: Values,
        total_time: Fraction,
        violated: dict[str, int],
    ) -> Rational:
        match expression:
            case Number(number):
                return conditions.exact(number)
            case FunctionTerm("total-time", ()):
                return total_time
            case FunctionTerm():
                current = self.number(expression, values)
                if current is None and expression == TOTAL_COST:
                    return 0
                if current is None:
                    raise UndefinedValueError(f"{expression} has no value")
                return current
            case IsViolated(preference):
                return violated.get(preference, 0)
            case Arithmetic(symbol, operands):
                parts = [self._metric(o, values, total_time, violated) for o in operands]
                if len(parts) == 1:
                    return -parts[0]
                result, text = parts[0], str(expression)
                for part in parts[1:]:
                    result = conditions.calculate(symbol, result, part, text)
                return result
            case _:
                raise TypeError(f"not in a metric: {expression}")


def _as_values(numbers: Mapping[int, Rational]) -> Values:
    size = max(numbers, default=-1) + 1
    return tuple([numbers.get(index) for index in range(size)])


def binding_of(schema: ActionSchema | DurativeActionSchema, action: GroundAction) -> Binding:
    """Return the objects that an action assigns to the parameters of its schema."""
    return dict(zip((p.name for p in schema.parameters), action.args, strict=True))


def _objects(domain: Domain, problem: Problem) -> Mapping[str, tuple[str, ...]]:
    objects = problem.objects
    if isinstance(objects, TypedNames) and not domain.constants:
        return objects.types
    return {o.name: o.types for o in (*domain.constants, *objects)}


def _preference_names(domain: Domain, problem: Problem) -> tuple[str, ...]:
    formulas = [a.precondition for a in domain.actions.values()]
    formulas += [a.condition for a in domain.durative_actions.values()]
    formulas += [domain.constraints, problem.goal, problem.constraints]
    preferences = (
        preference.name for formula in formulas for preference in preferences_of(formula)
    )
    return tuple(dict.fromkeys(preferences))


def _changes(domain: Domain, problem: Problem) -> Iterator[Atom | NumericEffect]:
    for action in domain.actions.values():
        yield from changes_of(action.effect)
    for durative in domain.durative_actions.values():
        yield from changes_of(durative.effect)
    for schema in (*domain.processes.values(), *domain.events.values()):
        yield from changes_of(schema.effect)
    for timed in problem.timed_init:
        yield from changes_of(timed.effect)


# Grounding ----------------------------------------------------------------------------------------
# The ground actions of a task, and the actions applicable in a state.


def ground_all(task: Task) -> Iterator[GroundAction]:
    """Yield the instantaneous ground actions whose static preconditions hold, in a fixed order.

    Arguments are found by joining the static facts in the precondition instead of trying all
    objects. Reachability of the fluent preconditions is not checked.
    """
    for schema in task.domain.actions.values():
        literals = [
            (literal, positive)
            for literal, positive in necessary_literals(schema.precondition)
            if isinstance(literal, Equal) or task.is_static(literal.predicate)
        ]
        for binding in bindings(
            schema.parameters, literals, {}, task.static_facts.relation, task.members
        ):
            yield _action(schema, binding)


def applicable_actions(state: State) -> Iterator[GroundAction]:
    """Yield the instantaneous actions that are applicable in a state, in a fixed order."""
    task = state.task
    true = Facts(task.atoms_in(state.bits))

    def relation(predicate: str) -> Relation:
        return (task.static_facts if task.is_static(predicate) else true).relation(predicate)

    for schema in task.domain.actions.values():
        literals = list(necessary_literals(schema.precondition))
        for binding in bindings(schema.parameters, literals, {}, relation, task.members):
            action = _action(schema, binding)
            if task.ground(action).applicable(state.bits, state.values):
                yield action


def _action(schema: ActionSchema, binding: dict[str, str]) -> GroundAction:
    return GroundAction(schema.name, tuple([binding[p.name] for p in schema.parameters]))


# Formulas in one state ----------------------------------------------------------------------------
# Evaluation of formulas in one state, for quantifiers with many instances.


def holds_initially(domain: Domain, problem: Problem, formula: Formula) -> bool:
    """Return whether a formula holds in the initial state of a problem.

    The problem's actions are ignored, which makes all facts static. Joins then bind quantified
    variables one by one, while a task with actions enumerates all combinations of objects.
    """
    return Task(domain.replace(actions={}), problem).initial.holds(formula)
