"""Translate a task into a finite-domain search problem for classical planners.

1. `explore`: actions and fluents reachable from the initial state, ignoring deletes;
2. `relevant`: the part of them that the goal can depend on;
3. `hvr.planning.search.operators`: mutexes and the simplifications that follow from them;
4. `hvr.planning.search.operators`: reductions that keep the length of a shortest plan.

`hvr.planning.search.fast_downward` writes the result as SAS+ for Fast Downward. `plan_actions`
turns a plan of the search problem into actions of the task.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from hvr.base.nested import Steps, run_trampoline
from hvr.errors import PlannerError
from hvr.pddl import Equal, GroundAction, Task
from hvr.pddl.facts import Facts, Literal, Relation, bindings, necessary_literals
from hvr.pddl.state import FALSE, Conjunction, Disjunction, Operator, conjunction, is_satisfiable
from hvr.planning.search.constraints import Compiled, compile_constraints, negated
from hvr.planning.search.operators import (
    ActionChoice,
    GoalAlternatives,
    GroundOperator,
    Literals,
    bits,
    forget_dead,
    fuse,
    groups,
    merge_interchangeable,
    merge_twins,
    minimal,
    mutexes,
    partners,
    simplify,
)
from hvr.values import Value

MAX_DISJUNCTS = 2_000
"""Maximum number of conjunctions in the disjunctive normal form of a condition; larger conditions
are tested clause by clause (`_Clauses`).
"""


class SearchProblem(Value):
    """The operators, goal alternatives and variables of a task.

    Args:
        initial: The mask of the relevant fluents that are true initially.
        goals: Alternative goals; if empty, the goal is unreachable.
        variables: Groups of mutually exclusive fluents.
    """

    task: Task
    initial: int
    operators: tuple[GroundOperator, ...]
    goals: GoalAlternatives
    variables: tuple[tuple[int, ...], ...]
    compiled: Compiled


def build(task: Task, *, reduce: bool = True, seconds: float = math.inf) -> SearchProblem:
    """Translate a task into a search problem within a time limit in seconds.

    If `reduce`, reductions that keep the length of a shortest plan are applied.

    Raises:
        PlannerError: The task has derived predicates or unsupported constraints, or takes too long
            to translate.
    """
    check_time = _deadline(seconds)
    if task.derived_predicates:
        raise PlannerError(
            "this planner does not support derived predicates such as "
            f"{min(task.derived_predicates)!r}",
            exit_code=2,
        )
    # Cheap steps first: mutexes consider pairs of fluents for every operator.
    reached, can = explore(task, check_time)
    compiled = compile_constraints(task, reached)
    if compiled.memory:
        # Operators that the constraints forbid may have been the only way to reach others.
        reached, can = reachable(compiled.operators.values(), compiled.initial)
    clauses = _Clauses(task, can)
    operators = _expand(reached, can, clauses, check_time)
    goals = _goals(compiled.goal, can, clauses)
    operators, fluents = relevant(clauses.joined(operators), goals)
    initial = compiled.initial & fluents
    check_time()
    if reduce:
        operators, goals, fluents = merge_twins(initial, operators, goals, fluents)
        initial &= fluents
    together = mutexes(initial, operators, fluents)
    operators = simplify(operators, together)
    check_time()
    goals = tuple(goal for goal in goals if partners(together, goal.true) is not None)
    if reduce:
        # Forget before merging: a forgotten fluent may be the only difference between two objects.
        initial, operators = forget_dead(initial, operators, goals, together)
        check_time()
        classes = groups(operators, goals, fluents, together)
        initial, operators, goals = merge_interchangeable(initial, operators, goals, classes)
        # Both reductions leave operators without relevant effects and create new mutexes: recompute
        # relevance and mutexes.
        operators, fluents = relevant(operators, goals)
        initial &= fluents
        together = mutexes(initial, operators, fluents)
        operators = simplify(operators, together)
        # Fuse last: the other reductions require operators with a single action.
        operators = simplify(fuse(operators, goals, together), together)
    operators, fluents = relevant(operators, goals)
    initial &= fluents
    variables = groups(operators, goals, fluents, together)
    goals = tuple(goal for goal in goals if _possible_goal(goal, variables))
    return SearchProblem(task, initial, tuple(operators), goals, variables, compiled)


def _deadline(seconds: float) -> Callable[[], None]:
    deadline = time.perf_counter() + seconds

    def check_time() -> None:
        if time.perf_counter() > deadline:
            raise PlannerError(
                f"no plan was found in {seconds:g} s: the problem has too many actions; "
                "a larger budget gives more time",
                field="budget",
            )

    return check_time


def _possible_goal(goal: Literals, variables: Iterable[Sequence[int]]) -> bool:
    return not goal.true & goal.false and all(
        sum(goal.true >> bit & 1 for bit in group) <= 1 for group in variables
    )


def plan_actions(problem: SearchProblem, numbers: Iterable[int]) -> Iterator[GroundAction]:
    """Yield the actions of a plan that is given by the indexes of its operators."""
    # Follow the task's states: the search merges interchangeable objects, so only the state tells
    # which one is meant.
    state = problem.compiled.initial
    for number in numbers:
        for choices in problem.operators[number].steps:
            action = next(c.action for c in choices if c.precondition.holds(state))
            state = problem.compiled.after(state, action)
            yield action


# Exploration --------------------------------------------------------------------------------


def explore(
    task: Task, check_time: Callable[[], None] = lambda: None
) -> tuple[list[Operator], Literals]:
    """Explore the delete relaxation: a fluent that was ever true (or false) stays possible.

    `check_time` is called regularly and may raise an error.

    Returns:
        The reached operators, and masks of the fluents that may be true and false.
    """
    true = task.initial.bits
    # The complement also contains bits beyond the known fluents: atoms that get a bit during
    # grounding are false initially.
    false = ~true
    known: dict[GroundAction, Operator] = {}
    reached: list[Operator] = []
    waiting: list[Operator] = []
    # Two nested loops: joining lifted actions with the facts is slow and is repeated only for new
    # facts; applying the known actions takes only bit operations.
    while True:
        fresh = [action for action in _candidates(task, true) if action not in known]
        for action in fresh:
            check_time()
            known[action] = task.ground(action)
            waiting.append(known[action])
        before = true
        waiting, true, false = _spread(waiting, reached, true, false)
        if true == before:
            return reached, Literals(true, false)


def reachable(operators: Iterable[Operator], initial: int) -> tuple[list[Operator], Literals]:
    """Explore the delete relaxation with given operators; see `explore`."""
    reached: list[Operator] = []
    _, true, false = _spread(list(operators), reached, initial, ~initial)
    return reached, Literals(true, false)


def _spread(
    waiting: list[Operator], reached: list[Operator], true: int, false: int
) -> tuple[list[Operator], int, int]:
    changed = True
    while changed:
        start = true, false
        blocked = []
        for operator in waiting:
            if is_satisfiable(operator.precondition, true, false):
                reached.append(operator)
                true |= operator.add
                false |= operator.delete
            else:
                blocked.append(operator)
        waiting = blocked
        for operator in reached:
            for condition, add, delete in operator.conditional:
                if (add & ~true or delete & ~false) and is_satisfiable(condition, true, false):
                    true |= add
                    false |= delete
        changed = (true, false) != start
    return waiting, true, false


def _candidates(task: Task, true: int) -> Iterator[GroundAction]:
    fluents = Facts(task.atoms_in(true))

    def relation(predicate: str) -> Relation:
        return (task.static_facts if task.is_static(predicate) else fluents).relation(predicate)

    # Negative fluent literals are ignored here: a join finds only true facts.
    def usable(literal: Literal) -> bool:
        atom, positive = literal
        return positive or isinstance(atom, Equal) or task.is_static(atom.predicate)

    for schema in task.domain.actions.values():
        literals = [one for one in necessary_literals(schema.precondition) if usable(one)]
        for binding in bindings(schema.parameters, literals, {}, relation, task.members):
            yield GroundAction(schema.name, tuple(binding[p.name] for p in schema.parameters))


def disjuncts(condition: Conjunction, can: Literals) -> list[Literals]:
    """Return the disjunctive normal form of a condition; empty if the condition is unsatisfiable.

    `can` contains masks of the fluents that may be true and false; impossible literals are dropped.

    Raises:
        TooManyDisjunctsError: The result is too large.
    """
    return run_trampoline(_disjuncts(condition, can))


class TooManyDisjunctsError(PlannerError):
    """A condition has more than `MAX_DISJUNCTS` alternatives."""


def _disjuncts(condition: Conjunction, can: Literals) -> Steps[list[Literals]]:
    fixed = _fixed(condition, can)
    if fixed is None:
        return []
    result = [fixed]
    for clause in condition.clauses:
        if _is_trivial(clause, can):
            continue
        options = [*_literal_options(clause, can)]
        for part in clause.parts:
            options += yield _disjuncts(part, can)
        # Check the size before multiplying, which is the expensive part.
        if len(result) > 1 and len(result) * len(options) > MAX_DISJUNCTS:
            raise TooManyDisjunctsError("a condition has too many alternatives")
        products = (left & right for left in result for right in options)
        result = [both for both in products if not both.true & both.false]
    return minimal(result)


def _fixed(condition: Conjunction, can: Literals) -> Literals | None:
    if condition.positive & ~can.true or condition.negative & ~can.false:
        return None
    if condition.positive & condition.negative:
        return None
    # A literal that can never be false is omitted, and satisfies its clause.
    return Literals(condition.positive & can.false, condition.negative & can.true)


def _is_trivial(clause: Disjunction, can: Literals) -> bool:
    return bool(clause.positive & ~can.false or clause.negative & ~can.true)


def _literal_options(clause: Disjunction, can: Literals) -> Iterator[Literals]:
    yield from (Literals(1 << bit, 0) for bit in bits(clause.positive & can.true))
    yield from (Literals(0, 1 << bit) for bit in bits(clause.negative & can.false))


def _goals(condition: Conjunction, can: Literals, clauses: _Clauses) -> GoalAlternatives:
    try:
        return tuple(disjuncts(condition, can))
    except TooManyDisjunctsError:
        return clauses.tested(condition)


def _expand(
    reached: Sequence[Operator], can: Literals, clauses: _Clauses, check_time: Callable[[], None]
) -> list[GroundOperator]:
    """Split operators so that all preconditions are conjunctive, and drop impossible effects."""
    operators = []
    todo = [*reversed(reached)]
    while todo:
        check_time()
        operator = todo.pop()
        add = operator.add & can.false
        delete = operator.delete & can.true & ~operator.add
        try:
            conditional = tuple(
                (condition, more & can.false, less & can.true)
                for formula, more, less in operator.conditional
                for condition in disjuncts(formula, can)
            )
        except TooManyDisjunctsError:
            todo += _by_cases(operator, can)
            continue
        # Preconditions must be conjunctions, so an action becomes one operator per disjunct.
        try:
            for needs in disjuncts(operator.precondition, can):
                choice = ActionChoice(operator.action, needs)
                operators.append(GroundOperator(((choice,),), needs, add, delete, conditional))
        except TooManyDisjunctsError:
            chosen = ActionChoice(operator.action, operator.precondition)
            for needs in clauses.tested(operator.precondition):
                last = GroundOperator(((chosen,),), needs, add, delete, conditional)
                clauses.operators.append(clauses.leaving(last))
    return operators


def _by_cases(operator: Operator, can: Literals) -> Iterator[Operator]:
    for number, (formula, more, less) in enumerate(operator.conditional):
        try:
            disjuncts(formula, can)
        except TooManyDisjunctsError:
            rest = operator.conditional[:number] + operator.conditional[number + 1 :]
            for case, add, delete in ((formula, more, less), (negated(formula), 0, 0)):
                needs = conjunction((operator.precondition, case))
                if needs is not FALSE:
                    effects = operator.add | add, operator.delete | delete
                    yield Operator(operator.action, needs, *effects, rest)
            return


class _Clauses:
    """Auxiliary operators of cost 0 that test the clauses of large conditions in sequence.

    The normal form of "each of n objects is in one of m places" has m ** n conjunctions, but one
    operator for each object and place suffices for a test. The first operator of a test blocks all
    actions and the last operator admits them again, so the state cannot change during a test, and
    shortest plans keep their length.
    """

    def __init__(self, task: Task, can: Literals) -> None:
        self._task, self._can = task, can
        self._count = self._busy = self._fluents = 0
        self.operators: list[GroundOperator] = []

    def joined(self, operators: list[GroundOperator]) -> list[GroundOperator]:
        """Return all operators, after making `operators` inapplicable during a test."""
        if not self._busy:
            return operators
        idle = Literals(0, self._busy)
        blocked = [
            GroundOperator(o.steps, o.precondition & idle, o.add, o.delete, o.conditional)
            for o in operators
        ]
        return blocked + self.operators

    def tested(self, condition: Conjunction) -> GoalAlternatives:
        """Add the test of a condition; return the alternatives that hold after the test, if any."""
        fixed = _fixed(condition, self._can)
        if fixed is None:
            return ()
        self._busy = self._busy or self._fluent()
        start, end = self._fluent(), self._fluent()
        self._step(fixed & Literals(0, self._busy), self._busy | start, 0)
        todo = [(condition.clauses, start, end)]
        while todo:
            clauses, here, there = todo.pop()
            for clause in clauses:
                if _is_trivial(clause, self._can):
                    continue
                done = self._fluent()
                for option in _literal_options(clause, self._can):
                    self._step(option & Literals(here), done, here)
                for part in clause.parts:
                    literals = _fixed(part, self._can)
                    if literals is not None and not part.clauses:
                        self._step(literals & Literals(here), done, here)
                    elif literals is not None:
                        inside = self._fluent()
                        self._step(literals & Literals(here), inside, here)
                        todo.append((part.clauses, inside, done))
                here = done
            self._step(Literals(here), there, here)
        return (fixed & Literals(end),)

    def leaving(self, operator: GroundOperator) -> GroundOperator:
        tests = operator.precondition.true & self._fluents
        delete = operator.delete | tests | self._busy
        return GroundOperator(
            operator.steps, operator.precondition, operator.add, delete, operator.conditional
        )

    def _step(self, needs: Literals, add: int, delete: int) -> None:
        self.operators.append(GroundOperator((), needs, add, delete))

    def _fluent(self) -> int:
        self._count += 1
        fluent = 1 << self._task.index_of(":clause", (str(self._count),))
        self._fluents |= fluent
        return fluent


# Relevance ----------------------------------------------------------------------------------


def relevant(
    operators: Sequence[GroundOperator], goals: GoalAlternatives
) -> tuple[list[GroundOperator], int]:
    """Drop operators and effects on which the goal cannot depend.

    Returns the other operators and the mask of the fluents on which the goal may depend.
    """
    # A backward fixpoint: an effect is useful if it achieves a needed literal, and makes the
    # literals of its condition needed.
    needed = Literals()
    for goal in goals:
        needed &= goal
    useful: dict[int, GroundOperator] = {}
    before = None
    while needed != before:
        before = needed
        for number, operator in enumerate(operators):
            for needs, add, delete in operator.effects():
                if add & needed.true or delete & needed.false:
                    needed &= needs
                    useful[number] = operator
        # A harmful conditional effect of a useful operator can be avoided by making its condition
        # false, which therefore counts as needed. Operators with only harmful effects never help.
        for operator in useful.values():
            for condition, add, delete in operator.conditional:
                if delete & needed.true or add & needed.false:
                    needed &= Literals(condition.false, condition.true)
    matter = needed.all
    kept = [
        GroundOperator(
            operator.steps,
            operator.precondition,
            operator.add & matter,
            operator.delete & matter,
            tuple(
                (condition, add & matter, delete & matter)
                for condition, add, delete in operator.conditional
                if (add | delete) & matter
            ),
        )
        for _, operator in sorted(useful.items())
    ]
    return kept, matter


__all__ = [
    "GroundOperator",
    "Literals",
    "SearchProblem",
    "bits",
    "build",
    "disjuncts",
    "explore",
    "plan_actions",
    "relevant",
]
