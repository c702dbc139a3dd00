"""A slow and simple interpreter of the lifted model, as a reference for hvr.

A state is a set of ground atoms and a dict of numbers; quantifiers try every object; rules are
applied until nothing changes. It shares only the model with hvr. The definitions:

- FL: Fox & Long, "PDDL2.1: An extension to PDDL for expressing temporal planning domains",
  JAIR 20 (2003), section 8.
- EH: Edelkamp & Hoffmann, "PDDL2.2: The language for the classical part of the 4th International
  Planning Competition" (2004), sections 2 and 3.
- GL: Gerevini & Long, "Plan constraints and preferences in PDDL3" (2005), section 3.

Truth has three values: a comparison with an undefined number, and every formula that depends
on it, is None. None satisfies neither a condition nor its negation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, product

from hvr.pddl import (
    TRUE,
    And,
    Arithmetic,
    Atom,
    Comparison,
    Domain,
    Duration,
    DurativeActionSchema,
    Equal,
    Exists,
    Expression,
    Forall,
    FunctionTerm,
    GroundAction,
    Imply,
    IsViolated,
    Not,
    Number,
    NumericEffect,
    NumericExpression,
    Or,
    Preference,
    Problem,
    Timed,
    TimedAction,
    Trajectory,
    TypedName,
    When,
)

Binding = Mapping[str, str]
Truth = bool | None
TOTAL_COST = FunctionTerm("total-cost")


@dataclass(frozen=True)
class World:
    """The true atoms, including derived ones, and the defined numbers."""

    atoms: frozenset[Atom]
    numbers: Mapping[FunctionTerm, Fraction]


@dataclass(frozen=True)
class Change:
    """An effect on one atom (operator `add` or `delete`) or one number."""

    operator: str
    target: Atom | FunctionTerm
    amount: Fraction | None = None


class UndefinedError(Exception):
    """A required number has no value."""


class ConflictError(Exception):
    """One number is assigned two values."""


@dataclass
class Verdict:
    """The verdict on a plan.

    Attributes:
        why: Possible failures: pairs of a kind and a step number (None for no particular step).
            Any of them may be reported; a valid plan has none.
        worlds: The initial state and the state after each happening, with their times.
        metric: Value of the metric, or None if undefined or if the plan was not executed.
        violated: Number of violated instances of each preference.
        after: State after the end of each executed step.
    """

    why: set[tuple[str, int | None]] = field(default_factory=set)
    worlds: list[tuple[Fraction, World]] = field(default_factory=list)
    metric: Fraction | None = None
    violated: Counter[str] = field(default_factory=Counter)
    after: dict[int, World] = field(default_factory=dict)

    @property
    def valid(self) -> bool:
        return not self.why


class Reference:
    """The semantics of one task.

    Args:
        domain, problem: The task.
        tolerance: Tolerance of durations.
        epsilon: Largest time difference between simultaneous points.
    """

    def __init__(
        self,
        domain: Domain,
        problem: Problem,
        *,
        tolerance: Fraction = Fraction(1, 100),
        epsilon: Fraction = Fraction(1, 1000),
    ) -> None:
        self.domain = domain
        self.problem = problem
        self.tolerance = tolerance
        self.epsilon = epsilon
        self.objects = (*domain.constants, *problem.objects)
        self.derived = {rule.predicate for rule in domain.derived}

    # Terms and types --------------------------------------------------------------------------

    def below(self, kind: str, parent: str) -> bool:
        """Return whether a type equals another or is a subtype of it."""
        if kind == parent or parent == "object":
            return True
        return any(self.below(p, parent) for p in self.domain.types.get(kind, ()))

    def members(self, types: Iterable[str]) -> list[str]:
        """Return the objects of any of the types."""
        return [
            o.name
            for o in self.objects
            if any(self.below(own, wanted) for own in o.types for wanted in types)
        ]

    def bindings(self, variables: Sequence[TypedName], outer: Binding) -> Iterator[Binding]:
        for row in product(*(self.members(v.types) for v in variables)):
            yield {**outer, **dict(zip((v.name for v in variables), row, strict=True))}

    def ground(self, atom: Atom, binding: Binding) -> Atom:
        return Atom(atom.predicate, tuple(binding.get(a, a) for a in atom.args))

    def term(self, term: FunctionTerm, binding: Binding) -> FunctionTerm:
        return FunctionTerm(term.function, tuple(binding.get(a, a) for a in term.args))

    def actions(self) -> list[GroundAction]:
        """Return every instantaneous ground action."""
        return [
            GroundAction(schema.name, tuple(b[p.name] for p in schema.parameters))
            for schema in self.domain.actions.values()
            for b in self.bindings(schema.parameters, {})
        ]

    # Numbers and formulas (FL, definitions 6 to 8) --------------------------------------------

    def number(
        self,
        expression: NumericExpression,
        world: World,
        binding: Binding,
        duration: Fraction | None = None,
    ) -> Fraction | None:
        match expression:
            case Number(value):
                return Fraction(value)
            case FunctionTerm():
                return world.numbers.get(self.term(expression, binding))
            case Duration():
                return duration
            case Arithmetic(symbol, operands):
                return calculate(
                    symbol, [self.number(o, world, binding, duration) for o in operands]
                )
        raise AssertionError(expression)

    def truth(
        self, formula: Expression, world: World, binding: Binding, duration: Fraction | None = None
    ) -> Truth:
        """Return the truth of a formula in a state; preferences do not count."""

        def sub(inner: Expression, b: Binding = binding) -> Truth:
            return self.truth(inner, world, b, duration)

        match formula:
            case Atom():
                return self.ground(formula, binding) in world.atoms
            case Equal(left, right):
                return binding.get(left, left) == binding.get(right, right)
            case Comparison(symbol, one, two):
                a, b = (self.number(n, world, binding, duration) for n in (one, two))
                return None if a is None or b is None else compare(symbol, a, b)
            case Not(operand):
                return negation(sub(operand))
            case And(operands):
                return conjunction([sub(o) for o in operands])
            case Or(operands):
                return negation(conjunction([negation(sub(o)) for o in operands]))
            case Imply(left_, right_):
                return sub(Or((Not(left_), right_)))
            case Forall(variables, body):
                return conjunction([sub(body, b) for b in self.bindings(variables, binding)])
            case Exists(variables, body):
                return negation(
                    conjunction([negation(sub(body, b)) for b in self.bindings(variables, binding)])
                )
            case Preference():
                return True
        raise AssertionError(formula)

    # Derived predicates (EH, section 3) -------------------------------------------------------

    def levels(self) -> dict[str, int]:
        """Stratify the predicates: each is above those it negates, and not below those it uses."""
        level = dict.fromkeys(self.derived, 0)
        for _ in range(len(level) ** 2 + 1):
            for rule in self.domain.derived:
                for name, positive in uses(rule.body, True):
                    if name in level:
                        lowest = level[name] + (0 if positive else 1)
                        level[rule.predicate] = max(level[rule.predicate], lowest)
        return level

    def closed(self, world: World) -> World:
        """Return the state with exactly the derived atoms that follow."""
        atoms = {a for a in world.atoms if a.predicate not in self.derived}
        level = self.levels()
        for depth in sorted(set(level.values())):
            before = None
            while before != len(atoms):
                before = len(atoms)
                for rule in self.domain.derived:
                    if level[rule.predicate] != depth:
                        continue
                    for b in self.bindings(rule.parameters, {}):
                        if self.truth(rule.body, World(frozenset(atoms), world.numbers), b):
                            atoms.add(
                                Atom(rule.predicate, tuple(b[p.name] for p in rule.parameters))
                            )
        return World(frozenset(atoms), world.numbers)

    def initial(self) -> World:
        numbers = {term: Fraction(v) for term, v in self.problem.numeric_init.items()}
        changing = {
            e.fluent.function
            for schema in (*self.domain.actions.values(), *self.domain.durative_actions.values())
            for e in parts(schema.effect)
            if isinstance(e, NumericEffect)
        }
        if TOTAL_COST.function in changing:
            numbers.setdefault(TOTAL_COST, Fraction(0))
        return self.closed(World(self.problem.init, numbers))

    # Effects (FL, definition 11) --------------------------------------------------------------

    def changes(
        self, effect: Expression, world: World, binding: Binding, duration: Fraction | None = None
    ) -> Iterator[Change]:
        """Yield the changes of an effect; all values come from the state before."""
        match effect:
            case Atom():
                yield Change("add", self.ground(effect, binding))
            case Not(Atom() as atom):
                yield Change("delete", self.ground(atom, binding))
            case And(operands):
                for operand in operands:
                    yield from self.changes(operand, world, binding, duration)
            case Forall(variables, body):
                for b in self.bindings(variables, binding):
                    yield from self.changes(body, world, b, duration)
            case When(condition, body):
                if self.truth(condition, world, binding, duration):
                    yield from self.changes(body, world, binding, duration)
            case NumericEffect(symbol, fluent, amount):
                value = self.number(amount, world, binding, duration)
                yield Change(symbol, self.term(fluent, binding), value)
            case _:
                raise AssertionError(effect)

    def changed(self, world: World, changes: Iterable[Change]) -> World:
        """Return the state after simultaneous changes; deletes come before adds."""
        changes = list(changes)
        deleted = {c.target for c in changes if c.operator == "delete"}
        added = {c.target for c in changes if c.operator == "add"}
        numbers = dict(world.numbers)
        by_term: dict[FunctionTerm, list[Change]] = {}
        for change in changes:
            if isinstance(change.target, FunctionTerm):
                by_term.setdefault(change.target, []).append(change)
        for term, found in by_term.items():
            if len(found) > 1 and not {c.operator for c in found} <= {"increase", "decrease"}:
                raise ConflictError
            for change in found:
                old = numbers.get(term)
                if change.operator == "assign":
                    new = change.amount
                else:
                    new = calculate(SIGNS[change.operator], [old, change.amount])
                if new is None:
                    raise UndefinedError
                numbers[term] = new
        return self.closed(World((world.atoms - deleted) | frozenset(added), numbers))  # type: ignore[arg-type]

    # Preferences (GL, section 3.3) and the metric ---------------------------------------------

    def preferences(
        self, formula: Expression, binding: Binding
    ) -> Iterator[tuple[Preference, Binding]]:
        """Yield the instances of the preferences in a condition."""
        match formula:
            case Preference():
                yield formula, binding
            case And(operands):
                for operand in operands:
                    yield from self.preferences(operand, binding)
            case Forall(variables, body):
                for b in self.bindings(variables, binding):
                    yield from self.preferences(body, b)

    def count_violated(
        self, formula: Expression, world: World, binding: Binding, into: Counter[str]
    ) -> None:
        for preference, found in self.preferences(formula, binding):
            into[preference.name] += self.truth(preference.body, world, found) is not True

    def metric(
        self, world: World, total_time: Fraction, violated: Mapping[str, int]
    ) -> Fraction | None:
        if self.problem.metric is None:
            return total_time

        def value(expression: NumericExpression) -> Fraction | None:
            match expression:
                case IsViolated(name):
                    return Fraction(violated.get(name, 0))
                case FunctionTerm("total-time", ()):
                    return total_time
                case Arithmetic(symbol, operands):
                    return calculate(symbol, [value(o) for o in operands])
            found = self.number(expression, world, {})
            return Fraction(0) if found is None and expression == TOTAL_COST else found

        return value(self.problem.metric.expression)

    # Trajectory constraints (GL, section 3.2) -------------------------------------------------

    def fulfils(
        self, constraint: Trajectory, binding: Binding, worlds: Sequence[tuple[Fraction, World]]
    ) -> bool:
        """Return whether the timed states of a plan satisfy a constraint."""
        phi, *more = [
            [self.truth(f, world, binding) is True for _, world in worlds]
            for f in constraint.formulas
        ]
        psi = more[0] if more else []
        at = [time for time, _ in worlds]
        bounds = [Fraction(t) for t in constraint.times]
        every = range(len(worlds))
        match constraint.operator:
            case "at end":
                return phi[-1]
            case "always":
                return all(phi)
            case "sometime":
                return any(phi)
            case "within":
                return any(phi[i] and at[i] <= bounds[0] for i in every)
            case "at-most-once":
                return all(
                    any(all(phi[i : j + 1]) and not any(phi[j + 1 :]) for j in every if j >= i)
                    for i in every
                    if phi[i]
                )
            case "sometime-after":
                return all(any(psi[i:]) for i in every if phi[i])
            case "sometime-before":
                return all(any(psi[:i]) for i in every if phi[i])
            case "always-within":
                return all(
                    any(psi[j] and at[j] - at[i] <= bounds[0] for j in every if j >= i)
                    for i in every
                    if phi[i]
                )
            case "hold-during" | "hold-after":
                begin, end = bounds[0], bounds[1] if len(bounds) == 2 else None
                if at[-1] <= begin:
                    return phi[-1]
                inside = (i for i in every if begin <= at[i] and (end is None or at[i] < end))
                opening = (i for i in every[:-1] if at[i] <= begin < at[i + 1])
                return all(phi[i] for i in (*inside, *opening))
        raise AssertionError(constraint)

    def constraints(self) -> Iterator[tuple[str | None, list[tuple[Trajectory, Binding]]]]:
        """Yield the constraints, and the preferences with their names and all parts."""

        def flat(
            formula: Expression, binding: Binding
        ) -> Iterator[tuple[str | None, list[tuple[Trajectory, Binding]]]]:
            match formula:
                case Trajectory():
                    yield None, [(formula, binding)]
                case And(operands):
                    for operand in operands:
                        yield from flat(operand, binding)
                case Forall(variables, body):
                    for b in self.bindings(variables, binding):
                        yield from flat(body, b)
                case Preference(name, body):
                    yield name, [item for _, found in flat(body, binding) for item in found]
                case _:
                    raise AssertionError(formula)

        yield from flat(self.domain.constraints, {})
        yield from flat(self.problem.constraints, {})

    def judge_constraints(self, worlds: Sequence[tuple[Fraction, World]], verdict: Verdict) -> bool:
        """Count violated preferences; return whether all other constraints hold."""
        ok = True
        for name, found in self.constraints():
            fulfilled = all(self.fulfils(constraint, b, worlds) for constraint, b in found)
            if name is not None:
                verdict.violated[name] += not fulfilled
            elif not fulfilled:
                ok = False
        return ok

    # Sequences --------------------------------------------------------------------------------

    def step(self, world: World, action: GroundAction) -> World | str:
        """Return the state after an action, or the kind of failure."""
        schema = self.domain.actions[action.name]
        b = dict(zip((p.name for p in schema.parameters), action.args, strict=True))
        if not self.truth(schema.precondition, world, b):
            return "precondition"
        try:
            return self.changed(world, self.changes(schema.effect, world, b))
        except UndefinedError:
            return "undefined value"
        except ConflictError:
            return "interference"

    def judge(self, plan: Sequence[GroundAction]) -> Verdict:
        """Judge a sequence of well-typed actions; the state of step i has time i."""
        world = self.initial()
        verdict = Verdict(worlds=[(Fraction(0), world)])
        for number, action in enumerate(plan, 1):
            schema = self.domain.actions[action.name]
            b = dict(zip((p.name for p in schema.parameters), action.args, strict=True))
            after = self.step(world, action)
            if isinstance(after, str):
                verdict.why.add((after, number))
                return verdict
            self.count_violated(schema.precondition, world, b, verdict.violated)
            world = verdict.after[number] = after
            verdict.worlds.append((Fraction(number), world))
        self._finish(verdict, world, world, Fraction(len(plan)))
        return verdict

    def _finish(self, verdict: Verdict, world: World, counted: World, time: Fraction) -> None:
        if not self.truth(self.problem.goal, world, {}):
            verdict.why.add(("goal", None))
        self.count_violated(self.problem.goal, world, {}, verdict.violated)
        if not self.judge_constraints(verdict.worlds, verdict):
            verdict.why.add(("constraint", None))
        verdict.metric = self.metric(counted, time, verdict.violated)

    # Plans in time (FL, section 8; EH, section 2) ---------------------------------------------

    def judge_timed(self, plan: Sequence[TimedAction]) -> Verdict:
        """Judge a timed plan of well-typed actions with the required durations."""
        world = self.initial()
        verdict = Verdict(worlds=[(Fraction(0), world)])
        if early := {("start time", n) for n, s in enumerate(plan, 1) if s.start < 0}:
            verdict.why = early
            return verdict
        runs = [Run(self, n, s) for n, s in enumerate(plan, 1)]
        points = [Point(self, run, when) for run in runs for when in run.times()]
        points += [
            Point(self, None, "at start", Fraction(t.time), t.effect)
            for t in self.problem.timed_init
        ]
        counted, total = world, Fraction(0)
        for together in happenings(points, self.epsilon):
            time = together[0].time
            verdict.why = self._stage(together, world)
            if verdict.why:
                return verdict
            after = self.changed(world, [c for p in together for c in p.changes(world)])
            for point in together:
                point.settle(world, verdict.violated, together)
            world = after
            verdict.worlds.append((time, world))
            for run in runs:
                run.between(world)
            verdict.why = {
                ("invariant", r.number) for r in runs if r.running and r.invariant is not True
            }
            if verdict.why:
                return verdict
            if any(p.run is not None for p in together):
                # The metric ignores later exogenous changes. A happening has the time of its
                # first point.
                counted, total = world, time
            for point in together:
                if point.run is not None:
                    verdict.after[point.run.number] = world
        if self.problem.metric is None and not self.domain.durative_actions:
            total = Fraction(len(plan))
        self._finish(verdict, world, counted, total)
        return verdict

    def _stage(self, together: list[Point], world: World) -> set[tuple[str, int | None]]:
        """Return the failures of simultaneous points: unmet conditions first, then interference."""
        why: set[tuple[str, int | None]] = set()
        for point in together:
            why |= point.unmet(world)
        if why:
            return why
        for one, two in combinations(together, 2):
            same = one.run is two.run is None and one.effect == two.effect
            if not same and interfere(one, two, world):
                why |= {("interference", p.number) for p in (one, two)}
        if why:
            return why
        for point in together:
            try:
                self.changed(world, point.changes(world))
            except UndefinedError:
                why.add(("undefined value", point.number))
            except ConflictError:
                why.add(("interference", point.number))
        return why


@dataclass
class Piece:
    """A condition or an effect of a durative action, with its time.

    Attributes:
        conditions: For an effect, its conditions by time.
    """

    when: str
    body: Expression
    binding: Binding
    conditions: list[tuple[str, Expression, Binding]] = field(default_factory=list)


class Run:
    """One step of a timed plan."""

    def __init__(self, reference: Reference, number: int, step: TimedAction) -> None:
        self.reference = reference
        self.number = number
        self.step = step
        schema = reference.domain.schema(step.action.name)
        assert schema is not None
        self.schema = schema
        args = zip((p.name for p in schema.parameters), step.action.args, strict=True)
        self.binding: Binding = dict(args)
        self.running = False
        self.invariant: Truth = True
        if isinstance(schema, DurativeActionSchema):
            self.duration = step.duration
            self.wishes = list(self.timed_wishes(schema.condition, self.binding))
            self.unfulfilled = [False] * len(self.wishes)
            self.conditions = list(self.timed(schema.condition, self.binding))
            self.effects = list(self.timed_effects(schema.effect, self.binding, []))
            # Truth of each effect's conditions at the start and in between.
            self.held = [True] * len(self.effects)
        else:
            self.duration = None

    def times(self) -> Iterator[str]:
        yield "at start"
        if isinstance(self.schema, DurativeActionSchema):
            yield "at end"

    def timed(
        self, formula: Expression, binding: Binding
    ) -> Iterator[tuple[str, Expression, Binding]]:
        """Yield the parts of a condition with their times, without preferences."""
        match formula:
            case Timed(when, body):
                yield when, body, binding
            case And(operands):
                for operand in operands:
                    yield from self.timed(operand, binding)
            case Forall(variables, body):
                for b in self.reference.bindings(variables, binding):
                    yield from self.timed(body, b)
            case Preference():
                pass
            case _:
                raise AssertionError(formula)

    def timed_wishes(
        self, formula: Expression, binding: Binding
    ) -> Iterator[tuple[str, list[tuple[str, Expression, Binding]]]]:
        """Yield the name and the parts of each instance of a preference."""
        match formula:
            case Preference(name, body):
                yield name, list(self.timed(body, binding))
            case Timed(when, body):
                for preference, b in self.reference.preferences(body, binding):
                    yield preference.name, [(when, preference.body, b)]
            case And(operands):
                for operand in operands:
                    yield from self.timed_wishes(operand, binding)
            case Forall(variables, body):
                for b in self.reference.bindings(variables, binding):
                    yield from self.timed_wishes(body, b)

    def timed_effects(
        self,
        effect: Expression,
        binding: Binding,
        conditions: list[tuple[str, Expression, Binding]],
    ) -> Iterator[Piece]:
        match effect:
            case Timed(when, body):
                yield Piece(when, body, binding, conditions)
            case And(operands):
                for operand in operands:
                    yield from self.timed_effects(operand, binding, conditions)
            case Forall(variables, body):
                for b in self.reference.bindings(variables, binding):
                    yield from self.timed_effects(body, b, conditions)
            case When(condition, body):
                inner = [*conditions, *self.timed(condition, binding)]
                yield from self.timed_effects(body, binding, inner)
            case _:
                raise AssertionError(effect)

    def true(self, formula: Expression, world: World, binding: Binding) -> Truth:
        return self.reference.truth(formula, world, binding, self.duration)

    def between(self, world: World) -> None:
        """Check a state strictly between the start and the end."""
        if not self.running:
            return
        found = [self.true(f, world, b) for when, f, b in self.conditions if when == "over all"]
        self.invariant = conjunction([self.invariant, *found])
        self.hope("over all", world)
        for place, piece in enumerate(self.effects):
            for when, f, b in piece.conditions:
                if when == "over all":
                    self.held[place] &= self.true(f, world, b) is True

    def hope(self, now: str, world: World) -> None:
        """Record the preferences violated at a time."""
        for place, (_, found) in enumerate(self.wishes):
            for when, f, b in found:
                if when == now and self.true(f, world, b) is not True:
                    self.unfulfilled[place] = True


class Point:
    """A start, an end, an instantaneous step, or a timed initial literal (without a run)."""

    def __init__(
        self,
        reference: Reference,
        run: Run | None,
        when: str,
        time: Fraction | None = None,
        effect: Expression = TRUE,
    ) -> None:
        self.reference = reference
        self.run = run
        self.when = when
        self.effect = effect
        if run is not None:
            late = run.duration if when == "at end" and run.duration is not None else 0
            time = run.step.start + late
        assert time is not None
        self.time = time

    @property
    def number(self) -> int | None:
        return self.run.number if self.run else None

    @property
    def durative(self) -> bool:
        return self.run is not None and isinstance(self.run.schema, DurativeActionSchema)

    def conditions(self) -> Iterator[tuple[Expression, Binding]]:
        """Yield the conditions on the state before."""
        if self.run is None:
            return
        if isinstance(self.run.schema, DurativeActionSchema):
            yield from ((f, b) for when, f, b in self.run.conditions if when == self.when)
        else:
            yield self.run.schema.precondition, self.run.binding

    def durations(self) -> Iterator[Comparison]:
        """Yield the duration constraints evaluated at this point."""

        def flat(formula: Expression, when: str) -> Iterator[Comparison]:
            match formula:
                case And(operands):
                    for operand in operands:
                        yield from flat(operand, when)
                case Timed(time, body):
                    yield from flat(body, time)
                case Comparison():
                    if when == self.when:
                        yield formula

        if self.run is not None and isinstance(self.run.schema, DurativeActionSchema):
            yield from flat(self.run.schema.duration, "at start")

    def unmet(self, world: World) -> set[tuple[str, int | None]]:
        """Return the kinds of failure of the point alone."""
        if self.run is None:
            return set()
        why: set[tuple[str, int | None]] = set()
        run, number = self.run, self.run.number
        for test in self.durations():
            assert run.duration is not None
            bound = self.reference.number(test.right, world, run.binding, run.duration)
            if bound is None:
                why.add(("undefined value", number))
            elif not compare(test.operator, run.duration, bound, self.reference.tolerance):
                why.add(("duration", number))
        for formula, binding in self.conditions():
            if not self.reference.truth(formula, world, binding, run.duration):
                end = self.durative and self.when == "at end"
                why.add(("end condition" if end else "precondition", number))
        return why

    def looks(self, world: World) -> Iterator[tuple[Expression, Binding]]:
        """Yield the effect conditions evaluated now, for this or a later effect."""
        run = self.run
        assert run is not None
        for place, piece in enumerate(run.effects):
            if self.when == "at end":
                before = [(f, b) for when, f, b in piece.conditions if when == "at start"]
                if not (run.held[place] if run.running else self.all_hold(before, world)):
                    continue
            yield from ((f, b) for when, f, b in piece.conditions if when == self.when)

    def all_hold(self, conditions: Sequence[tuple[Expression, Binding]], world: World) -> bool:
        assert self.run is not None
        return all(self.run.true(f, world, b) for f, b in conditions)

    def pieces(self, world: World) -> Iterator[Piece]:
        """Yield the effects whose conditions at other times allow them."""
        run = self.run
        if run is None:
            yield Piece(self.when, self.effect, {})
        elif not self.durative:
            yield Piece(self.when, run.schema.effect, run.binding)
        else:
            for place, piece in enumerate(run.effects):
                if piece.when != self.when:
                    continue
                here = [(f, b) for when, f, b in piece.conditions if when == self.when]
                if not run.running:
                    # At the start, or for an action that ends as it starts.
                    here += [(f, b) for when, f, b in piece.conditions if when == "at start"]
                elif not run.held[place]:
                    continue
                if all(run.true(f, world, b) for f, b in here):
                    yield piece

    def changes(self, world: World) -> Iterator[Change]:
        duration = self.run.duration if self.run else None
        for piece in self.pieces(world):
            yield from self.reference.changes(piece.body, world, piece.binding, duration)

    def settle(self, world: World, violated: Counter[str], together: list[Point]) -> None:
        """Record the outcome of the run; `world` is the state before."""
        run = self.run
        if run is None:
            return
        if not self.durative:
            self.reference.count_violated(run.schema.precondition, world, run.binding, violated)
            return
        run.hope(self.when, world)
        if self.when == "at start":
            ends_now = any(p.run is run and p.when == "at end" for p in together)
            run.running = not ends_now
            for place, piece in enumerate(run.effects):
                for when, f, b in piece.conditions:
                    if when == "at start":
                        run.held[place] &= run.true(f, world, b) is True
        else:
            run.running = False
            for (name, _), bad in zip(run.wishes, run.unfulfilled, strict=True):
                violated[name] += bad


# What a point reads and changes (FL, definition 12: no moving targets) --------------------------


def interfere(one: Point, two: Point, world: World) -> bool:
    """Return whether two points must not be simultaneous."""
    changes = [list(p.changes(world)) for p in (one, two)]
    reads = [reading(p, world) for p in (one, two)]
    for mine, other in ((0, 1), (1, 0)):
        if any(change.target in reads[mine] for change in changes[other]):
            return True
    for a in changes[0]:
        for b in changes[1]:
            both = {a.operator, b.operator}
            if a.target == b.target and not (
                both in ({"add"}, {"delete"}) or both <= {"increase", "decrease"}
            ):
                return True
    return False


def reading(point: Point, world: World) -> set[Atom | FunctionTerm]:
    """Return the atoms and numbers in a point's conditions, whether needed or not.

    Effect conditions count whether they hold or not: the flattened action (FL, definition 7) has
    either the condition or its negation among its preconditions.
    """
    found: set[Atom | FunctionTerm] = set()
    reference = point.reference

    def number(expression: NumericExpression, binding: Binding) -> None:
        match expression:
            case FunctionTerm():
                found.add(reference.term(expression, binding))
            case Arithmetic(_, operands):
                for operand in operands:
                    number(operand, binding)

    def formula(item: Expression, binding: Binding) -> None:
        match item:
            case Atom():
                atom = reference.ground(item, binding)
                if atom in found:
                    return
                found.add(atom)
                for rule in reference.domain.derived:
                    if rule.predicate == atom.predicate:
                        names = (p.name for p in rule.parameters)
                        formula(rule.body, dict(zip(names, atom.args, strict=True)))
            case Comparison(_, left, right):
                number(left, binding)
                number(right, binding)
            case Forall(variables, body) | Exists(variables, body):
                for b in reference.bindings(variables, binding):
                    formula(body, b)
            case Not(body) | Preference(_, body):
                formula(body, binding)
            case And(operands) | Or(operands):
                for operand in operands:
                    formula(operand, binding)
            case Imply(left, right):
                formula(left, binding)
                formula(right, binding)

    def effect(item: Expression, binding: Binding) -> None:
        match item:
            case And(operands):
                for operand in operands:
                    effect(operand, binding)
            case Forall(variables, body):
                for b in reference.bindings(variables, binding):
                    effect(body, b)
            case When(condition, body):
                duration = point.run.duration if point.run else None
                formula(condition, binding)
                if reference.truth(condition, world, binding, duration):
                    effect(body, binding)
            case NumericEffect(_, _, amount):
                number(amount, binding)

    for item, binding in point.conditions():
        formula(item, binding)
    if point.durative:
        assert point.run is not None
        for _, wished in point.run.wishes:
            for when, body, b in wished:
                if when == point.when:
                    formula(body, b)
        for test in point.durations():
            number(test.right, point.run.binding)
        for body, b in point.looks(world):
            formula(body, b)
    for piece in point.pieces(world):
        effect(piece.body, piece.binding)
    return found


def happenings(points: list[Point], epsilon: Fraction) -> Iterator[list[Point]]:
    """Group points within epsilon of the first of a group."""
    group: list[Point] = []
    for point in sorted(points, key=lambda p: p.time):
        if group and point.time - group[0].time > epsilon:
            yield group
            group = []
        group.append(point)
    if group:
        yield group


# Plain functions ----------------------------------------------------------------------------------

SIGNS = {"increase": "+", "decrease": "-", "scale-up": "*", "scale-down": "/"}


def calculate(symbol: str, parts: Sequence[Fraction | None]) -> Fraction | None:
    """Compute a value; undefined if an operand is undefined or the divisor is 0."""
    known = [p for p in parts if p is not None]
    if len(known) < len(parts):
        return None
    result = known[0]
    if len(known) == 1:
        return -result
    for part in known[1:]:
        if symbol == "+":
            result += part
        elif symbol == "-":
            result -= part
        elif symbol == "*":
            result *= part
        elif part == 0:
            return None
        else:
            result /= part
    return result


def compare(symbol: str, a: Fraction, b: Fraction, tolerance: Fraction = Fraction(0)) -> bool:
    match symbol:
        case "=":
            return abs(a - b) <= tolerance
        case "<":
            return a < b + tolerance
        case "<=":
            return a <= b + tolerance
        case ">":
            return b < a + tolerance
        case ">=":
            return b <= a + tolerance
    raise AssertionError(symbol)


def negation(truth: Truth) -> Truth:
    return None if truth is None else not truth


def conjunction(parts: Sequence[Truth]) -> Truth:
    if False in parts:
        return False
    return None if None in parts else True


def parts(effect: Expression) -> Iterator[Expression]:
    """Yield the atomic parts of an effect."""
    match effect:
        case And(operands):
            for operand in operands:
                yield from parts(operand)
        case Forall(_, body) | When(_, body) | Timed(_, body):
            yield from parts(body)
        case _:
            yield effect


def uses(formula: Expression, positive: bool) -> Iterator[tuple[str, bool]]:
    """Yield the predicates in a formula, and whether each is under an even number of negations."""
    match formula:
        case Atom(predicate, _):
            yield predicate, positive
        case Not(operand):
            yield from uses(operand, not positive)
        case And(operands) | Or(operands):
            for operand in operands:
                yield from uses(operand, positive)
        case Imply(left, right):
            yield from uses(left, not positive)
            yield from uses(right, positive)
        case Forall(_, body) | Exists(_, body):
            yield from uses(body, positive)
