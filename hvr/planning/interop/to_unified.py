"""Translate PDDL domains, problems and metrics to unified-planning."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from operator import add, mul, sub, truediv
from typing import Any

from hvr.base.nested import Steps, run_trampoline
from hvr.pddl import (
    TRUE,
    ActionSchema,
    Arithmetic,
    Atom,
    Comparison,
    Domain,
    Duration,
    DurativeActionSchema,
    Expression,
    Forall,
    FunctionTerm,
    IsViolated,
    Metric,
    Not,
    Number,
    NumericEffect,
    NumericExpression,
    Preference,
    Problem,
    Timed,
    Trajectory,
    TypedName,
)
from hvr.pddl.facts import conjuncts
from hvr.pddl.formulas import changes_of, functions_of, numbers_of
from hvr.planning.interop.from_unified import TOTAL_COST, TOTAL_TIME
from hvr.planning.interop.names import InteropError, UnifiedNames
from hvr.planning.interop.to_expressions import (
    ExpressionWriter,
    Types,
    changes,
    one_time,
    timed_parts,
)
from hvr.values import Value

# To metrics ---------------------------------------------------------------------------------------
# The meaning of a metric: costs of actions, or gains of satisfied preferences.


def action_costs(domain: Domain, problem: Problem) -> dict[str, NumericExpression] | None:
    """Return the cost of each action that has one; None unless the metric is the sum of the costs.

    The metric must minimise `total-cost`, which starts at 0, is increased at most once and
    unconditionally by each action, and is used for nothing else.
    """
    total = FunctionTerm(TOTAL_COST)
    metric = problem.metric
    function = domain.functions.get(TOTAL_COST)
    if metric != Metric("minimize", total) or function is None or function.parameters:
        return None
    if problem.numeric_init.get(total, 0) != 0 or any(
        isinstance(t.effect, NumericEffect) and t.effect.fluent == total for t in problem.timed_init
    ):
        return None
    costs: dict[str, NumericExpression] = {}
    readers: list[Expression] = [problem.goal, problem.constraints, domain.constraints]
    effects: list[tuple[str, Expression]] = []
    for action in domain.actions.values():
        readers.append(action.precondition)
        effects.append((action.name, action.effect))
    for durative in domain.durative_actions.values():
        readers += [durative.condition, durative.duration]
        effects.append((durative.name, durative.effect))
    for name, effect in effects:
        for variables, condition, timed in changes(effect):
            readers.append(condition)
            when = timed.when if isinstance(timed, Timed) else "at start"
            change = timed.body if isinstance(timed, Timed) else timed
            if not isinstance(change, NumericEffect):
                continue
            if change.fluent != total:
                readers.append(change)
                continue
            plain = not variables and condition == TRUE and change.operator == "increase"
            if not plain or name in costs or when != "at start":
                return None
            if total in functions_of(change.amount):
                return None
            costs[name] = change.amount
    for reader in readers:
        for number in numbers_of(reader):
            if total in functions_of(number):
                return None
    return costs


def preference_gains(metric: Metric | None, names: set[str]) -> dict[str, Fraction]:
    """Return the gain of satisfying each preference (0 if there is no metric).

    Raises:
        InteropError: The metric is not a weighted sum of violated preferences.
    """
    weights: dict[str, Fraction] = dict.fromkeys(sorted(names), Fraction(0))
    if metric is None:
        return weights

    def add(number: NumericExpression, factor: Fraction) -> Steps[None]:
        if _constant(number) is not None:
            return
        match number:
            case IsViolated(name) if name in weights:
                weights[name] += factor
                return
            case Arithmetic("+", operands):
                for operand in operands:
                    yield add(operand, factor)
                return
            case Arithmetic("-", (only,)):
                yield add(only, -factor)
                return
            case Arithmetic("-", (first, *others)):
                yield add(first, factor)
                for other in others:
                    yield add(other, -factor)
                return
            case Arithmetic("*", (one, two)):
                for scale, rest in ((_constant(one), two), (_constant(two), one)):
                    if scale is not None:
                        yield add(rest, factor * scale)
                        return
            case Arithmetic("/", (one, two)):
                divisor = _constant(two)
                if divisor:
                    yield add(one, factor / divisor)
                    return
            case _:
                pass
        raise InteropError("a metric of preferences and other terms is not supported")

    run_trampoline(add(metric.expression, Fraction(1 if metric.direction == "minimize" else -1)))
    return weights


def _constant(number: NumericExpression) -> Fraction | None:
    return run_trampoline(_value(number))


def _value(number: NumericExpression) -> Steps[Fraction | None]:
    match number:
        case Number(value):
            return Fraction(value)
        case Arithmetic(symbol, operands):
            known: list[Fraction] = []
            for operand in operands:
                part = yield _value(operand)
                if part is None:
                    return None
                known.append(part)
            if len(known) == 1:
                return -known[0]
            total = known[0]
            for part in known[1:]:
                if symbol == "/" and part == 0:
                    return None
                total = {"+": add, "-": sub, "*": mul, "/": truediv}[symbol](total, part)
            return total
        case _:
            return None


# To unified ---------------------------------------------------------------------------------------


class Conversion(Value):
    """A PDDL problem converted to unified-planning, and a table of the names in both."""

    unified: Any
    names: UnifiedNames


def to_unified(domain: Domain, problem: Problem) -> Any:
    """Translate a problem to a `unified_planning.model.Problem`.

    `(either …)` becomes a common supertype with a condition.

    Raises:
        InteropError: unified-planning cannot express the problem; the message names the feature.
    """
    return convert(domain, problem).unified


def convert(domain: Domain, problem: Problem) -> Conversion:
    """Translate a problem, with the names needed to translate its plans; see `to_unified`."""
    from unified_planning.environment import get_environment
    from unified_planning.exceptions import (
        UPConflictingEffectsException,
        UPProblemDefinitionError,
        UPTypeError,
    )

    if domain.derived:
        raise InteropError("derived predicates", domain.derived[0].predicate)
    if domain.is_hybrid:
        raise InteropError("processes, events and continuous effects", domain.name)
    converter = _Converter(domain, problem, get_environment())
    try:
        return Conversion(converter.convert(), converter.names)
    except UPConflictingEffectsException as error:
        raise InteropError(
            f"conflicting effects, according to unified-planning: {error}"
        ) from error
    except (UPProblemDefinitionError, UPTypeError) as error:
        raise InteropError(f"unified-planning rejects the problem: {error}") from error


class _Converter:
    def __init__(self, domain: Domain, problem: Problem, environment: Any) -> None:
        self.domain = domain
        self.problem = problem
        self.environment = environment
        self.names = UnifiedNames()
        self.types = Types(domain, problem, self.names, environment.type_manager)
        self.fluents: dict[str, Any] = {}
        self.objects: dict[str, Any] = {}
        self.changing = {
            change.fluent.function if isinstance(change, NumericEffect) else change.predicate
            for change in chain(
                *(changes_of(a.effect) for a in domain.actions.values()),
                *(changes_of(a.effect) for a in domain.durative_actions.values()),
                *(changes_of(t.effect) for t in problem.timed_init),
            )
        }
        self.costs = action_costs(domain, problem)

    def convert(self) -> Any:
        from unified_planning import model

        result = model.Problem(self.problem.name, self.environment)
        for kind in self.types.all():
            result._add_user_type(kind)
        self._declare(result)
        writer = self._writer()
        costs: dict[Any, Any] = {}
        for action in self.domain.actions.values():
            converted = self._action(action)
            result.add_action(converted)
            self._note_cost(action, converted, costs)
        for durative in self.domain.durative_actions.values():
            converted = self._durative_action(durative)
            result.add_action(converted)
            self._note_cost(durative, converted, costs)
        self._initial(result)
        preferences: dict[str, Any] = {}
        for part in conjuncts(self.problem.goal):
            if isinstance(part, Preference):
                if not part.name or part.name in preferences:
                    raise InteropError("preferences without a unique name are not supported")
                preferences[part.name] = writer.formula(part.body)
            else:
                result.add_goal(writer.formula(part))
        for part in (*conjuncts(self.domain.constraints), *conjuncts(self.problem.constraints)):
            self._constraint(result, writer, part)
        self._metric(result, writer, preferences, costs)
        return result

    def _writer(self, where: str = "") -> ExpressionWriter:
        manager = self.environment.expression_manager
        return ExpressionWriter(self.types, self.fluents, self.objects, manager, where)

    # Declarations ---------------------------------------------------------------------------

    def _declare(self, result: Any) -> None:
        from unified_planning.model import Fluent, Object

        manager = self.environment.type_manager
        for predicate in self.domain.predicates.values():
            parameters = self._signature(predicate.parameters)
            name = self.names.add("fluent", predicate.name)
            fluent = Fluent(name, manager.BoolType(), parameters, self.environment)
            result.add_fluent(fluent, default_initial_value=False)
            self.fluents[predicate.name] = fluent
        for function in self.domain.functions.values():
            if function.name == TOTAL_COST and self.costs is not None:
                continue
            parameters = self._signature(function.parameters)
            name = self.names.add("fluent", function.name)
            fluent = Fluent(name, manager.RealType(), parameters, self.environment)
            result.add_fluent(fluent)
            self.fluents[function.name] = fluent
        for item in (*self.domain.constants, *self.problem.objects):
            if len(item.types) > 1:
                raise InteropError("an object of several types", item.name)
            name = self.names.add("object", item.name)
            thing = Object(name, self.types.of(item.types[0]), self.environment)
            result.add_object(thing)
            self.objects[item.name] = thing

    def _signature(self, parameters: tuple[TypedName, ...]) -> list[Any]:
        from unified_planning.model import Parameter

        local = UnifiedNames()
        return [
            Parameter(local.fresh(p.name[1:]), self.types.common(p.types), self.environment)
            for p in parameters
        ]

    def _parameters(self, writer: ExpressionWriter, parameters: tuple[TypedName, ...]) -> Any:
        converted = self._signature(parameters)
        m, conditions = writer.manager, []
        for item, parameter in zip(parameters, converted, strict=True):
            writer.parameters[item.name] = parameter
            if len(item.types) == 1:
                continue
            is_any = []
            for (variable,), _ in writer.variables((item,), {}):
                is_any.append(m.Exists(m.Equals(variable, parameter), variable))
            conditions.append(m.Or(is_any))
        return {p.name: p.type for p in converted}, conditions

    # Actions --------------------------------------------------------------------------------

    def _action(self, action: ActionSchema) -> Any:
        from unified_planning.model import InstantaneousAction

        writer = self._writer(action.name)
        parameters, conditions = self._parameters(writer, action.parameters)
        name = self.names.add("action", action.name)
        result = InstantaneousAction(name, parameters, self.environment)
        for condition in conditions:
            result.add_precondition(condition)
        for part in conjuncts(action.precondition):
            result.add_precondition(writer.formula(part))
        for variables, condition, change in changes(action.effect):
            for forall, scope in writer.variables(variables, {}):
                self._add_effect(result, (), writer, forall, scope, condition, change)
        return result

    def _durative_action(self, action: DurativeActionSchema) -> Any:
        from unified_planning.model import (
            ClosedTimeInterval,
            DurativeAction,
            EndTiming,
            OpenTimeInterval,
            StartTiming,
        )

        writer = self._writer(action.name)
        parameters, conditions = self._parameters(writer, action.parameters)
        name = self.names.add("action", action.name)
        result = DurativeAction(name, parameters, self.environment)
        self._duration(result, writer, action)
        start, end = StartTiming(), EndTiming()
        intervals = {
            "at start": ClosedTimeInterval(start, start),
            "over all": OpenTimeInterval(start, end),
            "at end": ClosedTimeInterval(end, end),
        }
        for condition in conditions:
            result.add_condition(start, condition)
        for when, variables, formula in timed_parts(action.condition, (), action.name):
            body: Expression = Forall(variables, formula) if variables else formula
            result.add_condition(intervals[when], writer.formula(body))
        for variables, whole, change in changes(action.effect):
            time, condition, inner = one_time(whole, change, action.name)
            timing = end if time == "at end" else start
            for forall, scope in writer.variables(variables, {}):
                self._add_effect(result, (timing,), writer, forall, scope, condition, inner)
        return result

    def _duration(
        self, result: Any, writer: ExpressionWriter, action: DurativeActionSchema
    ) -> None:
        from unified_planning.model import DurationInterval

        bounds: dict[str, tuple[NumericExpression, bool]] = {}
        for part in conjuncts(action.duration):
            test: Expression = part
            if isinstance(test, Timed):
                if test.when != "at start":
                    raise InteropError("a duration constraint at the end", action.name)
                test = test.body
            if not isinstance(test, Comparison) or test.left != Duration():
                raise InteropError(f"{part}, which is not a bound on ?duration", action.name)
            sides = {"=": ("lower", "upper"), ">=": ("lower",), ">": ("lower",)}
            for side in sides.get(test.operator, ("upper",)):
                if side in bounds:
                    raise InteropError("two bounds for a duration", action.name)
                bounds[side] = test.right, test.operator in "<>"
        if "upper" not in bounds:
            raise InteropError("a duration without an upper bound", action.name)
        lower, left_open = bounds.get("lower", (Number(Decimal(0)), False))
        upper, right_open = bounds["upper"]
        if lower == upper and all(t.function not in self.changing for t in functions_of(upper)):
            # The duration is constant during the action, so effects may use it.
            writer.duration = upper
        low, high = writer.number(lower), writer.number(upper)
        result.set_duration_constraint(DurationInterval(low, high, left_open, right_open))

    def _add_effect(
        self,
        result: Any,
        timing: tuple[Any, ...],
        writer: ExpressionWriter,
        forall: list[Any],
        scope: Mapping[str, Any],
        condition: Expression,
        change: Expression,
    ) -> None:
        fluent: Any
        when = writer.formula(condition, scope)
        if isinstance(change, Atom | Not):
            atom = change.operand if isinstance(change, Not) else change
            fluent = writer.formula(atom, scope)
            result.add_effect(*timing, fluent, isinstance(change, Atom), when, forall)
            return
        assert isinstance(change, NumericEffect)
        if change.fluent.function == TOTAL_COST and self.costs is not None:
            return
        fluent = writer.number(change.fluent, scope)
        amount = writer.number(change.amount, scope)
        if change.operator == "increase":
            result.add_increase_effect(*timing, fluent, amount, when, forall)
        elif change.operator == "decrease":
            result.add_decrease_effect(*timing, fluent, amount, when, forall)
        else:
            m = writer.manager
            if change.operator == "scale-up":
                amount = m.Times(fluent, amount)
            elif change.operator == "scale-down":
                amount = m.Div(fluent, amount)
            result.add_effect(*timing, fluent, amount, when, forall)

    # The problem ----------------------------------------------------------------------------

    def _initial(self, result: Any) -> None:
        from unified_planning.model import GlobalStartTiming

        writer = self._writer("init")
        for atom in sorted(self.problem.init, key=str):
            result.set_initial_value(writer.formula(atom), True)
        numbers = dict(self.problem.numeric_init)
        if TOTAL_COST in self.fluents and TOTAL_COST in self.changing:
            numbers.setdefault(FunctionTerm(TOTAL_COST), Decimal(0))
        for term, value in numbers.items():
            if term.function in self.fluents:
                result.set_initial_value(writer.number(term), Fraction(value))
        for timed in self.problem.timed_init:
            timing = GlobalStartTiming(Fraction(timed.time))
            self._add_timed(result, timing, writer, timed.effect)

    @staticmethod
    def _add_timed(result: Any, timing: Any, writer: ExpressionWriter, effect: Expression) -> None:
        if isinstance(effect, NumericEffect):
            fluent, amount = writer.number(effect.fluent), writer.number(effect.amount)
            result.add_timed_effect(timing, fluent, amount)
        else:
            atom = effect.operand if isinstance(effect, Not) else effect
            result.add_timed_effect(timing, writer.formula(atom), isinstance(effect, Atom))

    def _constraint(self, result: Any, writer: ExpressionWriter, part: Expression) -> None:
        from unified_planning.model import GlobalEndTiming, GlobalStartTiming, LeftOpenTimeInterval

        if isinstance(part, Trajectory) and part.operator == "at end":
            result.add_goal(writer.formula(part.formulas[0]))
        elif isinstance(part, Trajectory) and part.operator in ("hold-during", "hold-after"):
            begin = GlobalStartTiming(Fraction(part.times[0]))
            end = GlobalEndTiming()
            if part.operator == "hold-during":
                end = GlobalStartTiming(Fraction(part.times[1]))
            interval = LeftOpenTimeInterval(begin, end)
            result.add_timed_goal(interval, writer.formula(part.formulas[0]))
        else:
            result.add_trajectory_constraint(writer.trajectory(part))

    def _metric(
        self, result: Any, writer: ExpressionWriter, preferences: dict[str, Any], costs: Any
    ) -> None:
        from unified_planning.model import metrics

        metric = self.problem.metric
        if preferences:
            gains = preference_gains(metric, set(preferences))
            goals = {preferences[name]: gain for name, gain in gains.items()}
            result.add_quality_metric(metrics.Oversubscription(goals, self.environment))
        elif metric is None:
            return
        elif self.costs is not None:
            quality = metrics.MinimizeActionCosts(costs, Fraction(0), self.environment)
            result.add_quality_metric(quality)
        elif metric.expression == TOTAL_TIME:
            if metric.direction == "maximize":
                raise InteropError("the metric (maximize (total-time)) is not supported")
            timed = bool(self.domain.durative_actions or self.problem.timed_init)
            kind = metrics.MinimizeMakespan if timed else metrics.MinimizeSequentialPlanLength
            result.add_quality_metric(kind(self.environment))
        else:
            if TOTAL_TIME in functions_of(metric.expression):
                raise InteropError("a metric of total-time and other terms is not supported")
            final = writer.number(metric.expression)
            kind = (
                metrics.MinimizeExpressionOnFinalState
                if metric.direction == "minimize"
                else metrics.MaximizeExpressionOnFinalState
            )
            result.add_quality_metric(kind(final, self.environment))

    def _note_cost(self, action: Any, converted: Any, costs: dict[Any, Any]) -> None:
        amount = (self.costs or {}).get(action.name)
        if amount is not None:
            writer = self._writer(action.name)
            for item, parameter in zip(action.parameters, converted.parameters, strict=True):
                writer.parameters[item.name] = parameter
            if isinstance(action, DurativeActionSchema):
                self._duration(converted, writer, action)
            costs[converted] = writer.number(amount)
