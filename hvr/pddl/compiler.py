"""Ground and compile formulas, effects and numeric expressions for a task.

Quantifiers are expanded over the objects by joins with the static facts. Compilation decides static
conditions, so that only fluents remain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from hvr.base.nested import Steps, run_trampoline
from hvr.errors import GroundingLimitError
from hvr.pddl import state
from hvr.pddl.facts import bindings, necessary_literals
from hvr.pddl.formulas import (
    And,
    Arithmetic,
    Atom,
    Comparison,
    Duration,
    Equal,
    Exists,
    Expression,
    Forall,
    FunctionTerm,
    Imply,
    IsViolated,
    Not,
    Number,
    NumericEffect,
    NumericExpression,
    Or,
    Preference,
    Timed,
    TimeSpecifier,
    TypedName,
    When,
    all_free_variables,
    preferences_of,
    walk,
)
from hvr.pddl.model import ActionSchema, DurativeActionSchema, GroundAction
from hvr.pddl.state import (
    Compiled,
    Conjunction,
    NumericChange,
    NumericTest,
    Operator,
    Rational,
    conjunction,
    disjunction,
)

if TYPE_CHECKING:
    from hvr.pddl.facts import Row
    from hvr.pddl.task import Task


Binding = Mapping[str, str]

_LITERALS = (Atom, Equal, Comparison)
_CHANGES = (Atom, Not, NumericEffect)
_SHARED = (Or, Exists, Forall)


class Effects:
    """Accumulates the effects of an action during compilation."""

    def __init__(self) -> None:
        self.add = 0
        self.delete = 0
        self.conditional: list[tuple[Conjunction, int, int]] = []
        self.numeric: list[tuple[Conjunction, NumericChange]] = []
        self._last: Conjunction = state.TRUE

    def change(self, condition: Conjunction, add: int, delete: int) -> None:
        """Add and delete the given bits if `condition` holds."""
        if condition is state.TRUE:
            self.add |= add
            self.delete |= delete
        elif self.conditional and condition is self._last:
            # The effects of one (when …) share its condition, which is then tested only once.
            _, old_add, old_delete = self.conditional[-1]
            self.conditional[-1] = condition, old_add | add, old_delete | delete
        else:
            self.conditional.append((condition, add, delete))
            self._last = condition


class Parts:
    """A cache of compiled disjunctions and quantified formulas, keyed by formula and binding.

    Actions share such parts: for example, every action that puts an object on a table may contain
    the condition that the table can be reached.
    """

    _MOST = 20_000

    def __init__(self) -> None:
        self.compiled: dict[tuple[object, ...], Conjunction] = {}
        # Holds the formula as well, so that its `id` is not reused.
        self._free: dict[int, tuple[Expression, tuple[str, ...]]] = {}

    def key(self, formula: Expression, binding: Binding, positive: bool) -> tuple[object, ...]:
        number = id(formula)
        if number not in self._free:
            free = all_free_variables(formula)
            for part in walk(formula):
                if isinstance(part, Or | Exists | Forall):
                    self._free[id(part)] = part, tuple(sorted(free[id(part)]))
        return (number, positive, *[binding[name] for name in self._free[number][1]])

    def bound(self, formula: Expression, binding: Binding) -> Binding:
        """Return the part of a binding that the formula reads; call `key` first."""
        return {name: binding[name] for name in self._free[id(formula)][1]}

    def keep(self, key: tuple[object, ...], part: Conjunction) -> None:
        if len(self.compiled) >= self._MOST:
            self.compiled.clear()
            self._free.clear()
            return
        self.compiled[key] = part


class Compiler:
    """A compiler for one task, and for one value of `?duration`, if any."""

    def __init__(self, task: Task, duration: Rational | None = None) -> None:
        self.task = task
        self.duration = duration
        self._instances = 0

    def condition(
        self, formula: Expression, binding: Binding, positive: bool = True
    ) -> Conjunction:
        """Compile a formula, or its negation unless `positive`. Preferences count as true.

        Raises:
            GroundingLimitError: A quantifier has too many instances.
        """
        return run_trampoline(self._condition(formula, binding, positive))

    def _flat(
        self, formula: Expression, binding: Binding, positive: bool = True
    ) -> Conjunction | None:
        """Compile a conjunction of literals and cached parts; return None for any other formula."""
        if not (isinstance(formula, And) and positive):
            return self._known(formula, binding, positive)
        parts: list[Conjunction] = []
        for operand in formula.operands:
            part = self._known(operand, binding, True)
            if part is None or part is state.FALSE:
                return part
            parts.append(part)
        return conjunction(parts)

    def _known(self, formula: Expression, binding: Binding, positive: bool) -> Conjunction | None:
        if isinstance(formula, Not):
            formula, positive = formula.operand, not positive
        if isinstance(formula, _LITERALS):
            return self._literal(formula, binding, positive)
        if isinstance(formula, _SHARED) and self.duration is None:
            known = self.task.parts
            return known.compiled.get(known.key(formula, binding, positive))
        return None

    def _condition(
        self, formula: Expression, binding: Binding, positive: bool
    ) -> Steps[Conjunction]:
        match formula:
            case Atom() | Equal() | Comparison():
                return self._literal(formula, binding, positive)
            case Not(operand):
                denied: Conjunction = yield self._condition(operand, binding, not positive)
                return denied
            case And(operands):
                parts = ((operand, binding, positive) for operand in operands)
                both: Conjunction = yield self._parts(parts, positive)
                return both
            case Imply(left, right):
                sides = (left, binding, not positive), (right, binding, positive)
                implied: Conjunction = yield self._parts(sides, not positive)
                return implied
            case Preference():
                return state.TRUE
            case Or() | Exists() | Forall():
                pass
            case _:
                raise TypeError(f"expected a condition on one state, found {formula}")
        if self.duration is not None:
            either: Conjunction = yield self._shared(formula, binding, positive)
            return either
        known = self.task.parts
        key = known.key(formula, binding, positive)
        part = known.compiled.get(key)
        if part is None:
            # Restrict the binding to the variables read: many quantifiers may enclose the formula.
            own = known.bound(formula, binding)
            part = yield self._shared(formula, own, positive)
            known.keep(key, part)
        return part

    def _literal(
        self, formula: Atom | Equal | Comparison, binding: Binding, positive: bool
    ) -> Conjunction:
        match formula:
            case Atom(predicate, args):
                task = self.task
                row = tuple([binding[a] if a[0] == "?" else a for a in args])
                if predicate not in task.fluent_predicates:
                    true = row in task.static_facts.relation(predicate)
                    return state.TRUE if true == positive else state.FALSE
                bit = 1 << task.index_of(predicate, row)
                return Conjunction(bit) if positive else Conjunction(0, bit)
            case Equal(left, right):
                same = value(left, binding) == value(right, binding)
                return state.TRUE if same == positive else state.FALSE
            case Comparison(symbol, one, two):
                sides = self.number(one, binding), self.number(two, binding)
                test = NumericTest(symbol, *sides, positive, self.task.tolerance)
                if not test.constant:
                    return Conjunction(tests=(test,))
                return state.TRUE if test.holds(()) else state.FALSE

    def _shared(
        self, formula: Or | Exists | Forall, binding: Binding, positive: bool
    ) -> Steps[Conjunction]:
        if isinstance(formula, Or):
            parts = ((operand, binding, positive) for operand in formula.operands)
            alone: Conjunction = yield self._parts(parts, not positive)
            return alone
        # "forall" is a conjunction: only instances that can fail matter. "exists" is a
        # disjunction: only instances that can hold matter.
        body = formula.body
        all_ = isinstance(formula, Forall) == positive
        instances = self.instances(formula.variables, body, positive != all_, binding)
        every: Conjunction = yield self._parts(((body, own, positive) for own in instances), all_)
        return every

    def _parts(
        self, parts: Iterable[tuple[Expression, Binding, bool]], all_: bool
    ) -> Steps[Conjunction]:
        """Compile a conjunction (a disjunction unless `all_`), stopping once it is decided."""
        decided = state.FALSE if all_ else state.TRUE
        compiled: list[Conjunction] = []
        for formula, binding, positive in parts:
            part = self._known(formula, binding, positive)
            if part is None:
                part = yield self._condition(formula, binding, positive)
            if part is decided:
                return decided
            compiled.append(part)
        return conjunction(compiled) if all_ else disjunction(compiled)

    def effect(
        self, effect: Expression, binding: Binding, condition: Conjunction, into: Effects
    ) -> None:
        """Compile an effect that applies if `condition` holds, and add it to `into`."""
        run_trampoline(self._effect(effect, binding, condition, into))

    def _effect(
        self, effect: Expression, binding: Binding, condition: Conjunction, into: Effects
    ) -> Steps[None]:
        match effect:
            case And(operands):
                for operand in operands:
                    if not self._flat_effect(operand, binding, condition, into):
                        yield self._effect(operand, binding, condition, into)
            case Forall(variables, body):
                # Skip instances whose condition is statically false: few objects remain in effects
                # such as (forall (?x) (when (part-of ?x ?whole) …)).
                guard = body.condition if isinstance(body, When) else And(())
                for instance in self.instances(variables, guard, True, binding):
                    if not self._flat_effect(body, instance, condition, into):
                        yield self._effect(body, instance, condition, into)
            case When(guard, body):
                own: Conjunction = yield self._condition(guard, binding, True)
                guarded = own if condition is state.TRUE else conjunction((condition, own))
                if guarded is not state.FALSE:
                    yield self._effect(body, binding, guarded, into)
            case _:
                self._change(effect, binding, condition, into)

    def _flat_effect(
        self, effect: Expression, binding: Binding, condition: Conjunction, into: Effects
    ) -> bool:
        """Compile an effect that is a single change, possibly conditional; return whether it is."""
        if isinstance(effect, When):
            own = self._flat(effect.condition, binding)
            if own is None:
                return False
            effect = effect.effect
            condition = own if condition is state.TRUE else conjunction((condition, own))
            if condition is state.FALSE:
                return True
        if not isinstance(effect, _CHANGES):
            return False
        self._change(effect, binding, condition, into)
        return True

    def _change(
        self, effect: Expression, binding: Binding, condition: Conjunction, into: Effects
    ) -> None:
        match effect:
            case Atom(predicate, args):
                row = tuple([binding[a] if a[0] == "?" else a for a in args])
                into.change(condition, 1 << self.task.index_of(predicate, row), 0)
            case Not(Atom(predicate, args)):
                row = tuple([binding[a] if a[0] == "?" else a for a in args])
                into.change(condition, 0, 1 << self.task.index_of(predicate, row))
            case NumericEffect(symbol, fluent, amount):
                term = self.term(fluent, binding)
                change = symbol, self.task.number_index(term), self.number(amount, binding)
                into.numeric.append((condition, change))
            case _:
                raise TypeError(f"expected an effect, found {effect}")

    def number(self, expression: NumericExpression, binding: Binding) -> Compiled:
        """Compile a numeric expression; static functions become constants."""
        if isinstance(expression, Arithmetic):
            return run_trampoline(self._arithmetic(expression, binding))
        return self._simple_number(expression, binding)

    def _arithmetic(self, expression: Arithmetic, binding: Binding) -> Steps[Compiled]:
        parts: list[Compiled] = []
        for operand in expression.operands:
            if isinstance(operand, Arithmetic):
                parts.append((yield self._arithmetic(operand, binding)))
            else:
                parts.append(self._simple_number(operand, binding))
        return state.arithmetic(expression.operator, parts, expression)

    def _simple_number(
        self, expression: Number | FunctionTerm | Duration | IsViolated, binding: Binding
    ) -> Compiled:
        match expression:
            case Number(number):
                return state.exact(number)
            case FunctionTerm():
                task = self.task
                term = self.term(expression, binding)
                if term.function in task.fluent_functions:
                    return state.fluent(task.number_index(term), str(term))
                constant = task.problem.numeric_init.get(term)
                if constant is None:
                    return state.undefined(str(term))
                return state.exact(constant)
            case Duration():
                if self.duration is None:
                    return state.undefined("?duration")
                return self.duration
            case IsViolated():
                raise TypeError("(is-violated …) has a value in a metric only")

    def term(self, fluent: FunctionTerm, binding: Binding) -> FunctionTerm:
        return FunctionTerm(fluent.function, tuple([value(a, binding) for a in fluent.args]))

    def preferences(
        self, formula: Expression, binding: Binding
    ) -> Iterator[tuple[Preference, Binding]]:
        """Yield the instances of the preferences in a condition, each with its binding."""
        # The parts still to visit, each with its binding and enclosing times; the last one is next.
        stack: list[Iterator[tuple[Expression, Binding, tuple[TimeSpecifier, ...]]]] = [
            iter([(formula, binding, ())])
        ]
        while stack:
            item = next(stack[-1], None)
            if item is None:
                stack.pop()
                continue
            part, own, times = item
            match part:
                case Preference(_, body):
                    for when in reversed(times):
                        body = Timed(when, body)
                    yield part.replace(body=body) if times else part, own
                case And(operands):
                    stack.append(iter([(o, own, times) for o in operands]))
                case Forall(variables, body) if any(preferences_of(body)):
                    instances = self.instances(variables, And(()), True, own)
                    stack.append(zip(repeat(body), instances, repeat(times)))
                case Timed(when, body):
                    stack.append(iter([(body, own, (*times, when))]))
                case _:
                    pass

    def instances(
        self, variables: tuple[TypedName, ...], body: Expression, positive: bool, binding: Binding
    ) -> Iterator[dict[str, str]]:
        """Yield the bindings under which `body` may be true or, unless `positive`, may be false.

        Only the static part of the body is tested.

        Raises:
            GroundingLimitError: The quantifier has too many instances.
        """
        task = self.task
        literals = [
            (literal, sign)
            for literal, sign in necessary_literals(body, positive)
            if isinstance(literal, Equal) or literal.predicate not in task.fluent_predicates
        ]
        static = task.static_facts.relation
        for instance in bindings(variables, literals, binding, static, task.members):
            # Counted per action or formula, because quantifiers nest and repeat.
            self._instances += 1
            if self._instances > task.instance_limit:
                raise GroundingLimitError(
                    f"a quantifier has more than {task.instance_limit} instances"
                )
            yield instance


def value(name: str, binding: Binding) -> str:
    """Return the object that a name or bound ?variable denotes."""
    return binding[name] if name.startswith("?") else name


# Templates ----------------------------------------------------------------------------------------
# Fast grounding of actions whose condition and effect are conjunctions of literals, as in most
# domains: grounding one takes a few lookups.

_Row = Callable[[tuple[str, ...]], Any]
_Literal = tuple[str, _Row, bool]


class Template:
    """An action schema prepared for fast grounding by `template_of`."""

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
        # Arguments are numbered: first the parameters, then the constants. One `itemgetter`, which
        # runs in C, then picks a literal's arguments.
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
        return self._holds_for(action.args + self._constants)

    def _holds_for(self, objects: Row) -> Conjunction:
        task = self._task
        # Static literals first: if one fails, the others need no bits.
        for predicate, row, sign in self._statics:
            if (row(objects) in task.static_facts.relation(predicate)) is not sign:
                return state.FALSE
        positive = negative = 0
        for predicate, row, sign in self._fluents:
            bit = 1 << task.index_of(predicate, row(objects))
            if sign:
                positive |= bit
            else:
                negative |= bit
        if positive & negative:
            return state.FALSE
        return Conjunction(positive, negative)


def ground_directly(task: Task, schema: ActionSchema) -> Operator | None:
    """Return the operator of an action without parameters.

    Returns None if the condition or effect is not a conjunction of literals.
    """
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
                return state.FALSE
            continue
        bit = 1 << task.index_of(predicate, atom.args)
        if sign:
            positive |= bit
        else:
            negative |= bit
    return state.FALSE if positive & negative else Conjunction(positive, negative)


def template_of(task: Task, schema: ActionSchema) -> Template | None:
    """Prepare a schema for fast grounding.

    Returns None if the condition or effect is not a conjunction of literals, or if the schema has
    no parameters.
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
    """Prepare a condition and an effect of a schema, such as its parts at the start.

    Returns None if one of them is not a conjunction of literals.
    """
    literals: list[tuple[Atom, bool]] = []
    changes: list[tuple[Atom, bool]] = []
    numeric: list[NumericEffect] = []
    if not _collect(condition, literals, None) or not _collect(effect, changes, numeric):
        return None
    return Template(task, literals, changes, numeric, schema)


def _collect(
    expression: Expression, literals: list[tuple[Atom, bool]], numeric: list[NumericEffect] | None
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
    if not places:
        return lambda _: ()
    if len(places) == 1:
        place = places[0]
        return lambda objects: (objects[place],)
    return itemgetter(*places)
