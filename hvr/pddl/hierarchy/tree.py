"""The lines of a plan as a tree: who refers to whom, and whether it is a tree at all."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

from hvr.pddl.hierarchy.plan import HierarchicalPlan, PlanLine

TOP = "__top"
"""How pandaPI calls the single task and method that it puts above the initial network."""

FEW = 2_000
"""Of so many nodes what takes long to make is kept: memory matters in larger trees."""


class Tree:
    """The tasks of a plan, numbered: actions in their order, decomposed tasks, the root.

    Attributes:
        plan: the plan.
        children: the nodes below each node.
        parent: the first node that refers to each node; -1 without one.
        missing: identifiers that no line has, with the node that refers to them.
        first: the first action at or below each node; the number of actions if there is none.
        last: the last one; -1 if there is none.
        order: all nodes below the root, parents before children, if this is a tree.
    """

    def __init__(self, plan: HierarchicalPlan) -> None:
        root, tasks = plan.root or (), plan.tasks
        if len(root) == 1:
            at = next((i for i, line in enumerate(tasks) if line.identifier == root[0]), None)
            if at is not None:
                top = tasks[at]
                if top.name == top.method.removesuffix("_method") == TOP:
                    tasks = (*tasks[:at], *tasks[at + 1 :])
                    root = top.subtasks
        self.plan = plan
        self._tasks: Sequence[PlanLine] = tasks
        self._top = PlanLine(-1, "", (), "", root, plan.root_line)
        self.actions = len(plan.actions)
        self.root = self.actions + len(tasks)
        kept = [*plan.actions, *tasks, self._top] if self.root < FEW else None
        self._lines: list[PlanLine] | None = kept
        self.missing: list[tuple[int, int]] = []
        self.children: list[tuple[int, ...]] = []
        self.parent = array("q", [-1]) * len(self)
        self._more: dict[int, list[int]] = {}
        self._connect()
        self.order = array("q")
        self.first = array("q")
        self.last = array("q")

    def __len__(self) -> int:
        return self.root + 1

    def line(self, node: int) -> PlanLine:
        """Return the line of a node; that of the root has no name."""
        if self._lines is not None:
            return self._lines[node]
        if node < self.actions:
            return self.plan.actions[node]
        return self._top if node == self.root else self._tasks[node - self.actions]

    def lines(self) -> Iterator[PlanLine]:
        """Return the line of each node, in turn."""
        return map(self.line, range(len(self)))

    def parents(self, node: int) -> list[int]:
        """Return the nodes that refer to a node, once for each time."""
        first = self.parent[node]
        return self._more.get(node) or ([] if first < 0 else [first])

    def measure(self) -> None:
        """Find the order of the nodes and the actions below each; this must be a tree."""
        order = self.order
        open_ = array("q", [self.root])
        while open_:
            node = open_.pop()
            order.append(node)
            open_.extend(self.children[node])
        count = self.actions
        below = len(self) - count
        self.first = array("q", range(count)) + array("q", [count]) * below
        self.last = array("q", range(count)) + array("q", [-1]) * below
        for node in reversed(order):
            if node >= count:
                for child in self.children[node]:
                    self.first[node] = min(self.first[node], self.first[child])
                    self.last[node] = max(self.last[node], self.last[child])

    def unreached(self) -> list[int]:
        """Return the nodes that do not lie below the root."""
        seen = bytearray(len(self))
        seen[self.root] = True
        open_ = array("q", [self.root])
        while open_:
            for child in self.children[open_.pop()]:
                if not seen[child]:
                    seen[child] = True
                    open_.append(child)
        return [node for node, reached in enumerate(seen) if not reached]

    def _connect(self) -> None:
        node_of = {line.identifier: node for node, line in enumerate(self.lines())}
        for node, line in enumerate(self.lines()):
            below: list[int] = []
            for identifier in line.subtasks:
                child = node_of.get(identifier)
                if child is None or identifier < 0:
                    self.missing.append((identifier, node))
                    continue
                below.append(child)
                if self.parent[child] < 0:
                    self.parent[child] = node
                else:
                    self._more.setdefault(child, [self.parent[child]]).append(node)
            self.children.append(tuple(below))
