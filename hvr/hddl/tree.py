"""The lines of a plan as a tree: who refers to whom, and whether it is a tree at all."""

from __future__ import annotations

from hvr.hddl.plan import HierarchicalPlan, PlanLine

TOP = "__top"
"""How pandaPI calls the single task and method that it puts above the initial network."""


class Tree:
    """The tasks of a plan, numbered: actions in their order, decomposed tasks, the root.

    Attributes:
        plan: the plan.
        lines: the line of each node; that of the root has no name.
        children: the nodes below each node.
        parents: the nodes that refer to each node, once for each time.
        missing: identifiers that no line has, with the node that refers to them.
        first: the first action at or below each node; the number of actions if there is none.
        last: the last one; -1 if there is none.
        order: all nodes below the root, parents before children, if this is a tree.
    """

    def __init__(self, plan: HierarchicalPlan) -> None:
        root, tasks = plan.root or (), list(plan.tasks)
        if len(root) == 1:
            top = [line for line in tasks if line.identifier == root[0]]
            if top and top[0].name == top[0].method.removesuffix("_method") == TOP:
                tasks.remove(top[0])
                root = top[0].subtasks
        self.plan = plan
        top_line = PlanLine(-1, "", (), "", root, plan.root_line)
        self.lines: tuple[PlanLine, ...] = (*plan.actions, *tasks, top_line)
        self.root = len(self.lines) - 1
        self.actions = len(plan.actions)
        node_of = {line.identifier: node for node, line in enumerate(self.lines)}
        self.missing: list[tuple[int, int]] = []
        self.children: list[tuple[int, ...]] = []
        self.parents: list[list[int]] = [[] for _ in self.lines]
        for node, line in enumerate(self.lines):
            below: list[int] = []
            for identifier in line.subtasks:
                child = node_of.get(identifier)
                if child is None or identifier < 0:
                    self.missing.append((identifier, node))
                    continue
                below.append(child)
                self.parents[child].append(node)
            self.children.append(tuple(below))
        self.order: tuple[int, ...] = ()
        self.first: list[int] = []
        self.last: list[int] = []

    def measure(self) -> None:
        """Find the order of the nodes and the actions below each; this must be a tree."""
        order: list[int] = []
        open_ = [self.root]
        while open_:
            node = open_.pop()
            order.append(node)
            open_ += self.children[node]
        self.order = tuple(order)
        count = self.actions
        self.first = [node if node < count else count for node in range(len(self.lines))]
        self.last = [node if node < count else -1 for node in range(len(self.lines))]
        for node in reversed(order):
            if node >= count:
                for child in self.children[node]:
                    self.first[node] = min(self.first[node], self.first[child])
                    self.last[node] = max(self.last[node], self.last[child])

    def unreached(self) -> list[int]:
        """Return the nodes that do not lie below the root."""
        seen = {self.root}
        open_ = [self.root]
        while open_:
            for child in self.children[open_.pop()]:
                if child not in seen:
                    seen.add(child)
                    open_.append(child)
        return [node for node in range(len(self.lines)) if node not in seen]
