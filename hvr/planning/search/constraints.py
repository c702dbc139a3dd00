"""Compile PDDL 3 trajectory constraints, and sequences of subgoals, into operators and a goal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from hvr.base.nested import Steps, run_trampoline
from hvr.errors import PlannerError
from hvr.pddl import (
    And,
    Atom,
    Domain,
    Formula,
    GroundAction,
    Not,
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
# Each constraint becomes at most one additional fluent, which remembers the relevant past, and
# additional preconditions: the condition of the constraint, regressed through the action
# (Bonassi, Gerevini, Percassi & Scala 2021, "On planning with qualitative state-trajectory
# constraints in PDDL3 by compiling them away"). No action is added, so plans keep their length.
#
#     constraint            fluent             effect of the constraint
#     always φ                                 no action leads to a state without φ
#     sometime φ            φ has held         required by the goal
#     at-most-once φ        φ has ended        once set, no action leads to φ
#     sometime-before φ ψ   ψ has held         until set, no action leads to φ
#     sometime-after φ ψ    φ waits for ψ      forbidden by the goal
#     at end φ                                 φ is part of the goal
#
# An action that does not touch φ or ψ keeps the constraint satisfied, so only the others get a
# condition. Preferences are ignored.

_OPERATORS = frozenset(
    {"always", "sometime", "at-most-once", "sometime-before", "sometime-after", "at end"}
)

Effect = tuple[Conjunction, int, int]
"""A conditional effect: (condition, add, delete)."""


class Compiled(Value):
    """A task with its trajectory constraints compiled into operators and goal.

    Args:
        initial: The mask of the initially true fluents.
        memory: The mask of the fluents that record the past for constraints.
    """

    operators: dict[GroundAction, Operator]
    initial: int
    goal: Conjunction
    memory: int = 0

    def after(self, state: int, action: GroundAction) -> int:
        return self.operators[action].apply(state)


def compile_constraints(task: Task, operators: Sequence[Operator]) -> Compiled:
    """Compile the constraints of a task into its operators.

    Raises:
        PlannerError: A constraint mentions times, numbers or derived predicates.
    """
    compiled = Compiled({o.action: o for o in operators}, task.initial.bits, task.goal)
    for number, ground in enumerate(_ground_constraints(task)):
        memory = 1 << task.index_of(f":{ground.operator}", (str(number),))
        compiled = _with(compiled, ground, memory)
    return compiled


class _GroundConstraint(Value):
    operator: str
    first: Conjunction
    second: Conjunction = TRUE


def _ground_constraints(task: Task) -> Iterator[_GroundConstraint]:
    for constraint, binding in hard_constraints(task):
        conditions = [task.condition(formula, binding) for formula in constraint.formulas]
        _check(task, constraint, conditions)
        if constraint.operator in ("always", "at end"):
            # Split conjunctions, so that an action is constrained only by the parts that it
            # touches.
            for part in _conjuncts(conditions[0]):
                yield _GroundConstraint(constraint.operator, part)
        else:
            yield _GroundConstraint(constraint.operator, *conditions)


def _check(task: Task, constraint: Trajectory, conditions: Sequence[Conjunction]) -> None:
    if constraint.operator not in _OPERATORS:
        raise PlannerError(
            f"the planner does not support constraints with times: {constraint}", exit_code=2
        )
    for condition in conditions:
        derived = condition.mentioned() & task.derived_bits
        if derived or any(part.tests for part in condition.parts()):
            raise PlannerError(
                "the planner does not support constraints on numbers or derived predicates: "
                f"{constraint}",
                exit_code=2,
            )


def _conjuncts(condition: Conjunction) -> Iterator[Conjunction]:
    for bit in set_bits(condition.positive):
        yield Conjunction(1 << bit)
    for bit in set_bits(condition.negative):
        yield Conjunction(0, 1 << bit)
    # Symmetric constraints such as "no two doors are open" produce each clause twice.
    plain = {(c.positive, c.negative): c for c in condition.clauses if not c.parts}
    for clause in (*plain.values(), *(c for c in condition.clauses if c.parts)):
        yield Conjunction(clauses=(clause,))


# One constraint -----------------------------------------------------------------------------


class _Change(Value):
    guard: Conjunction = TRUE
    effects: tuple[Effect, ...] = ()


def _with(compiled: Compiled, ground: _GroundConstraint, memory: int) -> Compiled:
    touched = ground.first.mentioned() | ground.second.mentioned()
    operators = {}
    for action, operator in compiled.operators.items():
        changed: Operator | None = operator
        if _writes(operator) & touched:
            changed = _changed(operator, _change(ground, operator, memory))
        if changed is not None:
            operators[action] = changed
    broken, remembered = _start(ground, compiled.initial)
    goal = FALSE if broken else conjunction((compiled.goal, _goal_part(ground, memory)))
    initial = compiled.initial | (memory if remembered else 0)
    return Compiled(operators, initial, goal, compiled.memory | memory)


def _changed(operator: Operator, change: _Change) -> Operator | None:
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


def _change(ground: _GroundConstraint, operator: Operator, memory: int) -> _Change:
    first, second = after(ground.first, operator), after(ground.second, operator)
    match ground.operator:
        case "always":
            return _Change(first)
        case "sometime":
            return _Change(effects=((first, memory, 0),))
        case "at-most-once":
            ends = conjunction((ground.first, negated(first)))
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


def _start(ground: _GroundConstraint, state: int) -> tuple[bool, bool]:
    first, second = ground.first.holds(state), ground.second.holds(state)
    match ground.operator:
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


def _goal_part(ground: _GroundConstraint, memory: int) -> Conjunction:
    match ground.operator:
        case "at end":
            return ground.first
        case "sometime":
            return Conjunction(memory)
        case "sometime-after":
            return Conjunction(0, memory)
        case _:
            return TRUE


# Regression ---------------------------------------------------------------------------------


def after(condition: Conjunction, operator: Operator) -> Conjunction:
    """Regress a condition through an operator: return the condition that must hold before it."""
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
    if operator.add & fluent:
        return TRUE
    added = [condition for condition, add, _ in operator.conditional if add & fluent]
    if operator.delete & fluent:
        return disjunction(added)
    kept = [negated(c) for c, _, delete in operator.conditional if delete & fluent]
    return disjunction((*added, conjunction((Conjunction(fluent), *kept))))


def negated(condition: Conjunction) -> Conjunction:
    """Return the negation of a condition without numeric comparisons."""
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


def with_step_limit(domain: Domain, problem: Problem, most: int) -> tuple[Domain, Problem]:
    """Extend a domain and a problem so that a plan has at most `most` actions."""
    marks = [Atom(f"taken-{number}") for number in range(most + 1)]
    counts = tuple(When(now, And((Not(now), after))) for now, after in pairwise(marks))
    actions = {
        name: schema.replace(
            precondition=And((schema.precondition, Not(marks[-1]))),
            effect=And((schema.effect, *counts)),
        )
        for name, schema in domain.actions.items()
    }
    predicates = {mark.predicate: Predicate(mark.predicate) for mark in marks}
    return (
        domain.replace(actions=actions, predicates={**domain.predicates, **predicates}),
        problem.replace(init=frozenset({*problem.init, marks[0]})),
    )


def with_stages(
    domain: Domain, problem: Problem, stages: Sequence[Formula]
) -> tuple[Domain, Problem]:
    """Extend a domain and a problem: a plan must satisfy the stages in order, then the goal."""
    if not stages:
        return domain, problem
    marks = [Atom(f"stage-{number}-reached") for number in range(1, len(stages) + 1)]
    # All conditions are evaluated before an action, so each stage is marked a step after the
    # previous one.
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
