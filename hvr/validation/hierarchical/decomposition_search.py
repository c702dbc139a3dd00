"""Find decompositions that produce given actions, by parsing or by search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import product

from hvr.errors import GroundingLimitError
from hvr.pddl import Task
from hvr.pddl.hierarchy.model import HierarchicalDomain, Method, Subtask
from hvr.pddl.hierarchy.plan import HierarchicalPlan, PlanLine
from hvr.pddl.state import Values
from hvr.validation.hierarchical.matching import Preconditions
from hvr.values import Value

# Chart --------------------------------------------------------------------------------------------
# Decompositions of totally ordered problems, found by an Earley parser.
#
# Tasks are the nonterminals of a grammar, methods its rules, and the actions of the plan the text.
# A goal is a task with its known arguments at a place of the plan. It is expanded once, however
# many methods need it.

_Goal = tuple[str, tuple[str, ...], int]
"""The name of a task, its arguments ("" for open ones), and the place where it begins."""
_Answer = tuple[_Goal, tuple[str, ...], int]
"""A goal, all its arguments, and the place where it ends."""
_Child = int | _Answer

MOST_ITEMS = 100_000
_FEW = 64


class _Item(Value):
    goal: _Goal
    method: Method
    binding: dict[str, str]
    children: tuple[_Child, ...]
    end: int


class Chart:
    """Parses the actions of a plan if all task networks of the problem are totally ordered.

    Attributes:
        furthest: The largest number of the plan's leading actions with which a decomposition
            begins.
        exhausted: Whether the search was complete, so that no decomposition exists if none was
            found.
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
        """Return the plan with a decomposition, or None if none was found (see `exhausted`)."""
        top: _Goal = ("", (), 0)
        target: _Answer = (top, (), len(self._actions))
        self._ask(top)
        items = 0
        while self._agenda:
            items += 1
            if items > MOST_ITEMS:
                self.exhausted = False
                return None
            self._work(self._agenda.pop())
            if target in self._answers[top]:
                return self._plan(target)
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
        # Keep the first derivation: it uses only earlier answers, so it cannot be circular.
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
        # Try every value of the open parameters if the precondition leaves few; otherwise the
        # actions determine them.
        cases = self._preconditions.cases_up_to(method, binding, _FEW)
        if cases is None:
            yield binding
            return
        mentioned = self._preconditions.mentioned(method)
        state = self._states[place]
        for further, condition in cases:
            if condition.holds(*state):
                yield {**binding, **{k: v for k, v in further.items() if k in mentioned}}

    def _completions(self, item: _Item) -> Iterator[dict[str, str]]:
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


# Progression --------------------------------------------------------------------------------------
# Decompositions of partially ordered problems, found by search.
#
# A search state is the network that remains after some actions. It changes when its next action is
# done, when a method decomposes a ready task, or when a precondition holds. Each application of a
# method has fresh variables, which the actions bind. The search is complete if every method costs
# actions; otherwise it is bounded.

MOST_STATES = 20_000

_TEST = "?"


class _Node(Value):
    """A task, action or precondition that is still to be processed.

    Attributes:
        name: The name of the task or action, or _TEST for a precondition.
        args: Names and variables. A precondition has the variables of all parameters.
        before: The numbers of the nodes that must be processed first.
        method: The method of a precondition.
    """

    number: int
    name: str
    args: tuple[str, ...]
    before: frozenset[int]
    method: Method | None = None


class _State(Value):
    """The network that remains after some actions, and the methods applied so far (`taken`).

    Attributes:
        done: The number of actions of the plan that the network has produced.
        matched: The numbers of the nodes that produced them.
        fresh: The number for the next node.
    """

    done: int
    nodes: tuple[_Node, ...]
    binding: dict[str, str]
    taken: tuple[tuple[int, Method, tuple[str, ...], tuple[int, ...]], ...]
    matched: tuple[int, ...]
    fresh: int


class Progression:
    """Searches for a decomposition in networks of any order, with the interface of `Chart`."""

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
        self._least = _least_actions(domain)
        self._rest = [frozenset(a.name for a in actions[i:]) for i in range(len(actions) + 1)]
        self.furthest = 0
        self.exhausted = True

    def parse(self) -> HierarchicalPlan | None:
        start = _State(0, (_Node(0, "", (), frozenset()),), {}, (), (), 1)
        queue: list[tuple[int, int, int, _State]] = [(0, 0, 0, start)]
        seen: set[object] = set()
        tried = 0
        while queue:
            _, _, _, state = heappop(queue)
            self.furthest = max(self.furthest, state.done)
            if not state.nodes:
                if state.done == len(self._actions):
                    return self._plan(state)
                continue
            for following in self._following(state):
                tried += 1
                if tried > MOST_STATES:
                    self.exhausted = False
                    return None
                key = _key(following)
                if key not in seen and self._may_do(following):
                    seen.add(key)
                    rank = (-following.done, len(following.taken), tried)
                    heappush(queue, (*rank, following))
        return None

    def _may_do(self, state: _State) -> bool:
        left = len(self._actions) - state.done
        names = self._rest[state.done]
        for node in state.nodes:
            if node.name == _TEST:
                continue
            left -= self._least.get(node.name, 1) if node.name else 0
            if left < 0 or (node.name in self._domain.domain.actions and node.name not in names):
                return False
        return True

    def _following(self, state: _State) -> Iterator[_State]:
        ready = [node for node in state.nodes if not node.before]
        # Remove a precondition as soon as it holds: waiting gains nothing.
        for node in ready:
            if node.name == _TEST:
                known = self._known(node, state.binding)
                if len(known) == len(node.args) and self._holds(node, known, state.done):
                    yield _without(state, node)
                    return
        for node in ready:
            if node.name == _TEST:
                yield from self._tested(state, node)
            elif node.name in self._domain.domain.actions:
                yield from self._acted(state, node)
        # Decompose only one task at a time: the methods of different tasks are independent.
        tasks = [n for n in ready if n.name not in self._domain.domain.actions and n.name != _TEST]
        for node in tasks[:1]:
            methods = self._domain.methods_of[node.name] if node.name else (self._root,)
            for method in methods:
                following = self._taken(state, node, method)
                if following is not None:
                    yield following

    def _acted(self, state: _State, node: _Node) -> Iterator[_State]:
        if state.done == len(self._actions):
            return
        action = self._actions[state.done]
        if action.name != node.name:
            return
        binding = self._unified(state.binding, node.args, action.args)
        if binding is not None:
            gone = _without(state, node)
            yield gone.replace(
                done=state.done + 1, binding=binding, matched=(*state.matched, node.number)
            )

    def _tested(self, state: _State, node: _Node) -> Iterator[_State]:
        assert node.method is not None
        known = self._known(node, state.binding)
        if len(known) == len(node.args):
            return
        names = [p.name for p in node.method.parameters]
        inner = {
            name: known[arg] for name, arg in zip(names, node.args, strict=True) if arg in known
        }
        bits = self._states[state.done]
        seen: set[tuple[tuple[str, str], ...]] = set()
        mentioned = self._preconditions.mentioned(node.method)
        for further, condition in self._preconditions.cases(node.method, inner):
            if not condition.holds(*bits):
                continue
            values = {k: v for k, v in further.items() if k in mentioned}
            if (key := tuple(sorted(values.items()))) in seen:
                continue
            seen.add(key)
            arg_of = dict(zip(names, node.args, strict=True))
            binding: dict[str, str] | None = state.binding
            for name, value in values.items():
                if binding is not None:
                    binding = self._unified(binding, (arg_of[name],), (value,))
            if binding is not None:
                yield _without(state, node).replace(binding=binding)

    def _holds(self, node: _Node, known: dict[str, str], place: int) -> bool:
        assert node.method is not None
        names = [p.name for p in node.method.parameters]
        binding = {name: known[arg] for name, arg in zip(names, node.args, strict=True)}
        cases = self._preconditions.cases(node.method, binding)
        return any(condition.holds(*self._states[place]) for _, condition in cases)

    def _known(self, node: _Node, binding: dict[str, str]) -> dict[str, str]:
        found = {arg: _value(binding, arg) for arg in node.args}
        return {arg: value for arg, value in found.items() if value[0] != "?"}

    def _taken(self, state: _State, node: _Node, method: Method) -> _State | None:
        own = {p.name: f"{p.name}:{state.fresh}" for p in method.parameters}
        binding = dict(state.binding)
        for parameter in method.parameters:
            binding[f"{own[parameter.name]}!"] = " ".join(parameter.types)
        terms = [own.get(a, a) for a in method.args]
        unified = self._unified(binding, terms, node.args)
        if unified is None:
            return None
        test = _Node(state.fresh, _TEST, tuple(own.values()), frozenset(), method)
        first = state.fresh + 1
        subtasks: tuple[Subtask, ...] = method.network.subtasks
        before = method.network.before
        new = tuple(
            _Node(
                first + index,
                subtask.name,
                tuple([own.get(a, a) for a in subtask.args]),
                frozenset(
                    {
                        test.number,
                        *(first + i for i in range(index) if before[index] >> i & 1),
                        *(
                            first + i
                            for i in range(index + 1, len(subtasks))
                            if before[index] >> i & 1
                        ),
                    }
                ),
            )
            for index, subtask in enumerate(subtasks)
        )
        numbers = frozenset(n.number for n in (test, *new))
        rest = tuple(
            [
                other.replace(before=other.before - {node.number} | numbers)
                if node.number in other.before
                else other
                for other in state.nodes
                if other is not node
            ]
        )
        taken = (node.number, method, tuple(own.values()), tuple([n.number for n in new]))
        return _State(
            state.done,
            (*rest, test, *new),
            unified,
            (*state.taken, taken),
            state.matched,
            first + len(subtasks),
        )

    def _unified(
        self, binding: dict[str, str], terms: Sequence[str], args: Sequence[str]
    ) -> dict[str, str] | None:
        result = dict(binding)
        for term, arg in zip(terms, args, strict=True):
            one, two = _value(result, term), _value(result, arg)
            if one == two:
                continue
            if one[0] != "?":
                one, two = two, one
            if one[0] != "?":
                return None
            if two[0] != "?":
                types = tuple(result[f"{one}!"].split(" "))
                if two not in self._task.members(types):
                    return None
            else:
                both = {*result[f"{one}!"].split(" ")}
                other = {*result[f"{two}!"].split(" ")}
                members = (
                    self._task.members(tuple(both)).keys() & self._task.members(tuple(other)).keys()
                )
                if not members:
                    return None
                # Keep the narrower type; what remains open is checked at the end.
                if len(self._task.members(tuple(both))) < len(self._task.members(tuple(other))):
                    result[f"{two}!"] = result[f"{one}!"]
            result[one] = two
        return result

    def _plan(self, state: _State) -> HierarchicalPlan:
        count = len(self._actions)
        identifier_of = {number: place for place, number in enumerate(state.matched)}
        for number, *_ in state.taken:
            identifier_of[number] = count + len(identifier_of)
        lines: list[PlanLine] = []
        root: tuple[int, ...] = ()
        for number, method, variables, subtasks in state.taken:
            order = method.network.topological
            below = tuple([identifier_of[subtasks[index]] for index in order])
            if not method.task:
                root = below
                continue
            own = {p.name: v for p, v in zip(method.parameters, variables, strict=True)}
            args = [self._final(state.binding, own.get(a, a)) for a in method.args]
            lines.append(
                PlanLine(identifier_of[number], method.task, tuple(args), method.name, below)
            )
        actions = tuple(
            [PlanLine(i, a.name, a.args, "", (), a.number) for i, a in enumerate(self._actions)]
        )
        return HierarchicalPlan(actions, root, tuple(lines))

    def _final(self, binding: dict[str, str], term: str) -> str:
        value = _value(binding, term)
        if value[0] != "?":
            return value
        return next(iter(self._task.members(tuple(binding[f"{value}!"].split(" ")))), value)


def _value(binding: dict[str, str], term: str) -> str:
    while term[0] == "?" and term in binding:
        term = binding[term]
    return term


def _without(state: _State, node: _Node) -> _State:
    rest = tuple(
        [
            other.replace(before=other.before - {node.number})
            if node.number in other.before
            else other
            for other in state.nodes
            if other is not node
        ]
    )
    return state.replace(nodes=rest)


def _key(state: _State) -> object:
    """Return a key shared by states with equal futures, independent of variable names."""
    numbers: dict[int, int] = {}
    names: dict[str, str] = {}

    def named(arg: str) -> str:
        value = _value(state.binding, arg)
        if value[0] != "?":
            return value
        return names.setdefault(value, f"?{len(names)} {state.binding[value + '!']}")

    for node in state.nodes:
        numbers.setdefault(node.number, len(numbers))
    return state.done, tuple(
        (
            node.name,
            "" if node.method is None else node.method.name,
            tuple(map(named, node.args)),
            frozenset(numbers[b] for b in node.before),
        )
        for node in state.nodes
    )


def _least_actions(domain: HierarchicalDomain) -> dict[str, int]:
    endless = 10**9
    least = dict.fromkeys(domain.tasks, endless) | dict.fromkeys(domain.domain.actions, 1)
    changed = True
    while changed:
        changed = False
        for method in domain.methods.values():
            total = min(endless, sum(least[s.name] for s in method.network.subtasks))
            if total < least[method.task]:
                least[method.task] = total
                changed = True
    return least
