"""Decompositions: a plan is a linearisation of what methods make of the initial network (HDDL:
Höller et al. 2020)."""

from __future__ import annotations

from typing import Any

from hvr.checker.trial import RefusedError, Trial
from hvr.hddl.model import HierarchicalDomain, HierarchicalProblem
from hvr.hddl.plan import HierarchicalPlan
from hvr.pddl.words import words_of


def check_decomposition(
    domain: HierarchicalDomain,
    problem: HierarchicalProblem,
    plan: HierarchicalPlan,
    told: dict[str, Any],
    trial: Trial,
) -> None:
    """Refuse evidence that does not decompose the initial network into the actions of a plan."""
    nodes = {one["id"]: one for one in told["decomposition"]}
    lines = {line.identifier: line for line in (*plan.actions, *plan.tasks)}
    below = sorted(child for one in nodes.values() for child in one["subtasks"])
    if below != sorted(lines) or {*nodes} != {None, *(task.identifier for task in plan.tasks)}:
        raise RefusedError("the decomposition is not a tree of the lines of the plan")
    span = {action.identifier: (at, at + 1) for at, action in enumerate(plan.actions)}
    order: list[Any] = [None]
    for node in order:  # It grows: each task comes before those below it.
        order += [child for child in nodes[node]["subtasks"] if child in nodes]
    for node in reversed(order):
        one, line = nodes[node], lines.get(node)
        method = problem.root if line is None else domain.methods[line.method]
        binding, subtasks, position = one["parameters"], one["subtasks"], one["position"]
        listed = (plan.root or ()) if line is None else line.subtasks
        trial.state = trial.states[position]
        calls = [(task.name, task.args) for task in method.network.subtasks]
        calls.append((method.task, method.args))
        called = [(name, tuple(binding.get(a, a) for a in args)) for name, args in calls]
        given = [(lines[child].name, lines[child].args) for child in subtasks]
        given.append(("", ()) if line is None else (line.name, line.args))
        inner = [span[child] for child in subtasks]
        places = [listed.index(child) for child in subtasks]
        fits = trial.domain.has_type
        conditions = [words_of(method.precondition), words_of(method.network.constraints)]
        if not (
            called == given
            and one["method"] == (method.name or None)
            and sorted(listed) == sorted(subtasks)
            and {*binding} == {parameter.name for parameter in method.parameters}
            and all(fits(trial.types[binding[p.name]], p.types) for p in method.parameters)
            and all(trial.holds(trial.expand(condition, binding)) for condition in conditions)
            and all(position <= begin for begin, _ in inner)
            and all(inner[a][1] <= inner[b][0] for a, b in method.network.order)
            and (
                told["options"]["any_order"]
                or all(places[a] < places[b] for a, b in method.network.order)
            )
        ):
            raise RefusedError(f"the decomposition of {line or 'the initial network'} is wrong")
        span[node] = (
            min([position, *(b for b, _ in inner)]),
            max([position, *(e for _, e in inner)]),
        )
    if len(order) != len(nodes):
        raise RefusedError("some tasks are below none of the initial network")
