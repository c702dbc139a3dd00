"""Small random tasks with conditional effects, axioms and numbers, and brute-force repair."""

from __future__ import annotations

from heapq import heappop, heappush
from random import Random

from hvr.judging.evidence import TraceState, execute, holds
from hvr.pddl import GroundAction, parse_domain, parse_problem
from hvr.validation import Validator

_FACTS = ("p", "q", "r", "s")


def _literal(rng: Random, *, derived: bool = True, numbers: bool = True) -> str:
    kind = rng.random()
    if numbers and kind < 0.2:
        return f"({rng.choice(('>=', '<=', '='))} (n) {rng.randrange(4)})"
    fact = f"({rng.choice((*_FACTS, 'd', 'e') if derived else _FACTS)})"
    return f"(not {fact})" if kind > 0.75 else fact


def _condition(rng: Random, most: int) -> str:
    parts = []
    for _ in range(rng.randint(0, most)):
        parts.append(_literal(rng))
        if rng.random() < 0.3:
            parts[-1] = f"(or {parts[-1]} (and {_literal(rng)} {_literal(rng)}))"
    return f"(and {' '.join(parts)})"


def _effect(rng: Random) -> str:
    facts = rng.sample(_FACTS, rng.randint(1, 2))
    parts = [f"(not ({fact}))" if rng.random() < 0.4 else f"({fact})" for fact in facts]
    if rng.random() < 0.4:
        more = _literal(rng, derived=False, numbers=False)
        parts.append(f"(when {_condition(rng, 2)} {more})")
    if rng.random() < 0.4:
        low, sign = rng.choice((("<= (n) 2", "increase"), (">= (n) 1", "decrease")))
        parts.append(f"(when ({low}) ({sign} (n) 1))")
    return f"(and {' '.join(parts)})"


def random_task(seed: int) -> tuple[Validator, tuple[GroundAction, ...], tuple[GroundAction, ...]]:
    """Return the initial validator, a plan, and all actions."""
    rng = Random(seed)
    names = [f"a{number}" for number in range(rng.randint(2, 5))]
    actions = "".join(
        f"(:action {name} :precondition {_condition(rng, 2)} :effect {_effect(rng)})"
        for name in names
    )
    first = f"(or {_literal(rng, derived=False)} (and ({rng.choice(_FACTS)}) (q)))"
    second = f"(and (d) {_literal(rng, derived=False)})"
    domain = parse_domain(
        "(define (domain any) (:requirements :adl :numeric-fluents :derived-predicates)"
        f"(:predicates (p) (q) (r) (s) (d) (e)) (:functions (n)) (:derived (d) {first})"
        f"(:derived (e) {second}) {actions})"
    )
    true = " ".join(f"({fact})" for fact in _FACTS if rng.random() < 0.3)
    goal = " ".join(_literal(rng) for _ in range(rng.randint(1, 3)))
    text = f"(define (problem x) (:domain any) (:init {true} (= (n) 0)) (:goal (and {goal})))"
    plan = tuple([GroundAction(rng.choice(names)) for _ in range(rng.randint(0, 6))])
    start = Validator(domain, parse_problem(text, domain))
    return start, plan, tuple(map(GroundAction, names))


def cheapest(
    start: Validator, plan: tuple[GroundAction, ...], actions: tuple[GroundAction, ...]
) -> tuple[int, int] | None:
    """Return the fewest insertions, then steps, by Dijkstra's search without bounds."""
    task = start.task
    others = [task.ground(action) for action in actions]
    steps = [task.ground(action) for action in plan]
    queue: list[tuple[int, int, int, TraceState]] = [
        (0, 0, 0, (start.state.bits, start.state.values))
    ]
    seen: set[tuple[int, TraceState]] = set()
    while queue:
        inserted, length, place, mark = heappop(queue)
        if (place, mark) in seen:
            continue
        seen.add((place, mark))
        if place == len(steps) and holds(task.goal, mark):
            return inserted, length
        for other in others:
            if (after := execute(task, other, mark)) is not None:
                heappush(queue, (inserted + 1, length + 1, place, after))
        if place < len(steps):
            heappush(queue, (inserted, length, place + 1, mark))
            if (after := execute(task, steps[place], mark)) is not None:
                heappush(queue, (inserted, length + 1, place + 1, after))
    return None
