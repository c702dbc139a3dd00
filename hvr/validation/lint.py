"""Lint rules: errors, redundancies and suspicious spots in a domain or problem."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from hvr.errors import HvrError
from hvr.pddl import (
    OBJECT,
    ActionSchema,
    And,
    Atom,
    Domain,
    DurativeActionSchema,
    Equal,
    Expression,
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
    When,
    is_variable,
)
from hvr.pddl.facts import Literal, Relation, bindings, conjuncts, necessary_literals
from hvr.pddl.formulas import changes_of, walk
from hvr.pddl.state import FALSE
from hvr.validation.findings import LintFinding, issue
from hvr.validation.occurrences import (
    Occurrences,
    Schema,
    check_requirements,
    conditions_of,
    kind_of,
    occurrences_in,
    schemas_of,
    without_times,
)
from hvr.validation.reachability import Reachable
from hvr.validation.report import place_of

# Actions ------------------------------------------------------------------------------------------
# Contradictory conditions of actions and rules, and effects that change nothing.


def check_actions(domain: Domain) -> Iterator[LintFinding]:
    """Yield findings about inapplicable actions and rules, and about useless effects."""
    for schema in schemas_of(domain):
        kind = kind_of(domain, schema)
        yield from _contradiction(schema, kind)
        if not any(True for _ in changes_of(schema.effect)):
            yield issue("HVR311", f"The {kind} {schema.name} changes nothing.", schema.name, schema)
        if isinstance(schema, ActionSchema):
            yield from _dead_branches(schema)
            yield from _redundant(schema)
    for rule in domain.derived:
        if (clash := _clash(necessary_literals(rule.body))) is not None:
            message = f"The rule for {rule.predicate} can never derive anything: {_reason(clash)}."
            yield issue("HVR309", message, rule.predicate, clash)


def _contradiction(schema: Schema, kind: str) -> Iterator[LintFinding]:
    if isinstance(schema, DurativeActionSchema):
        parts = [without_times(schema.condition, (t,)) for t in ("at start", "over all", "at end")]
    else:
        parts = [schema.precondition]
    for part in parts:
        if (clash := _clash(necessary_literals(part))) is not None:
            message = f"The {kind} {schema.name} can never apply: {_reason(clash)}."
            yield issue("HVR309", message, schema.name, clash)
            return


def _dead_branches(schema: ActionSchema) -> Iterator[LintFinding]:
    needed = list(necessary_literals(schema.precondition))
    if _clash(needed) is not None:
        return
    hidden: set[str] = {p.name for p in schema.parameters}
    for branch in _branches(schema.effect, hidden):
        clash = _clash([*needed, *necessary_literals(branch.condition)])
        if clash is not None:
            message = f"A conditional effect of {schema.name} can never happen: {_reason(clash)}."
            yield issue("HVR309", message, schema.name, clash)


def _branches(effect: Expression, hidden: set[str]) -> Iterator[When]:
    stack = [effect]
    while stack:
        match stack.pop():
            case When() as branch:
                yield branch
            case And(operands):
                stack.extend(reversed(operands))
            case Forall(variables, body) if hidden.isdisjoint(v.name for v in variables):
                stack.append(body)
            case _:
                pass


def _clash(literals: Iterable[Literal]) -> Atom | Equal | None:
    seen: dict[Atom | Equal, bool] = {}
    for literal, positive in literals:
        if seen.setdefault(literal, positive) != positive:
            return literal
        if isinstance(literal, Equal):
            left, right = literal.left, literal.right
            names = not (is_variable(left) or is_variable(right))
            if (left == right and not positive) or (names and left != right and positive):
                return literal
    return None


def _reason(clash: Atom | Equal) -> str:
    if isinstance(clash, Equal):
        return f"{clash} cannot be satisfied"
    return f"{clash} must be both true and false"


def _redundant(schema: ActionSchema) -> Iterator[LintFinding]:
    added: dict[Atom, Atom] = {}
    deleted: dict[Atom, Atom] = {}
    for part in conjuncts(schema.effect):
        match part:
            case Atom():
                added[part] = part
            case Not(Atom() as atom):
                deleted[atom] = atom
            case _:
                pass
    needed = dict(necessary_literals(schema.precondition))
    adding, deleting = _polarities(schema.effect)
    for atom in added:
        if atom in deleted:
            message = (
                f"{schema.name} deletes and adds {atom}; adding wins, so the deletion has "
                "no effect."
            )
            yield issue("HVR312", message, schema.name, atom)
        elif needed.get(atom) is True and atom.predicate not in deleting:
            message = (
                f"{schema.name} adds {atom}, which its precondition already requires to be true."
            )
            yield issue("HVR312", message, schema.name, atom)
    for atom in deleted:
        if needed.get(atom) is False and atom.predicate not in adding:
            message = (
                f"{schema.name} deletes {atom}, which its precondition already requires "
                "to be false."
            )
            yield issue("HVR312", message, schema.name, atom)


def _polarities(effect: Expression) -> tuple[set[str], set[str]]:
    adding: set[str] = set()
    deleting: set[str] = set()
    stack = [effect]
    while stack:
        match stack.pop():
            case Atom(predicate):
                adding.add(predicate)
            case Not(Atom(predicate)):
                deleting.add(predicate)
            case And(operands):
                stack.extend(operands)
            case Forall(_, body) | When(_, body):
                stack.append(body)
            case _:
                pass
    return adding, deleting


# Declarations -------------------------------------------------------------------------------------


def check_declarations(domain: Domain, problem: Problem | None) -> Iterator[LintFinding]:
    used = occurrences_in(domain, problem)
    yield from _predicates(domain, problem, used)
    yield from _functions(domain, used)
    yield from _types(domain, problem, used)
    yield from _constants(domain, problem, used)
    yield from _parameters(domain)


def _predicates(
    domain: Domain, problem: Problem | None, used: Occurrences
) -> Iterator[LintFinding]:
    initially = {atom.predicate for atom in problem.init} if problem else set()
    for name, predicate in domain.predicates.items():
        changed = name in used.added or name in used.deleted
        if name not in used.read and not changed:
            ever = " by an action, rule or goal" if problem else " by an action or rule"
            yield issue(
                "HVR301", f"The predicate {predicate} is never used{ever}.", name, predicate
            )
        elif name not in used.read and problem is not None:
            by = "derived" if name not in used.deleted and _is_derived(domain, name) else "changed"
            message = (
                f"The predicate {predicate} is {by}, but neither a condition nor the goal of this "
                "problem reads it."
            )
            yield issue("HVR303", message, name, predicate)
        elif problem is not None and name in used.read_true.keys() - used.added.keys() - initially:
            message = (
                f"Nothing ever makes the predicate {predicate} true: it is not "
                "in :init, and no effect or rule adds it."
            )
            yield issue("HVR302", message, name, predicate)


def _is_derived(domain: Domain, name: str) -> bool:
    return any(rule.predicate == name for rule in domain.derived)


def _functions(domain: Domain, used: Occurrences) -> Iterator[LintFinding]:
    for name, function in domain.functions.items():
        if name == "total-cost":
            # The metrics of the problems use it.
            continue
        if name not in used.read_functions and name not in used.changed_functions:
            yield issue("HVR304", f"The function {function} is never used.", name, function)


def _types(domain: Domain, problem: Problem | None, used: Occurrences) -> Iterator[LintFinding]:
    mentioned = set(used.types)
    lists = [p.parameters for p in domain.predicates.values()]
    lists += [f.parameters for f in domain.functions.values()]
    for parameter in chain.from_iterable(lists):
        mentioned.update(parameter.types)
    for thing in (*domain.constants, *(problem.objects if problem else ())):
        mentioned.update(thing.types)
    mentioned.discard(OBJECT)
    for name in domain.types:
        # A subtype of a used type can classify objects; a supertype groups the used types.
        related = any(
            domain.is_subtype(name, other) or domain.is_subtype(other, name) for other in mentioned
        )
        if not related:
            yield issue("HVR305", f"The type {name} is never used.", name)


def _constants(domain: Domain, problem: Problem | None, used: Occurrences) -> Iterator[LintFinding]:
    names = set(used.names)
    if problem is not None:
        for atom in problem.init:
            names.update(atom.args)
        for term in problem.numeric_init:
            names.update(term.args)
    # An unnamed constant may still instantiate parameters or quantifiers, or occur in the facts or
    # goals of other problems.
    usable = set(used.types)
    for predicate in domain.predicates.values():
        usable.update(kind for parameter in predicate.parameters for kind in parameter.types)
    for function in domain.functions.values():
        usable.update(kind for parameter in function.parameters for kind in parameter.types)
    for constant in domain.constants:
        if constant.name not in names and not domain.has_type(constant.types, usable):
            where = (
                "neither in the domain nor in the problem" if problem else "nowhere in the domain"
            )
            message = f"The constant {constant} is named {where}, and no parameter has its type."
            yield issue("HVR306", message, constant.name, constant)


def _parameters(domain: Domain) -> Iterator[LintFinding]:
    for schema in schemas_of(domain):
        if not schema.parameters:
            continue
        used = Occurrences()
        used.schema(schema)
        for parameter in schema.parameters:
            if parameter.name not in used.names:
                place = parameter if getattr(parameter, "location", None) else schema
                message = (
                    f"The parameter {parameter} of {schema.name} occurs neither "
                    "in its condition nor in its effect; each object of its type creates "
                    f"another instance of the {kind_of(domain, schema)}."
                )
                yield issue("HVR307", message, f"{schema.name} {parameter.name}", place)


# Problem ------------------------------------------------------------------------------------------
# Unreachable actions and goals, missing values and unused objects.

_TIMES = ("at start", "over all", "at end")


def check_problem(domain: Domain, problem: Problem) -> Iterator[LintFinding]:
    yield from _missing_values(domain, problem)
    yield from _unused_objects(domain, problem)
    yield from _timed_literals(domain, problem)
    try:
        task = Task(domain, problem)
        yield from _goal_now(task)
        reachable = Reachable(task)
    except HvrError as error:
        yield issue(
            "HVR317", f"Reachability was not explored: {error}.", problem.name, in_problem=True
        )
        return
    if not reachable.complete:
        message = (
            "There are too many action instances to determine which actions can never apply "
            "and whether the goal is reachable."
        )
        yield issue("HVR317", message, problem.name, in_problem=True)
    yield from _goal_ever(task, reachable)
    if reachable.complete:
        for schema in schemas_of(domain):
            if schema.name not in reachable.actions:
                kind = kind_of(domain, schema)
                message = (
                    f"The {kind} {schema.name} can never apply in this problem: "
                    f"{_why(task, schema, reachable)}."
                )
                yield issue("HVR310", message, schema.name, schema, in_problem=True)


# The goal -------------------------------------------------------------------------------------


def _goal_now(task: Task) -> Iterator[LintFinding]:
    goal = task.problem.goal
    hard = [part for part in walk(goal) if not isinstance(part, And | Forall)]
    if not hard or any(isinstance(part, Preference) for part in hard):
        # A goal of preferences only matters through the metric.
        return
    if list(walk(task.problem.constraints))[1:]:
        return
    try:
        holds = task.goal.holds(task.initial.bits, task.initial.values)
    except UndefinedValueError:
        return
    if holds:
        message = "The goal holds in the initial state: the empty plan is valid."
        yield issue("HVR313", message, task.problem.name, _first(task.problem), in_problem=True)


def _goal_ever(task: Task, reachable: Reachable) -> Iterator[LintFinding]:
    goal = task.problem.goal
    for literal, positive in necessary_literals(goal):
        if isinstance(literal, Equal) or not all(not is_variable(a) for a in literal.args):
            continue
        static = task.is_static(literal.predicate)
        if positive and literal not in reachable and (static or reachable.complete):
            why = "nothing changes it" if static else "no action that achieves it can apply"
            message = f"The goal needs {literal}, which can never be true: {why}."
            yield issue("HVR314", message, task.problem.name, literal, in_problem=True)
            return
        if not positive and static and literal in reachable:
            message = f"The goal needs {literal} to be false, but nothing changes it."
            yield issue("HVR314", message, task.problem.name, literal, in_problem=True)
            return
    if task.goal is FALSE:
        message = "The goal can never hold: it contradicts static facts."
        yield issue("HVR314", message, task.problem.name, _first(task.problem), in_problem=True)


class _Place:
    """A location wrapped in an object, as `issue` expects."""

    def __init__(self, location: object) -> None:
        self.location = location


def _first(problem: Problem) -> _Place:
    return _Place(place_of(problem.goal))


# Actions --------------------------------------------------------------------------------------


def _why(task: Task, schema: Schema, reachable: Reachable) -> str:
    for parameter in schema.parameters:
        if not task.members(parameter.types):
            return f"there is no object for its parameter {parameter}"
    literals = [
        item
        for item in necessary_literals(without_times(conditions_of(schema), _TIMES))
        if item[1] or isinstance(item[0], Equal) or task.is_static(item[0].predicate)
    ]
    for literal, positive in literals:
        if positive and isinstance(literal, Atom) and not _some(task, schema, literal, reachable):
            if task.is_static(literal.predicate):
                return (
                    f"it needs {literal}, but nothing changes this predicate, and :init has no "
                    "matching fact"
                )
            return f"it needs {literal}, which no applicable action makes true"
    return "no choice of objects satisfies all parts of its condition"


def _some(task: Task, schema: Schema, literal: Atom, reachable: Reachable) -> bool:
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
        fits = all(
            any(domain.has_type(o.types, p.types) for o in objects) for p in function.parameters
        )
        if fits:
            message = (
                f"The function {function} is read as {term}, but :init gives it "
                "no value and no effect assigns one."
            )
            yield issue("HVR315", message, name, function, in_problem=True)


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
            message = (
                f"The object {thing} is named nowhere, and no action or "
                "quantifier takes an object of its type."
            )
            yield issue("HVR316", message, thing.name, thing, in_problem=True)


# Timed literals -------------------------------------------------------------------------------


def _timed_literals(domain: Domain, problem: Problem) -> Iterator[LintFinding]:
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
            why = "changes nothing: its value already holds, and nothing else changes it"
        elif not timed.time:
            why = (
                "contradicts the initial state, which still holds for steps at time 0; write it "
                "without a time"
            )
        if why:
            yield issue(
                "HVR318", f"The timed literal {timed} {why}.", str(target), target, in_problem=True
            )
        seen.add(timed)
        known[target] = value


def _given(timed: TimedInitial) -> tuple[Atom | FunctionTerm, object]:
    match timed.effect:
        case Atom() as atom:
            return atom, True
        case NumericEffect(_, fluent, Number(value)):
            return fluent, value
        case Not(Atom() as atom):
            return atom, False
    raise AssertionError(timed)


# All rules ----------------------------------------------------------------------------------------

__all__ = ["LintFinding", "lint"]


def lint(domain: Domain, problem: Problem | None = None) -> list[LintFinding]:
    """Return the lint findings for a model, sorted by rule, with the domain's findings first.

    If there is no problem, a declaration that some problem may use gives no finding or only a note.
    """
    findings = [
        *check_requirements(domain, problem),
        *check_declarations(domain, problem),
        *check_actions(domain),
    ]
    if problem is not None:
        findings += check_problem(domain, problem)
    return sorted(findings, key=lambda finding: (finding.in_problem, finding.rule))
