"""Check whether methods allow the order of a plan's actions, and whether their preconditions hold.

The ordering of a method only requires that some subtasks come after others. So each precondition
takes the earliest suitable state, and each task ends as early as possible: an earlier end allows
everything that a later end allows. The best match of a method for one task is therefore best for
the whole plan, and combinations of matches need not be tried.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, overload

from hvr.pddl import GroundAction
from hvr.pddl.hierarchy.model import Method, TaskNetwork
from hvr.pddl.hierarchy.plan import DecompositionTree
from hvr.validation.hierarchical.matching import FoundMatches, SubtaskMatch
from hvr.validation.report import Decomposed
from hvr.values import Value

Holds = Callable[[int, SubtaskMatch, int], "dict[str, str] | None"]
"""Returns open parameter values with which a method's precondition holds in a state, or None.
"""

FAILED = -1
_NOTHING: dict[str, str] = {}
_Key = tuple[int, int, int]
"""A task, the first state in which it may begin, and the last in which it may end."""


class PlacedTask(Value):
    """The match of a decomposed task, the state of its precondition, and its unbound parameters."""

    match: SubtaskMatch
    position: int
    further: dict[str, str]


class NoOrder(Value):
    """The reason why no order is possible.

    Attributes:
        node: The action that comes too early, or the task whose method's precondition fails.
        low, high: The first and the last possible state (for an action, `high` is less than `low`).
        after: The action that it should come after, or -1 if there is none.
        match: The match of the method, if its precondition fails.
    """

    node: int
    low: int
    high: int
    after: int = -1
    match: SubtaskMatch | None = None


class Placement:
    """The match and position of each decomposed task, stored in columns."""

    def __init__(self, count: int, matches: FoundMatches) -> None:
        self._matches = matches
        self._ways = array("i", [0]) * count
        self._positions = array("i", [0]) * count
        self._further: dict[int, dict[str, str]] = {}

    def __getitem__(self, node: int) -> PlacedTask:
        match = self._matches[node][self._ways[node]]
        return PlacedTask(match, self._positions[node], self._further.get(node, _NOTHING))

    def set(self, node: int, way: int, position: int, further: dict[str, str]) -> None:
        self._ways[node] = way
        self._positions[node] = position
        if further:
            self._further[node] = further
        else:
            self._further.pop(node, None)


class _Open:
    __slots__ = (
        "asked",
        "at",
        "best",
        "children",
        "chosen",
        "further",
        "high",
        "low",
        "matches",
        "node",
        "position",
        "result",
        "way",
    )

    def __init__(self, key: _Key) -> None:
        self.node, self.low, self.high = key
        self.way = -1
        self.best = FAILED
        self.chosen: tuple[int, int, dict[str, str]] | None = None
        self.children: tuple[int, ...] = ()
        self.matches: tuple[SubtaskMatch, ...] | None = None
        self.further = _NOTHING
        self.position = self.result = FAILED
        self.at = 0
        self.asked = False


class Scheduler:
    """Finds a position in the plan for each task at which its method's precondition holds.

    If `holds` is None, only the order is checked.
    """

    def __init__(
        self,
        tree: DecompositionTree,
        method_of: dict[int, Method],
        matches: FoundMatches,
        holds: Holds | None,
    ) -> None:
        self._tree = tree
        self._method_of = method_of
        self._matches = matches
        self._holds = holds
        # For the children of tasks being placed: the bounds of their states, and their ends.
        self._low, self._high, self._end = (array("i", [0]) * len(tree) for _ in range(3))
        self._placement = Placement(len(tree), matches)
        # Memo of placements; unnecessary if every task has one match and is placed once.
        self._known: dict[_Key, tuple[int, tuple[int, int, dict[str, str]] | None]] = {}
        self._again = matches.ambiguous
        self.misplaced: NoOrder | None = None

    def run(self) -> Placement | None:
        """Return the match and position of each task, or None with the reason in `misplaced`."""
        root = (self._tree.root, 0, self._tree.actions)
        # An explicit stack of small objects, because plans may be nested thousands of levels deep.
        stack = [_Open(root)]
        while stack:
            child = self._advance(stack[-1])
            if child < 0:
                self._close(stack.pop())
                continue
            key = child, self._low[child], self._high[child]
            known = self._known.get(key)
            if known is None:
                stack.append(_Open(key))
            else:
                self._end[child] = known[0]
        if self._end[self._tree.root] == FAILED:
            return None
        if self._again:
            self._choose(root)
        return self._placement

    def _advance(self, task: _Open) -> int:
        while True:
            if task.position == FAILED and not self._next_way(task):
                return -1
            child = self._below(task)
            if child >= 0:
                return child
            if task.result != FAILED and (task.best == FAILED or task.result < task.best):
                task.best = task.result
                task.chosen = task.way, task.position, task.further
            task.position = FAILED

    def _next_way(self, task: _Open) -> bool:
        node = task.node
        first = min(task.high, self._tree.first[node])
        matches = task.matches
        if matches is None:
            matches = self._matches[node]
            # A match is as large as its children, and deep plans have many open tasks.
            task.matches = matches if len(matches) > 1 else ()
        for way in range(task.way + 1, len(matches)):
            match = matches[way]
            position, further = self._position(node, match, task.low, first)
            if position == FAILED:
                self._note(NoOrder(node, task.low, first, match=match))
                continue
            task.way, task.position, task.further = way, position, further
            task.children, task.at, task.result = match.children, 0, position
            network = self._method_of[node].network
            highs = latest(self._tree, network, match.children, task.high)
            for child, high in zip(match.children, highs, strict=True):
                self._high[child] = high
            return True
        return False

    def _below(self, task: _Open) -> int:
        # `result` is then the earliest state in which all of them can have ended.
        network = self._method_of[task.node].network
        topological, children, ends = network.topological, task.children, self._end
        while task.at < len(children):
            index = topological[task.at]
            child = children[index]
            if task.asked:
                task.asked = False
                end = ends[child]
                if end == FAILED:
                    task.result = FAILED
                    return -1
            else:
                before = [ends[children[one]] for one in network.predecessors(index)]
                low = max(task.position, max(before, default=0))
                if child >= self._tree.actions:
                    self._low[child] = low
                    task.asked = True
                    return child
                if child < low:
                    self._note(NoOrder(child, low, child, after=low - 1))
                    task.result = FAILED
                    return -1
                end = child + 1
            ends[child] = end
            task.result = max(task.result, end)
            task.at += 1
        return -1

    def _close(self, task: _Open) -> None:
        node = task.node
        self._end[node] = task.best
        if self._again:
            self._known[node, task.low, task.high] = task.best, task.chosen
        elif task.chosen is not None:
            self._placement.set(node, *task.chosen)

    def _position(
        self, node: int, match: SubtaskMatch, low: int, high: int
    ) -> tuple[int, dict[str, str]]:
        if self._holds is None:
            return low, _NOTHING
        for position in range(low, high + 1):
            further = self._holds(node, match, position)
            if further is not None:
                return position, further
        return FAILED, _NOTHING

    def _note(self, misplaced: NoOrder) -> None:
        # Prefer the precondition failure that came furthest, which says most. The verifier checks
        # the order by itself in a second run without preconditions.
        known = self.misplaced
        if known is None or _telling(misplaced) > _telling(known):
            self.misplaced = misplaced

    def _choose(self, root: _Key) -> None:
        tree = self._tree
        open_ = [root]
        while open_:
            node, _, high = key = open_.pop()
            chosen = self._known[key][1]
            assert chosen is not None
            self._placement.set(node, *chosen)
            way, position, _further = chosen
            network, children = self._method_of[node].network, self._matches[node][way].children
            highs = latest(tree, network, children, high)
            ends = [0] * len(children)
            for index in network.topological:
                child = children[index]
                low = max((ends[one] for one in network.predecessors(index)), default=position)
                low = max(low, position)
                if child < tree.actions:
                    ends[index] = child + 1
                    continue
                key = child, low, highs[index]
                ends[index] = self._known[key][0]
                open_.append(key)


def _telling(misplaced: NoOrder) -> tuple[bool, int]:
    return misplaced.match is not None, misplaced.low


def latest(
    tree: DecompositionTree, network: TaskNetwork, children: Sequence[int], high: int
) -> list[int]:
    """Return the last state in which each subtask can end, given the subtasks that follow it."""
    highs = [high] * len(children)
    if not network.order:
        return highs
    for index in reversed(network.topological):
        latest_end, bound = highs[index], tree.first[children[index]]
        for one in network.predecessors(index):
            highs[one] = min(highs[one], latest_end, bound)
    return highs


# Certificate --------------------------------------------------------------------------------------


class Certificate(Sequence[Decomposed]):
    """The decomposition of each task, starting with the initial network, created on access."""

    def __init__(
        self, tree: DecompositionTree, method_of: Mapping[int, Method], placement: Placement
    ) -> None:
        self._tree = tree
        self._method_of = method_of
        self._placement = placement

    def __len__(self) -> int:
        return len(self._tree) - self._tree.actions

    @overload
    def __getitem__(self, index: int) -> Decomposed: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Decomposed, ...]: ...
    def __getitem__(self, index: int | slice) -> Decomposed | tuple[Decomposed, ...]:
        if isinstance(index, slice):
            return tuple([self[i] for i in range(*index.indices(len(self)))])
        tree, count = self._tree, len(self)
        index = range(count)[index]
        node = tree.actions + index - 1 if index else tree.root
        one, line, method = self._placement[node], tree.line(node), self._method_of[node]
        values = {**one.match.binding, **one.further}
        top = node == tree.root
        return Decomposed(
            None if top else line.identifier,
            None if top else GroundAction(line.name, line.args),
            method.name,
            tuple([(p.name, values[p.name]) for p in method.parameters]),
            tuple([tree.line(child).identifier for child in one.match.children]),
            one.position,
        )

    def __iter__(self) -> Iterator[Decomposed]:
        for index in range(len(self)):
            yield self[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(
            one == two for one, two in zip(self, other, strict=True)
        )

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (list(self),)
