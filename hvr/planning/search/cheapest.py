"""A* in this process for small tasks with action costs, guided by the cost of relaxed plans.

Fast Downward is far stronger, but starting it takes longer than such a task needs, and hvr's
translation for it counts steps instead of costs. The estimate may be too high, so a plan is cheap
but not proven cheapest.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count

from hvr.errors import PlannerError
from hvr.pddl import (
    And,
    Atom,
    Domain,
    Equal,
    Exists,
    Expression,
    Forall,
    GroundAction,
    Problem,
    Task,
)
from hvr.pddl.facts import necessary_literals
from hvr.pddl.formulas import When, changes_of, parts_of
from hvr.pddl.task import TOTAL_COST
from hvr.planning.search.fast_downward import SearchResult
from hvr.planning.search.ground import SearchProblem, build, plan_actions
from hvr.planning.search.operators import Literals, bits

NAME = "hvr A*"


def cheap_plan(task: Task, seconds: float) -> SearchResult:
    """Return a plan of low cost, or a proof that there is none, within a limit of wall seconds.

    In a domain without `total-cost`, each action costs 1.

    Raises:
        PlannerError: The time is up, or the task has derived predicates or unsupported constraints.
    """
    started = time.perf_counter()
    problem = build(task, reduce=False)
    space = _Space(problem, _costs(task, problem))
    path = space.search(started + seconds)
    plan = None if path is None else tuple(plan_actions(problem, path))
    elapsed = time.perf_counter() - started
    return SearchResult(plan, plan is None, elapsed, NAME, len(problem.operators))


def _costs(task: Task, problem: SearchProblem) -> list[float]:
    # Costs that change are taken from the initial state.
    if TOTAL_COST.function not in task.domain.functions:
        return [float(len(operator.steps)) for operator in problem.operators]
    state = task.initial
    index = task.number_index(TOTAL_COST)

    def total(values: object) -> float:
        known = values[index] if isinstance(values, tuple) and index < len(values) else None
        return float(known or 0)

    def cost(action: GroundAction) -> float:
        after = task.ground(action).apply_numbers(state.bits, state.values)
        return total(after) - total(state.values)

    return [
        sum(cost(choices[0].action) for choices in operator.steps) for operator in problem.operators
    ]


class _Space:
    """Operators over masks with two bits for each fluent: one for true and one for false."""

    def __init__(self, problem: SearchProblem, costs: list[float]) -> None:
        fluents = problem.initial
        for literals in problem.goals:
            fluents |= literals.all
        for operator in problem.operators:
            fluents |= operator.reads | operator.writes
        self._fluents = fluents
        self._width = fluents.bit_length()
        self._operators = problem.operators
        self._costs = costs
        self._start = problem.initial
        self._goals = [self._mask(goal) for goal in problem.goals]
        self._needs = [self._mask(operator.precondition) for operator in problem.operators]
        # Each effect is a unit of its own in the relaxation.
        self._units = [
            (number, [*bits(self._mask(needs))], [*bits(add | delete << self._width)])
            for number, operator in enumerate(problem.operators)
            for needs, add, delete in operator.effects()
        ]
        self._readers: dict[int, list[int]] = {}
        for place, (_, needs, _) in enumerate(self._units):
            for bit in needs:
                self._readers.setdefault(bit, []).append(place)

    def _mask(self, literals: Literals) -> int:
        return literals.true | literals.false << self._width

    def _state(self, true: int) -> int:
        return true | (self._fluents & ~true) << self._width

    def search(self, deadline: float) -> list[int] | None:
        order = count()
        best = {self._start: 0.0}
        parents: dict[int, tuple[int, int]] = {}
        queue: list[tuple[float, int, int, float]] = []
        estimate = self._estimate(self._start)
        if estimate is not None:
            heappush(queue, (estimate, next(order), self._start, 0.0))
        while queue:
            _, _, true, cost = heappop(queue)
            if cost > best[true]:
                continue
            state = self._state(true)
            if any(goal & state == goal for goal in self._goals):
                return self._path(true, parents)
            if time.perf_counter() > deadline:
                raise PlannerError("no plan was found in time", field="budget")
            for number, needs in enumerate(self._needs):
                if needs & state != needs:
                    continue
                after, total = self._after(number, true), cost + self._costs[number]
                if total < best.get(after, total + 1):
                    estimate = self._estimate(after)
                    if estimate is not None:
                        best[after], parents[after] = total, (true, number)
                        heappush(queue, (total + estimate, next(order), after, total))
        return None

    def _path(self, true: int, parents: dict[int, tuple[int, int]]) -> list[int]:
        path: list[int] = []
        while true in parents:
            true, number = parents[true]
            path.append(number)
        return path[::-1]

    def _after(self, number: int, true: int) -> int:
        operator, state = self._operators[number], self._state(true)
        add, delete = operator.add, operator.delete
        for condition, more, less in operator.conditional:
            needs = self._mask(condition)
            if needs & state == needs:
                add, delete = add | more, delete | less
        return true & ~delete | add

    def _estimate(self, true: int) -> float | None:
        costs = dict.fromkeys(bits(self._state(true)), 0.0)
        made: dict[int, int] = {}
        missing = [len(needs) for _, needs, _ in self._units]
        price = [self._costs[number] for number, _, _ in self._units]
        queue = [(0.0, bit) for bit in costs]
        for place, (_, needs, gives) in enumerate(self._units):
            if not needs:
                self._offer(price[place], gives, place, costs, made, queue)
        done: set[int] = set()
        while queue:
            cost, bit = heappop(queue)
            if bit in done:
                continue
            done.add(bit)
            for place in self._readers.get(bit, ()):
                missing[place] -= 1
                price[place] += cost
                if not missing[place]:
                    self._offer(price[place], self._units[place][2], place, costs, made, queue)
        reached = [[*bits(goal)] for goal in self._goals]
        reached = [goal for goal in reached if all(bit in costs for bit in goal)]
        if not reached:
            return None
        goal = min(reached, key=lambda wanted: sum(costs[bit] for bit in wanted))
        return self._relaxed_cost(goal, made)

    def _offer(
        self,
        price: float,
        gives: list[int],
        place: int,
        costs: dict[int, float],
        made: dict[int, int],
        queue: list[tuple[float, int]],
    ) -> None:
        for bit in gives:
            if price < costs.get(bit, price + 1):
                costs[bit], made[bit] = price, place
                heappush(queue, (price, bit))

    def _relaxed_cost(self, goal: list[int], made: dict[int, int]) -> float:
        used: set[int] = set()
        known: set[int] = set()
        waiting = [*goal]
        while waiting:
            bit = waiting.pop()
            if bit in known or bit not in made:
                continue
            known.add(bit)
            number, needs, _ = self._units[made[bit]]
            used.add(number)
            waiting += needs
        return sum(self._costs[number] for number in used)


# Objects ------------------------------------------------------------------------------------------
# The objects that a plan for the goal may need, found before anything is grounded.


def relevant_problem(domain: Domain, problem: Problem) -> Problem:
    """Return a problem without the objects that its goal is unlikely to need.

    Three kinds of objects remain: objects that the goal may mean; objects that keep a fact without
    arguments false, such as an object in the hand; and objects tied to these by a static fact that
    an action reads, such as a room's door and its key. Rarely, a plan needs other objects, so
    callers must try the whole problem if the reduced one has no plan.
    """
    kept = _Relevance(domain, problem).kept()
    inside = kept | {constant.name for constant in domain.constants}
    values = {t: v for t, v in problem.numeric_init.items() if inside.issuperset(t.args)}
    return problem.replace(
        objects=tuple(o for o in problem.objects if o.name in kept),
        init=frozenset(a for a in problem.init if inside.issuperset(a.args)),
        numeric_init=values,
    )


class _Relevance:
    def __init__(self, domain: Domain, problem: Problem) -> None:
        self.domain = domain
        self.problem = problem
        self.task = Task(domain, problem)
        self.facts: defaultdict[str, list[Atom]] = defaultdict(list)
        for atom in problem.init:
            self.facts[atom.predicate].append(atom)
        self._ties: defaultdict[str, set[str]] = defaultdict(set)

    def kept(self) -> frozenset[str]:
        for action in self.domain.actions.values():
            for literal, positive in necessary_literals(action.precondition):
                if positive and isinstance(literal, Atom):
                    self._tie(literal.predicate, both=True)
            self._tie_effects(action.effect)
        names = set(self._meant(self.problem.goal)) | set(self._in_use())
        waiting = [*names]
        while waiting:
            new = self._ties[waiting.pop()] - names
            names |= new
            waiting += new
        return frozenset(names)

    def _tie(self, predicate: str, *, both: bool, first: int = 0) -> None:
        """Record that one argument (`both`: each) of a binary static fact needs the other."""
        if not self.task.is_static(predicate):
            return
        for atom in self.facts[predicate]:
            if len(atom.args) == 2:
                one, other = atom.args[first], atom.args[1 - first]
                self._ties[one].add(other)
                if both:
                    self._ties[other].add(one)

    def _tie_effects(self, effect: Expression) -> None:
        """Record that an object changed by a conditional effect needs the condition's objects."""
        for part in _parts(effect):
            if not isinstance(part, When):
                continue
            changed = {n for a in changes_of(part.effect) if isinstance(a, Atom) for n in a.args}
            for literal, positive in necessary_literals(part.condition):
                if positive and isinstance(literal, Atom) and len(literal.args) == 2:
                    for place, name in enumerate(literal.args):
                        if name in changed:
                            self._tie(literal.predicate, both=False, first=place)

    def _meant(self, goal: Expression) -> Iterator[str]:
        if isinstance(goal, Exists | Forall):
            literals = list(necessary_literals(goal.body))
            for variable in goal.variables:
                tests = [
                    atom.predicate
                    for atom, positive in literals
                    if positive
                    and isinstance(atom, Atom)
                    and atom.args == (variable.name,)
                    and self.task.is_static(atom.predicate)
                ]
                fitting = [{a.args[0] for a in self.facts[test]} for test in tests]
                members = self.task.members(variable.types)
                yield from (n for n in members if all(n in names for names in fitting))
            yield from self._meant(goal.body)
            return
        if isinstance(goal, Atom | Equal):
            names = goal.args if isinstance(goal, Atom) else (goal.left, goal.right)
            yield from (name for name in map(str, names) if name in self.task.objects)
        for part in parts_of(goal):
            if isinstance(part, Expression):
                yield from self._meant(part)

    def _in_use(self) -> Iterator[str]:
        """Yield the objects that keep a fact without arguments false, such as an empty hand."""
        # Among the actions that achieve it, the one with the fewest objects counts.
        about: defaultdict[Atom, list[set[str]]] = defaultdict(list)
        for action in self.domain.actions.values():
            members = {p.name: self.task.members(p.types) for p in action.parameters}
            names = {
                name
                for literal, positive in necessary_literals(action.precondition)
                if positive
                and isinstance(literal, Atom)
                and not self.task.is_static(literal.predicate)
                for fact in self.facts[literal.predicate]
                for variable, name in zip(literal.args, fact.args, strict=True)
                if name in members.get(variable, (variable,))
            }
            for part in _parts(action.effect):
                if isinstance(part, Atom) and not part.args and part not in self.problem.init:
                    about[part].append(names)
        for choices in about.values():
            yield from min(choices, key=len)


def _parts(effect: Expression) -> Iterator[Expression]:
    yield effect
    match effect:
        case And(operands):
            for one in operands:
                yield from _parts(one)
        case Forall(_, body) | When(_, body):
            yield from _parts(body)
