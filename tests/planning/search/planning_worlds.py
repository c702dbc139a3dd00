"""Small random tasks, and searches simple enough to trust."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterator

from hypothesis import assume
from hypothesis import strategies as st

from hvr.pddl import GroundAction, Task, ground_all, parse_domain, parse_problem
from hvr.planning.search.ground import SearchProblem
from hvr.planning.search.operators import GroundOperator, Literals

ROOM = """
(define (domain room) (:requirements :adl)
  (:types thing place)
  (:predicates (at ?p - place) (near ?t - thing) (on ?t - thing ?p - place) (held ?t - thing)
    (free) (door ?p - place) (open ?p - place) (lamp ?p - place) (lit ?p - place)
    (glows ?p - place) (warm ?t - thing) (tool ?t - thing) (cut ?t - thing)
    (swept ?p - place) (dusty ?p - place))
  (:action go :parameters (?p - place)
    :effect (and (forall (?q - place) (not (at ?q))) (forall (?t - thing) (not (near ?t)))
      (at ?p)))
  (:action navigate_to_obj :parameters (?t - thing)
    :precondition (exists (?p - place) (and (on ?t ?p) (or (not (door ?p)) (open ?p))))
    :effect (and (forall (?q - place) (not (at ?q))) (forall (?u - thing) (not (near ?u)))
      (near ?t)))
  (:action pick_up :parameters (?t - thing)
    :precondition (and (free) (near ?t))
    :effect (and (held ?t) (not (free)) (forall (?q - place) (not (on ?t ?q)))))
  (:action put_on :parameters (?t - thing ?p - place)
    :precondition (and (held ?t) (at ?p) (or (not (door ?p)) (open ?p)))
    :effect (and (free) (not (held ?t)) (on ?t ?p) (near ?t)
      (when (lit ?p) (warm ?t))))
  (:action slice_obj :parameters (?t - thing)
    :precondition (and (near ?t) (not (tool ?t)) (not (held ?t))
      (exists (?k - thing) (and (tool ?k) (held ?k))))
    :effect (cut ?t))
  (:action sweep :parameters (?p - place)
    :precondition (and (at ?p) (free) (dusty ?p))
    :effect (and (swept ?p) (forall (?t - thing) (not (on ?t ?p)))))
  (:action open_obj :parameters (?p - place)
    :precondition (and (door ?p) (at ?p) (free)) :effect (open ?p))
  (:action close_obj :parameters (?p - place)
    :precondition (and (door ?p) (at ?p) (open ?p))
    :effect (and (not (open ?p)) (forall (?t - thing) (when (on ?t ?p) (not (near ?t))))))
  (:action toggle_on :parameters (?p - place)
    :precondition (and (lamp ?p) (at ?p) (not (lit ?p)) (not (open ?p)))
    :effect (and (lit ?p) (glows ?p) (forall (?t - thing) (when (on ?t ?p) (warm ?t)))))
  (:action toggle_off :parameters (?p - place)
    :precondition (and (lit ?p) (at ?p)) :effect (and (not (lit ?p)) (not (glows ?p)))))
"""


@st.composite
def room_tasks(draw: st.DrawFn) -> Task:
    """Draw tasks of fetching, warming and cutting objects, the targets of the reductions."""
    places = [f"p{i}" for i in range(draw(st.integers(2, 3)))]
    things = [f"t{i}" for i in range(draw(st.integers(1, 2)))]
    init = ["(free)", f"(at {draw(st.sampled_from(places))})"]
    init += [f"(on {thing} {draw(st.sampled_from(places))})" for thing in things]
    init += [f"(door {p})" for p in places if draw(st.integers(0, 2)) == 0]
    init += [f"(lamp {p})" for p in places if draw(st.integers(0, 2)) == 0]
    init += [f"(dusty {p})" for p in places[:1] if draw(st.integers(0, 2)) == 0]
    init += [f"(tool {thing})" for thing in things if draw(st.booleans())]
    place = "(on {t} {p})", "(not (lit {p}))", "(not (open {p}))", "(or (on {t} {p}) (on {t} {q}))"
    state = "(warm {t})", "(cut {t})", "(held {t})", "(glows {p})", "(swept {p})", "(near {t})"
    goal = [
        draw(st.sampled_from(place + state)).format(
            t=draw(st.sampled_from(things)),
            p=draw(st.sampled_from(places)),
            q=draw(st.sampled_from(places)),
        )
        for _ in range(draw(st.integers(1, 3)))
    ]
    domain = parse_domain(ROOM)
    text = (
        f"(define (problem p) (:domain room) (:objects {' '.join(things)} - thing "
        f"{' '.join(places)} - place) (:init {' '.join(init)}) (:goal (and {' '.join(goal)})))"
    )
    return Task(domain, parse_problem(text, domain))


@st.composite
def loose_tasks(draw: st.DrawFn) -> Task:
    """Draw propositional tasks without structure."""
    names = [f"f{i}" for i in range(draw(st.integers(2, 6)))]

    def literals(most: int) -> str:
        chosen = draw(st.lists(st.sampled_from(names), max_size=most, unique=True))
        return " ".join(f"({n})" if draw(st.booleans()) else f"(not ({n}))" for n in chosen)

    def condition() -> str:
        text = f"(and {literals(2)})"
        return f"(or {text} (and {literals(2)}))" if draw(st.integers(0, 3)) == 0 else text

    actions = []
    for number in range(draw(st.integers(1, 5))):
        effects = literals(3)
        for _ in range(draw(st.integers(0, 2))):
            effects += f" (when {condition()} (and {literals(2)}))"
        actions.append(
            f"(:action a{number} :precondition {condition()} :effect (and {effects}))"
        )  # fmt: skip
    predicates = " ".join(f"({n})" for n in names)
    start = " ".join(f"({n})" for n in names if draw(st.booleans()))
    domain = parse_domain(
        f"(define (domain d) (:requirements :adl) (:predicates {predicates}) {' '.join(actions)})"
    )
    goal = f"{condition()} {literals(2)}"
    problem = f"(define (problem p) (:domain d) (:init {start}) (:goal (and {goal})))"
    return Task(domain, parse_problem(problem, domain))


@st.composite
def plans(draw: st.DrawFn) -> tuple[Task, tuple[GroundAction, ...]]:
    """Draw a task in a room, and a valid plan that begins with a random walk."""
    task = draw(room_tasks().filter(lambda task: shortest(task) is not None))
    operators = [task.ground(action) for action in ground_all(task)]
    state = task.initial.bits
    steps = []
    for _ in range(draw(st.integers(0, 8))):
        operator = draw(st.sampled_from([o for o in operators if o.applicable(state)]))
        state = operator.apply(state)
        steps.append(operator.action)
    rest = shortest(task, state)
    assume(rest is not None)
    return task, (*steps, *(rest or ()))


tasks = room_tasks() | loose_tasks()


def states(task: Task, start: int | None = None) -> dict[int, tuple[GroundAction, ...]]:
    """Return every reachable state with a shortest path to it."""
    first = task.initial.bits if start is None else start
    found: dict[int, tuple[GroundAction, ...]] = {first: ()}
    waiting = deque(found)
    operators = [task.ground(action) for action in ground_all(task)]
    while waiting:
        state = waiting.popleft()
        for operator in operators:
            if operator.applicable(state):
                following = operator.apply(state)
                if following not in found:
                    found[following] = (*found[state], operator.action)
                    waiting.append(following)
    return found


def shortest(task: Task, start: int | None = None) -> tuple[GroundAction, ...] | None:
    """Return a shortest plan by breadth-first search."""
    ways = [way for state, way in states(task, start).items() if task.goal.holds(state)]
    return min(ways, key=len, default=None)


def cheapest(problem: SearchProblem) -> tuple[int, ...] | None:
    """Return a cheapest plan of a search problem by Dijkstra's algorithm."""
    queue: list[tuple[int, tuple[int, ...], int]] = [(0, (), problem.initial)]
    done: set[int] = set()
    while queue:
        cost, way, state = heapq.heappop(queue)
        if state in done:
            continue
        done.add(state)
        if any(goal.holds(state) for goal in problem.goals):
            return way
        for number, operator in enumerate(problem.operators):
            if operator.precondition.holds(state):
                heapq.heappush(
                    queue, (cost + operator.cost, (*way, number), apply(operator, state))
                )
    return None


def reachable(problem: SearchProblem) -> set[int]:
    """Return every state that the operators reach."""
    found = {problem.initial}
    waiting = deque(found)
    while waiting:
        state = waiting.popleft()
        for operator in problem.operators:
            if operator.precondition.holds(state):
                following = apply(operator, state)
                if following not in found:
                    found.add(following)
                    waiting.append(following)
    return found


def apply(operator: GroundOperator, state: int) -> int:
    """Return the state after an operator; adds take precedence over deletes."""
    add, delete = operator.add, operator.delete
    for condition, more, less in operator.conditional:
        if condition.holds(state):
            add |= more
            delete |= less
    return state & ~delete | add


def conditions(problem: SearchProblem) -> Iterator[Literals]:
    """Yield every condition of a search problem."""
    yield from problem.goals
    for operator in problem.operators:
        yield from (needs for needs, _, _ in operator.effects())
