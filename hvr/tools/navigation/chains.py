"""The cheapest chain of calls as a plan, and the next move: call, ask, find tools or answer."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from hvr.errors import PlannerError, UsageError
from hvr.planning.search.fast_downward import search
from hvr.tools.catalogue.schema import Catalogue, quoted

if TYPE_CHECKING:
    from hvr.tools.catalogue.schema_matching import ParameterMeaning


# Pruning of tools ---------------------------------------------------------------------------------
# Keep only tools that a cheapest chain can contain.
#
# Calls delete no facts, so a relaxed plan is a plan and its cost an upper bound. A chain without
# redundant calls that contains a tool costs at least h_max of the tool's needs (Bonet and Geffner,
# 2001), its own call, and the cheapest way from its results to the goal. If this lower bound
# exceeds the upper bound, pruning the tool is safe.

Fact = tuple[str, str]
"""Either ("known", meaning) or ("done", tool)."""


@dataclass(frozen=True)
class _PricedStep:
    needs: frozenset[Fact]
    gives: frozenset[Fact]
    cost: int


@dataclass(frozen=True)
class _Reached:
    """The minimum costs of facts and of steps' needs (`before`), and the `giver` of each fact."""

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
    """Return the tools that may occur in a cheapest chain, in order; empty if no chain exists.

    Args:
        costs: Cost of a call of each tool; at least 1.
        asking: Cost of asking the user for each askable meaning; at least 1.
    """
    steps, wanted = _priced(facts, tools, costs, asking), _missing(facts, goal)
    least, added = _forward(steps, max), _forward(steps, lambda one, other: one + other)
    if not wanted <= least.facts.keys():
        return ()
    # Both relaxed plans are real plans here; the cheaper one gives the tighter upper bound.
    most = min(_plan_cost(steps, wanted, way.giver) for way in (least, added))
    onward = _backward(steps, wanted)
    return tuple(
        tool
        for i, tool in enumerate(tools)
        if i in least.before and i in onward and least.before[i] + steps[i].cost + onward[i] <= most
    )


def _priced(
    facts: CallFacts,
    tools: Iterable[NavigationTool],
    costs: Mapping[str, int],
    asking: Mapping[str, int],
) -> list[_PricedStep]:
    """Return the calls of the tools, followed by the questions, as steps over the open facts."""
    steps = [
        _PricedStep(
            _known(t.needs - facts.known),
            _known(t.gives - facts.known) | {("done", t.name)},
            costs[t.name],
        )
        for t in tools
    ]
    return steps + [_PricedStep(frozenset(), _known([m]), cost) for m, cost in asking.items()]


def _missing(facts: CallFacts, goal: CallFacts) -> frozenset[Fact]:
    return _known(goal.known - facts.known) | {("done", n) for n in goal.done - facts.done}


def _known(meanings: Iterable[str]) -> frozenset[Fact]:
    return frozenset(("known", meaning) for meaning in meanings)


def _forward(steps: Sequence[_PricedStep], together: Callable[[int, int], int]) -> _Reached:
    # Knuth's generalisation of Dijkstra's algorithm (1977). `together` combines the costs of a
    # step's needs: their maximum for h_max, their sum for h_add.
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
            # Facts leave the queue in order of cost, so this cost is final (Knuth 1977).
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
    made: set[int] = set()
    queue = list(wanted)
    for fact in queue:
        if giver[fact] not in made:
            made.add(giver[fact])
            queue += steps[giver[fact]].needs
    return sum(steps[number].cost for number in made)


def _backward(steps: Sequence[_PricedStep], wanted: Collection[Fact]) -> dict[int, int]:
    """Return the cost of the cheapest path from a step's results to the goal, by step index."""
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
                # A single path gives a lower bound, because it ignores other needs of later steps.
                onward[number] = spent
                for need in steps[number].needs - seen:
                    heapq.heappush(queue, (spent + steps[number].cost, need))
    return onward


# Chains -------------------------------------------------------------------------------------------
# Find the cheapest chain as a plan: known meanings and successful calls are facts, tools actions.
#
# Calls delete no facts, so a fixed point gives what is reachable. Finding the cheapest chain needs
# Fast Downward's search, whose answer is executed before it is returned.

QUESTION_COST = 1_000_000
"""Cost of asking the user for one value: more than any chain of calls."""


@dataclass(frozen=True)
class CallCounts:
    """A tool's successful and failed calls, and the probability that it is called next (`link`)."""

    successes: int = 0
    failures: int = 0
    link: float = 1.0

    @property
    def probability(self) -> float:
        return (self.successes + 1) / (self.successes + self.failures + 2)

    @property
    def cost(self) -> int:
        """Cost of a call in a plan: -100 ln(p_link p_success), at least 1."""
        return max(1, round(-100 * math.log(self.probability * self.link)))


@dataclass(frozen=True)
class NavigationTool:
    """A tool as a planning operator that needs and gives meanings (kinds of values)."""

    name: str
    needs: frozenset[str]
    gives: frozenset[str]


@dataclass(frozen=True)
class CallFacts:
    """A state between calls: meanings with a known value, and tools called successfully."""

    known: frozenset[str] = frozenset()
    done: frozenset[str] = frozenset()

    def covers(self, other: CallFacts) -> bool:
        return other.known <= self.known and other.done <= self.done

    def after(self, tool: NavigationTool) -> CallFacts:
        return CallFacts(self.known | tool.gives, self.done | {tool.name})


@dataclass(frozen=True)
class ToolChain:
    """A proven plan; `asked` are the meanings that the user must supply first."""

    asked: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    cost: int = field(default=0, compare=False)


def navigation_tools(
    catalogue: Catalogue, found: Iterable[ParameterMeaning]
) -> tuple[NavigationTool, ...]:
    """Return a catalogue's tools as planning operators, which need only required parameters.

    `found` must contain the meanings of all parameters and result values.
    """
    from hvr.tools.catalogue.schema import Slot

    meaning = {slot: m.name for m in found for slot in m.slots}
    return tuple(
        NavigationTool(
            tool.name,
            frozenset(meaning[Slot(tool.name, p.name)] for p in tool.takes if p.required),
            frozenset(meaning[Slot(tool.name, p.name, gives=True)] for p in tool.gives),
        )
        for tool in catalogue.tools
    )


def with_enablers(
    tools: Iterable[NavigationTool], enablers: Mapping[str, Collection[str]]
) -> tuple[NavigationTool, ...]:
    """Return the tools; each tool in `enablers` also needs a call of one of its enablers."""
    possible = {tool: f"{tool} is possible" for tool, makers in enablers.items() if makers}
    gives: dict[str, set[str]] = defaultdict(set)
    for tool, meaning in possible.items():
        for maker in enablers[tool]:
            gives[maker].add(meaning)
    return tuple(
        NavigationTool(
            tool.name,
            tool.needs | {possible[tool.name]} if tool.name in possible else tool.needs,
            tool.gives | gives[tool.name],
        )
        for tool in tools
    )


def reachable(facts: CallFacts, tools: Iterable[NavigationTool]) -> CallFacts:
    """Return all facts that calls can achieve if none fails."""
    made = callable_tools(facts, tools)
    return CallFacts(
        facts.known.union(*(tool.gives for tool in made)),
        facts.done.union(tool.name for tool in made),
    )


def callable_tools(facts: CallFacts, tools: Iterable[NavigationTool]) -> list[NavigationTool]:
    """Return the tools that can become callable, in an order that meets each tool's needs."""
    missing: list[int] = []
    takers: dict[str, list[int]] = defaultdict(list)
    known, listed = set(facts.known), list(tools)
    for number, tool in enumerate(listed):
        lacking = tool.needs - known
        missing.append(len(lacking))
        for meaning in lacking:
            takers[meaning].append(number)
    ready = [number for number, count in enumerate(missing) if not count]
    for number in ready:  # the list grows during iteration: a fixed point in linear time
        for meaning in sorted(listed[number].gives - known):
            known.add(meaning)
            for taker in takers.get(meaning, ()):
                missing[taker] -= 1
                if not missing[taker]:
                    ready.append(taker)
    return [listed[number] for number in ready]


def useful_tools(
    facts: CallFacts,
    goal: CallFacts,
    tools: Iterable[NavigationTool],
    askable: Collection[str] = (),
) -> tuple[NavigationTool, ...]:
    """Return the callable tools that may contribute to the goal.

    Every chain without redundant calls consists of these tools, if the user gives `askable` values.
    """
    ready = callable_tools(CallFacts(facts.known.union(askable)), tools)
    givers: dict[str, list[NavigationTool]] = defaultdict(list)
    for tool in ready:
        for meaning in tool.gives:
            givers[meaning].append(tool)
    wanted = set(goal.known - facts.known)
    # Chain backwards from the goal: a tool is useful if it gives something that is still needed.
    queue = sorted(wanted)
    kept = {tool.name for tool in ready if tool.name in goal.done - facts.done}
    for tool in ready:
        if tool.name in kept:
            queue += sorted(tool.needs - facts.known - wanted)
            wanted |= tool.needs - facts.known
    for meaning in queue:
        for tool in givers.get(meaning, ()):
            kept.add(tool.name)
            queue += sorted(tool.needs - facts.known - wanted)
            wanted |= tool.needs - facts.known
    return tuple(tool for tool in ready if tool.name in kept)


def cheapest_chain(
    facts: CallFacts,
    goal: CallFacts,
    tools: Iterable[NavigationTool],
    counts: Mapping[str, CallCounts] | None = None,
    askable: Collection[str] = (),
    seconds: float = 10.0,
) -> ToolChain | None:
    """Return the chain with the fewest questions and, among these, the highest success probability.

    Args:
        counts: Call statistics by tool; a tool without an entry has none.
        askable: Meanings that the user may be asked for.
        seconds: Time limit of the search in seconds.

    Returns:
        The chain; None if the goal cannot be reached.

    Raises:
        UsageError: Two tools have the same name.
        PlannerError: The planner failed or ran out of time, or its plan is not valid.
    """
    tools = tuple(tools)
    if len({tool.name for tool in tools}) < len(tools):
        names = [tool.name for tool in tools]
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"duplicate tool name {quoted(twice)}")
    if facts.covers(goal):
        return ToolChain()
    start = CallFacts(facts.known | frozenset(askable), facts.done)
    # This exact reachability check spares the planner unsolvable problems.
    if not reachable(start, tools).covers(goal):
        return None
    asked = tuple(sorted(set(askable) - facts.known))
    tools = useful_tools(facts, goal, tools, asked)
    costs = {tool.name: (counts or {}).get(tool.name, CallCounts()).cost for tool in tools}
    asking = dict.fromkeys(asked, QUESTION_COST)
    tools = affordable_tools(facts, goal, tools, costs, asking)
    steps = _priced(facts, tools, costs, asking)
    plan = search(_sas(steps, _missing(facts, goal)), "astar(lmcut())", seconds)
    if plan is None or not _leads_to(goal, facts, tools, asked, plan):
        raise PlannerError("the planner found no valid chain of calls, although one exists")
    calls = tuple(tools[number].name for number in plan if number < len(tools))
    questions = tuple(asked[number - len(tools)] for number in plan if number >= len(tools))
    return ToolChain(questions, calls, sum(costs[name] for name in calls))


def _leads_to(
    goal: CallFacts,
    facts: CallFacts,
    tools: Sequence[NavigationTool],
    asked: Sequence[str],
    plan: Iterable[int],
) -> bool:
    for number in plan:
        if number >= len(tools):
            facts = CallFacts(facts.known | {asked[number - len(tools)]}, facts.done)
        elif tools[number].needs <= facts.known:
            facts = facts.after(tools[number])
        else:
            return False
    return facts.covers(goal)


def _sas(steps: Sequence[_PricedStep], wanted: frozenset[Fact]) -> str:
    """Return a task as SAS+ text, the input of Fast Downward's search.

    Operators are named by the indexes of their steps and facts by numbers, so that names from
    outside cannot change the text. The value 0 of a variable means that its fact is true.
    """
    facts = sorted(wanted.union(*(step.needs | step.gives for step in steps)))
    place = {fact: number for number, fact in enumerate(facts)}
    lines = ["begin_version", "3", "end_version", "begin_metric", "1", "end_metric"]
    lines.append(str(len(facts)))
    for n in range(len(facts)):
        lines += ["begin_variable", f"var{n}", "-1", "2", f"Atom f{n}()", f"NegatedAtom f{n}()"]
        lines.append("end_variable")
    lines += ["0", "begin_state", *("1" for _ in facts), "end_state"]
    goals = [f"{place[fact]} 0" for fact in sorted(wanted)]
    lines += ["begin_goal", str(len(goals)), *goals, "end_goal", str(len(steps))]
    for number, step in enumerate(steps):
        needs = [f"{place[fact]} 0" for fact in sorted(step.needs)]
        gives = [f"0 {place[fact]} -1 0" for fact in sorted(step.gives)]
        lines += ["begin_operator", str(number), str(len(needs)), *needs, str(len(gives)), *gives]
        lines += [str(step.cost), "end_operator"]
    return "\n".join([*lines, "0", ""])


# Decision -----------------------------------------------------------------------------------------


class NextMove(StrEnum):
    ANSWER = "answer"
    ASK = "ask"
    FIND = "find"
    CALL = "call"
    STOP = "stop"
    """Neither calls nor questions lead to the goal."""


@dataclass(frozen=True)
class Decision:
    """The choice of the next move.

    Args:
        why: Reason, as a sentence.
        chain: Plan behind the decision; None if there is none.
        ask: Meanings to ask the user for.
        find: Tools of the plan that are missing from the offered tools.
        call: Tool to call now; empty unless the move is a call.
    """

    move: NextMove
    why: str
    chain: ToolChain | None = None
    ask: tuple[str, ...] = ()
    find: tuple[str, ...] = ()
    call: str = ""


def decide(
    facts: CallFacts,
    goal: CallFacts,
    tools: Iterable[NavigationTool],
    candidates: Collection[str],
    *,
    counts: Mapping[str, CallCounts] | None = None,
    banned: Collection[str] = (),
) -> Decision:
    """Choose the next move towards a goal.

    The user is asked only for values that no chain of calls gives, and first for the values that no
    tool gives. Further tools are looked for only if the offered ones do not suffice.

    Args:
        candidates: Names of the offered tools.
        counts: Call statistics by tool.
        banned: Tools that must not be called now.

    Raises:
        PlannerError: The planner failed or ran out of time.
        UsageError: Two tools have the same name.
    """
    if facts.covers(goal):
        return Decision(NextMove.ANSWER, "Everything requested is known and done.", ToolChain())
    every = tuple(tools)
    usable = [tool for tool in every if tool.name not in banned]
    near = [tool for tool in usable if tool.name in candidates]
    if chain := cheapest_chain(facts, goal, near, counts):
        then = f"; {_listed(chain.calls[1:])} can follow" if chain.calls[1:] else ""
        why = f"Every argument of {quoted(chain.calls[0])} is known{then}."
        return Decision(NextMove.CALL, why, chain, call=chain.calls[0])
    if chain := cheapest_chain(facts, goal, usable, counts):
        far = tuple(name for name in chain.calls if name not in candidates)
        why = f"The tools at hand do not suffice; {_listed(far)} would."
        return Decision(NextMove.FIND, why, chain, find=far)
    can = reachable(facts, usable).known
    missing = frozenset().union(goal.known, *(tool.needs for tool in usable)) - can
    # People rarely know values that tools give, so ask for these last.
    given = frozenset().union(*(tool.gives for tool in every))
    for askable in (missing - given, missing):
        if chain := cheapest_chain(facts, goal, usable, counts, askable):
            what = "it" if len(chain.asked) == 1 else "them"
            why = f"No call gives {_listed(chain.asked)}: only the user can provide {what}."
            return Decision(NextMove.ASK, why, chain, ask=chain.asked)
    return Decision(NextMove.STOP, "Neither calls nor questions lead to the goal.")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(quoted(name) for name in names)
