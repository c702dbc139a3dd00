"""Steps to insert into a plan that cannot be executed or misses its goal.

Drafts of the plan, with steps inserted and failing ones passed over, are looked at in the order of
what was changed. A draft that still fails is changed at its first failure: the failing step is
passed over, or a single step is put in anywhere before it. Where one step does not do, a search
from the beginning weaves in more. What reaches the goal names the steps that may be missing; which
of them are, and which steps of the plan are then superfluous, is decided by the exact reduction of
both together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count

from hvr.errors import HvrError
from hvr.judging.course import Course, Mark, execute, holds
from hvr.judging.insertions import Insertion
from hvr.judging.relaxed import Decided, Steps
from hvr.judging.weaving import Weaving
from hvr.pddl import Atom, GroundAction, State, Task
from hvr.pddl.conditions import Conjunction
from hvr.search.planners import make_planner
from hvr.validation.relaxation import Clock, suppliers
from hvr.validation.search import search

_MOST_DRAFTS = 40
_MOST_ANSWERS = 3
_INSERTED, _PASSED = 2, 1
"""What it costs to insert a step, and to pass over one."""
_BEYOND = 5
"""How much more than one that misses the goal only a draft may cost."""
_MOST_ENDS = 3
"""How many drafts that miss the goal only are finished."""
_BACK, _MOST_PAIRS = 4, 120
"""How far back pairs of steps are put in, and how many are tried."""
_PLANNER_SECONDS = 10.0
_NOTHING_KNOWN = Decided(frozenset(), frozenset(), frozenset())
_MOST_PASSED = 3
"""How many steps may fail because of those that are put in before them."""


@dataclass(frozen=True)
class _Draft:
    """A changed plan.

    Args:
        inserted: in the order of execution.
        passed: indexes of failing steps that are passed over.
    """

    inserted: tuple[Insertion, ...] = ()
    passed: frozenset[int] = frozenset()

    @property
    def cost(self) -> int:
        return _INSERTED * len(self.inserted) + _PASSED * len(self.passed)

    def with_steps(self, place: int, steps: tuple[GroundAction, ...]) -> _Draft:
        before = tuple([i for i in self.inserted if i[0] <= place])
        after = self.inserted[len(before) :]
        return replace(self, inserted=(*before, *[(place, step) for step in steps], *after))


@dataclass(frozen=True)
class _Outcome:
    """How a draft goes: the states before its steps, and the first one that fails.

    `fails` is the number of steps where only the goal is missed, None where nothing is.
    """

    marks: tuple[Mark, ...]
    fails: int | None
    unmet: int = 0


@dataclass(frozen=True)
class Mending:
    """Ways to make a plan reach its goal.

    Args:
        candidates: the steps that the best few ways put in, in the order of execution.
        inserted: those of the best way; None where no way was found.
        passed: indexes of the steps that the best way leaves out.
    """

    candidates: tuple[Insertion, ...] = ()
    inserted: tuple[Insertion, ...] | None = None
    passed: frozenset[int] = frozenset()


def mend(course: Course, clock: Clock) -> Mending:
    """Look for steps that, put into a plan, make it reach the goal.

    Args:
        course: the plan, which does not reach the goal whatever is left out of it.
        clock: when to give up.
    """
    return _Search(course, clock).run()


class _Search:
    def __init__(self, course: Course, clock: Clock) -> None:
        self.course = course
        self.task = course.task
        self.operators = course.operators
        self.clock = clock
        self.known = tuple([i for i, o in enumerate(self.operators) if o is not None])
        self.ends: list[tuple[_Draft, Mark]] = []
        self.preconditions: dict[GroundAction, Conjunction] = {}
        self.rest = Steps(self.task, [self.task.ground(course.plan[i]) for i in self.known])

    def run(self) -> Mending:
        answers = self._singly()
        if not answers:
            answers += self._at_length()
        if not answers:
            answers += self._ended()
        if not answers:
            return Mending()
        best = min(answers, key=lambda draft: len(draft.inserted))
        return Mending(_united(answers), best.inserted, best.passed)

    def _singly(self) -> list[_Draft]:
        """Return the best drafts that reach the goal by single steps and pairs put in."""
        order = count()
        first = _Draft(passed=frozenset(range(len(self.operators))).difference(self.known))
        queue: list[tuple[int, int, _Draft]] = [(first.cost, next(order), first)]
        answers: list[_Draft] = []
        seen = {first}
        for _ in range(_MOST_DRAFTS):
            if not queue or self.clock.expired:
                break
            least, _, draft = heappop(queue)
            if answers and least > answers[0].cost:
                break
            if self.ends and least > self.ends[0][0].cost + _BEYOND:
                break
            outcome = self._follow(draft)
            if outcome is None:
                continue
            if outcome.fails is None:
                answers.append(draft)
                if len(answers) == _MOST_ANSWERS:
                    break
                continue
            if outcome.fails == len(self.operators):
                self.ends.append((draft, outcome.marks[-1]))
            for child in self._children(draft, outcome):
                if child not in seen:
                    seen.add(child)
                    heappush(queue, (child.cost + self._ahead(child), next(order), child))
        return answers

    def _at_length(self) -> Iterator[_Draft]:
        """Yield drafts with longer endings, or else one with steps woven in from the beginning."""
        weaving = Weaving(self.course, self.clock)
        ended = False
        for draft, mark in sorted(self.ends, key=lambda end: end[0].cost)[:_MOST_ENDS]:
            steps = weaving.finish(mark)
            if steps is not None:
                ended = True
                yield draft.with_steps(len(self.operators), steps)
                break
        woven = None if ended else weaving.weave()
        if woven is not None:
            unknown = frozenset(range(len(self.operators))).difference(self.known)
            yield _Draft(woven[0], woven[1] | unknown)

    def _ended(self) -> Iterator[_Draft]:
        """Yield drafts that end as the goal wants, after all of the plan or what went well."""
        failing, everything = self.course.failing, frozenset(range(len(self.operators)))
        places = [len(self.operators), min(failing, default=len(self.operators)), 0]
        for place in dict.fromkeys(places):
            if self.clock.expired:
                return
            found = self._planned(State(self.task, *self.course.marks[place]))
            if found is not None:
                steps = tuple([(place, action) for action in found])
                yield _Draft(steps, failing | (everything - frozenset(range(place))))
                return

    def _planned(self, here: State) -> tuple[GroundAction, ...] | None:
        """Return a plan from a state, of a classical planner where there are no numbers."""
        task = self.task
        if task.fluent_functions - {"total-cost"}:
            result = search(here, task.goal, self.clock)
            return result.answers[0] if result.answers else None
        problem = task.problem.replace(init=here.atoms(static=True))
        try:
            seconds = min(_PLANNER_SECONDS, self.clock.left)
            answer = make_planner("fast-downward", seconds).solve(Task(task.domain, problem))
        except HvrError:
            return None
        return answer.plan

    def _ahead(self, draft: _Draft) -> int:
        """Return what a draft will cost more, at least."""
        outcome = self._follow(draft)
        if outcome is None or outcome.fails is None:
            return 0
        begin = sum(index < outcome.fails for index in self.known)
        bits = outcome.marks[outcome.fails][0] & ~self.task.derived_bits
        waiting = any(place > outcome.fails for place, _ in draft.inserted)
        reachable = waiting or self.rest.reachable(bits, begin, _NOTHING_KNOWN)
        return 0 if reachable else _INSERTED

    def _follow(self, draft: _Draft) -> _Outcome | None:
        """Execute a draft up to its first failure; None if a step that was put in fails."""
        return self._go_on(draft, 0, self.course.marks[0], draft.inserted)

    def _go_on(
        self, draft: _Draft, begin: int, mark: Mark, inserted: tuple[Insertion, ...]
    ) -> _Outcome | None:
        """Execute the rest of a draft from a state before a step of the plan."""
        marks = []
        waiting = list(reversed(inserted))
        for place in range(begin, len(self.operators) + 1):
            while waiting and waiting[-1][0] == place:
                after = execute(self.task, self.task.ground(waiting.pop()[1]), mark)
                if after is None:
                    return None
                mark = after
            marks.append(mark)
            if place == len(self.operators):
                break
            operator = self.operators[place]
            if operator is None or place in draft.passed:
                continue
            after = execute(self.task, operator, mark)
            if after is None:
                return _Outcome(tuple(marks), place, unmet_parts(operator.precondition, mark))
            mark = after
        if holds(self.task.goal, mark):
            return _Outcome(tuple(marks), None)
        return _Outcome(tuple(marks), len(self.operators), unmet_parts(self.task.goal, mark))

    def _children(self, draft: _Draft, outcome: _Outcome) -> Iterator[_Draft]:
        assert outcome.fails is not None
        place = outcome.fails
        if place < len(self.operators):
            yield replace(draft, passed=draft.passed | {place})
        single = list(self._with_one(draft, outcome, place))
        yield from single or self._with_two(draft, outcome, place)

    def _with_one(self, draft: _Draft, outcome: _Outcome, place: int) -> Iterator[_Draft]:
        """Yield drafts with one more step, each where the fewest others fail, and there late."""
        target = self._target(place)
        literals = _unmet_literals(self.course, target, outcome.marks[place])
        if not literals:
            return
        literals = {**self._conditions(literals, draft, outcome, place), **literals}
        here = self._together(outcome, place)
        for action in suppliers(here, literals, positive=True):
            if self.clock.expired:
                return
            best: _Draft | None = None
            for at in range(place, -1, -1):
                child = self._checked(draft, at, (action,), place, outcome)
                if child is not None and (best is None or child.cost < best.cost):
                    best = child
                    if best.cost == draft.cost + _INSERTED:
                        break
            if best is not None:
                yield best

    def _conditions(
        self, literals: Mapping[Atom, bool], draft: _Draft, outcome: _Outcome, place: int
    ) -> dict[Atom, bool]:
        """Return what is wanting for steps of the plan to supply some literals by the way.

        A box that is carried takes along what is in it: what is missing at the end may have had to
        be put into it long before.
        """
        true = false = 0
        for atom, value in literals.items():
            bit = 1 << self.task.index(atom)
            true, false = (true | bit, false) if value else (true, false | bit)
        wanting: dict[Atom, bool] = {}
        for step in range(place):
            operator = self.operators[step]
            if operator is None or step in draft.passed:
                continue
            for condition, add, delete in operator.conditional:
                if add & true or delete & false:
                    wanting.update(_unmet_literals(self.course, condition, outcome.marks[step]))
        return wanting

    def _with_two(self, draft: _Draft, outcome: _Outcome, place: int) -> Iterator[_Draft]:
        """Yield drafts with two more steps, of which the second needs the first."""
        mark = outcome.marks[place]
        literals = _unmet_literals(self.course, self._target(place), mark)
        here = self._together(outcome, place)
        tried = 0
        for second in suppliers(here, literals, positive=True) if literals else ():
            wanting = _unmet_literals(self.course, self._precondition(second), mark)
            for first in suppliers(here, wanting, positive=True) if wanting else ():
                for at in range(place, max(-1, place - _BACK), -1):
                    tried += 1
                    if tried > _MOST_PAIRS or self.clock.expired:
                        return
                    child = self._checked(draft, at, (first, second), place, outcome)
                    if child is not None:
                        yield child
                        break

    def _together(self, outcome: _Outcome, place: int) -> State:
        """Return all that is true before some step up to a place, as one state."""
        bits = 0
        for mark in outcome.marks[: place + 1]:
            bits |= mark[0]
        return State(self.task, bits, outcome.marks[place][1])

    def _checked(
        self,
        draft: _Draft,
        at: int,
        steps: tuple[GroundAction, ...],
        place: int,
        before: _Outcome,
    ) -> _Draft | None:
        """Return a draft with steps put in that gets past a failure.

        Steps between the two that fail with them are passed over.
        """
        mark = before.marks[at]
        for step in steps:
            # Most candidates cannot be executed: of these no effects are made.
            if not holds(self._precondition(step), mark):
                return None
            after = execute(self.task, self.task.ground(step), mark)
            if after is None:
                return None
            mark = after
        later = tuple([i for i in draft.inserted if i[0] > at])
        passed = set(draft.passed)
        while True:
            trial = replace(draft, passed=frozenset(passed))
            outcome = self._go_on(trial, at, mark, later)
            if outcome is None:
                return None
            if outcome.fails is None or outcome.fails > place:
                break
            if outcome.fails == place:
                # It must at least bring the step, or the goal, nearer.
                if outcome.unmet >= before.unmet:
                    return None
                break
            passed.add(outcome.fails)
            if len(passed) > len(draft.passed) + _MOST_PASSED:
                return None
        return trial.with_steps(at, steps)

    def _precondition(self, action: GroundAction) -> Conjunction:
        known = self.preconditions.get(action)
        if known is None:
            known = self.preconditions[action] = self.task.precondition(action)
        return known

    def _target(self, place: int) -> Conjunction:
        if place == len(self.operators):
            return self.task.goal
        operator = self.operators[place]
        assert operator is not None
        return operator.precondition


def _united(answers: list[_Draft]) -> tuple[Insertion, ...]:
    """Return the steps of all answers, those of the first before the others' at each place."""
    united: list[Insertion] = []
    for answer in answers:
        mine = list(united)
        for insertion in answer.inserted:
            if insertion in mine:
                mine.remove(insertion)
            else:
                united.append(insertion)
    return tuple(sorted(united, key=lambda insertion: insertion[0]))


def unmet_parts(condition: Conjunction, mark: Mark) -> int:
    """Return how many parts of a condition are false."""
    bits, values = mark
    wrong = (condition.positive & ~bits).bit_count() + (condition.negative & bits).bit_count()
    wrong += sum(not clause.holds(bits, values) for clause in condition.clauses)
    return wrong + sum(not holds(Conjunction(tests=(test,)), mark) for test in condition.tests)


def _unmet_literals(course: Course, condition: Conjunction, mark: Mark) -> Mapping[Atom, bool]:
    """Return the literals any of which may be wanting."""
    bits, values = mark
    literals: dict[Atom, bool] = {}
    stack = [condition]
    while stack:
        part = stack.pop()
        for atom in course.task.atoms_in(part.positive & ~bits):
            literals[atom] = True
        for atom in course.task.atoms_in(part.negative & bits):
            literals[atom] = False
        for clause in part.clauses:
            if not clause.holds(bits, values):
                stack.append(Conjunction(clause.positive, clause.negative))
                stack.extend(clause.parts)
    return literals
