"""Whether the actions of a plan come in an order that the methods of its tasks allow, with states
in which the preconditions of the methods hold.

The order of the methods only demands that things come after others, so each precondition takes
the earliest state that will do, and each task ends as early as it can: what ends earlier allows
all that what ends later does. Among several ways to match a method the best one for a task is
therefore best for the whole plan, and no way has to be tried with all others.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

from hvr.hddl.matching import SubtaskMatch
from hvr.hddl.model import Method
from hvr.hddl.tree import Tree
from hvr.values import Value

Holds = Callable[[int, SubtaskMatch, int], "dict[str, str] | None"]
"""Says with which values for the other parameters a method's precondition holds in a state."""
_Job = Generator[tuple[int, int, int], int, int]

FAILED = -1


class Placed(Value):
    """How a task was decomposed: the match, the state of the precondition, further values."""

    match: SubtaskMatch
    position: int
    further: dict[str, str]


class Misplaced(Value):
    """Why no order will do.

    Attributes:
        node: the action that comes too early, or the task whose method's precondition fails.
        low: the first state that it could come in.
        high: the last one; less than `low` for an action.
        after: the action that it should come after; -1 if there is none.
        match: of a precondition, how the method was matched.
    """

    node: int
    low: int
    high: int
    after: int = -1
    match: SubtaskMatch | None = None


class Scheduler:
    """Finds states for the preconditions of methods.

    Args:
        tree: the tree, measured.
        method_of: the method of each decomposed node.
        matches: the ways in which each decomposed node matches its method.
        holds: says whether a precondition holds in a state; None to look at the order only.
    """

    def __init__(
        self,
        tree: Tree,
        method_of: dict[int, Method],
        matches: dict[int, tuple[SubtaskMatch, ...]],
        holds: Holds | None,
    ) -> None:
        self._tree = tree
        self._method_of = method_of
        self._matches = matches
        self._holds = holds
        self._ends: dict[tuple[int, int, int], int] = {}
        self._best: dict[tuple[int, int, int], Placed] = {}
        self.misplaced: Misplaced | None = None

    def run(self) -> dict[int, Placed] | None:
        """Return how each task was decomposed; None if there is no way, and `misplaced` is why."""
        root = (self._tree.root, 0, self._tree.actions)
        # A stack of generators: plans may be nested deeper than Python likes to recurse.
        stack: list[tuple[tuple[int, int, int], _Job]] = [(root, self._decompose(*root))]
        answer: int | None = None
        while stack:
            key, job = stack[-1]
            try:
                wanted = next(job) if answer is None else job.send(answer)
            except StopIteration as stop:
                answer = self._ends[key] = stop.value
                stack.pop()
                continue
            answer = self._ends.get(wanted)
            if answer is None:
                stack.append((wanted, self._decompose(*wanted)))
        return None if self._ends[root] == FAILED else self._chosen(root)

    def _decompose(self, node: int, low: int, high: int) -> _Job:
        """Return the earliest state in which a task can have ended."""
        best = FAILED
        first = min(high, self._tree.first[node])
        for match in self._matches[node]:
            position, further = self._position(node, match, low, first)
            if position == FAILED:
                self._note(Misplaced(node, low, first, match=match))
                continue
            end = yield from self._below(node, match, position, high)
            if end != FAILED and (best == FAILED or end < best):
                best = end
                self._best[node, low, high] = Placed(match, position, further)
        return best

    def _below(self, node: int, match: SubtaskMatch, position: int, high: int) -> _Job:
        """Return the earliest state in which all tasks below a task can have ended."""
        network = self._method_of[node].network
        tree, children = self._tree, match.children
        actions = tree.actions
        highs = latest(tree, network.topological, network.order, children, high)
        before: list[list[int]] = [[] for _ in children]
        for one, two in network.order:
            before[two].append(one)
        ends = [position] * len(children)
        result = position
        for index in network.topological:
            child = children[index]
            low = position
            for one in before[index]:
                low = max(low, ends[one])
            if child < actions:
                if child < low:
                    self._note(Misplaced(child, low, child, after=low - 1))
                    return FAILED
                end = child + 1
            else:
                end = yield (child, low, highs[index])
                if end == FAILED:
                    return FAILED
            ends[index] = end
            result = max(result, end)
        return result

    def _position(
        self, node: int, match: SubtaskMatch, low: int, high: int
    ) -> tuple[int, dict[str, str]]:
        if self._holds is None:
            return low, {}
        for position in range(low, high + 1):
            further = self._holds(node, match, position)
            if further is not None:
                return position, further
        return FAILED, {}

    def _note(self, misplaced: Misplaced) -> None:
        # Of several ways that fail, one that fails by a precondition and came furthest says most:
        # whether the order alone is to blame is asked first.
        known = self.misplaced
        if known is None or _telling(misplaced) > _telling(known):
            self.misplaced = misplaced

    def _chosen(self, root: tuple[int, int, int]) -> dict[int, Placed]:
        tree = self._tree
        result: dict[int, Placed] = {}
        open_ = [root]
        while open_:
            node, low, high = open_.pop()
            placed = result[node] = self._best[node, low, high]
            network, children = self._method_of[node].network, placed.match.children
            highs = latest(tree, network.topological, network.order, children, high)
            before: list[list[int]] = [[] for _ in children]
            for one, two in network.order:
                before[two].append(one)
            ends = [0] * len(children)
            for index in network.topological:
                child = children[index]
                start = max((ends[one] for one in before[index]), default=placed.position)
                start = max(start, placed.position)
                if child < tree.actions:
                    ends[index] = child + 1
                    continue
                ends[index] = self._ends[child, start, highs[index]]
                open_.append((child, start, highs[index]))
        return result


def _telling(misplaced: Misplaced) -> tuple[bool, int]:
    return misplaced.match is not None, misplaced.low


def latest(
    tree: Tree,
    topological: tuple[int, ...],
    order: tuple[tuple[int, int], ...],
    children: tuple[int, ...],
    high: int,
) -> list[int]:
    """Return the last state in which each subtask can end, by the actions that come after it."""
    highs = [high] * len(children)
    if not order:
        return highs
    after: list[list[int]] = [[] for _ in children]
    for one, two in order:
        after[one].append(two)
    for index in reversed(topological):
        for two in after[index]:
            highs[index] = min(highs[index], highs[two], tree.first[children[two]])
    return highs
