"""Requests that hold only what the words of a scenario say, and which questions they leave open.

The correct writing calls say which tools are wanted, in which order, and which of their parameters
are filled: to read this from words is not measured here. Of the values

said       is given: its text stands in the user's words, in any case, without a leading `#` or `@`;
           numbers in digits or words, dates as people write them
described  is not given, and some result that can be had holds it: the request has a query with
           those properties of its entity whose texts stand in the words, and no others
unsaid     neither: the request has a query without constraints

Beside them stand the said values that correct look-ups take (a name, an address), and, where these
do not lead to all that is wanted, those by which the entities can be looked up. A value is *open*
if it is not said and nobody could identify it from the words: no result holds it, it is no id (an
amount, a date, a text), or another entity has all the said properties too. To ask for it is right.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from toolworld_findings import POSITION, Findings, FoundValue, Trait
from toolworlds import SMALL, Scenario, explore, said

from hvr.tools.calling.calls import CallOutcome, Json, ToolCall
from hvr.tools.calling.environment import ToolEnvironment
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
"""A text of so few letters (the state of Indiana) stands in many words by chance."""

_IDENTIFYING = singular_words("id number code symbol")


@dataclass(frozen=True)
class SaidRequest:
    """A request in which nothing stands that the words do not say.

    Args:
        request: It, as hvr gets it.
        truth: The correct writing calls, one for each goal call.
        open: Parameters of each goal call that only the user can say.
        inputs: What correct look-ups take and neither words nor results hold, by parameter;
            empty if results hold all that is wanted.
        counted: How many values are said, described and unsaid.
    """

    request: ToolRequest
    truth: tuple[ToolCall, ...]
    open: tuple[frozenset[str], ...]
    inputs: Mapping[str, Json]
    counted: Mapping[str, int]

    def may_ask(self, name: str) -> bool:
        """Say whether to ask for a parameter is right."""
        return name in self.inputs or any(name in names for names in self.open)

    def answered(self, names: Collection[str]) -> SaidRequest:
        """Return the request after the user has said the true values of open parameters."""
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
        scenario: The world and what the user says.
        outcomes: The correct calls with what came of them.
        flow: How often values were passed on in other scenarios: which results suit a parameter.
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
        # Correct calls may take for granted whom the words name: then they look nobody up.
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
    """Return what the words say of the entities of correct calls, by what readers can look up."""
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
    """Say whether words hold the text of a value, or a plain rendering of it."""
    if isinstance(value, (list, dict)):
        return False
    if isinstance(value, str):
        return said(value.lstrip("#@"), texts)
    whole = isinstance(value, (int, float)) and not isinstance(value, bool) and value == int(value)
    if whole and 0 <= value < len(NUMBER_WORDS) and said(NUMBER_WORDS[int(value)], texts):
        return True
    return said(value, texts)


class _Words:
    """Which arguments of a correct call the words say, and by what they describe the others."""

    def __init__(self, texts: Sequence[str], seen: Findings, counted: dict[str, int]) -> None:
        self._texts, self._seen, self._counted = texts, seen, counted
        self.open: set[str] = set()

    def arguments(self, call: ToolCall) -> dict[str, Argument]:
        """Return the arguments as the request has them; null ones are left out."""
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
            name: _with(value, found, (name,))
            for name, value in call.arguments.items()
            if value is not None
        }

    def _features(
        self, name: str, origins: Sequence[FoundValue], bound: Sequence[Json]
    ) -> tuple[tuple[NamedValue, ...], bool]:
        """Return the said properties of a value's entity, and whether no other has them all."""
        if not origins:
            return (), False
        own = max(origins, key=lambda one: (self._seen.within(one, bound), len(one.traits)))
        # What stands beside the value elsewhere, in another order of its user, is not said of it.
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
    """Say whether a value is one that identifies: by its name, or by where it stands."""
    names = [name, *(step for one in origins for step in one.path[-1:])]
    return isinstance(value, (str, int)) and any(singular_words(n) & _IDENTIFYING for n in names)


def _at_hand(value: Json, seen: Findings) -> bool:
    return value is None or any(key(one.value) == key(value) for one in seen.all)


def _reachable(outcome: CallOutcome, seen: Findings) -> bool:
    """Say whether what a correct look-up took is at hand."""
    return all(_at_hand(value, seen) for _, _, value in given_leaves(outcome.call.arguments))


def _with(value: Json, found: Mapping[Place, Argument], place: Place) -> Argument:
    if place in found:
        return found[place]
    if isinstance(value, dict):
        return {name: _with(inner, found, (*place, name)) for name, inner in value.items()}
    if isinstance(value, list):
        return [_with(inner, found, (*place, index)) for index, inner in enumerate(value)]
    return value


def wrong_writes(
    outcomes: Iterable[CallOutcome], truth: Sequence[ToolCall], schemas: Mapping[str, ToolSchema]
) -> list[ToolCall]:
    """Return the writing calls that went through and are not among the correct ones, each once."""
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
    """Return a call as it is compared: null is as if the argument were left out."""
    given = {name: value for name, value in call.arguments.items() if value is not None}
    return f"{call.tool} {key(dict(sorted(given.items())))}"
