"""A task as a finite-domain search problem: what a classical planner's search reads.

Three steps, each linear in the number of ground operators (h2 in their product with the
fluents, as operations on big integers):

1. `reachable`: operators and fluents that a relaxed exploration from the start reaches;
2. `relevant`: of those, what the goal can depend on;
3. `mutexes`: pairs of fluents that are never true together (the h2 fixpoint; Haslum &
   Geffner 2000), grouped into finite-domain variables;
`hvr.planning.sas` writes the result as text for Fast Downward.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hvr.errors import PlannerError
from hvr.pddl import GroundAction, Task, ground_all
from hvr.pddl.conditions import Condition

MAX_DISJUNCTS = 20_000
"""A condition that expands into more conjunctions than this is refused."""


@dataclass(frozen=True, slots=True)
class Literals:
    """A conjunction: fluents that must be true and fluents that must be false, as bits."""

    true: int = 0
    false: int = 0


@dataclass(frozen=True, slots=True)
class GroundOperator:
    """A ground action with a conjunctive precondition.

    Args:
        action: the action; several operators may stand for one, one for each disjunct.
        precondition: what must hold.
        add, delete: unconditional effects, as bits.
        conditional: (condition, add, delete).
    """

    action: GroundAction
    precondition: Literals
    add: int
    delete: int
    conditional: tuple[tuple[Literals, int, int], ...]


@dataclass(frozen=True)
class SearchProblem:
    """Operators, goal alternatives and variables of a task.

    Args:
        task: the task; bits are its fluents.
        operators: reachable and relevant operators.
        goals: the goal as alternatives; reached when one of them holds. Empty: never.
        variables: each a tuple of fluent bits of which at most one is true at a time.
    """

    task: Task
    operators: tuple[GroundOperator, ...]
    goals: tuple[Literals, ...]
    variables: tuple[tuple[int, ...], ...]


def build(task: Task) -> SearchProblem:
    """Compile a task.

    Raises:
        PlannerError: the task is too large to be expanded.
    """
    goals = tuple(disjuncts(task.goal))
    operators = reachable(task, _expand(task))
    goals = tuple(goal for goal in goals if _possible(task, operators, goal))
    operators, fluents = relevant(operators, goals)
    return SearchProblem(task, operators, goals, _variables(task, operators, fluents, goals))


def disjuncts(condition: Condition) -> list[Literals]:
    """The disjunctive normal form of a condition; empty when it can never hold."""
    result = [Literals(condition.positive, condition.negative)]
    for clause in condition.clauses:
        options = [Literals(1 << bit, 0) for bit in bits(clause.positive)]
        options += [Literals(0, 1 << bit) for bit in bits(clause.negative)]
        for part in clause.parts:
            options += disjuncts(part)
        if len(result) * len(options) > MAX_DISJUNCTS:
            raise PlannerError(
                "the task is too large: a condition has more than "
                f"{MAX_DISJUNCTS} alternatives; name the objects more precisely"
            )
        result = [
            Literals(left.true | right.true, left.false | right.false)
            for left in result
            for right in options
            if not (left.true & right.false or left.false & right.true)
        ]
    return _minimal(result)


def _minimal(conjunctions: list[Literals]) -> list[Literals]:
    """Drop conjunctions that another one is part of."""
    kept: list[Literals] = []
    ordered = sorted(set(conjunctions), key=lambda c: c.true.bit_count() + c.false.bit_count())
    if len(ordered) > 400:
        return ordered
    for one in ordered:
        if not any(
            other.true & one.true == other.true and other.false & one.false == other.false
            for other in kept
        ):
            kept.append(one)
    return kept


def bits(mask: int) -> Iterator[int]:
    """Positions of the set bits, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _expand(task: Task) -> list[GroundOperator]:
    operators = []
    for action in ground_all(task):
        operator = task.ground(action)
        conditional = tuple(
            (condition, add, delete)
            for formula, add, delete in operator.conditional
            for condition in disjuncts(formula)
        )
        for precondition in disjuncts(operator.precondition):
            operators.append(
                GroundOperator(
                    action, precondition, operator.add, operator.delete & ~operator.add,
                    conditional,
                )
            )  # fmt: skip
    return operators


def reachable(task: Task, operators: list[GroundOperator]) -> list[GroundOperator]:
    """Operators that a delete-free exploration reaches; unreachable effects are cut off."""
    true = task.initial.bits
    false = ~true
    waiting, reached = operators, []
    changed = True
    while changed:
        changed = False
        rest = []
        for operator in waiting:
            if _may_hold(operator.precondition, true, false):
                reached.append(operator)
                true |= operator.add
                false |= operator.delete
                changed = True
            else:
                rest.append(operator)
        waiting = rest
        for operator in reached:
            for condition, add, delete in operator.conditional:
                if (add & ~true or delete & ~false) and _may_hold(condition, true, false):
                    true |= add
                    false |= delete
                    changed = True
    return [
        GroundOperator(
            operator.action,
            operator.precondition,
            operator.add,
            operator.delete,
            tuple(
                (condition, add, delete)
                for condition, add, delete in operator.conditional
                if _may_hold(condition, true, false)
                and not condition.true & operator.precondition.false
                and not condition.false & operator.precondition.true
            ),
        )
        for operator in reached
    ]


def _may_hold(condition: Literals, true: int, false: int) -> bool:
    return not (condition.true & ~true or condition.false & ~false)


def _possible(task: Task, operators: list[GroundOperator], goal: Literals) -> bool:
    true = task.initial.bits
    false = ~true
    for operator in operators:
        true |= operator.add
        false |= operator.delete
        for _, add, delete in operator.conditional:
            true |= add
            false |= delete
    return _may_hold(goal, true, false)


def relevant(
    operators: list[GroundOperator], goals: tuple[Literals, ...]
) -> tuple[tuple[GroundOperator, ...], int]:
    """Operators with an effect the goal can depend on, without their other effects.

    Returns:
        the operators, and the fluents that matter, as bits.
    """
    true = false = 0
    for goal in goals:
        true |= goal.true
        false |= goal.false
    useful = [False] * len(operators)
    changed = True
    while changed:
        before = true, false
        for number, operator in enumerate(operators):
            matters = bool(operator.add & true or operator.delete & false)
            for condition, add, delete in operator.conditional:
                if add & true or delete & false:
                    matters = True
                    true |= condition.true
                    false |= condition.false
            if matters and not useful[number]:
                useful[number] = True
                true |= operator.precondition.true
                false |= operator.precondition.false
        # What undoes something needed is kept with its condition.
        for number, operator in enumerate(operators):
            if useful[number]:
                for condition, add, delete in operator.conditional:
                    if delete & true or add & false:
                        true |= condition.true
                        false |= condition.false
        changed = (true, false) != before
    matter = true | false
    kept = tuple(
        GroundOperator(
            operator.action,
            operator.precondition,
            operator.add & matter,
            operator.delete & matter,
            tuple(
                (condition, add & matter, delete & matter)
                for condition, add, delete in operator.conditional
                if (add | delete) & matter
            ),
        )
        for number, operator in enumerate(operators)
        if useful[number]
    )
    return kept, matter


def mutexes(initial: int, operators: tuple[GroundOperator, ...], fluents: int) -> dict[int, int]:
    """For each fluent, the fluents (as bits) that can be true together with it.

    The h2 fixpoint over positive preconditions, from above: what is left out is mutually
    exclusive in every reachable state.
    """
    together = {bit: (initial if initial >> bit & 1 else 0) for bit in bits(fluents)}
    changed = True
    while changed:
        changed = False
        for operator in operators:
            base = operator.precondition.true
            variants = [(base, operator.add, operator.delete & ~operator.add)]
            for condition, add, delete in operator.conditional:
                adds = operator.add | add
                variants.append((base | condition.true, adds, (operator.delete | delete) & ~adds))
            happening = 0
            for needs, add, delete in variants:
                possible = fluents
                for bit in bits(needs):
                    if needs & ~together[bit]:
                        possible = -1
                        break
                    possible &= together[bit]
                if possible == -1:
                    continue
                if not needs:
                    possible = sum(1 << bit for bit, others in together.items() if others)
                happening |= add
                changed |= _join(together, add, possible & ~delete | add)
            if len(variants) > 2:
                # Effects of several conditions may come together.
                changed |= _join(together, happening & ~operator.add, happening)
    return together


def _join(together: dict[int, int], added: int, partners: int) -> bool:
    changed = False
    for bit in bits(added):
        fresh = (partners | 1 << bit) & ~together[bit]
        if fresh:
            changed = True
            together[bit] |= fresh
            for other in bits(fresh):
                together[other] |= 1 << bit
    return changed


def _variables(
    task: Task, operators: tuple[GroundOperator, ...], fluents: int, goals: tuple[Literals, ...]
) -> tuple[tuple[int, ...], ...]:
    """Cover the fluents greedily by groups of mutually exclusive ones.

    A fluent that something needs to be false stays alone: "not this value" cannot be said of
    a variable with several values.
    """
    together = mutexes(task.initial.bits & fluents, operators, fluents)
    alone = 0
    for goal in goals:
        alone |= goal.false
    for operator in operators:
        alone |= operator.precondition.false
        for condition, _, _ in operator.conditional:
            alone |= condition.false
    groups = [(bit,) for bit in bits(alone & fluents)]
    left = fluents & ~alone
    exclusive = {bit: left & ~together[bit] for bit in bits(left)}
    while left:
        first = max(bits(left), key=lambda bit: ((exclusive[bit] & left).bit_count(), -bit))
        group = [first]
        candidates = exclusive[first] & left
        while candidates:
            pool = candidates
            bit = max(bits(pool), key=lambda b: ((exclusive[b] & pool).bit_count(), -b))
            group.append(bit)
            candidates &= exclusive[bit] & ~(1 << bit)
        groups.append(tuple(sorted(group)))
        for bit in group:
            left &= ~(1 << bit)
    return tuple(groups)
