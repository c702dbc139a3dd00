"""Read PDDL and HDDL tasks and plans into a common form, for the checker of certificates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from hvr.pddl.formulas import And, TypedName
from hvr.pddl.hierarchy.model import Method
from hvr.pddl.hierarchy.parser import parse_hddl_domain, parse_hddl_problem
from hvr.pddl.hierarchy.plan import HierarchicalPlan, read_hierarchical_plan
from hvr.pddl.model import Domain, GroundAction, Problem
from hvr.pddl.plan import TimedAction, read_plan
from hvr.pddl.problem_parser import parse_domain, parse_problem
from hvr.pddl.reader import decode
from hvr.pddl.words import words_of
from hvr.values import Value


class Decomposition(Value):
    """A decomposed task of a plan.

    Attributes:
        subtasks: The identifiers of the subtasks, in the order of the plan.
        calls: The method's task and subtasks, with variables, as tuples of words.
        condition: The method's precondition and constraints, as words.
        order: Pairs of subtask indexes; the first comes before the second.
    """

    subtasks: tuple[int, ...]
    parameters: tuple[TypedName, ...]
    calls: tuple[Any, ...]
    condition: Any
    order: Sequence[tuple[int, int]]


class TaskAndPlan(Value):
    """A domain, a problem and a plan.

    Attributes:
        steps: The steps, where untimed steps have the times 1, 2, 3, …
        actions: The identifiers of the actions of a hierarchical plan, in order.
        calls: The action or task of each identifier, as words. The key None is the initial network.
        tasks: The decomposed tasks by identifier, with the key None for the initial network. The
            value is None if the domain lacks the method.
    """

    domain: Domain
    problem: Problem
    steps: tuple[TimedAction, ...]
    actions: tuple[int, ...] = ()
    calls: Mapping[int | None, tuple[str, ...]] = {}
    tasks: Mapping[int | None, Decomposition | None] = {}


def read_task_and_plan(files: Sequence[bytes], language: str, *, lenient: bool) -> TaskAndPlan:
    """Read a domain, a problem and a plan, or raise a PddlError; HDDL is always read strictly."""
    domain_text, problem_text, plan_text = (decode(file, "") for file in files)
    if language == "hddl":
        return _read_hierarchy(domain_text, problem_text, read_hierarchical_plan(plan_text))
    domain = parse_domain(domain_text, lenient=lenient)
    problem = parse_problem(problem_text, domain, lenient=lenient)
    return TaskAndPlan(domain, problem, _timed(read_plan(plan_text, lenient=lenient).steps))


def _read_hierarchy(domain_text: str, problem_text: str, plan: HierarchicalPlan) -> TaskAndPlan:
    known = parse_hddl_domain(domain_text)
    task = parse_hddl_problem(problem_text, known)
    lines = (*plan.actions, *plan.tasks)
    tasks: dict[int | None, Decomposition | None] = {
        None: _decomposition(task.root, plan.root or ())
    }
    for line in plan.tasks:
        used = known.methods.get(line.method)
        tasks[line.identifier] = _decomposition(used, line.subtasks) if used else None
    return TaskAndPlan(
        known.domain,
        task.problem,
        _timed([GroundAction(line.name, line.args) for line in plan.actions]),
        tuple([line.identifier for line in plan.actions]),
        {None: ("",), **{line.identifier: (line.name, *line.args) for line in lines}},
        tasks,
    )


def _timed(steps: Sequence[GroundAction | TimedAction]) -> tuple[TimedAction, ...]:
    numbered = enumerate(steps, 1)
    return tuple(
        [s if isinstance(s, TimedAction) else TimedAction(s, Fraction(n)) for n, s in numbered]
    )


def _decomposition(method: Method, subtasks: tuple[int, ...]) -> Decomposition:
    calls = ((method.task, *method.args), *map(words_of, method.network.subtasks))
    condition = words_of(And((method.precondition, method.network.constraints)))
    return Decomposition(subtasks, method.parameters, calls, condition, method.network.order)
