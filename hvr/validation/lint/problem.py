"""What can never happen in a problem, and what it lacks or has for nothing."""

from __future__ import annotations

from collections.abc import Iterator

from hvr.errors import HvrError
from hvr.pddl import (
    And,
    Atom,
    Domain,
    Equal,
    Forall,
    FunctionTerm,
    Not,
    Number,
    NumericEffect,
    Preference,
    Problem,
    Task,
    TimedInitial,
    UndefinedValueError,
    is_variable,
)
from hvr.pddl.conditions import FALSE
from hvr.pddl.facts import Relation, bindings, necessary_literals
from hvr.pddl.model import changes_of, walk
from hvr.validation.occurrences import (
    Schema,
    conditions_of,
    kind_of,
    occurrences_in,
    schemas_of,
    without_times,
)
from hvr.validation.reachability import Reachable
from hvr.validation.report import place_of
from hvr.validation.rules import LintFinding, issue

_TIMES = ("at start", "over all", "at end")


def check_problem(domain: Domain, problem: Problem, seconds: float) -> Iterator[LintFinding]:
    """Yield unreachable actions and goals, missing numbers and useless objects.

    Args:
        domain: the domain.
        problem: the problem.
        seconds: how long to explore what can become true.
    """
    yield from _missing_values(domain, problem)
    yield from _unused_objects(domain, problem)
    yield from _timed_literals(domain, problem)
    try:
        task = Task(domain, problem)
        yield from _goal_now(task)
        reachable = Reachable(task, seconds)
    except HvrError as error:
        yield issue("HVR317", f"What can become true was not explored: {error}.", problem.name,
                    in_problem=True)  # fmt: skip
        return
    if not reachable.complete:
        yield issue("HVR317", "There are too many instances of actions to tell which can never "
                    "apply and whether the goal can be reached.", problem.name,
                    in_problem=True)  # fmt: skip
    yield from _goal_ever(task, reachable)
    if reachable.complete:
        for schema in schemas_of(domain):
            if schema.name not in reachable.actions:
                kind = kind_of(domain, schema)
                yield issue("HVR310", f"The {kind} {schema.name} can never apply in this problem: "
                            f"{_why(task, schema, reachable)}.", schema.name, schema,
                            in_problem=True)  # fmt: skip


# The goal -------------------------------------------------------------------------------------


def _goal_now(task: Task) -> Iterator[LintFinding]:
    goal = task.problem.goal
    hard = [part for part in walk(goal) if not isinstance(part, And | Forall)]
    if not hard or any(isinstance(part, Preference) for part in hard):
        # Goals of preferences only are there for their metric.
        return
    if list(walk(task.problem.constraints))[1:]:
        return
    try:
        holds = task.goal.holds(task.initial.bits, task.initial.values)
    except UndefinedValueError:
        return
    if holds:
        yield issue("HVR313", "The goal holds in the initial state: the empty plan is valid.",
                    task.problem.name, _first(task.problem), in_problem=True)  # fmt: skip


def _goal_ever(task: Task, reachable: Reachable) -> Iterator[LintFinding]:
    goal = task.problem.goal
    for literal, positive in necessary_literals(goal):
        if isinstance(literal, Equal) or not all(not is_variable(a) for a in literal.args):
            continue
        static = task.is_static(literal.predicate)
        if positive and literal not in reachable and (static or reachable.complete):
            why = "nothing changes it" if static else "no action that could supply it can apply"
            yield issue("HVR314", f"The goal needs {literal}, which can never be true: {why}.",
                        task.problem.name, literal, in_problem=True)  # fmt: skip
            return
        if not positive and static and literal in reachable:
            yield issue("HVR314", f"The goal needs {literal} to be false, and nothing changes it.",
                        task.problem.name, literal, in_problem=True)  # fmt: skip
            return
    if task.goal is FALSE:
        yield issue("HVR314", "The goal can never hold: it contradicts what nothing changes.",
                    task.problem.name, _first(task.problem), in_problem=True)  # fmt: skip


class _Place:
    """A stand-in for what has a place."""

    def __init__(self, location: object) -> None:
        self.location = location


def _first(problem: Problem) -> _Place:
    return _Place(place_of(problem.goal))


# Actions --------------------------------------------------------------------------------------


def _why(task: Task, schema: Schema, reachable: Reachable) -> str:
    """Say why no instance of an action is reachable."""
    for parameter in schema.parameters:
        if not task.members(parameter.types):
            return f"there is no object for its parameter {parameter}"
    literals = [
        item for item in necessary_literals(without_times(conditions_of(schema), _TIMES))
        if item[1] or isinstance(item[0], Equal) or task.is_static(item[0].predicate)
    ]  # fmt: skip
    for literal, positive in literals:
        if positive and isinstance(literal, Atom) and not _some(task, schema, literal, reachable):
            if task.is_static(literal.predicate):
                return f"it needs {literal}, and nothing changes this predicate, of which :init " \
                       "has no fitting fact"  # fmt: skip
            return f"it needs {literal}, which no action that can apply makes true"
    return "no choice of objects fulfils all parts of its condition"


def _some(task: Task, schema: Schema, literal: Atom, reachable: Reachable) -> bool:
    """Say whether a single literal can be fulfilled by some objects."""
    names = set(literal.args)
    variables = [p for p in schema.parameters if p.name in names]

    def relation(predicate: str) -> Relation:
        return reachable.relation(predicate)

    return any(True for _ in bindings(variables, [(literal, True)], {}, relation, task.members))


# Numbers and objects --------------------------------------------------------------------------


def _missing_values(domain: Domain, problem: Problem) -> Iterator[LintFinding]:
    used = occurrences_in(domain, problem)
    given = {term.function for term in problem.numeric_init}
    for effect in _all_changes(domain, problem):
        if isinstance(effect, NumericEffect):
            if effect.operator == "assign":
                given.add(effect.fluent.function)
            else:
                used.read_functions.setdefault(effect.fluent.function, effect.fluent)
    objects = (*domain.constants, *problem.objects)
    for name, term in used.read_functions.items():
        function = domain.functions.get(name)
        if function is None or name in given or name == "total-cost":
            continue
        fits = all(any(domain.has_type(o.types, p.types) for o in objects)
                   for p in function.parameters)  # fmt: skip
        if fits:
            yield issue("HVR315", f"The function {function} is read as {term}, but :init gives it "
                        "no value and no effect assigns one.", name, function,
                        in_problem=True)  # fmt: skip


def _all_changes(domain: Domain, problem: Problem) -> Iterator[Atom | NumericEffect]:
    for schema in schemas_of(domain):
        yield from changes_of(schema.effect)
    for timed in problem.timed_init:
        yield from changes_of(timed.effect)


def _unused_objects(domain: Domain, problem: Problem) -> Iterator[LintFinding]:
    used = occurrences_in(domain, problem)
    for rule in domain.derived:
        used.variables(rule.parameters)
    names = set(used.names)
    for atom in problem.init:
        names.update(atom.args)
    for term in problem.numeric_init:
        names.update(term.args)
    for thing in problem.objects:
        if thing.name not in names and not domain.has_type(thing.types, used.types):
            yield issue("HVR316", f"The object {thing} is named nowhere, and no action or "
                        "quantifier takes an object of its type.", thing.name, thing,
                        in_problem=True)  # fmt: skip


# Timed literals -------------------------------------------------------------------------------


def _timed_literals(domain: Domain, problem: Problem) -> Iterator[LintFinding]:
    """Yield timed literals that repeat another, change nothing, or take effect at time 0."""
    if not problem.timed_init:
        return
    changed = {
        effect.fluent.function if isinstance(effect, NumericEffect) else effect.predicate
        for schema in schemas_of(domain)
        for effect in changes_of(schema.effect)
    }
    known: dict[Atom | FunctionTerm, object] = {}
    seen: set[TimedInitial] = set()
    for timed in sorted(problem.timed_init, key=lambda timed: timed.time):
        target, value = _given(timed)
        if target not in known:
            known[target] = (
                target in problem.init
                if isinstance(target, Atom)
                else problem.numeric_init.get(target)
            )
        name = target.predicate if isinstance(target, Atom) else target.function
        fixed = name not in changed or not timed.time
        why = ""
        if timed in seen:
            why = "is listed twice"
        elif fixed and known[target] == value:
            why = "changes nothing: nothing else changes what it says, and it is so already"
        elif not timed.time:
            why = (
                "contradicts the initial state, which holds until time 0 and also for the steps "
                "at time 0; write it without a time"
            )
        if why:
            yield issue("HVR318", f"The timed literal {timed} {why}.", str(target), target,
                        in_problem=True)  # fmt: skip
        seen.add(timed)
        known[target] = value


def _given(timed: TimedInitial) -> tuple[Atom | FunctionTerm, object]:
    """Return the atom or number that a timed literal changes, and its value then."""
    match timed.effect:
        case Atom() as atom:
            return atom, True
        case NumericEffect(_, fluent, Number(value)):
            return fluent, value
        case Not(Atom() as atom):
            return atom, False
    raise AssertionError(timed)
