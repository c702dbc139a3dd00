"""Hierarchical models to text. Parsing what is printed gives an equal value."""

from __future__ import annotations

from hvr.pddl import TRUE, TypedName, print_domain, print_problem
from hvr.pddl.hierarchy.model import (
    CompoundTask,
    HierarchicalDomain,
    HierarchicalProblem,
    Method,
    Network,
)
from hvr.pddl.model import typed_list


def print_hddl_domain(domain: HierarchicalDomain) -> str:
    """Print a hierarchical domain."""
    lines: list[str] = []
    for task in domain.tasks.values():
        lines += ["", *_task(task)]
    for method in domain.methods.values():
        lines += ["", *_method(method)]
    return _inserted(print_domain(domain.domain), lines)


def print_hddl_problem(problem: HierarchicalProblem) -> str:
    """Print a hierarchical problem."""
    root = problem.root
    lines = ["  (:htn"]
    if root.parameters:
        lines.append(f"    :parameters ({typed_list(root.parameters)})")
    lines += _network(root.network)
    lines[-1] += ")"
    return _inserted(print_problem(problem.problem), lines)


def _inserted(text: str, lines: list[str]) -> str:
    """Put lines before the last parenthesis of a text."""
    return "\n".join((text.rstrip()[:-1].rstrip(), *lines)) + ")\n"


def _task(task: CompoundTask) -> list[str]:
    return [f"  (:task {task.name} :parameters ({_typed(task.parameters)}))"]


def _method(method: Method) -> list[str]:
    lines = [
        f"  (:method {method.name}",
        f"    :parameters ({_typed(method.parameters)})",
        f"    :task ({' '.join((method.task, *method.args))})",
    ]
    if method.precondition != TRUE:
        lines.append(f"    :precondition {method.precondition}")
    lines += _network(method.network)
    lines[-1] += ")"
    return lines


def _network(network: Network) -> list[str]:
    names = [s.identifier or _free(network, i) for i, s in enumerate(network.subtasks)]
    tasks = [f"({name} {subtask})" for name, subtask in zip(names, network.subtasks, strict=True)]
    chain = tuple((i, i + 1) for i in range(len(tasks) - 1))
    ordered = network.order == chain and bool(chain)
    keyword = ":ordered-subtasks" if ordered else ":subtasks"
    lines = [f"    {keyword} (and{''.join(f'{chr(10)}      {task}' for task in tasks)})"]
    if network.order and not ordered:
        pairs = " ".join(f"(< {names[a]} {names[b]})" for a, b in network.order)
        lines.append(f"    :ordering (and {pairs})")
    if network.constraints != TRUE:
        lines.append(f"    :constraints {network.constraints}")
    return lines


def _free(network: Network, index: int) -> str:
    """Return a name for a subtask that has none."""
    taken = {subtask.identifier for subtask in network.subtasks}
    name = f"t{index + 1}"
    while name in taken:
        name += "x"
    return name


def _typed(parameters: tuple[TypedName, ...]) -> str:
    return typed_list(parameters)
