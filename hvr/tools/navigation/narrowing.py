"""Which tools a cheapest chain can have, by bounds on what a chain with them costs.

Calls take nothing away, so a relaxed plan is a plan: its cost is one that the cheapest chain does
not exceed. A chain without a needless call that has a tool costs at least what comes before the
tool (h_max of what it needs: Bonet and Geffner, 2001), its own call, and the cheapest way on from
what it gives to the goal. A tool for which that is more can be left out, and nothing is lost.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hvr.tools.navigation.chains import CallFacts, NavigationTool

Fact = tuple[str, str]
"""("known", a meaning) or ("done", a tool)."""


@dataclass(frozen=True)
class _PricedStep:
    """A call or a question."""

    needs: frozenset[Fact]
    gives: frozenset[Fact]
    cost: int


@dataclass(frozen=True)
class _Reached:
    """The cost of each fact, of what each step needs, and the step that gives a fact cheapest."""

    facts: Mapping[Fact, int]
    before: Mapping[int, int]
    giver: Mapping[Fact, int]


def affordable_tools(
    facts: CallFacts,
    goal: CallFacts,
    tools: Sequence[NavigationTool],
    costs: Mapping[str, int],
    asking: Mapping[str, int],
) -> tuple[NavigationTool, ...]:
    """Return the tools that a cheapest chain can have; all such chains have only these.

    Args:
        facts: what is so now.
        goal: what is to be so.
        tools: those that may be called.
        costs: of a call of each tool; at least 1.
        asking: what it costs to ask for each meaning that may be asked for; at least 1.

    Returns:
        They, in the order given; none if the goal cannot be reached.
    """
    steps = [
        _PricedStep(
            _known(t.needs - facts.known),
            _known(t.gives - facts.known) | {("done", t.name)},
            costs[t.name],
        )
        for t in tools
    ]
    steps += [_PricedStep(frozenset(), _known([m]), cost) for m, cost in asking.items()]
    wanted = _known(goal.known - facts.known) | {("done", n) for n in goal.done - facts.done}
    least, added = _forward(steps, max), _forward(steps, lambda one, other: one + other)
    if not wanted <= least.facts.keys():
        return ()
    most = min(_plan_cost(steps, wanted, way.giver) for way in (least, added))
    onward = _backward(steps, wanted)
    return tuple(
        tool
        for i, tool in enumerate(tools)
        if i in least.before and i in onward
        and least.before[i] + steps[i].cost + onward[i] <= most
    )  # fmt: skip


def _known(meanings: Iterable[str]) -> frozenset[Fact]:
    return frozenset(("known", meaning) for meaning in meanings)


def _forward(steps: Sequence[_PricedStep], together: Callable[[int, int], int]) -> _Reached:
    """Return what facts cost from nothing; `together` is that of what a step needs (Knuth 1977)."""
    takers: dict[Fact, list[int]] = defaultdict(list)
    missing = [len(step.needs) for step in steps]
    cost = [0] * len(steps)
    for number, step in enumerate(steps):
        for fact in step.needs:
            takers[fact].append(number)
    before = {number: 0 for number, count in enumerate(missing) if not count}
    queue = [(steps[n].cost, fact, n) for n in before for fact in steps[n].gives]
    heapq.heapify(queue)
    facts: dict[Fact, int] = {}
    giver: dict[Fact, int] = {}
    while queue:
        spent, fact, by = heapq.heappop(queue)
        if fact in facts:
            continue
        facts[fact], giver[fact] = spent, by
        for taker in takers.get(fact, ()):
            cost[taker] = together(cost[taker], spent)
            missing[taker] -= 1
            if not missing[taker]:
                before[taker] = cost[taker]
                whole = cost[taker] + steps[taker].cost
                for given in steps[taker].gives:
                    if given not in facts:
                        heapq.heappush(queue, (whole, given, taker))
    return _Reached(facts, before, giver)


def _plan_cost(
    steps: Sequence[_PricedStep], wanted: Collection[Fact], giver: Mapping[Fact, int]
) -> int:
    """Return what the steps cost that give what is wanted and what they need for it."""
    made: set[int] = set()
    queue = list(wanted)
    for fact in queue:
        if giver[fact] not in made:
            made.add(giver[fact])
            queue += steps[giver[fact]].needs
    return sum(steps[number].cost for number in made)


def _backward(steps: Sequence[_PricedStep], wanted: Collection[Fact]) -> dict[int, int]:
    """Return the cost of the cheapest single line of steps from each step's facts to the goal."""
    givers: dict[Fact, list[int]] = defaultdict(list)
    for number, step in enumerate(steps):
        for fact in step.gives:
            givers[fact].append(number)
    queue = [(0, fact) for fact in wanted]
    heapq.heapify(queue)
    seen: set[Fact] = set()
    onward: dict[int, int] = {}
    while queue:
        spent, fact = heapq.heappop(queue)
        if fact in seen:
            continue
        seen.add(fact)
        for number in givers.get(fact, ()):
            if number not in onward:
                onward[number] = spent
                for need in steps[number].needs - seen:
                    heapq.heappush(queue, (spent + steps[number].cost, need))
    return onward
