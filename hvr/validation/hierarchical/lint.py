"""Lint rules for hierarchical models, including the PDDL rules applied to methods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hvr.pddl import TRUE, ActionSchema, And, Atom, Domain, Effect, Not
from hvr.pddl.facts import conjuncts
from hvr.pddl.hierarchy.model import HierarchicalDomain, HierarchicalProblem, Method
from hvr.validation.findings import LintFinding, issue
from hvr.validation.hierarchical.matching import names_in
from hvr.validation.lint import lint

_METHOD, _TASK = "method ", "task "
# In hierarchies, a method does nothing by an action without effects, parameters may come from the
# task, and a network needs no goal.
_NOT_FOR_HIERARCHIES = frozenset({"HVR307", "HVR311", "HVR313"})


def lint_hddl(
    domain: HierarchicalDomain, problem: HierarchicalProblem | None = None
) -> list[LintFinding]:
    """Return the lint findings for a hierarchical model, sorted by rule, the domain's first."""
    flat = _with_methods(domain)
    findings = [
        adapted
        for one in lint(flat, None if problem is None else problem.problem)
        if (adapted := _of_hierarchy(one)) is not None
    ]
    findings += _requirements(domain)
    findings += _parameters(domain)
    findings += _decompositions(domain)
    findings += _unordered(domain)
    for action in domain.domain.actions.values():
        findings += _clashes(domain.domain, action)
    if problem is not None:
        findings += _unreached(domain, problem)
    return sorted(findings, key=lambda finding: (finding.in_problem, finding.rule))


def _with_methods(domain: HierarchicalDomain) -> Domain:
    """Return the domain with methods and tasks as actions, so that the rules see their names."""
    flat = dict(domain.domain.actions)
    for method in domain.methods.values():
        parts = [p for p in (method.network.constraints, method.precondition) if p != TRUE]
        condition = parts[0] if len(parts) == 1 else And(tuple(parts))
        # Names cannot contain a space, so these never collide with others.
        name = _METHOD + method.name
        flat[name] = ActionSchema(name, method.parameters, condition, location=method.location)
    for task in domain.tasks.values():
        name = _TASK + task.name
        flat[name] = ActionSchema(name, task.parameters, location=task.location)
    return domain.domain.replace(actions=flat)


def _of_hierarchy(finding: LintFinding) -> LintFinding | None:
    name = finding.name
    if finding.rule in _NOT_FOR_HIERARCHIES or name.startswith(_TASK):
        return None
    if not name.startswith(_METHOD):
        return finding
    message = finding.message.replace(f"action {name}", name)
    return finding.replace(message=message, name=name.removeprefix(_METHOD))


def _requirements(domain: HierarchicalDomain) -> Iterator[LintFinding]:
    if ":hierarchy" not in domain.domain.requirements:
        first = next(iter((*domain.tasks.values(), *domain.methods.values())), None)
        message = "The domain uses tasks without the requirement :hierarchy."
        yield issue("HVR202", message, ":hierarchy", first)


def _parameters(domain: HierarchicalDomain) -> Iterator[LintFinding]:
    for method in domain.methods.values():
        used = {*method.args, *names_in(method.precondition)}
        used |= names_in(method.network.constraints)
        used.update(arg for subtask in method.network.subtasks for arg in subtask.args)
        for parameter in method.parameters:
            if parameter.name not in used:
                message = f"Nothing in the method {method.name} uses {parameter.name}."
                yield issue("HVR307", message, method.name, method)


def _decompositions(domain: HierarchicalDomain) -> Iterator[LintFinding]:
    ending: set[str] = set(domain.domain.actions)
    waiting = list(domain.methods.values())
    while True:
        done = [m for m in waiting if all(s.name in ending for s in m.network.subtasks)]
        if not done:
            break
        ending.update(method.task for method in done)
        waiting = [method for method in waiting if method.task not in ending]
    for name, task in domain.tasks.items():
        if not domain.methods_of[name]:
            message = f"No method decomposes the task {task}."
            yield issue("HVR401", message, name, task)
        elif name not in ending:
            message = (
                f"The task {task} can never be decomposed into actions: each method contains a "
                "task that never ends."
            )
            yield issue("HVR402", message, name, task)


def _unordered(domain: HierarchicalDomain) -> Iterator[LintFinding]:
    several = [m for m in domain.methods.values() if len(m.network.subtasks) > 1]
    loose = [method for method in several if method.network.sequence is None]
    if 4 * len(loose) <= len(several):
        for method in loose:
            message = (
                f"The method {method.name} does not order its subtasks, but "
                f"{len(several) - len(loose)} of {len(several)} methods do."
            )
            yield issue("HVR404", message, method.name, method)


def _clashes(domain: Domain, action: ActionSchema) -> Iterator[LintFinding]:
    added, deleted = _changes(action.effect)
    types = {p.name: p.types for p in action.parameters}
    types |= {c.name: c.types for c in domain.constants}
    # Deleting a required atom is the usual form of a move, not a slip.
    demanded = set(conjuncts(action.precondition))
    apart = {
        frozenset(names_in(part.operand))
        for part in conjuncts(action.precondition)
        if isinstance(part, Not)
    }
    for old in deleted:
        for new in added:
            if old.predicate != new.predicate or old.args == new.args or old in demanded:
                continue
            pairs = [(a, b) for a, b in zip(old.args, new.args, strict=True) if a != b]
            if any(frozenset(pair) in apart for pair in pairs):
                continue
            if all(_may_be_one(domain, types, a, b) for a, b in pairs):
                message = (
                    f"{action.name} adds {new} and deletes {old}: if both are the same atom, it "
                    "stays true."
                )
                yield issue("HVR405", message, action.name, new)


def _may_be_one(domain: Domain, types: dict[str, tuple[str, ...]], one: str, two: str) -> bool:
    if not (one.startswith("?") or two.startswith("?")):
        return False
    left, right = types.get(one), types.get(two)
    if left is None or right is None:
        return False
    return domain.has_type(left, right) or domain.has_type(right, left)


def _changes(effect: Effect) -> tuple[list[Atom], list[Atom]]:
    added, deleted = [], []
    for part in conjuncts(effect):
        if isinstance(part, Atom):
            added.append(part)
        elif isinstance(part, Not) and isinstance(part.operand, Atom):
            deleted.append(part.operand)
    return added, deleted


def _unreached(domain: HierarchicalDomain, problem: HierarchicalProblem) -> Iterator[LintFinding]:
    reached: set[str] = set()
    open_: list[Iterable[Method]] = [[problem.root]]
    while open_:
        for method in open_.pop():
            for subtask in method.network.subtasks:
                if subtask.name not in reached:
                    reached.add(subtask.name)
                    open_.append(domain.methods_of.get(subtask.name, ()))
    things = [("task", n, t) for n, t in domain.tasks.items()]
    actions = [("action", n, a) for n, a in domain.domain.actions.items()]
    for what, name, source in (*things, *actions):
        if name not in reached:
            message = f"The initial network of this problem never leads to the {what} {source}."
            yield issue("HVR403", message, name, source)
