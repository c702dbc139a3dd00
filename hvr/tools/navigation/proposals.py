"""Writing calls that would make a refused goal possible: proposed to the user, never just made."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from hvr.tools.calling.values import CallOutcome
from hvr.tools.catalogue.merging import ParameterMeaning
from hvr.tools.catalogue.schema import Catalogue, Effect, quoted
from hvr.tools.navigation.chains import CallFacts, cheapest_chain, navigation_tools, with_enablers
from hvr.tools.navigation.enabling import LearntEnablers
from hvr.tools.navigation.found_values import values_in
from hvr.tools.navigation.naming import words_of
from hvr.tools.navigation.request import given_leaves


def proposed_calls(
    goals: Collection[str],
    said: Collection[str],
    outcomes: Sequence[CallOutcome],
    learnt: LearntEnablers,
    catalogue: Catalogue,
    found: Iterable[ParameterMeaning],
) -> tuple[str, ...]:
    """Return the writing calls that come before goals which are refused as things are.

    Only calls that are confirmed to make a goal possible are proposed, and only where a proven
    chain leads over them to all goals.

    Args:
        goals: The tools that are to be called.
        said: The meanings of which the user gives values.
        outcomes: The calls of the run that did not reach the goals.
        learnt: Which calls make others possible.
        catalogue: The tools.
        found: The meanings of their parameters.

    Raises:
        PlannerError: The planner failed or ran out of time.
    """
    done = {outcome.call.tool for outcome in outcomes if outcome.ok}
    makers = learnt.confirmed(set(goals) - done)
    makers = {tool: names for tool, names in makers.items() if not done & set(names)}
    if not makers:
        return ()
    writers = set(goals).union(*makers.values())
    tools = [tool for tool in catalogue.tools
             if tool.effect is Effect.READS or tool.name in writers]  # fmt: skip
    found = tuple(found)
    steps = with_enablers(navigation_tools(Catalogue(tuple(tools)), found), makers)
    known = CallFacts(frozenset(said) | _shown(outcomes, found))
    chain = cheapest_chain(known, CallFacts(done=frozenset(set(goals) - done)), steps)
    if chain is None:
        return ()
    reads = {tool.name for tool in tools if tool.effect is Effect.READS}
    return tuple(name for name in chain.calls if name not in reads | set(goals))


def _shown(outcomes: Iterable[CallOutcome], found: Iterable[ParameterMeaning]) -> frozenset[str]:
    """Return the meanings of which calls have taken or given a value, by their names."""
    names = {words_of(name) for o in outcomes for _, name, _ in given_leaves(o.call.arguments)}
    for outcome in outcomes:
        paths = (path for path, _ in values_in(outcome.result) if outcome.ok)
        names |= {words_of(step) for path in paths for step in path[-1:]}
    return frozenset(
        meaning.name for meaning in found
        if any(words_of(slot.name.rpartition(".")[2]) in names for slot in meaning.slots)
    )  # fmt: skip


def proposal(calls: Sequence[str], goals: Sequence[str]) -> str:
    """Return the question whether to make calls before goals, with the options that confirm it."""
    before, after = (", ".join(map(quoted, names)) for names in (calls, goals))
    options = " ".join(f"--goal {name}" for name in (*calls, *goals))
    return (f"{before} made {after} possible before: to confirm that it is to be called, "
            f"too, give {options}.")  # fmt: skip
