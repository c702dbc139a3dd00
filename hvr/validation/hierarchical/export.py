"""Plans in blocks as hierarchical ones: each block is a task with one method, all in order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import cast

from hvr.errors import PddlError
from hvr.pddl import TRUE, And, Domain, Formula, GroundAction, Problem, TypedName, parse_formula
from hvr.pddl.hierarchy.model import (
    ROOT,
    CompoundTask,
    HierarchicalDomain,
    HierarchicalProblem,
    Method,
    Network,
    Subtask,
)
from hvr.pddl.hierarchy.plan import HierarchicalPlan, PlanLine
from hvr.pddl.model import substitute
from hvr.validation.hierarchical.preconditions import names_in
from hvr.values import Value

_NO_NAME = re.compile(r"[^a-z0-9_-]+")


class Block(Value):
    """A part of a plan.

    Attributes:
        name: what it does, in words.
        actions: its actions.
        precondition: literals that are to hold before it.
    """

    name: str
    actions: tuple[GroundAction, ...]
    precondition: tuple[str, ...] = ()


def export_blocks(
    domain: Domain, problem: Problem, blocks: Sequence[Block]
) -> tuple[HierarchicalDomain, HierarchicalProblem, HierarchicalPlan]:
    """Return a plan in blocks as a hierarchical domain, problem and plan.

    The objects of a block become the parameters of its method, so that the method can be used for
    other objects, too.
    """
    objects = {o.name: o for o in (*domain.constants, *problem.objects)}
    tasks: dict[str, CompoundTask] = {}
    methods: dict[str, Method] = {}
    subtasks: list[Subtask] = []
    count = sum(len(block.actions) for block in blocks)
    actions: list[PlanLine] = []
    lines: list[PlanLine] = []
    for number, block in enumerate(blocks):
        name = _fresh(block.name, {*tasks, *domain.actions})
        condition = _condition(domain, problem, block.precondition)
        used = dict.fromkeys(arg for action in block.actions for arg in action.args)
        used |= dict.fromkeys(sorted(names_in(condition) & objects.keys()))
        variables = {arg: f"?{arg}" for arg in used}
        parameters = tuple([TypedName(variables[arg], objects[arg].types) for arg in used])
        network = Network(
            tuple([_subtask(i, action, variables) for i, action in enumerate(block.actions, 1)]),
            tuple([(i, i + 1) for i in range(len(block.actions) - 1)]),
        )
        method = f"do-{name}"
        args = tuple(p.name for p in parameters)
        tasks[name] = CompoundTask(name, parameters)
        lifted = cast("Formula", substitute(condition, variables))
        methods[method] = Method(method, parameters, name, args, lifted, network)
        subtasks.append(Subtask(f"b{number + 1}", name, tuple(used)))
        first = len(actions)
        actions += [PlanLine(first + i, a.name, a.args) for i, a in enumerate(block.actions)]
        below = tuple(range(first, len(actions)))
        lines.append(PlanLine(count + number, name, tuple(used), method, below))
    order = tuple([(i, i + 1) for i in range(len(subtasks) - 1)])
    root = Method(ROOT, network=Network(tuple(subtasks), order))
    flags = domain.requirements | {":hierarchy", ":method-preconditions"}
    return (
        HierarchicalDomain(domain.replace(requirements=flags), tasks, methods),
        HierarchicalProblem(problem, root),
        HierarchicalPlan(tuple(actions), tuple(line.identifier for line in lines), tuple(lines)),
    )


def _subtask(number: int, action: GroundAction, variables: dict[str, str]) -> Subtask:
    return Subtask(f"s{number}", action.name, tuple([variables[arg] for arg in action.args]))


def _condition(domain: Domain, problem: Problem, literals: Iterable[str]) -> Formula:
    """Return literals as a condition; what cannot be read, as models write it, is left out."""
    parts = []
    for text in literals:
        try:
            parts.append(parse_formula(text, domain, problem.objects))
        except PddlError:
            continue
    return And(tuple(parts)) if parts else TRUE


def _fresh(words: str, taken: set[str]) -> str:
    """Return a name made of words that is not taken."""
    name = _NO_NAME.sub("-", words.lower()).strip("-_") or "block"
    if not name[0].isalpha():
        name = f"block-{name}"
    result, number = name, 1
    while result in taken:
        number += 1
        result = f"{name}-{number}"
    return result
