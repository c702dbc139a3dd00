"""The progress of a task in a tool world: goal calls, the next call, and past outcomes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hvr.base.printable import short
from hvr.tools.calling.calls import CallFailure, CallOutcome, Json, Source, ToolCall
from hvr.tools.calling.guard import GuardedTools
from hvr.tools.calling.log import error_text
from hvr.tools.catalogue.schema import Catalogue, Effect, ToolSchema, quoted
from hvr.tools.catalogue.schema_matching import ParameterMeaning
from hvr.tools.navigation.binding import Binder, BoundValues, QuestionKind, UserQuestion, readers_of
from hvr.tools.navigation.entities import EntityGraph
from hvr.tools.navigation.experience import CountedExperience, Experience
from hvr.tools.navigation.known_values import KnownValues, ParameterMatcher, key
from hvr.tools.navigation.preconditions import LearntConditions
from hvr.tools.navigation.queries import (
    MAX_CALL_ATTEMPTS,
    MAX_FRUITLESS_QUERIES,
    UNCERTAIN_FAILURES,
    CallAttempts,
    QueryProgress,
    QueryTarget,
    RetryLevel,
    call_key,
    confirming_query,
    next_query,
)
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
    open_argument,
    scalars_in,
)

# Task steps ---------------------------------------------------------------------------------------
# Choose the calls of a task one by one, and record their outcomes.

MAX_ERROR_CHARACTERS = 300
"""Maximum length of a reported tool error message."""

ConfirmDone = Callable[[ToolCall], "bool | None"]
"""Asks the user whether a failed call took effect; returns None if the user does not know."""


@dataclass(frozen=True)
class NextCall:
    """A call to make now.

    Args:
        goal: Index of the goal call that it makes; None if it is a query.
        why: Reason for the call, as a clause.
        serves: Index of the goal call that needs this query; None if the call is not a query.
        sources: Source of each value of a goal call, by place.
    """

    call: ToolCall
    goal: int | None
    why: str
    serves: int | None = None
    sources: Mapping[Place, Source] = field(default_factory=dict)


@dataclass(frozen=True)
class Learnt:
    """Knowledge from earlier runs, to which each call adds.

    Args:
        conditions: States in which tools refuse calls.
        meanings: Groups of parameters with the same meaning; if empty, parameters are compared by
            name alone.
    """

    experience: Experience = field(default_factory=CountedExperience)
    conditions: LearntConditions = field(default_factory=LearntConditions)
    meanings: tuple[ParameterMeaning, ...] = ()


@dataclass(frozen=True)
class FailureHandling:
    """The policy for failed calls.

    Args:
        recombine: Whether to try alternatives; if not, only the failed call itself is repeated.
        refusals: Number of attempts at a refused call while nothing has changed. More than one
            makes sense only where refusals are transient.
    """

    recombine: bool = True
    refusals: int = 1


class TaskSteps:
    """The progress of a task, call by call.

    `next` chooses each call anew. A tool that fails rests for 1, 2, 4 … calls, during which other
    tools that lead to the same value are called. If there is no alternative, it is tried again, at
    most `MAX_REPEATED_FAILURES` times in all. A refused call waits until something else has
    changed.

    A failed writing call that may have taken effect is repeated in three cases: its tool is
    idempotent, an earlier query shows that nothing has changed, or the user says that it took no
    effect. `Binder` supplies the values of goal calls; values that it cannot identify become
    questions.

    Args:
        learnt: Knowledge from earlier runs; outcomes are added to it.
        retrying: Policy for failed calls.
        was_done: Callback that asks the user whether an uncertain call took effect; None if the
            user cannot be asked.
    """

    def __init__(
        self,
        tools: GuardedTools,
        request: ToolRequest,
        learnt: Learnt | None = None,
        *,
        retrying: FailureHandling | None = None,
        was_done: ConfirmDone | None = None,
    ) -> None:
        retrying = retrying or FailureHandling()
        self._recombine = retrying.recombine
        learnt = learnt or Learnt()
        self._tools, self.request = tools, request
        self.experience, self._was_done = learnt.experience, was_done
        self._conditions = learnt.conditions
        self._uncertain: dict[int, ToolCall] = {}
        self._why: dict[int, str] = {}
        self._schemas = {tool.name: tool for tool in tools.catalogue.tools}
        self.readers = readers_of(self._schemas.values())
        self._reading = {tool.name for tool in self.readers}
        wanted = [
            NamedValue(name, value)
            for goal in request.goals
            for _, name, value in given_leaves(goal.arguments)
            if value is not None
        ]
        matcher = ParameterMatcher(self.experience.flow, learnt.meanings)
        self.found = KnownValues(request.said, wanted, matcher)
        self.graph = EntityGraph()
        self._binder = Binder(
            request, self.found, self.graph, learnt.conditions, self._schemas, self.readers
        )
        self.missing = self._binder.missing()
        self._request_values = [one.value for one in (*request.said, *wanted)]
        self.outcomes: list[CallOutcome] = []
        self.done: list[int] = []
        self.left: dict[int, str] = {}
        self._questions: dict[int, tuple[UserQuestion, ...]] = {}
        self.answers: dict[str, Json] = {}
        self._attempts = CallAttempts(retrying.refusals)
        self._progress = QueryProgress()
        self._waits: dict[int, int] = {}
        self._skipped: dict[int, list[str]] = {}
        self._spent = False
        self._refusal = ""
        self._barred = False

    @property
    def complete(self) -> bool:
        return len(self.done) == len(self.request.goals)

    @property
    def given_up(self) -> frozenset[str]:
        return self._attempts.given_up

    @property
    def questions(self) -> tuple[UserQuestion, ...]:
        asked = [one for n, some in self._questions.items() if n not in self.done for one in some]
        return tuple(dict.fromkeys((*self.missing, *asked)))

    def why_not(self) -> dict[int, str]:
        """Return the reason why each unfinished goal is not done, by goal index."""
        numbers = (n for n in range(len(self.request.goals)) if n not in self.done)
        none = "no call leads to a value that it needs"
        return {n: self.left.get(n, self._why.get(n, none)) for n in numbers}

    def next(self, tool: str = "") -> NextCall | None:
        """Return the next call; None if no call helps.

        If `tool` is given, only its calls and the queries that show whether a failed call took
        effect are considered.
        """
        if self._spent:
            return None
        for number, call in list(self._uncertain.items()):
            query = self._settle(number, call)
            if query is not None:
                return NextCall(query, None, "it shows whether a failed call took effect")
        if not self._recombine and self.outcomes and not self.outcomes[-1].ok:
            last = self.outcomes[-1].call
            if last.tool in self._reading:
                over = self._attempts.exhausted(last) or self._is_futile(last)
                return None if over else NextCall(last, None, "it failed")
        # Levels are the outer loop: a fresh call for any goal is better than a retry for the first.
        for level in RetryLevel:
            for number in self._open(level):
                step = self._step(number, level, tool)
                if step is None or (step.goal is not None and self._waits_for(number, level)):
                    continue
                return step
        return None

    def make(self, step: NextCall) -> CallOutcome:
        number, call = step.goal, step.call
        again = number is not None and sum(
            call_key(outcome.call) == call_key(call) for outcome in self.outcomes if outcome.ok
        ) < sum(self.request.goals[n] == self.request.goals[number] for n in self._open_or_done())
        known = self.graph.known_by(call.arguments) if number is not None else {}
        outcome = self._tools.call_with(
            call, step.sources, again=again, request=self._request_values
        )
        self.outcomes.append(outcome)
        if outcome.failure is CallFailure.NOT_ALLOWED:
            self._spent = number is None or "budget" in outcome.error
            self._barred = True
            if number is not None:
                self._skip(number, call, outcome.error)
            return outcome
        self.experience.observe(outcome)
        if number is not None:
            self._conditions.observe(outcome, known)
        self._attempts.count(outcome, number, len(self.done))
        if number is None and outcome.failure is CallFailure.REFUSED:
            self._refusal = (
                f"{quoted(call.tool)} refused: {short(error_text(outcome), MAX_ERROR_CHARACTERS)}"
            )
        if outcome.ok:
            self.found.add(outcome)
            self.graph.add(outcome)
            if number is None:
                self._compare(outcome)
                self._record_progress(step)
            else:
                self._finish(number, call)
            return outcome
        if number is not None:
            self._after_failure(number, self._schemas[call.tool], outcome)
        return outcome

    def _is_futile(self, call: ToolCall) -> bool:
        return self._attempts.is_futile(call, len(self.done))

    def _record_progress(self, step: NextCall) -> None:
        if step.serves is None:
            return
        bound = self._binder.bind(step.serves, final=False)
        said = {key(one.value) for one in self.found.said}
        values = list(scalars_in(step.call.arguments))
        guess = len(values) > 1 and any(key(value) not in said for value in values)
        if self._progress.record(step.serves, bound.knowledge, bound.met, guess=guess):
            why = f"{MAX_FRUITLESS_QUERIES} queries found nothing that it needs"
            self.left[step.serves] = why
            if bound.searches:
                name = bound.searches[0].name
                asked = UserQuestion(QuestionKind.MISSING, step.serves, name, why)
                self._questions[step.serves] = (asked,)

    def continues(self, number: int) -> bool:
        return bool(self._binder.pending(number))

    def bound(self, number: int) -> Mapping[Place, Json]:
        return self._binder.bind(number, final=False).values

    def _step(self, number: int, level: RetryLevel, only: str) -> NextCall | None:
        self._questions.pop(number, None)
        for final in (False, True):
            bound = self._binder.bind(number, final=final)
            if not bound.searches:
                break
            query = self._next_query(bound.searches, level, only)
            if query is not None:
                return replace(query, serves=number)
            if level not in (RetryLevel.ALL_CALLS, RetryLevel.ANY_ORDER) and not final:
                return None  # a call that failed may succeed at a higher retry level
        if bound.searches:
            self._not_found(number, bound.searches[0])
            return None
        if bound.questions:
            self._questions[number] = bound.questions
            return None
        return self._goal_call(number, bound, level, only)

    def _not_found(self, number: int, search: QueryTarget) -> None:
        refused = f"; {self._refusal}" if self._refusal else ""
        if not self._barred and (refused or not self._attempts.failing):
            why = f"no query leads to it{refused}"
            self._questions[number] = (
                UserQuestion(QuestionKind.MISSING, number, search.name, why),
            )

    def _goal_call(
        self, number: int, bound: BoundValues, level: RetryLevel, only: str
    ) -> NextCall | None:
        goal, values = self.request.goals[number], bound.values
        if not goal.tool:
            self._answer(number, values)
            return None
        call = ToolCall(goal.tool, _plain(filled(goal.arguments, values)))
        resting = level in (RetryLevel.FRESH, RetryLevel.RESTING_TOOLS)
        if (resting and self.experience.idle(goal.tool)) or only not in ("", goal.tool):
            return None
        if self._is_futile(call):
            return None
        if self._refuses(number, call):
            if self._binder.count(number):
                named = ", ".join(map(str, scalars_in(call.arguments)))
                shown = short(named, MAX_ERROR_CHARACTERS)
                why = f"{quoted(goal.tool)} for {shown}: {self._why[number]}"
                self._skip(number, call, why)
                return None if number in self.left else self._step(number, level, only)
            return self._step(number, level, only) if number in self._binder.excluded else None
        return NextCall(call, number, "everything it needs is known", sources=bound.sources)

    def _answer(self, number: int, values: Mapping[Place, Json]) -> None:
        self.answers |= {str(place[0]): value for place, value in values.items()}
        self.done.append(number)

    def _waits_for(self, number: int, level: RetryLevel) -> bool:
        if not self.request.ordered or level is RetryLevel.ANY_ORDER:
            return False
        return any(n not in self.done and n not in self.left for n in range(number))

    def _open(self, level: RetryLevel) -> Iterator[int]:
        for number, goal in enumerate(self.request.goals):
            if number in self.done or number in self.left or number in self._uncertain:
                continue
            if not goal.tool and level is not RetryLevel.ANY_ORDER and self._calls_left():
                continue  # Values read before a write may be outdated after it.
            if self._waits.get(number, -1) < len(self.done) or level in (
                RetryLevel.ALL_CALLS,
                RetryLevel.ANY_ORDER,
            ):
                yield number

    def _calls_left(self) -> bool:
        goals = enumerate(self.request.goals)
        return any(g.tool and n not in self.done and n not in self.left for n, g in goals)

    def _refuses(self, number: int, call: ToolCall) -> bool:
        # Exclude a value found by a query that violates the precondition: another may satisfy it.
        broken = self._conditions.violated(call.tool, self.graph.known_by(call.arguments))
        if broken is None:
            return False
        name, values = " ".join(sorted(broken.name)), ", ".join(map(str, broken.values))
        self._why[number] = f"it is refused unless {name} is {values}"
        first = next(
            (
                place
                for place, own, value in leaves(self.request.goals[number].arguments)
                if isinstance(value, EntityQuery) and own == broken.parameter
            ),
            None,
        )
        if first is None:
            return True
        self._binder.excluded.setdefault(number, []).append(at(call.arguments, first))
        return True

    def _next_query(
        self, searches: Sequence[QueryTarget], level: RetryLevel, only: str
    ) -> NextCall | None:
        rested = [tool for tool in self.readers if not self.experience.idle(tool.name)]
        readers = rested if level is RetryLevel.FRESH else self.readers
        gone = self.given_up
        readers = [t for t in readers if t.name not in gone and only in ("", t.name)]
        if level is RetryLevel.FAILED_CALLS:
            readers = [tool for tool in readers if not self._attempts.resting(tool.name)]
        tried = self._attempts.tried(level, len(self.done))
        query = next_query(searches, self.found, self.graph, readers, self.experience, tried)
        if query is None:
            return None
        return NextCall(query.call, None, f"it may show {quoted(searches[0].name)}")

    def _finish(self, number: int, call: ToolCall) -> None:
        self._binder.made[number] = call
        self.experience.changed()
        self._binder.finish_entity(number, call)
        if self._binder.pending(number):
            return
        if number in self._skipped:
            self._give_up(number)
            return
        self.done.append(number)
        # A completed goal may have changed the state in which other calls were refused.
        single = {n for n in self.left if not self._binder.count(n)}
        for again in self._attempts.allow_refused(single - set(self.done)):
            self.left.pop(again, None)
            self._skipped.pop(again, None)

    def _skip(self, number: int, call: ToolCall, why: str) -> None:
        self._binder.finish_entity(number, call)
        self._skipped.setdefault(number, []).append(why)
        if not self._binder.pending(number) or self._spent:
            self._give_up(number)

    def _give_up(self, number: int) -> None:
        missed, every = self._skipped[number], self._binder.count(number)
        done = f" (made for {every - len(missed)} of {every})" if every > 1 else ""
        self.left[number] = f"{'; '.join(dict.fromkeys(missed))}{done}"

    def _settle(self, number: int, call: ToolCall) -> ToolCall | None:
        """Find out if a failed call took effect: return a query to make, or ask the user."""
        seen = confirming_query(call, self.outcomes, self._schemas, self.experience)
        if seen is not None and not (
            self._attempts.exhausted(seen.call) or self._is_futile(seen.call)
        ):
            return seen.call
        del self._uncertain[number]
        done = self._was_done(call) if self._was_done else None
        if done is not None:
            self._tools.settle(call, "the user says so", done=done)
        if done is None:
            self.left[number] = f"{quoted(call.tool)} may have been done, though the call failed"
        elif done:
            self._finish(number, call)
        elif self._attempts.exhausted(call):
            self.left[number] = f"{quoted(call.tool)} failed {MAX_CALL_ATTEMPTS} times"
        return None

    def _compare(self, outcome: CallOutcome) -> None:
        for number, call in list(self._uncertain.items()):
            before = confirming_query(call, self.outcomes, self._schemas, self.experience)
            if before is None or before.call != outcome.call:
                continue
            del self._uncertain[number]
            changed = before.result != outcome.result
            self._tools.settle(call, f"{outcome.call.tool} shows it", done=changed)
            if changed:
                self._finish(number, call)
            elif self._attempts.exhausted(call):
                self.left[number] = f"{quoted(call.tool)} failed {MAX_CALL_ATTEMPTS} times"

    def _open_or_done(self) -> list[int]:
        return [n for n in range(len(self.request.goals)) if n not in self.left]

    def _after_failure(self, number: int, tool: ToolSchema, outcome: CallOutcome) -> None:
        error = short(error_text(outcome), MAX_ERROR_CHARACTERS)
        self._why[number] = f"{quoted(tool.name)} {outcome.failure}: {error}"
        if (
            outcome.failure in UNCERTAIN_FAILURES
            and not tool.idempotent
            and tool.effect is not Effect.READS
        ):
            self._uncertain[number] = outcome.call
        elif (
            self._attempts.exhausted(outcome.call, outcome.failure)
            or outcome.failure is CallFailure.BAD_ARGUMENTS
        ) or self._binder.pending(number):
            self._skip(number, outcome.call, self._why[number])
        else:
            self._waits[number] = len(self.done)


def _plain(arguments: Mapping[str, Argument]) -> dict[str, Json]:
    plain: dict[str, Any] = dict(arguments)
    return plain


# Goals by meaning ---------------------------------------------------------------------------------
# Translate goals that are given by meaning into goal calls.


@dataclass(frozen=True)
class ToolGoals:
    """Goals in a tool world, given by meaning.

    Args:
        done: Tools to call, in any order.
        known: Meanings for which values must be found.
        values: Values that the request gives, by meaning.
        request: Request in words, shown to people.
    """

    done: tuple[str, ...]
    known: tuple[str, ...]
    values: Mapping[str, Json]
    request: str = ""


def tool_request(asked: ToolGoals, catalogue: Catalogue, matcher: ParameterMatcher) -> ToolRequest:
    schemas = {tool.name: tool for tool in catalogue.tools}
    goals = [goal_call(schemas[name], asked.values, matcher) for name in asked.done]
    goals += [GoalCall("", {name: asked.values.get(name, EntityQuery())}) for name in asked.known]
    facts = tuple(NamedValue(name, value) for name, value in asked.values.items())
    return ToolRequest(tuple(goals), facts, ordered=False, text=asked.request)


def goal_call(tool: ToolSchema, values: Mapping[str, Json], matcher: ParameterMatcher) -> GoalCall:
    arguments: dict[str, Argument] = {}
    for parameter in tool.takes:
        called = _called(tool.name, parameter.name, matcher)
        if called in values:
            arguments[parameter.name] = values[called]
        elif parameter.required:
            arguments[parameter.name] = open_argument(parameter)
    return GoalCall(tool.name, arguments)


def with_answers(
    request: ToolRequest, values: Mapping[str, Json], matcher: ParameterMatcher
) -> ToolRequest:
    """Return a request extended by the user's answers, which are keyed by meaning."""
    goals = []
    for goal in request.goals:
        given = {
            name: values[called]
            for name in goal.arguments
            if (called := _called(goal.tool, name, matcher)) in values
        }
        goals.append(replace(goal, arguments={**goal.arguments, **given}))
    kept = [one for one in request.said if one.name not in values]
    said = (*kept, *(NamedValue(name, value) for name, value in values.items()))
    return replace(request, goals=tuple(goals), said=said)


def values_of(request: ToolRequest, matcher: ParameterMatcher) -> dict[str, Json]:
    found = {one.name: one.value for one in request.said if one.name}
    for goal in request.goals:
        for place, name, value in given_leaves(goal.arguments):
            if len(place) == 1:
                found.setdefault(_called(goal.tool, name, matcher), value)
    return dict(sorted(found.items()))


def _called(tool: str, parameter: str, matcher: ParameterMatcher) -> str:
    meaning = matcher.meaning(tool, parameter)
    return parameter if meaning is None else meaning.name
