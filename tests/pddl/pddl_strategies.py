"""Random well-typed domains, problems, formulas and plans, small enough for brute force.

With HVR_HYPOTHESIS=long, every law runs on 20,000 new examples. Otherwise it runs on half of its
stated number, always the same examples.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from hvr.pddl import (
    OBJECT,
    TRUE,
    ActionSchema,
    And,
    Arithmetic,
    Atom,
    Comparison,
    DerivedPredicate,
    Domain,
    Duration,
    DurativeActionSchema,
    Effect,
    Equal,
    Exists,
    Forall,
    Formula,
    Function,
    FunctionTerm,
    GroundAction,
    Imply,
    IsViolated,
    Metric,
    Not,
    Number,
    NumericEffect,
    NumericExpression,
    Or,
    Predicate,
    Preference,
    Problem,
    State,
    Timed,
    TimedAction,
    TimedInitial,
    Trajectory,
    TypedName,
    When,
)
from tests.reference import Reference, Verdict
from tests.reference import World as Plain

Scope = tuple[TypedName, ...]
COST = FunctionTerm("total-cost")
LONG = os.environ.get("HVR_HYPOTHESIS") == "long"
HALF = Fraction(1, 2)


def law(examples: int = 100) -> Callable[[Any], Any]:
    """Return the hypothesis settings of a law."""
    return settings(
        max_examples=int(os.environ.get("HVR_EXAMPLES", "20000")) if LONG else examples // 2,
        suppress_health_check=list(HealthCheck),
        derandomize=not LONG,
        database=None,
        print_blob=False,
    )


@dataclass(frozen=True)
class World:
    """A task with a plan.

    Attributes:
        plan: Steps, most of them executable.
    """

    domain: Domain
    problem: Problem
    plan: tuple[GroundAction, ...] = ()
    timed: tuple[TimedAction, ...] = ()

    @property
    def reference(self) -> Reference:
        return Reference(self.domain, self.problem)


@dataclass(frozen=True)
class Parts:
    """Language features that may occur."""

    numbers: bool = False
    derived: bool = False
    wishes: bool = False
    durative: bool = False


PLAIN = Parts()
EVERYTHING = Parts(numbers=True, derived=True, wishes=True, durative=True)


@dataclass(frozen=True)
class Names:
    """Names that an expression may mention."""

    domain: Domain
    objects: Scope
    scope: Scope = ()
    numbers: bool = False
    duration: bool = False
    preferences: tuple[str, ...] = field(default=("wish", "hope", ""))

    def inside(self, variables: Scope) -> Names:
        hidden = {v.name for v in variables}
        return replace(self, scope=tuple(v for v in self.scope if v.name not in hidden) + variables)

    def terms(self, wanted: tuple[str, ...]) -> list[str]:
        found = [v.name for v in self.scope if self.domain.fits(v.types, wanted)]
        return found + [o.name for o in self.objects if self.domain.has_type(o.types, wanted)]

    def without(self, *predicates: str) -> Names:
        kept = {n: p for n, p in self.domain.predicates.items() if n not in predicates}
        return replace(self, domain=self.domain.replace(predicates=kept))


# --- names and types ----------------------------------------------------------------------------


@st.composite
def types(draw: st.DrawFn) -> dict[str, tuple[str, ...]]:
    result: dict[str, tuple[str, ...]] = {}
    for i in range(draw(st.integers(0, 3))):
        parents = st.lists(st.sampled_from([OBJECT, *result]), min_size=1, max_size=2, unique=True)
        result[f"t{i}"] = tuple(draw(parents))
    return result


def typing(domain: Domain) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(
        st.sampled_from([OBJECT, *domain.types]), min_size=1, max_size=2, unique=True
    ).map(tuple)


@st.composite
def typed_names(draw: st.DrawFn, domain: Domain, prefix: str, most: int, least: int = 0) -> Scope:
    count = draw(st.integers(least, most))
    return tuple(TypedName(f"{prefix}{i}", draw(typing(domain))) for i in range(count))


@st.composite
def variables(draw: st.DrawFn, domain: Domain) -> Scope:
    # Reuse variable names at some depths, so that shadowing occurs.
    return (TypedName(f"?v{draw(st.integers(0, 2))}", draw(typing(domain))),)


# --- formulas -----------------------------------------------------------------------------------


@st.composite
def arguments(draw: st.DrawFn, names: Names, parameters: Scope) -> tuple[str, ...] | None:
    args = []
    for parameter in parameters:
        terms = names.terms(parameter.types)
        if not terms:
            return None
        args.append(draw(st.sampled_from(terms)))
    return tuple(args)


@st.composite
def atoms(draw: st.DrawFn, names: Names) -> Atom:
    """Draw an atom over the names in scope, or `(p)`, which always exists, if no other fits."""
    predicate = draw(st.sampled_from(list(names.domain.predicates.values())))
    args = draw(arguments(names, predicate.parameters))
    return Atom("p") if args is None else Atom(predicate.name, args)


@st.composite
def function_terms(draw: st.DrawFn, names: Names) -> FunctionTerm:
    function = draw(st.sampled_from(list(names.domain.functions.values())))
    args = draw(arguments(names, function.parameters))
    return COST if args is None else FunctionTerm(function.name, args)


constants = st.one_of(
    st.integers(-2, 5).map(Decimal), st.decimals(-3, 9, places=1), st.just(Decimal("0.25"))
).map(Number)


@st.composite
def numbers(draw: st.DrawFn, names: Names, depth: int = 1) -> NumericExpression:
    kinds = ["constant", "term"] + (["arithmetic"] if depth else [])
    kinds += ["duration"] if names.duration else []
    match draw(st.sampled_from(kinds)):
        case "constant":
            return draw(constants)
        case "term":
            return draw(function_terms(names))
        case "duration":
            return Duration()
    symbol = draw(st.sampled_from("+-*/"))
    left = draw(numbers(names, depth - 1))
    if symbol == "/":
        return Arithmetic(
            symbol, (left, draw(st.sampled_from([2, 5, -4]).map(Decimal).map(Number)))
        )
    right = st.lists(numbers(names, depth - 1), min_size=symbol != "-", max_size=2)
    return Arithmetic(symbol, (left, *draw(right)))


@st.composite
def formulas(draw: st.DrawFn, names: Names, depth: int = 2) -> Formula:
    kinds = ["atom", "atom", "equal"] + (["number"] if names.numbers else [])
    if depth:
        kinds += ["not", "and", "and", "or", "imply", "forall", "exists"]
    kind = draw(st.sampled_from(kinds))
    known = [t.name for t in (*names.scope, *names.objects)]
    if kind == "equal" and known:
        return Equal(draw(st.sampled_from(known)), draw(st.sampled_from(known)))
    if kind in ("atom", "equal"):
        return draw(atoms(names))
    if kind == "number":
        symbol = draw(st.sampled_from(["<", "<=", "=", ">=", ">"]))
        return Comparison(symbol, draw(numbers(names)), draw(numbers(names)))
    inner = formulas(names, depth - 1)
    match kind:
        case "not":
            return Not(draw(inner))
        case "and":
            return And(tuple(draw(st.lists(inner, max_size=3))))
        case "or":
            return Or(tuple(draw(st.lists(inner, max_size=3))))
        case "imply":
            return Imply(draw(inner), draw(inner))
    bound = draw(variables(names.domain))
    body = draw(formulas(names.inside(bound), depth - 1))
    return (Forall if kind == "forall" else Exists)(bound, body)


@st.composite
def preferred(
    draw: st.DrawFn, names: Names, inner: st.SearchStrategy[Formula] | None = None
) -> Formula:
    """Draw a condition with preferences, some under a quantifier."""
    plain = formulas(names, 1) if inner is None else inner
    result: list[Formula] = draw(st.lists(plain, max_size=2))
    for _ in range(draw(st.integers(0, 2))):
        name = draw(st.sampled_from(names.preferences))
        if inner is None and draw(st.booleans()):
            bound = draw(variables(names.domain))
            body = draw(formulas(names.inside(bound), 1))
            result.append(Forall(bound, Preference(name, body)))
        else:
            result.append(Preference(name, draw(plain)))
    return And(tuple(result))


_TIMES = [Decimal(t) for t in ("0", "1", "1.5", "2", "3", "4")]


@st.composite
def trajectories(draw: st.DrawFn, names: Names) -> Trajectory:
    operator = draw(
        st.sampled_from(
            ["always", "sometime", "at end", "within", "at-most-once", "sometime-after",
             "sometime-before", "always-within", "hold-during", "hold-after"]
        )
    )  # fmt: skip
    formula = formulas(names, 1)
    two = operator in ("sometime-after", "sometime-before", "always-within")
    several = tuple(draw(formula) for _ in range(1 + two))
    count = {"within": 1, "always-within": 1, "hold-during": 2, "hold-after": 1}.get(operator, 0)
    times = draw(st.lists(st.sampled_from(_TIMES), min_size=count, max_size=count, unique=True))
    return Trajectory(operator, tuple(sorted(times)), several)


@st.composite
def constraints(draw: st.DrawFn, names: Names) -> Formula:
    result: list[Formula] = []
    for _ in range(draw(st.integers(0, 2))):
        match draw(st.sampled_from(["hard", "wish", "several", "forall"])):
            case "hard":
                result.append(draw(trajectories(names)))
            case "wish":
                name = draw(st.sampled_from(names.preferences))
                result.append(Preference(name, draw(trajectories(names))))
            case "several":
                name = draw(st.sampled_from(names.preferences))
                both = tuple(draw(st.lists(trajectories(names), max_size=2)))
                result.append(Preference(name, And(both)))
            case "forall":
                bound = draw(variables(names.domain))
                inner = names.inside(bound)
                body: Formula = draw(trajectories(inner))
                if draw(st.booleans()):
                    body = Preference(draw(st.sampled_from(names.preferences)), body)
                result.append(Forall(bound, body))
    return And(tuple(result))


# --- effects ------------------------------------------------------------------------------------


@st.composite
def numeric_effects(draw: st.DrawFn, names: Names) -> NumericEffect:
    if not names.numbers:
        return NumericEffect("increase", COST, Number(draw(st.decimals(0, 99, places=2))))
    operator = draw(
        st.sampled_from(["increase", "increase", "decrease", "assign", "scale-up", "scale-down"])
    )
    amount = draw(numbers(names))
    if operator == "scale-down":
        amount = Number(Decimal(2))
    return NumericEffect(operator, draw(function_terms(names)), amount)


@st.composite
def effects(draw: st.DrawFn, names: Names, depth: int = 2) -> Effect:
    kinds = ["add", "delete", "number"]
    if depth:
        kinds += ["and", "and", "and", "forall", "when"]
    inner = effects(names, depth - 1)
    match draw(st.sampled_from(kinds)):
        case "delete":
            return Not(draw(atoms(names)))
        case "number":
            return draw(numeric_effects(names))
        case "and":
            return And(tuple(draw(st.lists(inner, max_size=3))))
        case "when":
            return When(draw(formulas(names, 1)), draw(inner))
        case "forall":
            bound = draw(variables(names.domain))
            return Forall(bound, draw(effects(names.inside(bound), depth - 1)))
    return draw(atoms(names))


@st.composite
def rules(draw: st.DrawFn, names: Names, derived: list[Predicate]) -> DerivedPredicate:
    """Draw a rule for a derived predicate; it only negates earlier predicates."""
    place = draw(st.integers(0, len(derived) - 1))
    own = derived[place]
    parameters = []
    for i, parameter in enumerate(own.parameters):
        below = [t for t in names.domain.types if names.domain.fits((t,), parameter.types)]
        kinds = parameter.types
        if below and draw(st.integers(0, 3)) == 0:
            kinds = (draw(st.sampled_from(below)),)
        parameters.append(TypedName(f"?x{i}", kinds))
    inner = names.without(*(d.name for d in derived[place:])).inside(tuple(parameters))
    body = draw(formulas(inner, 2))
    if draw(st.booleans()):
        # A recursive step.
        bound = (TypedName("?z", own.parameters[0].types if own.parameters else (OBJECT,)),)
        deeper = replace(inner.inside(bound), domain=names.domain)
        args = draw(arguments(deeper, own.parameters))
        if args is not None:
            link = draw(formulas(inner.inside(bound), 1))
            body = Or((body, Exists(bound, And((Atom(own.name, args), link)))))
    return DerivedPredicate(own.name, tuple(parameters), body)


@st.composite
def durative_actions(
    draw: st.DrawFn, names: Names, name: str, wishes: bool
) -> DurativeActionSchema:
    domain = names.domain
    parameters = draw(typed_names(domain, "?v", 2))
    names = replace(names, scope=parameters)
    tests: list[Formula] = []
    for _ in range(draw(st.integers(1, 2))):
        symbol, least = draw(st.sampled_from([("=", 1), ("<=", 2), (">=", 1)]))
        bound: NumericExpression = Number(Decimal(least))
        if names.numbers and draw(st.integers(0, 5)) == 0:
            bound = draw(numbers(names, 0))
        test: Formula = Comparison(symbol, Duration(), bound)
        if draw(st.booleans()):
            test = Timed(draw(st.sampled_from(["at start", "at end"])), test)
        tests.append(test)
    conditions: list[Formula] = []
    for _ in range(draw(st.integers(0, 2))):
        conditions.append(draw(timed_conditions(names, wishes)))
    return DurativeActionSchema(
        name,
        parameters,
        tests[0] if len(tests) == 1 else And(tuple(tests)),
        And(tuple(conditions)),
        draw(timed_effects(replace(names.without(*_derived(domain)), duration=names.numbers))),
    )


def _derived(domain: Domain) -> set[str]:
    return {name for name in domain.predicates if name.startswith("d")}


_WHEN = st.sampled_from(["at start", "over all", "at end"])


@st.composite
def timed_conditions(draw: st.DrawFn, names: Names, wishes: bool) -> Formula:
    match draw(st.sampled_from(["one", "one", "forall"] + ["wish", "wishes"] * wishes)):
        case "wish":
            name = draw(st.sampled_from(names.preferences))
            return Timed(draw(_WHEN), Preference(name, draw(formulas(names, 1))))
        case "wishes":
            several = st.lists(st.builds(Timed, _WHEN, formulas(names, 1)), max_size=2)
            return Preference(draw(st.sampled_from(names.preferences)), And(tuple(draw(several))))
        case "forall":
            bound = draw(variables(names.domain))
            return Forall(bound, Timed(draw(_WHEN), draw(formulas(names.inside(bound), 1))))
    return Timed(draw(_WHEN), draw(formulas(names, 1)))


@st.composite
def timed_effects(draw: st.DrawFn, names: Names) -> Effect:
    result: list[Effect] = []
    for _ in range(draw(st.integers(1, 3))):
        scope = names
        bound: Scope = ()
        kind = draw(st.sampled_from(["plain", "plain", "when", "forall"]))
        if kind == "forall":
            bound = draw(variables(names.domain))
            scope = names.inside(bound)
        when = draw(st.sampled_from(["at start", "at end"]))
        effect: Effect = Timed(when, draw(effects(scope, 1)))
        if kind == "when" or (bound and draw(st.booleans())):
            plain = replace(scope, duration=False)
            times = _WHEN if when == "at end" else st.just("at start")
            parts = st.lists(st.builds(Timed, times, formulas(plain, 1)), min_size=1, max_size=2)
            effect = When(And(tuple(draw(parts))), effect)
        result.append(Forall(bound, effect) if bound else effect)
    return And(tuple(result))


# --- domains and problems -----------------------------------------------------------------------


@st.composite
def domains(draw: st.DrawFn, parts: Parts = PLAIN) -> Domain:
    requirements = draw(st.frozensets(st.sampled_from([":strips", ":typing", ":adl"])))
    domain = Domain("d", requirements, draw(types()))
    objects = draw(typed_names(domain, "c", 1))
    predicates = {"p": Predicate("p")}
    for i in range(draw(st.integers(1, 3))):
        predicates[f"q{i}"] = Predicate(f"q{i}", draw(typed_names(domain, "?x", 2)))
    derived = []
    for i in range(draw(st.integers(1, 3)) if parts.derived else 0):
        derived.append(Predicate(f"d{i}", draw(typed_names(domain, "?x", 2))))
        predicates[f"d{i}"] = derived[-1]
    functions = {"total-cost": Function("total-cost")}
    if parts.numbers or draw(st.booleans()):
        functions["w"] = Function("w", draw(typed_names(domain, "?x", 1)))
    domain = domain.replace(constants=objects, predicates=predicates, functions=functions)
    names = Names(domain, objects, numbers=parts.numbers)
    if derived:
        found = tuple(draw(st.lists(rules(names, derived), min_size=1, max_size=4)))
        domain = domain.replace(derived=found)
        # A derived predicate without a rule is an ordinary one that no action changes.
    actions, durative = {}, {}
    for i in range(draw(st.integers(not parts.durative, 2 if parts.durative else 3))):
        parameters = draw(typed_names(domain, "?v", 2))
        inner = replace(names, scope=parameters)
        condition = preferred(inner) if parts.wishes else formulas(inner)
        effect = draw(effects(inner.without(*_derived(domain))))
        actions[f"a{i}"] = ActionSchema(f"a{i}", parameters, draw(condition), effect)
    for i in range(draw(st.integers(1, 2)) if parts.durative else 0):
        durative[f"b{i}"] = draw(durative_actions(names, f"b{i}", parts.wishes))
    constrained = draw(constraints(names)) if parts.wishes and draw(st.booleans()) else TRUE
    return domain.replace(actions=actions, durative_actions=durative, constraints=constrained)


def ground_atoms(domain: Domain, objects: Scope) -> list[Atom]:
    """Return every atom that is not derived."""
    names = Names(domain, objects)
    derived = {rule.predicate for rule in domain.derived}
    return [
        Atom(predicate.name, args)
        for predicate in domain.predicates.values()
        if predicate.name not in derived
        for args in product(*(names.terms(p.types) for p in predicate.parameters))
    ]


def ground_terms(domain: Domain, objects: Scope) -> list[FunctionTerm]:
    names = Names(domain, objects)
    return [
        FunctionTerm(function.name, args)
        for function in domain.functions.values()
        for args in product(*(names.terms(p.types) for p in function.parameters))
    ]


@st.composite
def timed_initials(draw: st.DrawFn, names: Names) -> tuple[TimedInitial, ...]:
    every = ground_atoms(names.domain, names.objects)
    result = []
    for time in draw(st.lists(st.sampled_from(_TIMES[1:]), max_size=2, unique=True)):
        effect: Atom | Not | NumericEffect = draw(st.sampled_from(every))
        match draw(st.sampled_from(["add", "delete", "number"])):
            case "delete":
                effect = Not(effect)
            case "number" if names.numbers:
                term = draw(st.sampled_from(ground_terms(names.domain, names.objects)))
                effect = NumericEffect("assign", term, draw(constants))
        result.append(TimedInitial(time, effect))
    return tuple(result)


@st.composite
def metrics(draw: st.DrawFn, names: Names, preferences: list[str]) -> Metric:
    leaves = [
        st.just(FunctionTerm("total-time")),
        st.sampled_from(ground_terms(names.domain, names.objects)),
        constants,
    ]
    if preferences:
        leaves.append(st.sampled_from(preferences).map(IsViolated))
    terms = draw(st.lists(st.one_of(leaves), min_size=1, max_size=3))
    expression: NumericExpression = terms[0]
    for term in terms[1:]:
        expression = Arithmetic(draw(st.sampled_from("+-*")), (expression, term))
    return Metric(draw(st.sampled_from(["minimize", "maximize"])), expression)


def preference_names(*formulas: Formula) -> list[str]:
    found: list[str] = []
    stack = list(formulas)
    while stack:
        match stack.pop():
            case Preference(name, _) if name:
                found.append(name)
            case And(operands):
                stack += operands
            case Forall(_, body) | Timed(_, body):
                stack.append(body)
    return sorted(set(found))


@st.composite
def worlds(draw: st.DrawFn, parts: Parts = PLAIN) -> World:
    domain = draw(domains(parts))
    own = draw(typed_names(domain, "o", 3))
    names = Names(domain, (*domain.constants, *own), numbers=parts.numbers)
    init = draw(st.frozensets(st.sampled_from(ground_atoms(domain, names.objects))))
    terms = ground_terms(domain, names.objects)
    if parts.numbers and draw(st.integers(0, 9)):
        values = {term: draw(constants).value for term in terms}
    else:
        values = {COST: draw(st.decimals(0, 9, places=1))} if draw(st.booleans()) else {}
    goal = draw(preferred(names) if parts.wishes else formulas(names))
    constrained = draw(constraints(names)) if parts.wishes else TRUE
    timed = draw(timed_initials(names)) if parts.durative else ()
    metric = None
    if draw(st.booleans()):
        found = preference_names(
            goal,
            constrained,
            domain.constraints,
            *(a.precondition for a in domain.actions.values()),
            *(a.condition for a in domain.durative_actions.values()),
        )
        metric = draw(metrics(names, found))
    problem = Problem("q", "d", own, init, goal, values, metric, timed, constrained)
    return World(domain, problem)


def all_actions(world: World) -> list[GroundAction]:
    """Return every well-typed ground action, by brute force."""
    return world.reference.actions()


# --- plans --------------------------------------------------------------------------------------


def fulfilled(world: World, truth: bool | None) -> World:
    """Return the task with a goal that the plan reaches, given the truth of its present goal."""
    goal = world.problem.goal
    if truth is False and not preference_names(goal):
        goal = Not(goal)
    elif not truth:
        goal = And(tuple(g for g in getattr(goal, "operands", ()) if isinstance(g, Preference)))
    return replace(world, problem=world.problem.replace(goal=goal))


def lawful(world: World, states: Sequence[tuple[Fraction, Plain]]) -> World:
    """Return the task without the constraints that its plan violates."""

    def kept(formula: Formula) -> Formula:
        problem = world.problem.replace(constraints=TRUE)
        return And(
            tuple(
                part
                for part in getattr(formula, "operands", ())
                if Reference(world.domain.replace(constraints=part), problem).judge_constraints(
                    states, Verdict()
                )
            )
        )

    domain = world.domain.replace(constraints=kept(world.domain.constraints))
    problem = world.problem.replace(constraints=kept(world.problem.constraints))
    return replace(world, domain=domain, problem=problem)


@st.composite
def planned(draw: st.DrawFn, parts: Parts = PLAIN, most: int = 4) -> World:
    """Draw a task with a plan: a walk over applicable actions, sometimes with an arbitrary step."""
    world = draw(worlds(parts))
    reference = world.reference
    state = reference.initial()
    candidates = reference.actions()
    plan: list[GroundAction] = []
    for _ in range(draw(st.integers(0, most)) if candidates else 0):
        possible = [a for a in candidates if not isinstance(reference.step(state, a), str)]
        if not possible or draw(st.integers(0, 9)) == 0:
            plan.append(draw(st.sampled_from(candidates)))
            break
        plan.append(draw(st.sampled_from(possible)))
        after = reference.step(state, plan[-1])
        assert not isinstance(after, str)
        state = after
    if draw(st.integers(0, 3)):
        world = fulfilled(world, reference.truth(world.problem.goal, state, {}))
        world = lawful(world, reference.judge(plan).worlds)
    return replace(world, plan=tuple(plan))


@st.composite
def timed_steps(draw: st.DrawFn, world: World) -> TimedAction | None:
    reference = world.reference
    schemas = [
        schema
        for schema in (*world.domain.durative_actions.values(), *world.domain.actions.values())
        if all(reference.members(p.types) for p in schema.parameters)
    ]
    if not schemas:
        return None
    schema = draw(st.sampled_from(schemas))
    args = [draw(st.sampled_from(reference.members(p.types))) for p in schema.parameters]
    start = draw(st.integers(0, 8)) * HALF
    # Slightly later: within epsilon, just outside, and far outside.
    start += draw(st.sampled_from([0, 0, 0, 0, 1, 2, 20])) * Fraction(1, 2000)
    duration = None
    if isinstance(schema, DurativeActionSchema):
        duration = draw(st.sampled_from([Fraction(1), Fraction(1), Fraction(2), HALF]))
        duration += draw(st.sampled_from([0, 0, 0, 1, -1, 2])) * Fraction(1, 100)
    return TimedAction(GroundAction(schema.name, tuple(args)), start, duration)


@st.composite
def scheduled(draw: st.DrawFn, parts: Parts = EVERYTHING, most: int = 7) -> World:
    """Draw a task with a timed plan in which all steps, except perhaps the last, are compatible."""
    world = draw(worlds(replace(parts, durative=True)))
    plan: list[TimedAction] = []
    for _ in range(draw(st.integers(min(2, most), most))):
        step = draw(timed_steps(world))
        if step is None:
            continue
        why = {kind for kind, _ in world.reference.judge_timed([*plan, step]).why}
        if why <= {"goal", "constraint"} or draw(st.integers(0, 11)) == 0:
            plan.append(step)
    verdict = world.reference.judge_timed(plan)
    if draw(st.integers(0, 3)):
        truth = world.reference.truth(world.problem.goal, verdict.worlds[-1][1], {})
        world = lawful(fulfilled(world, truth), verdict.worlds)
    return replace(world, timed=tuple(plan))


def same(state: State, plain: Plain) -> bool:
    """Return whether a state has the expected atoms and numbers."""
    known = {t: v for t, v in plain.numbers.items() if t.function in state.task.fluent_functions}
    return state.atoms(static=True) == plain.atoms and state.numbers() == known
