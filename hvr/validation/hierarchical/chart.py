"""Decompositions of a totally ordered problem that lead to given actions, found by parsing.

Tasks are the nonterminals of a grammar, methods its rules, and the actions of the plan the text. A
goal is a task, with those of its arguments that are known, at a place of the plan; it is worked on
once, however many methods ask for it (Earley's way, with bindings for symbols).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from hvr.errors import GroundingLimitError
from hvr.pddl import Task
from hvr.pddl.hierarchy.model import HierarchicalDomain, Method
from hvr.pddl.hierarchy.plan import HierarchicalPlan, PlanLine
from hvr.pddl.numeric import Values
from hvr.validation.hierarchical.preconditions import Preconditions
from hvr.values import Value

_Goal = tuple[str, tuple[str, ...], int]
"""The name of a task, its arguments ("" where one is open), the place where it begins."""
_Answer = tuple[_Goal, tuple[str, ...], int]
"""A goal, all arguments, the place where it ends."""
_Child = int | _Answer

MOST_ITEMS = 100_000
_FEW = 64


class _Item(Value):
    """A method of a goal, some of whose subtasks have been found."""

    goal: _Goal
    method: Method
    binding: dict[str, str]
    children: tuple[_Child, ...]
    end: int


class Chart:
    """Parses a plan.

    Args:
        domain: the domain; all its networks and the initial one are ordered totally.
        root: the initial network.
        task: the domain with the problem.
        preconditions: of the methods.
        actions: the actions of the plan.
        states: the states between them.
    """

    def __init__(
        self,
        domain: HierarchicalDomain,
        root: Method,
        task: Task,
        preconditions: Preconditions,
        actions: Sequence[PlanLine],
        states: Sequence[tuple[int, Values]],
    ) -> None:
        self._domain = domain
        self._root = root
        self._task = task
        self._preconditions = preconditions
        self._actions = actions
        self._states = states
        self._waiting: dict[_Goal, list[_Item]] = {}
        self._answers: dict[_Goal, dict[_Answer, _Item]] = {}
        self._agenda: list[_Item] = []
        self.furthest = 0
        self.exhausted = True

    def parse(self) -> HierarchicalPlan | None:
        """Return the plan with a decomposition; None if there is none, or none was found.

        Raises:
            GroundingLimitError: a precondition has too many instances.
        """
        top: _Goal = ("", (), 0)
        wanted: _Answer = (top, (), len(self._actions))
        self._ask(top)
        items = 0
        while self._agenda:
            items += 1
            if items > MOST_ITEMS:
                self.exhausted = False
                return None
            self._work(self._agenda.pop())
            if wanted in self._answers[top]:
                return self._plan(wanted)
        return None

    def _ask(self, goal: _Goal) -> None:
        self._answers[goal] = {}
        self._waiting[goal] = []
        name, args, place = goal
        methods = self._domain.methods_of[name] if name else (self._root,)
        for method in methods:
            binding = self._bound(method, {}, method.args, args)
            if binding is not None:
                for start in self._starts(method, binding, place):
                    self._agenda.append(_Item(goal, method, start, (), place))

    def _work(self, item: _Item) -> None:
        method, done = item.method, len(item.children)
        self.furthest = max(self.furthest, item.end)
        sequence = method.network.sequence
        assert sequence is not None
        if done == len(sequence):
            for binding in self._completions(item):
                args = tuple([binding.get(a, a) for a in method.args])
                self._answer((item.goal, args, item.end), item.replace(binding=binding))
            return
        subtask = method.network.subtasks[sequence[done]]
        if subtask.name in self._domain.domain.actions:
            if item.end < len(self._actions):
                action = self._actions[item.end]
                if action.name == subtask.name:
                    self._advance(item, subtask.args, action.args, item.end, item.end + 1)
            return
        pattern = tuple([item.binding.get(a, "") if a[0] == "?" else a for a in subtask.args])
        goal = (subtask.name, pattern, item.end)
        if goal not in self._answers:
            self._ask(goal)
        self._waiting[goal].append(item)
        for answer in list(self._answers[goal]):
            self._advance(item, subtask.args, answer[1], answer, answer[2])

    def _advance(
        self, item: _Item, terms: Sequence[str], args: Sequence[str], child: _Child, end: int
    ) -> None:
        binding = self._bound(item.method, item.binding, terms, args)
        if binding is not None:
            children = (*item.children, child)
            self._agenda.append(_Item(item.goal, item.method, binding, children, end))

    def _answer(self, answer: _Answer, item: _Item) -> None:
        answers = self._answers[item.goal]
        if answer in answers:
            return
        # The first derivation uses only answers that were there before it: no circles.
        answers[answer] = item
        for waiting in self._waiting[item.goal]:
            sequence = waiting.method.network.sequence
            assert sequence is not None
            subtask = waiting.method.network.subtasks[sequence[len(waiting.children)]]
            self._advance(waiting, subtask.args, answer[1], answer, answer[2])

    def _bound(
        self, method: Method, binding: dict[str, str], terms: Sequence[str], args: Sequence[str]
    ) -> dict[str, str] | None:
        result = dict(binding)
        types = {p.name: p.types for p in method.parameters}
        for term, value in zip(terms, args, strict=True):
            if not value:
                continue
            known = result.get(term) if term[0] == "?" else term
            if known is None:
                if value not in self._task.members(types[term]):
                    return None
                result[term] = value
            elif known != value:
                return None
        return result

    def _starts(
        self, method: Method, binding: dict[str, str], place: int
    ) -> Iterator[dict[str, str]]:
        """Yield the ways in which a method can begin at a place.

        Where its precondition leaves few values for open parameters, they are tried one by one;
        else the actions are to fix them.
        """
        cases = self._preconditions.few(method, binding, _FEW)
        if cases is None:
            yield binding
            return
        mentioned = self._preconditions.mentioned(method)
        state = self._states[place]
        for further, condition in cases:
            if condition.holds(*state):
                yield {**binding, **{k: v for k, v in further.items() if k in mentioned}}

    def _completions(self, item: _Item) -> Iterator[dict[str, str]]:
        """Yield the ways to give a task's open arguments a value so that the method applies."""
        method = item.method
        names = [a for a in method.args if a[0] == "?" and a not in item.binding]
        types = {p.name: p.types for p in method.parameters}
        state = self._states[item.goal[2]]
        columns = [self._task.members(types[name]) for name in dict.fromkeys(names)]
        for number, values in enumerate(product(*columns)):
            if number > self._task.instance_limit:
                raise GroundingLimitError("a task's arguments have too many values to try")
            binding = {**item.binding, **dict(zip(dict.fromkeys(names), values, strict=True))}
            cases = self._preconditions.cases(method, binding)
            if any(condition.holds(*state) for _, condition in cases):
                yield binding

    def _plan(self, top: _Answer) -> HierarchicalPlan:
        """Return the plan with the tasks that an answer stands on."""
        lines: list[PlanLine] = []
        root: tuple[int, ...] = ()
        count = len(self._actions)
        open_: list[tuple[_Answer, int]] = [(top, -1)]
        numbered = count
        while open_:
            answer, identifier = open_.pop()
            item = self._answers[answer[0]][answer]
            below: list[int] = []
            for child in item.children:
                if isinstance(child, int):
                    below.append(child)
                    continue
                below.append(numbered)
                open_.append((child, numbered))
                numbered += 1
            if identifier < 0:
                root = tuple(below)
                continue
            name, _, _ = answer[0]
            lines.append(PlanLine(identifier, name, answer[1], item.method.name, tuple(below)))
        lines.sort(key=lambda line: line.identifier)
        actions = tuple(
            [PlanLine(i, a.name, a.args, "", (), a.number) for i, a in enumerate(self._actions)]
        )
        return HierarchicalPlan(actions, root, tuple(lines))
