"""What to do next with a request: answer, ask, find tools or call; computed, with the reason."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from hvr.tools.catalogue.schema import quoted
from hvr.tools.navigation.chains import (
    CallCounts,
    CallFacts,
    NavigationTool,
    ToolChain,
    cheapest_chain,
    reachable,
)


class NextMove(StrEnum):
    """The ways to go on."""

    ANSWER = "answer"
    ASK = "ask"
    FIND = "find"
    CALL = "call"
    STOP = "stop"
    """Neither calls nor questions lead to the goal: it is said, instead of calling for nothing."""


@dataclass(frozen=True)
class Decision:
    """What to do next.

    Args:
        move: the way to go on.
        why: a sentence for people.
        chain: the plan on which it rests; None where there is none.
        ask: meanings that the user is to be asked for.
        find: tools outside the candidates that the plan calls.
        call: the tool to call now; empty for other moves.
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
    """Return what to do next.

    Only what no chain of calls can give is asked for, and first what no tool gives at all; tools
    are looked for only where the candidates do not suffice.

    Args:
        facts: what is so now.
        goal: what is to be so.
        tools: all that there are.
        candidates: names of those that are offered.
        counts: how calls went so far.
        banned: tools that must not be called now.

    Raises:
        PlannerError: the planner failed or ran out of time.
        UsageError: two tools have one name.
    """
    if facts.covers(goal):
        return Decision(NextMove.ANSWER, "All that was asked for is known and done.", ToolChain())
    every = tuple(tools)
    usable = [tool for tool in every if tool.name not in banned]
    near = [tool for tool in usable if tool.name in candidates]
    if chain := cheapest_chain(facts, goal, near, counts):
        then = f", then {_listed(chain.calls[1:])}" if chain.calls[1:] else ""
        why = f"All that {quoted(chain.calls[0])} needs is known; it comes first{then}."
        return Decision(NextMove.CALL, why, chain, call=chain.calls[0])
    if chain := cheapest_chain(facts, goal, usable, counts):
        far = tuple(name for name in chain.calls if name not in candidates)
        why = f"The tools at hand do not suffice; {_listed(far)} would."
        return Decision(NextMove.FIND, why, chain, find=far)
    can = reachable(facts, usable).known
    missing = frozenset().union(goal.known, *(tool.needs for tool in usable)) - can
    # Of what tools give people seldom know the value: they are asked for it last.
    given = frozenset().union(*(tool.gives for tool in every))
    for askable in (missing - given, missing):
        if chain := cheapest_chain(facts, goal, usable, counts, askable):
            why = f"No call gives {_listed(chain.asked)}: only the user can say."
            return Decision(NextMove.ASK, why, chain, ask=chain.asked)
    return Decision(NextMove.STOP, "Neither calls nor questions lead to what is asked for.")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(quoted(name) for name in names)
