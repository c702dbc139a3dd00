"""Plans with every change of the state: sequences, plans with times, and hierarchical plans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hvr.doors import schema
from hvr.doors.operations import Makers, condition_states, conjuncts, facts_of, keep_changes
from hvr.pddl import GroundAction
from hvr.pddl.plan import TimedAction
from hvr.validation.report import FailureKind
from hvr.validation.stepper import Stepper

if TYPE_CHECKING:
    from hvr.pddl import Step, Task
    from hvr.pddl.formulas import Expression
    from hvr.pddl.hierarchy.plan import HierarchicalPlan
    from hvr.validation.hierarchical.verifier import DecompositionVerifier
    from hvr.validation.report import ValidationReport
    from hvr.validation.validator import Validator


def trace_steps(
    validator: Validator, steps: Sequence[Step], report: ValidationReport
) -> schema.PlanTrace:
    if any(not isinstance(step, GroundAction) for step in steps):
        found = _timed(validator, steps, report)
    else:
        actions = [step for step in steps if isinstance(step, GroundAction)]
        found = _sequence(validator.task, actions, report)
    task = validator.task
    if not task.problem.numeric_init:
        return found
    return found.replace(
        curves=validator.curves(steps), processes=tuple(validator.process_spans(steps))
    )


def trace_hierarchy(
    verifier: DecompositionVerifier, plan: HierarchicalPlan, report: ValidationReport
) -> schema.PlanTrace:
    """Return the trace of a verified hierarchical plan, with its decomposition."""
    actions = [plan.step(line) for line in plan.actions]
    found = _sequence(verifier.task, actions, report)
    return found.replace(decomposition=_decomposition(plan))


def _sequence(
    task: Task, actions: Sequence[GroundAction], report: ValidationReport
) -> schema.PlanTrace:
    stepper = Stepper(task)
    initial = facts_of(stepper)
    found: list[schema.TracedStep] = []
    makers: Makers = {}
    for number, action in enumerate(actions, 1):
        needs = tuple(condition_states(stepper, action, makers))
        one = stepper.apply(action)
        keep_changes(makers, one)
        changes = tuple(map(str, one.added)), tuple(map(str, one.deleted))
        found.append(schema.TracedStep(number, str(action), None, one.ok, needs, *changes))
        if not one.ok:
            break
    failure = stepper.goal_failure()
    missing = () if failure is None else tuple(map(str, failure.literals))
    return _trace(task, initial, found, missing, report)


def _timed(
    validator: Validator, steps: Sequence[Step], report: ValidationReport
) -> schema.PlanTrace:
    timed = [step for step in steps if isinstance(step, TimedAction)]
    spans = tuple((str(s.action), float(s.start or 0), float(s.duration or 0)) for s in timed)
    starts = {number: step.start for number, step in enumerate(timed, 1)}
    makers: dict[tuple[Expression, bool], int] = {}
    traced = []
    for number, at, action, added, deleted in validator.trace(steps):
        begins = number is not None and at == starts.get(number)
        needs = () if action is None else _needs(validator.task, action, makers, begins)
        traced.append(
            schema.TracedStep(
                number or 0,
                "" if action is None else str(action),
                None if at is None else float(at),
                True,
                tuple(needs),
                tuple(map(str, added)),
                tuple(map(str, deleted)),
            )
        )
        makers |= dict.fromkeys(((fact, True) for fact in added), number or 0)
        makers |= dict.fromkeys(((fact, False) for fact in deleted), number or 0)
    failure = report.failure
    if failure and failure.action is not None and failure.kind is not FailureKind.CONSTRAINT:
        time = None if failure.time is None else float(failure.time)
        name = str(failure.action)
        traced.append(schema.TracedStep(failure.step or 0, name, time, False, (), (), ()))
    unmet = failure.literals if failure and failure.kind is FailureKind.GOAL else ()
    initial = facts_of(Stepper(validator.task))
    found = _trace(validator.task, initial, traced, tuple(map(str, unmet)), report)
    return found.replace(spans=spans)


def _needs(
    task: Task, action: GroundAction, makers: Makers, begins: bool
) -> Iterator[schema.ConditionState]:
    """Yield the conditions at an action's start if `begins`, otherwise its later conditions.

    An action without a duration has all its conditions in either case.
    """
    from hvr.pddl.durative import part_at
    from hvr.pddl.formulas import Atom, Not, substitute
    from hvr.pddl.task import binding_of

    domain = task.domain
    if action.name in domain.durative_actions and task.misfit(action) is None:
        lasting = domain.durative_actions[action.name]
        times = ("at start",) if begins else ("over all", "at end")
        conditions = [part_at(lasting.condition, time) for time in times]
        binding = binding_of(lasting, action)
    elif action.name in domain.actions and task.misfit(action) is None:
        once = domain.actions[action.name]
        conditions, binding = [once.precondition], binding_of(once, action)
    else:
        return
    for condition in conditions:
        for part in conjuncts(substitute(condition, binding)):
            fact = part.operand if isinstance(part, Not) else part
            maker = makers.get((fact, fact is part), 0) if isinstance(fact, Atom) else None
            yield schema.ConditionState(str(part), True, maker)


def _trace(
    task: Task,
    initial: tuple[str, ...],
    steps: Sequence[schema.TracedStep],
    missing: tuple[str, ...],
    report: ValidationReport,
) -> schema.PlanTrace:
    changing = set(initial)
    constants = tuple(sorted(fact for fact in map(str, task.problem.init) if fact not in changing))
    objects = {name: tuple(task.objects[name]) for name in sorted(task.objects)}
    return schema.PlanTrace(initial, constants, objects, tuple(steps), (), missing, report)


def _decomposition(plan: HierarchicalPlan) -> tuple[schema.TaskNode, ...]:
    """Return the nodes of a decomposition, root first, omitting unreachable and repeated ones."""
    from hvr.pddl.hierarchy.plan import DecompositionTree

    tree = DecompositionTree(plan)
    numbers = {tree.root: 0}
    order = [tree.root]
    below: list[tuple[int, ...]] = []
    for node in order:
        children = tuple(child for child in tree.children[node] if child not in numbers)
        for child in children:
            numbers.setdefault(child, len(numbers))
        fresh = tuple(dict.fromkeys(children))
        order += fresh
        below.append(tuple(numbers[child] for child in fresh))
    nodes = []
    for node, children in zip(order, below, strict=True):
        line = tree.line(node)
        text = str(GroundAction(line.name, line.args)) if line.name else ""
        step = node + 1 if node < tree.actions else None
        nodes.append(schema.TaskNode(text, line.method or None, step, children))
    return tuple(nodes)
