"""A task as a finite-domain search problem: what a classical planner's search reads.

1. `explore`: actions and fluents that a delete-free exploration from the start reaches;
2. `relevant`: of those, what the goal can depend on;
3. `hvr.planning.search.operators`: fluents that are never true together, and what follows;
4. `hvr.planning.search.operators`: fewer states, with the same length of a shortest plan.

`hvr.planning.search.fast_downward` writes the result as text for Fast Downward; `plan_actions`
turns what the search found into actions of the task.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hvr.base.nested import Steps, run_trampoline
from hvr.errors import PlannerError
from hvr.pddl import Equal, GroundAction, Task
from hvr.pddl.facts import Facts, Literal, Relation, bindings, necessary_literals
from hvr.pddl.state import Conjunction, Operator, is_satisfiable
from hvr.planning.search.constraints import Compiled, compile_constraints
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

MAX_DISJUNCTS = 20_000
"""A condition that expands into more conjunctions than this is refused."""


class SearchProblem(Value):
    """Operators, goal alternatives and variables of a task.

    Args:
        task: the task; bits are its fluents.
        initial: the fluents that are true at the start and matter.
        operators: reachable and relevant operators.
        goals: the goal as alternatives; reached when one of them holds. Empty: never.
        variables: each a tuple of fluent bits of which at most one is true at a time.
        compiled: the task with its constraints as part of operators and goal.
    """

    task: Task
    initial: int
    operators: tuple[GroundOperator, ...]
    goals: GoalAlternatives
    variables: tuple[tuple[int, ...], ...]
    compiled: Compiled


def build(task: Task, *, reduce: bool = True) -> SearchProblem:
    """Compile a task.

    Args:
        task: the task.
        reduce: merge and fuse what can be without changing the length of a shortest plan.

    Raises:
        PlannerError: the task is too large to be expanded, or has derived predicates.
    """
    if task.derived_predicates:
        raise PlannerError(
            "this planner does not know derived predicates, such as "
            f"{min(task.derived_predicates)!r}",
            exit_code=2,
        )
    # What is cheap comes first: finding mutexes looks at pairs of fluents for every operator.
    reached, can = explore(task)
    compiled = compile_constraints(task, reached)
    if compiled.memory:
        # What the constraints forbid may have been the only way to other things.
        reached, can = reachable(compiled.operators.values(), compiled.initial)
    goals = tuple(disjuncts(compiled.goal, can))
    operators, fluents = relevant(_expand(reached, can), goals)
    initial = compiled.initial & fluents
    if reduce:
        operators, goals, fluents = merge_twins(initial, operators, goals, fluents)
        initial &= fluents
    together = mutexes(initial, operators, fluents)
    operators = simplify(operators, together)
    goals = tuple(goal for goal in goals if partners(together, goal.true) is not None)
    if reduce:
        # Forgetting comes before merging: what two things differ in may be forgotten.
        initial, operators = forget_dead(initial, operators, goals, together)
        classes = groups(operators, goals, fluents, together)
        initial, operators, goals = merge_interchangeable(initial, operators, goals, classes)
        # Both leave operators whose effects nothing reads, and pairs of fluents that exclude each
        # other only now, so that relevance and mutexes are worth finding anew.
        operators, fluents = relevant(operators, goals)
        initial &= fluents
        together = mutexes(initial, operators, fluents)
        operators = simplify(operators, together)
        # Fusing comes last: the reductions before it need operators of a single action.
        operators = simplify(fuse(operators, goals, together), together)
    operators, fluents = relevant(operators, goals)
    initial &= fluents
    variables = groups(operators, goals, fluents, together)
    goals = tuple(goal for goal in goals if _possible_goal(goal, variables))
    return SearchProblem(task, initial, tuple(operators), goals, variables, compiled)


def _possible_goal(goal: Literals, variables: Iterable[Sequence[int]]) -> bool:
    return not goal.true & goal.false and all(
        sum(goal.true >> bit & 1 for bit in group) <= 1 for group in variables
    )


def plan_actions(problem: SearchProblem, numbers: Iterable[int]) -> Iterator[GroundAction]:
    """Yield the actions that a sequence of operators, given by their numbers, stands for."""
    # In states of the task, not of the search problem: of interchangeable objects the search knows
    # only that one is in its place, and the state says which.
    state = problem.compiled.initial
    for number in numbers:
        for choices in problem.operators[number].steps:
            action = next(c.action for c in choices if c.precondition.holds(state))
            state = problem.compiled.after(state, action)
            yield action


# Exploration --------------------------------------------------------------------------------


def explore(task: Task) -> tuple[list[Operator], Literals]:
    """Explore without deletes: what is once true (or false) stays possible.

    Returns:
        the operators that were reached, and the fluents that may be true and may be false.
    """
    true = task.initial.bits
    # Negative, so that it has all bits beyond those of the task, too: an atom that gets its bit
    # while actions are made ground is not in the initial state, and so is false there.
    false = ~true
    known: dict[GroundAction, Operator] = {}
    reached: list[Operator] = []
    waiting: list[Operator] = []
    # Two loops, one in the other: joining the lifted actions with the facts is slow and is done
    # again only when there are new facts; what the actions known so far lead to is bit operations.
    while True:
        fresh = [action for action in _candidates(task, true) if action not in known]
        for action in fresh:
            known[action] = task.ground(action)
            waiting.append(known[action])
        before = true
        waiting, true, false = _spread(waiting, reached, true, false)
        if true == before:
            return reached, Literals(true, false)


def reachable(operators: Iterable[Operator], initial: int) -> tuple[list[Operator], Literals]:
    """Explore without deletes, like `explore`, with operators that are known."""
    reached: list[Operator] = []
    _, true, false = _spread(list(operators), reached, initial, ~initial)
    return reached, Literals(true, false)


def _spread(
    waiting: list[Operator], reached: list[Operator], true: int, false: int
) -> tuple[list[Operator], int, int]:
    """Append to `reached` what becomes possible of what waits; return what still waits, and what
    may then be true and may be false.
    """
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
    """Yield actions whose necessary literals are static and hold, or are among the true fluents."""
    fluents = Facts(task.atoms_in(true))

    def relation(predicate: str) -> Relation:
        return (task.static_facts if task.is_static(predicate) else fluents).relation(predicate)

    # That a fluent is false is not asked here: in the facts only true ones are found.
    def usable(literal: Literal) -> bool:
        atom, positive = literal
        return positive or isinstance(atom, Equal) or task.is_static(atom.predicate)

    for schema in task.domain.actions.values():
        literals = [one for one in necessary_literals(schema.precondition) if usable(one)]
        for binding in bindings(schema.parameters, literals, {}, relation, task.members):
            yield GroundAction(schema.name, tuple(binding[p.name] for p in schema.parameters))


def disjuncts(condition: Conjunction, can: Literals) -> list[Literals]:
    """Return the disjunctive normal form of a condition; empty when it can never hold.

    Args:
        condition: the condition.
        can: the fluents that may be true and that may be false; others are left out.

    Raises:
        PlannerError: it is too large.
    """
    return run_trampoline(_disjuncts(condition, can))


def _disjuncts(condition: Conjunction, can: Literals) -> Steps[list[Literals]]:
    if condition.positive & ~can.true or condition.negative & ~can.false:
        return []
    if condition.positive & condition.negative:
        return []
    # What can never be false needs no literal, and decides a clause that it is in.
    result = [Literals(condition.positive & can.false, condition.negative & can.true)]
    for clause in condition.clauses:
        if clause.positive & ~can.false or clause.negative & ~can.true:
            continue
        options = [Literals(1 << bit, 0) for bit in bits(clause.positive & can.true)]
        options += [Literals(0, 1 << bit) for bit in bits(clause.negative & can.false)]
        for part in clause.parts:
            options += yield _disjuncts(part, can)
        # Before the product is made, which is what takes the time and the memory.
        if len(result) * len(options) > MAX_DISJUNCTS:
            raise PlannerError(
                "the task is too large: a condition has more than "
                f"{MAX_DISJUNCTS} alternatives; name the objects more precisely",
                exit_code=2,
            )
        products = (left & right for left in result for right in options)
        result = [both for both in products if not both.true & both.false]
    return minimal(result)


def _expand(reached: Sequence[Operator], can: Literals) -> list[GroundOperator]:
    """Make operators with conjunctive preconditions, without what never changes."""
    operators = []
    for operator in reached:
        add = operator.add & can.false
        conditional = tuple(
            (condition, more & can.false, less & can.true)
            for formula, more, less in operator.conditional
            for condition in disjuncts(formula, can)
        )
        # The search takes conjunctive preconditions only, so an action becomes one operator for
        # each way to fulfil its own.
        for needs in disjuncts(operator.precondition, can):
            choice = ActionChoice(operator.action, needs)
            delete = operator.delete & can.true & ~operator.add
            operators.append(GroundOperator(((choice,),), needs, add, delete, conditional))
    return operators


# Relevance ----------------------------------------------------------------------------------


def relevant(
    operators: Sequence[GroundOperator], goals: GoalAlternatives
) -> tuple[list[GroundOperator], int]:
    """Return operators with an effect the goal can depend on, without their other effects.

    Returns:
        the operators, and the fluents that matter, as bits.
    """
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
        # A harmful effect of a useful operator happens with it unless its condition is false, so
        # whatever makes the condition false is needed. An operator that does nothing else but harm
        # has no place in a plan.
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
