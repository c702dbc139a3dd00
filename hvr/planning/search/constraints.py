"""Trajectory constraints of PDDL 3, and stages, compiled into operators and a goal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hvr.base.nested import Steps, run_trampoline
from hvr.errors import PlannerError
from hvr.pddl import (
    And,
    Atom,
    Domain,
    Formula,
    GroundAction,
    Predicate,
    Problem,
    Task,
    Trajectory,
    When,
)
from hvr.pddl.state import FALSE, TRUE, Conjunction, Operator, conjunction, disjunction, set_bits
from hvr.validation.trajectory import hard_constraints
from hvr.values import Value

# Constraints --------------------------------------------------------------------------------------
# Trajectory constraints of PDDL 3, compiled into operators and a goal over states.
#
# Each constraint becomes at most one further fluent, which remembers what of the past matters, and
# conditions on what an action leads to: the condition of the constraint, regressed through the
# action (Bonassi, Gerevini, Percassi & Scala 2021, "On planning with qualitative state-trajectory
# constraints in PDDL3 by compiling them away"). No action is added, so a plan is as long as before.
#
#     always φ              no action leads to a state without φ
#     sometime φ            φ has been: needed in the end
#     at-most-once φ        φ has ended: then no action leads to φ
#     sometime-before φ ψ   ψ has been: until then no action leads to φ
#     sometime-after φ ψ    φ waits for ψ: not so in the end
#     at end φ              part of the goal
#
# A constraint that an action does not touch is kept by it if it was kept before, so only actions
# that change something of φ or ψ get a condition. Preferences are not looked at.

_OPERATORS = frozenset(
    {"always", "sometime", "at-most-once", "sometime-before", "sometime-after", "at end"}
)

Effect = tuple[Conjunction, int, int]
"""A conditional effect: (condition, add, delete)."""


class Compiled(Value):
    """A task whose trajectory constraints are part of its operators and goal.

    Args:
        operators: by the action that they are made from.
        initial: the fluents that are true at the start.
        goal: what is to hold in the end.
        memory: the fluents that remember what has been, as bits.
    """

    operators: dict[GroundAction, Operator]
    initial: int
    goal: Conjunction
    memory: int = 0

    def after(self, state: int, action: GroundAction) -> int:
        """Return the state after an action."""
        return self.operators[action].apply(state)


def compile_constraints(task: Task, operators: Sequence[Operator]) -> Compiled:
    """Compile the constraints of a task into some of its operators.

    Raises:
        PlannerError: a constraint speaks of time, numbers or derived predicates.
    """
    compiled = Compiled({o.action: o for o in operators}, task.initial.bits, task.goal)
    for number, watched in enumerate(_watched(task)):
        memory = 1 << task.index_of(f":{watched.operator}", (str(number),))
        compiled = _with(compiled, watched, memory)
    return compiled


class _Watched(Value):
    """A ground constraint: its operator, and its one or two conditions."""

    operator: str
    first: Conjunction
    second: Conjunction = TRUE


def _watched(task: Task) -> Iterator[_Watched]:
    for constraint, binding in hard_constraints(task):
        conditions = [task.condition(formula, binding) for formula in constraint.formulas]
        _check(task, constraint, conditions)
        if constraint.operator in ("always", "at end"):
            # Each part for itself: what an action does not touch is not its concern.
            for part in _conjuncts(conditions[0]):
                yield _Watched(constraint.operator, part)
        else:
            yield _Watched(constraint.operator, *conditions)


def _check(task: Task, constraint: Trajectory, conditions: Sequence[Conjunction]) -> None:
    if constraint.operator not in _OPERATORS:
        raise PlannerError(
            f"the planner cannot plan under a constraint with times: {constraint}", exit_code=2
        )
    for condition in conditions:
        derived = condition.mentioned() & task.derived_bits
        if derived or any(part.tests for part in condition.parts()):
            raise PlannerError(
                "the planner cannot plan under a constraint on numbers or derived predicates: "
                f"{constraint}",
                exit_code=2,
            )


def _conjuncts(condition: Conjunction) -> Iterator[Conjunction]:
    for bit in set_bits(condition.positive):
        yield Conjunction(1 << bit)
    for bit in set_bits(condition.negative):
        yield Conjunction(0, 1 << bit)
    # "No two doors are open" says the same of each pair twice.
    plain = {(c.positive, c.negative): c for c in condition.clauses if not c.parts}
    for clause in (*plain.values(), *(c for c in condition.clauses if c.parts)):
        yield Conjunction(clauses=(clause,))


# One constraint -----------------------------------------------------------------------------


class _Change(Value):
    """What a constraint adds to one operator."""

    guard: Conjunction = TRUE
    effects: tuple[Effect, ...] = ()


def _with(compiled: Compiled, watched: _Watched, memory: int) -> Compiled:
    """Add one constraint to what is compiled."""
    touched = watched.first.mentioned() | watched.second.mentioned()
    operators = {}
    for action, operator in compiled.operators.items():
        changed: Operator | None = operator
        if _writes(operator) & touched:
            changed = _changed(operator, _change(watched, operator, memory))
        if changed is not None:
            operators[action] = changed
    broken, remembered = _start(watched, compiled.initial)
    goal = FALSE if broken else conjunction((compiled.goal, _wanted(watched, memory)))
    initial = compiled.initial | (memory if remembered else 0)
    return Compiled(operators, initial, goal, compiled.memory | memory)


def _changed(operator: Operator, change: _Change) -> Operator | None:
    """Return an operator with what a constraint adds; None when it can never be applied."""
    needs = conjunction((operator.precondition, change.guard))
    if needs is FALSE:
        return None
    effects = tuple(effect for effect in change.effects if effect[0] is not FALSE)
    return Operator(
        operator.action,
        needs,
        operator.add,
        operator.delete,
        operator.conditional + effects,
        operator.numeric,
        operator.preferences,
    )


def _change(watched: _Watched, operator: Operator, memory: int) -> _Change:
    """Return what a constraint adds to an operator that touches it."""
    first, second = after(watched.first, operator), after(watched.second, operator)
    match watched.operator:
        case "always":
            return _Change(first)
        case "sometime":
            return _Change(effects=((first, memory, 0),))
        case "at-most-once":
            ends = conjunction((watched.first, negated(first)))
            return _Change(
                disjunction((Conjunction(0, memory), negated(first))), ((ends, memory, 0),)
            )
        case "sometime-before":
            guard = disjunction((Conjunction(memory), negated(first)))
            return _Change(guard, ((second, memory, 0),))
        case "sometime-after":
            begins = conjunction((first, negated(second)))
            return _Change(effects=((begins, memory, 0), (second, 0, memory)))
        case _:
            return _Change()


def _start(watched: _Watched, state: int) -> tuple[bool, bool]:
    """Say whether a constraint is broken in the first state, and whether it remembers that one."""
    first, second = watched.first.holds(state), watched.second.holds(state)
    match watched.operator:
        case "always":
            return not first, False
        case "sometime":
            return False, first
        case "sometime-before":
            return first, second
        case "sometime-after":
            return False, first and not second
        case _:
            return False, False


def _wanted(watched: _Watched, memory: int) -> Conjunction:
    """Return what a constraint demands of the end."""
    match watched.operator:
        case "at end":
            return watched.first
        case "sometime":
            return Conjunction(memory)
        case "sometime-after":
            return Conjunction(0, memory)
        case _:
            return TRUE


# Regression ---------------------------------------------------------------------------------


def after(condition: Conjunction, operator: Operator) -> Conjunction:
    """Return what must hold before an operator for a condition to hold after it."""
    return run_trampoline(_after(condition, operator))


def _after(condition: Conjunction, operator: Operator) -> Steps[Conjunction]:
    if not condition.mentioned() & _writes(operator):
        return condition
    parts = [*_literals_after(condition.positive, condition.negative, operator)]
    for clause in condition.clauses:
        options = [*_literals_after(clause.positive, clause.negative, operator)]
        for part in clause.parts:
            options.append((yield _after(part, operator)))
        parts.append(disjunction(options))
    return FALSE if any(part is FALSE for part in parts) else conjunction(parts)


def _literals_after(positive: int, negative: int, operator: Operator) -> Iterator[Conjunction]:
    for bit in set_bits(positive):
        yield _true_after(1 << bit, operator)
    for bit in set_bits(negative):
        yield negated(_true_after(1 << bit, operator))


def _true_after(fluent: int, operator: Operator) -> Conjunction:
    """Return when a fluent is true after an operator: added, or kept."""
    if operator.add & fluent:
        return TRUE
    added = [condition for condition, add, _ in operator.conditional if add & fluent]
    if operator.delete & fluent:
        return disjunction(added)
    kept = [negated(c) for c, _, delete in operator.conditional if delete & fluent]
    return disjunction((*added, conjunction((Conjunction(fluent), *kept))))


def negated(condition: Conjunction) -> Conjunction:
    """Return the negation of a condition, without comparisons of numbers."""
    return run_trampoline(_negated(condition))


def _negated(condition: Conjunction) -> Steps[Conjunction]:
    parts = [Conjunction(0, 1 << bit) for bit in set_bits(condition.positive)]
    parts += [Conjunction(1 << bit) for bit in set_bits(condition.negative)]
    for clause in condition.clauses:
        literals = Conjunction(clause.negative, clause.positive)
        if clause.negative & clause.positive:
            literals = FALSE
        inner = [literals]
        for part in clause.parts:
            inner.append((yield _negated(part)))
        parts.append(conjunction(inner))
    return disjunction(parts)


def _writes(operator: Operator) -> int:
    mask = operator.add | operator.delete
    for _, add, delete in operator.conditional:
        mask |= add | delete
    return mask


# Stages -------------------------------------------------------------------------------------------
# Several conditions to be reached one after the other, as one problem.


def with_stages(
    domain: Domain, problem: Problem, stages: Sequence[Formula]
) -> tuple[Domain, Problem]:
    """Return a domain whose actions remember which conditions held before them, and in which order.

    The goal is the problem's, reached after each condition has held, one after the other.
    """
    if not stages:
        return domain, problem
    marks = [Atom(f"stage-{number}-reached") for number in range(1, len(stages) + 1)]
    # All conditions are evaluated before an action: of two stages the later is marked a step later.
    due = [And((stage, *marks[number - 1 : number])) for number, stage in enumerate(stages)]
    remembers = tuple(When(condition, mark) for condition, mark in zip(due, marks, strict=True))
    actions = {
        name: schema.replace(effect=And((schema.effect, *remembers)))
        for name, schema in domain.actions.items()
    }
    predicates = {mark.predicate: Predicate(mark.predicate) for mark in marks}
    return (
        domain.replace(actions=actions, predicates={**domain.predicates, **predicates}),
        problem.replace(goal=And((problem.goal, *marks))),
    )
