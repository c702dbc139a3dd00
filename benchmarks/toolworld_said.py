"""Build requests that contain only what a scenario's words state, and the questions left open.

The correct writing calls determine the goal calls, their order, and their filled parameters; this
benchmark does not measure reading them from words. A value is

said       given: its text occurs in the user's words, in any case, without a leading `#` or `@`;
           numbers in digits or words, dates in common spellings described  not given, but some
           result contains it: the request has a query with exactly those
           properties of its entity whose texts occur in the words unsaid     neither given nor
           described: the request has a query without constraints

The request also has the stated values that correct queries use (a name, an address), and, where
these do not suffice, the values that find the entities. A value is *open* if it is not stated and
the words do not identify it. This is so if no result contains it, if it is not an ID (an amount, a
date, a text), or if another entity also has all the stated properties. Asking for an open value is
right.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from toolworld_findings import POSITION, Findings, FoundValue, Trait
from toolworlds import SMALL, Scenario, explore, replaced, said

from hvr.tools.calling.calls import CallOutcome, Json, ToolCall, ToolEnvironment
from hvr.tools.catalogue.schema import Effect, ToolSchema
from hvr.tools.navigation.known_values import Flow, ParameterMatcher, key, singular_words
from hvr.tools.navigation.request import (
    Argument,
    EntityQuery,
    GoalCall,
    NamedValue,
    Place,
    ToolRequest,
    at,
    filled,
    given_leaves,
    leaves,
)

NUMBER_WORDS = tuple(
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty""".split()
)

SHORT = 2
SHORT = 2
"""Shorter texts (such as the state code of Indiana) occur in many words by chance."""

_IDENTIFYING = singular_words("id number code symbol")


@dataclass(frozen=True)
class SaidRequest:
    """A request that contains only what the user's words state.

    Args:
        request: Request as given to hvr.
        truth: Correct writing calls, one per goal call.
        open: Parameters of each goal call that only the user can supply.
        inputs: Inputs of correct queries that neither words nor results contain, by parameter;
            empty if the results contain all values of the goal calls.
        counted: Numbers of said, described and unsaid values.
    """

    request: ToolRequest
    truth: tuple[ToolCall, ...]
    open: tuple[frozenset[str], ...]
    inputs: Mapping[str, Json]
    counted: Mapping[str, int]

    def may_ask(self, name: str) -> bool:
        return name in self.inputs or any(name in names for names in self.open)

    def answered(self, names: Collection[str]) -> SaidRequest:
        """Return the request with the true values of those open parameters that are in `names`."""
        goals, left = [], []
        for goal, call, unsaid in zip(self.request.goals, self.truth, self.open, strict=True):
            told = {
                place: at(call.arguments, place)
                for place, name, value in leaves(goal.arguments)
                if name in unsaid and name in names and isinstance(value, EntityQuery)
            }
            goals.append(replace(goal, arguments=filled(goal.arguments, told)))
            left.append(unsaid - set(names))
        new = [NamedValue(name, self.inputs[name]) for name in names if name in self.inputs]
        request = replace(self.request, goals=tuple(goals), said=(*self.request.said, *new))
        inputs = {name: value for name, value in self.inputs.items() if name not in names}
        return replace(self, request=request, open=tuple(left), inputs=inputs)


def said_request(
    scenario: Scenario, outcomes: Sequence[CallOutcome], flow: Flow | None = None
) -> SaidRequest:
    """Return the request of a scenario; see the module's docstring.

    Args:
        outcomes: Correct calls with their results.
        flow: Counts of the values passed on in other scenarios, which tell which results match a
            parameter.
    """
    tools = scenario.open()
    schemas = {tool.name: tool for tool in tools.catalogue.tools}
    reads = [o for o in outcomes if schemas[o.call.tool].effect is Effect.READS]
    writes = [o for o in outcomes if o.ok and schemas[o.call.tool].effect is not Effect.READS]
    taken = [(name, value) for o in reads for _, name, value in given_leaves(o.call.arguments)]
    facts = dict.fromkeys(fact for fact in scenario.said if in_words(fact.value, scenario.texts))
    facts |= dict.fromkeys(
        NamedValue(name, value) for name, value in taken if in_words(value, scenario.texts)
    )
    told = [
        NamedValue(name, value)
        for o in writes
        for _, name, value in given_leaves(o.call.arguments)
        if in_words(value, scenario.texts)
    ]
    wanted = {key(v) for o in writes for _, _, v in given_leaves(o.call.arguments)}
    seen = _explored(tools, [*facts, *told], schemas, flow)
    if not wanted <= {key(one.value) for one in seen.all}:
        # Correct calls may take an entity named in the words for granted, without a query.
        facts |= dict.fromkeys(_named(scenario, writes, schemas))
        seen = _explored(tools, [*facts, *told], schemas, flow)
    for outcome in reads:
        if all(_at_hand(v, seen) for _, _, v in given_leaves(outcome.call.arguments)):
            explore(tools, seen, schemas, [outcome.call])
    inputs = {
        name: value for name, value in taken if value is not None and not _at_hand(value, seen)
    }
    goals, unsaid = [], []
    counted = dict.fromkeys(("said", "described", "unsaid"), 0)
    writing = iter(writes)
    for outcome in outcomes:
        schema = schemas[outcome.call.tool]
        if outcome.ok and schema.effect is not Effect.READS:
            words = _Words(scenario.texts, seen, counted)
            goals.append(GoalCall(schema.name, words.arguments(next(writing).call)))
            unsaid.append(frozenset(words.open))
        if outcome.ok and (schema.effect is not Effect.READS or _reachable(outcome, seen)):
            seen.add(outcome)
    return SaidRequest(
        ToolRequest(tuple(goals), tuple(facts)), tuple(o.call for o in writes), tuple(unsaid),
        inputs if counted["unsaid"] else {}, counted,
    )  # fmt: skip


def _explored(
    tools: ToolEnvironment, facts: Sequence[NamedValue], schemas: Mapping[str, ToolSchema],
    flow: Flow | None,
) -> Findings:  # fmt: skip
    seen = Findings(facts, (), ParameterMatcher(flow))
    explore(tools, seen, schemas, inputs=3)
    return seen


def _named(
    scenario: Scenario, writes: Iterable[CallOutcome], schemas: Mapping[str, ToolSchema]
) -> list[NamedValue]:
    """Return the stated properties of the correct calls' entities that query tools accept."""
    known = [NamedValue(n, v) for o in writes for _, n, v in given_leaves(o.call.arguments)]
    seen = _explored(scenario.open(), known, schemas, None)
    readers = [tool for tool in schemas.values() if tool.effect is Effect.READS]
    taken = {singular_words(p.name): p.name for tool in readers for p in tool.takes if p.required}
    found = [
        (singular_words(one.path[-1]), one.value) for one in seen.all if one.call >= 0 and one.path
    ]
    return [
        NamedValue(taken[name], value)
        for name, value in found
        if name in taken and isinstance(value, str) and len(value) > SHORT
        and in_words(value, scenario.texts)
    ]  # fmt: skip


def in_words(value: Json, texts: Iterable[str]) -> bool:
    """Return whether the words contain a value's text, or a plain rendering of it."""
    if isinstance(value, (list, dict)):
        return False
    if isinstance(value, str):
        return said(value.lstrip("#@"), texts)
    whole = isinstance(value, (int, float)) and not isinstance(value, bool) and value == int(value)
    if whole and 0 <= value < len(NUMBER_WORDS) and said(NUMBER_WORDS[int(value)], texts):
        return True
    return said(value, texts)


class _Words:
    """Splits the arguments of a correct call into stated and described values."""

    def __init__(self, texts: Sequence[str], seen: Findings, counted: dict[str, int]) -> None:
        self._texts, self._seen, self._counted = texts, seen, counted
        self.open: set[str] = set()

    def arguments(self, call: ToolCall) -> dict[str, Argument]:
        """Return the arguments for the request, without nulls."""
        bound: list[Json] = []
        found: dict[Place, Argument] = {}
        for place, name, value in given_leaves(call.arguments):
            if value is None or in_words(value, self._texts):
                self._counted["said"] += value is not None
                bound.append(value)
                continue
            origins = [
                one for one in self._seen.all
                if one.call >= 0 and key(one.value) == key(value) and not self._seen.echoed(one)
            ]  # fmt: skip
            features, alone = self._features(name, origins, bound)
            if not alone or not _names_entity(name, value, origins):
                self.open.add(name)
            self._counted["described" if origins else "unsaid"] += 1
            found[place] = EntityQuery(features)
        return {
            name: replaced(value, found, (name,))
            for name, value in call.arguments.items()
            if value is not None
        }

    def _features(
        self, name: str, origins: Sequence[FoundValue], bound: Sequence[Json]
    ) -> tuple[tuple[NamedValue, ...], bool]:
        """Return the stated properties of a value's entity, and whether they identify it."""
        if not origins:
            return (), False
        own = max(origins, key=lambda one: (self._seen.within(one, bound), len(one.traits)))
        # Properties beside the value elsewhere, as in another order, do not describe it.
        elsewhere = {one for origin in origins for one in origin.traits} - own.traits
        mine = {one for one in self._seen.traits(own) - elsewhere if self._in_words(one)}
        others = {
            key(one.value): self._seen.traits(one)
            for one in self._seen.suiting(name)
            if one.call >= 0 and key(one.value) != key(own.value)
            and self._seen.within(one, bound) >= self._seen.within(own, bound)
        }  # fmt: skip
        alone = not any(mine <= traits for traits in others.values())
        return tuple(NamedValue("_".join(sorted(w)), v) for w, v in sorted(mine, key=str)), alone

    def _in_words(self, one: Trait) -> bool:
        words, value = one
        size = (abs(value), SMALL) if isinstance(value, (int, float)) else (len(str(value)), SHORT)
        telling = size[0] > size[1]
        return bool(words) and words != POSITION and telling and in_words(value, self._texts)


def _names_entity(name: str, value: Json, origins: Iterable[FoundValue]) -> bool:
    """Return whether a value is an identifier, judging by its name or its place."""
    names = [name, *(step for one in origins for step in one.path[-1:])]
    return isinstance(value, (str, int)) and any(singular_words(n) & _IDENTIFYING for n in names)


def _at_hand(value: Json, seen: Findings) -> bool:
    return value is None or any(key(one.value) == key(value) for one in seen.all)


def _reachable(outcome: CallOutcome, seen: Findings) -> bool:
    return all(_at_hand(value, seen) for _, _, value in given_leaves(outcome.call.arguments))


def wrong_writes(
    outcomes: Iterable[CallOutcome], truth: Sequence[ToolCall], schemas: Mapping[str, ToolSchema]
) -> list[ToolCall]:
    """Return the distinct successful writing calls that are not among the correct ones."""
    left = [_comparable(call) for call in truth]
    wrong = []
    for outcome in outcomes:
        if not outcome.ok or schemas[outcome.call.tool].effect is Effect.READS:
            continue
        call = _comparable(outcome.call)
        if call in left:
            left.remove(call)
        else:
            wrong.append(outcome.call)
    return wrong


def _comparable(call: ToolCall) -> str:
    """Return a call in a form for comparison, in which null equals a missing argument."""
    given = {name: value for name, value in call.arguments.items() if value is not None}
    return f"{call.tool} {key(dict(sorted(given.items())))}"
