"""Translate problems of unified-planning to PDDL.

A feature that PDDL cannot express raises an InteropError that names it. A translation for judging a
single plan (`following`) can express more: effects and conditions in the middle of an action, goals
at a time and similar features become separate actions, `companions`, which are added to the judged
plan together with their step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

from hvr.pddl import (
    TRUE,
    ActionSchema,
    And,
    Arithmetic,
    Atom,
    Comparison,
    Domain,
    Duration,
    DurativeActionSchema,
    Effect,
    Equal,
    Forall,
    Formula,
    Function,
    FunctionTerm,
    IsViolated,
    Metric,
    Not,
    Number,
    NumericEffect,
    NumericExpression,
    Predicate,
    Preference,
    Problem,
    Timed,
    TimedInitial,
    Trajectory,
    TypedName,
    atoms_of,
)
from hvr.pddl.formulas import Expression, TimeSpecifier, functions_of, numbers_of, walk
from hvr.planning.interop.from_expressions import UnifiedExpressionReader, conjunction
from hvr.planning.interop.names import (
    InteropError,
    UnifiedNames,
    Vocabulary,
    decimal,
    number_name,
    pddl_name,
)
from hvr.values import Value

TOTAL_COST = "total-cost"
TOTAL_TIME = FunctionTerm("total-time")


class Moment(Value):
    """A time in a plan: a delay after the start (or end) of a step, or of the whole plan."""

    from_end: bool
    delay: Fraction


class Companion(Value):
    """An action added to a judged plan together with a step, or once for the whole plan.

    If `left_open`, the action does not include the state at its beginning.
    """

    action: str
    begin: Moment
    end: Moment | None = None
    left_open: bool = False


class Translation(Value):
    """A problem of unified-planning in PDDL.

    Attributes:
        names: The mapping from the problem's names to PDDL names, by kind: type, fluent, action,
            object.
        companions: The companions by the name of their action, or "" for the whole plan.
    """

    domain: Domain
    problem: Problem
    names: UnifiedNames
    companions: dict[str, tuple[Companion, ...]]

    def argument(self, node: Any) -> str:
        if node.is_object_exp():
            return self.names.new("object", node.object().name)
        if node.is_bool_constant():
            return self.names.new("object", "true" if node.bool_constant_value() else "false")
        return self.names.new("object", number_name(Fraction(node.constant_value())))


def from_unified(problem: Any) -> tuple[Domain, Problem]:
    """Translate a `unified_planning.model.Problem` to PDDL.

    Object-valued fluents become predicates with an additional argument. Numbers and truth values as
    arguments become objects.

    Raises:
        InteropError: PDDL cannot express the problem; the message names the feature.
    """
    translation = translate(problem)
    return translation.domain, translation.problem


def translate(
    problem: Any, *, following: Iterable[Fraction] | None = None, metric: int = 0
) -> Translation:
    """Translate a problem of unified-planning.

    Args:
        following: The numbers among the arguments of the plan to judge; the translation is then
            valid for this plan only. None gives a translation for all plans.
        metric: The index of the quality metric to translate.

    Raises:
        InteropError: PDDL cannot express the problem.
    """
    from unified_planning.model import Problem as UnifiedProblem

    # Subclasses have further features: tasks, agents, sensing.
    if type(problem) is not UnifiedProblem:
        raise InteropError(f"problems of class {type(problem).__name__} are not supported")
    if problem.processes or problem.events:
        raise InteropError("processes and events are not supported")
    if following is None and len(problem.quality_metrics) > 1:
        raise InteropError("more than one quality metric is not supported")
    return _Translator(problem, following, metric).translate()


class _Translator:
    def __init__(self, problem: Any, following: Iterable[Fraction] | None, metric: int) -> None:
        self.source = problem
        self.following = following is not None
        metrics = problem.quality_metrics
        self.metric: Any = metrics[metric] if metrics else None
        costs = self.metric is not None and self.metric.is_minimize_action_costs()
        self.vocabulary = Vocabulary(problem, costs, following)
        self.reader = UnifiedExpressionReader(self.vocabulary)
        self.actions: dict[str, ActionSchema] = {}
        self.durative: dict[str, DurativeActionSchema] = {}
        self.companions: dict[str, list[Companion]] = {}
        self.goals: list[Formula] = []
        self.constraints: list[Formula] = []
        self.timed: list[TimedInitial] = []

    def translate(self) -> Translation:
        problem, names = self.source, self.vocabulary.names
        for action in problem.actions:
            self._action(action)
        self._timed_effects()
        self.goals += [self.reader.condition(goal) for goal in problem.goals]
        for interval, goals in problem.timed_goals.items():
            for goal in goals:
                self._timed_goal(interval, self.reader.condition(goal))
        for constraint in problem.trajectory_constraints:
            self.constraints.append(self.reader.trajectory(constraint))
        self._bounds()
        self._single_values()
        metric = self._metric()
        init, numbers = self._initial()
        predicates, functions = self._declarations()
        name = pddl_name(problem.name or "unified")
        objects = list(self.vocabulary.declared_objects())
        used = {name for action in self.actions.values() for name in _names_in(action)}
        used |= {name for action in self.durative.values() for name in _names_in(action)}
        domain = Domain(
            f"{name}-domain",
            frozenset(),
            self.vocabulary.declared_types(),
            tuple([o for o in objects if o.name in used]),
            predicates,
            functions,
            self.actions,
            self.durative,
        )
        translated = Problem(
            name,
            domain.name,
            tuple([o for o in objects if o.name not in used]),
            init,
            conjunction(*self.goals),
            numbers,
            metric,
            tuple(self.timed),
            conjunction(*self.constraints),
        )
        domain = domain.replace(requirements=_requirements(domain, translated))
        companions = {name: tuple(parts) for name, parts in self.companions.items()}
        return Translation(domain, translated, names, companions)

    # Actions --------------------------------------------------------------------------------

    def _action(self, action: Any) -> None:
        from unified_planning.model import DurativeAction, InstantaneousAction

        if type(action) is InstantaneousAction:
            self._instantaneous(action)
        elif type(action) is DurativeAction:
            self._durative_action(action)
        else:
            raise InteropError(f"actions of class {type(action).__name__}", action.name)

    def _instantaneous(self, action: Any) -> None:
        if action.simulated_effect is not None:
            raise InteropError("simulated effects", action.name)
        name = self.vocabulary.names.new("action", action.name)
        reader = UnifiedExpressionReader(self.vocabulary, action.name, action.parameters)
        conditions = [reader.condition(c) for c in action.preconditions]
        effects = [reader.effect(e) for e in action.effects] + self._cost(action, reader, None)
        precondition = conjunction(*conditions, *reader.needed)
        self.actions[name] = ActionSchema(name, reader.parameters, precondition, _effects(effects))

    def _durative_action(self, action: Any) -> None:
        if action.simulated_effects:
            raise InteropError("simulated effects", action.name)
        if action.continuous_effects:
            raise InteropError("continuous effects", action.name)
        name = self.vocabulary.names.new("action", action.name)
        reader = UnifiedExpressionReader(self.vocabulary, action.name, action.parameters)
        conditions: list[Formula] = []
        for interval, timed in action.conditions.items():
            condition = conjunction(*[reader.condition(c) for c in timed])
            conditions += self._timed_condition(name, reader, interval, condition)
        effects = self._cost(action, reader, "at start")
        for timing, changes in action.effects.items():
            moment = _moment(timing, action.name)
            if moment.delay == 0:
                when: TimeSpecifier = "at end" if moment.from_end else "at start"
                effects += [reader.effect(e, when) for e in changes]
            else:
                self._needs_plan("effects in the middle of an action", action.name)
                before = len(reader.needed)
                effect = _effects([reader.effect(e) for e in changes])
                needed = conjunction(*reader.needed[before:])
                del reader.needed[before:]
                schema = self._companion_schema(name, reader.parameters, needed, effect)
                self._accompany(name, Companion(schema, moment))
        self.durative[name] = DurativeActionSchema(
            name,
            reader.parameters,
            _duration(reader, action.duration),
            conjunction(*conditions, *reader.needed),
            _effects(effects),
        )

    def _timed_condition(
        self, name: str, reader: UnifiedExpressionReader, interval: Any, condition: Formula
    ) -> Iterator[Formula]:
        begin, end = (_moment(t, reader.where) for t in (interval.lower, interval.upper))
        if begin == end:
            if begin.delay == 0:
                yield Timed("at end" if begin.from_end else "at start", condition)
                return
        elif begin == Moment(False, Fraction(0)) and end == Moment(True, Fraction(0)):
            if not interval.is_left_open():
                yield Timed("at start", condition)
            yield Timed("over all", condition)
            if not interval.is_right_open():
                yield Timed("at end", condition)
            return
        self._needs_plan("conditions in the middle of an action", reader.where)
        self._condition_companion(name, reader.parameters, begin, end, interval, condition)

    def _cost(
        self, action: Any, reader: UnifiedExpressionReader, when: TimeSpecifier | None
    ) -> list[Effect]:
        if self.metric is None or not self.metric.is_minimize_action_costs():
            return []
        cost = self.metric.get_action_cost(action)
        if cost is None or (cost.is_int_constant() and cost.constant_value() == 0):
            return []
        return [reader.increase(TOTAL_COST, cost, when)]

    # Parts of one plan ---------------------------------------------------------------

    def _needs_plan(self, feature: str, where: str = "") -> None:
        if not self.following:
            raise InteropError(feature, where)

    def _companion_schema(
        self, owner: str, parameters: tuple[TypedName, ...], condition: Formula, effect: Effect
    ) -> str:
        name = self.vocabulary.names.fresh(f"{owner or 'plan'}-part")
        self.actions[name] = ActionSchema(name, parameters, condition, effect)
        return name

    def _condition_companion(
        self,
        owner: str,
        parameters: tuple[TypedName, ...],
        begin: Moment,
        end: Moment,
        interval: Any,
        condition: Formula,
    ) -> None:
        if begin == end:
            schema = self._companion_schema(owner, parameters, condition, TRUE)
            self._accompany(owner, Companion(schema, begin))
            return
        name = self.vocabulary.names.fresh(f"{owner or 'plan'}-part")
        left_open = bool(interval.is_left_open())
        times: list[TimeSpecifier] = ["over all"] if left_open else ["at start", "over all"]
        parts = [Timed(when, condition) for when in times]
        self.durative[name] = DurativeActionSchema(name, parameters, TRUE, conjunction(*parts))
        self._accompany(owner, Companion(name, begin, end, left_open))

    def _accompany(self, owner: str, companion: Companion) -> None:
        self.companions.setdefault(owner, []).append(companion)

    # Time -----------------------------------------------------------------------------------

    def _timed_effects(self) -> None:
        for timing, effects in self.source.timed_effects.items():
            moment = _moment(timing, "the timed effects")
            try:
                timed = [t for e in effects for t in self._timed_initial(moment, e)]
            except InteropError:
                if not self.following:
                    raise
                reader = UnifiedExpressionReader(self.vocabulary, "the timed effects")
                effect = _effects([reader.effect(e) for e in effects])
                schema = self._companion_schema("", (), conjunction(*reader.needed), effect)
                self._accompany("", Companion(schema, moment))
            else:
                self.timed += timed

    def _timed_initial(self, moment: Moment, effect: Any) -> Iterator[TimedInitial]:
        constant = effect.value.is_constant() and not effect.is_conditional()
        plain = constant and effect.is_assignment() and not effect.is_forall()
        if not plain or effect.fluent.fluent() in self.vocabulary.unknown_fluents:
            raise InteropError(f"a timed effect must set a fixed value, found {effect}")
        time = decimal(moment.delay)
        change = self.reader.effect(effect)
        kind = effect.fluent.type
        if not kind.is_user_type():
            assert isinstance(change, Atom | Not | NumericEffect)
            yield TimedInitial(time, change)
            return
        chosen = next(
            item for item in walk(change) if isinstance(item, Atom) and item.args[-1][0] != "?"
        )
        for thing in self.source.objects(kind):
            name = self.vocabulary.names.new("object", thing.name)
            if name != chosen.args[-1]:
                yield TimedInitial(time, Not(Atom(chosen.predicate, (*chosen.args[:-1], name))))
        yield TimedInitial(time, chosen)

    def _timed_goal(self, interval: Any, goal: Formula) -> None:
        begin, end = interval.lower, interval.upper
        if begin.is_from_end():
            if begin.delay != 0 or end.delay != 0:
                raise InteropError("a goal at a time before the end of the plan is not supported")
            self.goals.append(goal)
        elif self.following:
            if end.is_from_end():
                self.goals.append(goal)
            lower, upper = _moment(begin, "a goal"), _moment(end, "a goal")
            self._condition_companion("", (), lower, upper, interval, goal)
        elif not interval.is_left_open() or begin == end:
            raise InteropError("a goal over an interval that includes its start is not supported")
        elif end.is_from_end():
            if end.delay != 0:
                raise InteropError("a goal at a time before the end of the plan is not supported")
            self.constraints.append(Trajectory("hold-after", (decimal(begin.delay),), (goal,)))
        else:
            times = (decimal(begin.delay), decimal(end.delay))
            self.constraints.append(Trajectory("hold-during", times, (goal,)))

    # Values ---------------------------------------------------------------------------------

    def _bounds(self) -> None:
        for fluent in self.source.fluents:
            kind = fluent.type
            if not (kind.is_int_type() or kind.is_real_type()):
                continue
            reader = UnifiedExpressionReader(self.vocabulary, fluent.name, fluent.signature)
            args = tuple([p.name for p in reader.parameters])
            term = FunctionTerm(self.vocabulary.fluent(fluent), args)
            tests: list[Formula] = []
            for operator, bound in ((">=", kind.lower_bound), ("<=", kind.upper_bound)):
                if bound is not None:
                    tests.append(Comparison(operator, term, Number(decimal(bound))))
            if tests:
                self._always(reader.parameters, conjunction(*tests))

    def _single_values(self) -> None:
        """Forbid two values of an object-valued fluent if an action may assign both."""
        for fluent in self.source.fluents:
            if not fluent.type.is_user_type():
                continue
            if not any(_assigned_often(action, fluent) for action in self.source.actions):
                continue
            reader = UnifiedExpressionReader(self.vocabulary, fluent.name, fluent.signature)
            args = tuple([p.name for p in reader.parameters])
            types = self.vocabulary.types(fluent.type)
            one, two = TypedName("?value-1", types), TypedName("?value-2", types)
            name = self.vocabulary.fluent(fluent)
            same = Equal(one.name, two.name)
            both = And((Atom(name, (*args, one.name)), Atom(name, (*args, two.name)), Not(same)))
            self._always((*reader.parameters, one, two), Not(both))

    def _always(self, variables: tuple[TypedName, ...], condition: Formula) -> None:
        formula: Formula = Forall(variables, condition) if variables else condition
        self.constraints.append(Trajectory("always", (), (formula,)))

    def _initial(self) -> tuple[frozenset[Atom], dict[FunctionTerm, Decimal]]:
        init: set[Atom] = set()
        numbers: dict[FunctionTerm, Decimal] = {}
        problem, vocabulary = self.source, self.vocabulary
        values = dict(problem.explicit_initial_values)
        for fluent, default in problem.fluents_defaults.items():
            if default is None or (default.is_bool_constant() and not default.is_true()):
                continue
            for expression in vocabulary.instances(fluent):
                values.setdefault(expression, default)
        for expression, value in values.items():
            name = vocabulary.fluent(expression.fluent())
            args = tuple([self._object(a) for a in expression.args])
            if value.is_bool_constant():
                if value.bool_constant_value():
                    init.add(Atom(name, args))
            elif value.is_object_exp():
                init.add(Atom(name, (*args, self._object(value))))
            else:
                numbers[FunctionTerm(name, args)] = decimal(value.constant_value())
        for fluent in problem.fluents:
            if fluent in vocabulary.unknown_fluents and fluent.type.is_bool_type():
                for expression in vocabulary.instances(fluent):
                    if expression not in values:
                        args = tuple([self._object(a) for a in expression.args])
                        init.add(vocabulary.unknown_atom(vocabulary.fluent(fluent), args))
        numbers.update(vocabulary.number_values())
        if self.metric is not None and self.metric.is_minimize_action_costs():
            numbers[FunctionTerm(TOTAL_COST)] = Decimal(0)
        return frozenset(init), numbers

    def _object(self, node: Any) -> str:
        if node.is_object_exp():
            return self.vocabulary.names.new("object", node.object().name)
        if node.is_bool_constant():
            return self.vocabulary.truth(node.bool_constant_value())
        return self.vocabulary.number(node.constant_value())

    def _declarations(self) -> tuple[dict[str, Predicate], dict[str, Function]]:
        predicates: dict[str, Predicate] = {}
        functions: dict[str, Function] = {}
        vocabulary = self.vocabulary
        for fluent in self.source.fluents:
            name = vocabulary.fluent(fluent)
            local = vocabulary.names.local()
            parameters = [
                TypedName("?" + local.add("parameter", p.name), vocabulary.wide_types(p.type))
                for p in fluent.signature
            ]
            kind = fluent.type
            if kind.is_int_type() or kind.is_real_type():
                functions[name] = Function(name, tuple(parameters))
                continue
            if kind.is_user_type():
                value = "?" + local.fresh("value")
                parameters.append(TypedName(value, vocabulary.types(kind)))
            predicates[name] = Predicate(name, tuple(parameters))
            if fluent in vocabulary.unknown_fluents and kind.is_bool_type():
                unknown = vocabulary.unknown_atom(name, ()).predicate
                predicates[unknown] = Predicate(unknown, tuple(parameters))
        if any(True for _ in vocabulary.number_values()):
            general = (vocabulary.names.add("type", "number-value"),)
            name = vocabulary.value_of("?number").function
            functions[name] = Function(name, (TypedName("?number", general),))
        if self.metric is not None and self.metric.is_minimize_action_costs():
            functions[TOTAL_COST] = Function(TOTAL_COST)
        return predicates, functions

    # The metric -----------------------------------------------------------------------------

    def _metric(self) -> Metric | None:
        metric = self.metric
        if metric is None:
            return None
        if metric.is_minimize_action_costs():
            return Metric("minimize", FunctionTerm(TOTAL_COST))
        if metric.is_minimize_sequential_plan_length() or metric.is_minimize_makespan():
            return Metric("minimize", TOTAL_TIME)
        if metric.is_minimize_expression_on_final_state():
            return Metric("minimize", self.reader.number(metric.expression))
        if metric.is_maximize_expression_on_final_state():
            return Metric("maximize", self.reader.number(metric.expression))
        if metric.is_oversubscription():
            return self._oversubscription(metric)
        raise InteropError(f"the metric {type(metric).__name__} is not supported")

    def _oversubscription(self, metric: Any) -> Metric:
        gains: list[NumericExpression] = []
        for number, (goal, gain) in enumerate(metric.goals.items(), 1):
            name = f"wish-{number}"
            self.goals.append(Preference(name, self.reader.condition(goal)))
            fulfilled = Arithmetic("-", (Number(Decimal(1)), IsViolated(name)))
            gains.append(Arithmetic("*", (Number(decimal(gain)), fulfilled)))
        total = gains[0] if gains else Number(Decimal(0))
        for more in gains[1:]:
            total = Arithmetic("+", (total, more))
        return Metric("maximize", total)


def _moment(timing: Any, where: str) -> Moment:
    if timing.timepoint.container is not None:
        raise InteropError("a time relative to another part of the plan", where)
    return Moment(bool(timing.is_from_end()), Fraction(timing.delay))


def _duration(reader: UnifiedExpressionReader, duration: Any) -> Formula:
    lower, upper = (reader.number(n) for n in (duration.lower, duration.upper))
    if duration.lower == duration.upper:
        return Comparison("=", Duration(), lower)
    least = Comparison(">" if duration.is_left_open() else ">=", Duration(), lower)
    most = Comparison("<" if duration.is_right_open() else "<=", Duration(), upper)
    return And((least, most))


def _effects(effects: list[Effect]) -> Effect:
    flat: list[Effect] = []
    for effect in effects:
        flat += effect.operands if isinstance(effect, And) else (effect,)  # type: ignore[arg-type]
    return And(tuple(flat))


def _assigned_often(action: Any, fluent: Any) -> bool:
    effects = action.effects
    groups = effects.values() if isinstance(effects, dict) else [effects]
    for group in groups:
        assignments = [e for e in group if e.fluent.fluent() == fluent]
        if len(assignments) > 1 or any(e.is_forall() for e in assignments):
            return True
    return False


def _names_in(action: ActionSchema | DurativeActionSchema) -> Iterator[str]:
    parts: list[Expression] = [action.effect]
    if isinstance(action, ActionSchema):
        parts.append(action.precondition)
    else:
        parts += [action.condition, action.duration]
    for part in parts:
        for item in walk(part):
            if isinstance(item, Equal):
                yield from (item.left, item.right)
        for atom in atoms_of(part):
            yield from atom.args
        for number in numbers_of(part):
            for term in functions_of(number):
                yield from term.args


def _requirements(domain: Domain, problem: Problem) -> frozenset[str]:
    flags = {":strips"}
    if domain.types:
        flags.add(":typing")
    if domain.functions:
        only_costs = set(domain.functions) == {TOTAL_COST}
        flags.add(":action-costs" if only_costs else ":numeric-fluents")
    if domain.durative_actions:
        flags.add(":durative-actions")
        if any(isinstance(a.duration, And) for a in domain.durative_actions.values()):
            flags.add(":duration-inequalities")
    if problem.timed_init:
        flags.add(":timed-initial-literals")
    if problem.constraints != TRUE:
        flags.add(":constraints")
    if any(isinstance(item, Preference) for item in walk(problem.goal)):
        flags.add(":preferences")
    if _uses_adl(domain, problem):
        flags.add(":adl")
    return frozenset(flags)


def _uses_adl(domain: Domain, problem: Problem) -> bool:
    parts: list[Expression] = [problem.goal, problem.constraints]
    for action in domain.actions.values():
        parts += [action.precondition, action.effect]
    for durative in domain.durative_actions.values():
        parts += [durative.condition, durative.effect]
    plain = (And, Atom, Timed, NumericEffect, Comparison, Preference, Trajectory)
    return any(not isinstance(item, plain) for part in parts for item in walk(part))
