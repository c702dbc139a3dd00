"""Two slow reference checks of solutions: verify a certificate, or try every decomposition.

Höller et al., "HDDL: An Extension to PDDL for Expressing Hierarchical Planning Problems" (2020): a
solution is an executable linearisation of a primitive network that methods derive from the initial
one; a method's precondition is an action without effects before its subtasks. This module shares
only the model and the plan reader with hvr.pddl.hierarchy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product

from hvr.pddl import GroundAction
from hvr.pddl.hierarchy.model import HierarchicalDomain, HierarchicalProblem, Method
from hvr.pddl.hierarchy.plan import HierarchicalPlan, PlanLine
from hvr.validation.report import Decomposed
from tests.reference import Reference, World

Binding = Mapping[str, str]


class HierarchyReference:
    """Judges plans of one problem whose references between lines are valid."""

    def __init__(self, domain: HierarchicalDomain, problem: HierarchicalProblem) -> None:
        self.domain = domain
        self.problem = problem
        self.classical = Reference(domain.domain, problem.problem)

    def worlds(self, plan: HierarchicalPlan) -> list[World] | None:
        """Return all states, or None if an action is not executable or the goal is missed."""
        verdict = self.classical.judge([GroundAction(a.name, a.args) for a in plan.actions])
        return [world for _, world in verdict.worlds] if verdict.valid else None

    def allowed(self, method: Method, binding: Binding) -> bool:
        """Return whether a binding satisfies a method's types and constraints."""
        return all(
            binding.get(p.name) in self.classical.members(p.types) for p in method.parameters
        ) and bool(
            self.classical.truth(method.network.constraints, World(frozenset(), {}), binding)
        )

    # Certificates -----------------------------------------------------------------------------

    def accepts(self, plan: HierarchicalPlan, certificate: Sequence[Decomposed]) -> bool:
        """Return whether a certificate proves that a plan is a solution."""
        worlds = self.worlds(plan)
        if worlds is None:
            return False
        lines = {line.identifier: line for line in (*plan.actions, *plan.tasks)}
        index = {action.identifier: i for i, action in enumerate(plan.actions)}
        by_id = {one.identifier: one for one in certificate}
        below = [child for one in certificate for child in one.subtasks]
        tasks = {task.identifier for task in plan.tasks}
        if sorted(below) != sorted(lines) or set(by_id) != {None, *tasks}:
            return False
        if len(by_id) != len(certificate) or set(by_id[None].subtasks) != set(plan.root or ()):
            return False
        events: dict[int | None, list[tuple[int, int]]] = {}
        for one in self._children_first(certificate):
            if not self._decomposes(one, lines, worlds):
                return False
            method = self._method(one)
            inner = [[(index[c], index[c] + 1)] if c in index else events[c] for c in one.subtasks]
            spans = [span for group in inner for span in group]
            if any(begin < one.position for begin, _ in spans):
                return False
            for first, second in method.network.order:
                if any(a[1] > b[0] for a in inner[first] for b in inner[second]):
                    return False
            events[one.identifier] = [(one.position, one.position), *spans]
        return len(events) == len(certificate)

    def _children_first(self, certificate: Sequence[Decomposed]) -> Iterator[Decomposed]:
        by_id = {one.identifier: one for one in certificate}
        order, open_ = [], [by_id[None]]
        while open_:
            one = open_.pop()
            order.append(one)
            open_ += [by_id[child] for child in one.subtasks if child in by_id]
        return reversed(order)

    def _method(self, one: Decomposed) -> Method:
        return self.domain.methods[one.method] if one.method else self.problem.root

    def _decomposes(
        self, one: Decomposed, lines: Mapping[int, PlanLine], worlds: Sequence[World]
    ) -> bool:
        method, binding = self._method(one), dict(one.parameters)
        if one.identifier is not None:
            line = lines[one.identifier]
            given = (line.name, line.args, line.method, sorted(line.subtasks))
            claimed = (
                method.task,
                tuple(binding.get(a, a) for a in method.args),
                one.method,
                sorted(one.subtasks),
            )
            if given != claimed:
                return False
        if len(one.subtasks) != len(method.network.subtasks) or not self.allowed(method, binding):
            return False
        for child, subtask in zip(one.subtasks, method.network.subtasks, strict=True):
            args = tuple(binding.get(a, a) for a in subtask.args)
            if (lines[child].name, lines[child].args) != (subtask.name, args):
                return False
        return bool(self.classical.truth(method.precondition, worlds[one.position], binding))

    # Brute force ------------------------------------------------------------------------------

    def is_solution(self, plan: HierarchicalPlan, *, any_order: bool) -> bool:
        """Return whether some reading of the decomposition makes a plan a solution."""
        worlds = self.worlds(plan)
        if worlds is None:
            return False
        lines = {line.identifier: line for line in plan.tasks}
        top = PlanLine(-1, "", (), "", plan.root or ())
        names = {line.identifier: line for line in (*plan.actions, *plan.tasks)}
        choices = [
            [(line, *way) for way in self._ways(line, names, any_order)]
            for line in (top, *lines.values())
        ]
        return any(self._executable(plan, worlds, chosen) for chosen in product(*choices))

    def _ways(
        self, line: PlanLine, names: Mapping[int, PlanLine], any_order: bool
    ) -> Iterator[tuple[Method, tuple[int, ...], Binding]]:
        method = self.domain.methods[line.method] if line.name else self.problem.root
        subtasks = method.network.subtasks
        if method.task != line.name or len(subtasks) != len(line.subtasks):
            return
        order = method.network.order
        parameters = [p.name for p in method.parameters]
        for ids in permutations(line.subtasks):
            place = {i: line.subtasks.index(identifier) for i, identifier in enumerate(ids)}
            if not any_order and any(place[a] > place[b] for a, b in order):
                continue
            for values in product(*(self.classical.members(p.types) for p in method.parameters)):
                binding = dict(zip(parameters, values, strict=True))
                if tuple(binding.get(a, a) for a in method.args) != line.args:
                    continue
                if not self.allowed(method, binding):
                    continue
                if all(
                    names[i].name == s.name
                    and names[i].args == tuple(binding.get(a, a) for a in s.args)
                    for i, s in zip(ids, subtasks, strict=True)
                ):
                    yield method, ids, binding

    def _executable(
        self,
        plan: HierarchicalPlan,
        worlds: Sequence[World],
        chosen: Sequence[tuple[PlanLine, Method, tuple[int, ...], Binding]],
    ) -> bool:
        """Decompose task after task, then search for a linearisation with the given actions."""
        way_of = {line.identifier: (method, ids, binding) for line, method, ids, binding in chosen}
        nodes: set[object] = {-1}
        before: set[tuple[object, object]] = set()
        tests: dict[object, tuple[Method, Binding]] = {}
        while todo := [n for n in nodes if n in way_of]:
            node = todo[0]
            method, ids, binding = way_of[node]  # type: ignore[index]
            test = ("precondition", node)
            tests[test] = (method, binding)
            new = {test, *ids}
            closed = {(ids[a], ids[b]) for a, b in method.network.order}
            closed |= {(test, child) for child in ids}
            closed |= {(a, n) for a, b in before if b == node for n in new}
            closed |= {(n, b) for a, b in before if a == node for n in new}
            before = {pair for pair in before if node not in pair} | closed
            nodes = (nodes - {node}) | new
            before = _closure(before)
        actions = [action.identifier for action in plan.actions]
        if {n for n in nodes if isinstance(n, int)} != set(actions):
            return False
        seen: set[tuple[int, frozenset[object]]] = set()
        open_ = [(0, frozenset[object]())]
        while open_:
            done, events = open_.pop()
            if (done, events) in seen:
                continue
            seen.add((done, events))
            gone = {*actions[:done], *events}
            if gone == nodes:
                return True
            ready = {n for n in nodes - gone if all(a in gone for a, b in before if b == n)}
            if done < len(actions) and actions[done] in ready:
                open_.append((done + 1, events))
            for test in ready & tests.keys():
                method, binding = tests[test]
                if self.classical.truth(method.precondition, worlds[done], binding):
                    open_.append((done, events | {test}))
        return False

    # Without a decomposition ------------------------------------------------------------------

    def leads_to(self, plan: HierarchicalPlan) -> bool:
        """Return whether some decomposition yields the actions of a plan, by brute force."""
        worlds = self.worlds(plan)
        if worlds is None:
            return False
        actions = [(a.name, a.args) for a in plan.actions]
        # Nodes are (name, args), or (method, binding) for preconditions, numbered for identity.
        open_: list[tuple[int, dict[int, tuple[object, object]], frozenset[tuple[int, int]], int]]
        open_ = [(0, {0: ("", ())}, frozenset(), 1)]
        seen = set()
        while open_:
            done, nodes, before, fresh = open_.pop()
            if not nodes and done == len(actions):
                return True
            key = (done, tuple(sorted((n, str(v)) for n, v in nodes.items())), before)
            if (
                key in seen
                or sum(1 for name, _ in nodes.values() if name in self.domain.domain.actions)
                > len(actions) - done
            ):
                continue
            seen.add(key)
            ready = [n for n in nodes if not any(b == n for _, b in before)]
            tasks = [n for n in ready if nodes[n][0] == "" or nodes[n][0] in self.domain.tasks]
            for node in tasks[:1] or ready:
                left = {n: v for n, v in nodes.items() if n != node}
                pairs = frozenset(pair for pair in before if node not in pair)
                name, rest = nodes[node]
                if node in tasks:
                    for method, binding in self._methods(str(name), rest):
                        new = {fresh: (method, tuple(sorted(binding.items())))}
                        for i, subtask in enumerate(method.network.subtasks, fresh + 1):
                            args = tuple(binding.get(a, a) for a in subtask.args)
                            new[i] = (subtask.name, args)
                        more = {(fresh + 1 + a, fresh + 1 + b) for a, b in method.network.order}
                        more |= {(fresh, n) for n in new if n != fresh}
                        more |= {(n, b) for a, b in before if a == node for n in new}
                        open_.append((done, left | new, pairs | more, fresh + len(new)))
                elif isinstance(name, Method):
                    if self.classical.truth(name.precondition, worlds[done], dict(rest)):  # type: ignore[call-overload]
                        open_.append((done, left, pairs, fresh))
                elif done < len(actions) and actions[done] == (name, rest):
                    open_.append((done + 1, left, pairs, fresh))
        return False

    def _methods(self, task: str, args: object) -> Iterator[tuple[Method, Binding]]:
        methods = self.domain.methods_of[task] if task else (self.problem.root,)
        for method in methods:
            for binding in self.classical.bindings(method.parameters, {}):
                given = tuple(binding.get(a, a) for a in method.args)
                if given == args and self.allowed(method, binding):
                    yield method, binding


def _closure(pairs: set[tuple[object, object]]) -> set[tuple[object, object]]:
    while more := {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs:
        pairs = pairs | more
    return pairs
