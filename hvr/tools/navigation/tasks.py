"""A task in a world of tools: its goal calls, the next call, and what became of each."""

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
    scalars_in,
)

# Task steps ---------------------------------------------------------------------------------------
# The calls of a task, one after another: which comes next, and what became of each.

MAX_ERROR_CHARACTERS = 300
"""Characters of a tool's error message that are reported."""

ConfirmDone = Callable[[ToolCall], "bool | None"]
"""Asks the user whether a call that failed was done all the same; None if nobody can say."""


@dataclass(frozen=True)
class NextCall:
    """A call to make now.

    Args:
        call: The call.
        goal: Index of the goal call that it makes; None for a query.
        why: A clause for people.
        serves: Index of the goal call for which a query is made.
        sources: Where each value of a goal call comes from, by its place.
    """

    call: ToolCall
    goal: int | None
    why: str
    serves: int | None = None
    sources: Mapping[Place, Source] = field(default_factory=dict)


@dataclass(frozen=True)
class Learnt:
    """What was learnt before, and goes on learning.

    Args:
        experience: of calls.
        conditions: of the states in which tools refuse.
        meanings: which parameters mean the same; none if names alone tell.
    """

    experience: Experience = field(default_factory=CountedExperience)
    conditions: LearntConditions = field(default_factory=LearntConditions)
    meanings: tuple[ParameterMeaning, ...] = ()


@dataclass(frozen=True)
class FailureHandling:
    """What is done where a call fails.

    Args:
        recombine: whether another way is tried; if not, only the same again.
        refusals: how often a call that was refused is made while nothing has changed; more than
            once where refusals pass by themselves.
    """

    recombine: bool = True
    refusals: int = 1


class TaskSteps:
    """A task on its way.

    Before each call what comes next is worked out anew. A tool that failed rests, and others that
    lead to the same value are called instead; where there are none it is tried again, after 1, 2, 4
    calls and so on as long as others wait less, and `MAX_REPEATED_FAILURES` such tries in all. A
    call that was refused waits until something else has changed. A writing call that may have
    worked though it failed is not repeated, unless its tool is idempotent, a query that was made
    before shows that nothing has changed, or the user says that it was not done. What a goal call
    is made with is said or identified (`Binder`); everything else is a question.

    Args:
        tools: what may be called, with the budget.
        request: The goal calls and what the request says.
        learnt: what was learnt before; it learns from these calls.
        retrying: what is done where a call fails.
        was_done: asks the user about uncertain calls; None if no one can be asked.
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
        suits = ParameterMatcher(self.experience.flow, learnt.meanings)
        self.found = KnownValues(request.said, wanted, suits)
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
        """Whether all that was wanted is done and known."""
        return len(self.done) == len(self.request.goals)

    @property
    def given_up(self) -> frozenset[str]:
        """The queries that failed too often to be made again."""
        return self._attempts.given_up

    @property
    def questions(self) -> tuple[UserQuestion, ...]:
        """What only the user can say, of goals that are not done."""
        asked = [one for n, some in self._questions.items() if n not in self.done for one in some]
        return tuple(dict.fromkeys((*self.missing, *asked)))

    def why_not(self) -> dict[int, str]:
        """Return why each goal that is not done is not, by its number."""
        numbers = (n for n in range(len(self.request.goals)) if n not in self.done)
        none = "no call leads on to a value that it needs"
        return {n: self.left.get(n, self._why.get(n, none)) for n in numbers}

    def next(self, tool: str = "") -> NextCall | None:
        """Return the call to make next; None if none leads on.

        Args:
            tool: the only one that may be called now, if one is named.
        """
        if self._spent:
            return None
        for number, call in list(self._uncertain.items()):
            look = self._settle(number, call)
            if look is not None:
                return NextCall(look, None, "it shows whether a call that failed was done")
        if not self._recombine and self.outcomes and not self.outcomes[-1].ok:
            last = self.outcomes[-1].call
            if last.tool in self._reading:
                over = self._attempts.exhausted(last) or self._is_futile(last)
                return None if over else NextCall(last, None, "it failed")
        for level in RetryLevel:
            for number in self._open(level):
                step = self._step(number, level, tool)
                if step is None or (step.goal is not None and self._waits_for(number, level)):
                    continue
                return step
        return None

    def make(self, step: NextCall) -> CallOutcome:
        """Make the call that `next` returned and take in its outcome."""
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
                self._leave(number, call, outcome.error)
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
                self._bring(step)
            else:
                self._finish(number, call)
            return outcome
        if number is not None:
            self._after_failure(number, self._schemas[call.tool], outcome)
        return outcome

    def _is_futile(self, call: ToolCall) -> bool:
        return self._attempts.is_futile(call, len(self.done))

    def _bring(self, step: NextCall) -> None:
        """Give up a goal for which queries answer and bring nothing nearer."""
        if step.serves is None:
            return
        bound = self._binder.bind(step.serves, final=False)
        said = {key(one.value) for one in self.found.said}
        values = list(scalars_in(step.call.arguments))
        guess = len(values) > 1 and any(key(value) not in said for value in values)
        if self._progress.look(step.serves, bound.told, bound.met, guess=guess):
            why = f"{MAX_FRUITLESS_QUERIES} queries brought nothing that it needs"
            self.left[step.serves] = why
            if bound.searches:
                name = bound.searches[0].name
                asked = UserQuestion(QuestionKind.MISSING, step.serves, name, why)
                self._questions[step.serves] = (asked,)

    def continues(self, number: int) -> bool:
        """Say whether a goal that means every entity has calls left to make."""
        return bool(self._binder.pending(number))

    def bound(self, number: int) -> Mapping[Place, Json]:
        """Return the values of a goal that are given or found, by their places."""
        return self._binder.bind(number, final=False).values

    def _step(self, number: int, level: RetryLevel, only: str) -> NextCall | None:
        """Return the next call for a goal: a query, or, if nothing is left to be found, its own.

        Once no query is left, what is known so far decides.
        """
        self._questions.pop(number, None)
        for final in (False, True):
            bound = self._binder.bind(number, final=final)
            if not bound.searches:
                break
            look = self._look(bound.searches, level, only)
            if look is not None:
                return replace(look, serves=number)
            if level not in (RetryLevel.MOST, RetryLevel.END) and not final:
                return None  # what failed may work when it is tried again
        if bound.searches:
            self._not_found(number, bound.searches[0])
            return None
        if bound.questions:
            self._questions[number] = bound.questions
            return None
        return self._goal_call(number, bound, level, only)

    def _not_found(self, number: int, search: QueryTarget) -> None:
        """Take note that nothing leads to a value: the user is asked, or told why there is none."""
        refused = f"; {self._refusal}" if self._refusal else ""
        if search.seen:
            self._why[number] = f"no {search.name} that was found meets what was said{refused}"
        elif not self._barred and (refused or not self._attempts.failing):
            why = f"no query leads to it{refused}"
            self._questions[number] = (
                UserQuestion(QuestionKind.MISSING, number, search.name, why),
            )

    def _goal_call(
        self, number: int, bound: BoundValues, level: RetryLevel, only: str
    ) -> NextCall | None:
        """Return the call of a goal whose values are all known, if it may be made now."""
        goal, values = self.request.goals[number], bound.values
        if not goal.tool:
            self._answer(number, values)
            return None
        call = ToolCall(goal.tool, _plain(filled(goal.arguments, values)))
        resting = level in (RetryLevel.NONE, RetryLevel.OTHER)
        if (resting and self.experience.idle(goal.tool)) or only not in ("", goal.tool):
            return None
        if self._is_futile(call):
            return None
        if self._refuses(number, call):
            if self._binder.count(number):
                named = ", ".join(map(str, scalars_in(call.arguments)))
                shown = short(named, MAX_ERROR_CHARACTERS)
                why = f"{quoted(goal.tool)} for {shown}: {self._why[number]}"
                self._leave(number, call, why)
                return None if number in self.left else self._step(number, level, only)
            return self._step(number, level, only) if number in self._binder.unfit else None
        return NextCall(call, number, "all that it needs is known", sources=bound.sources)

    def _answer(self, number: int, values: Mapping[Place, Json]) -> None:
        self.answers |= {str(place[0]): value for place, value in values.items()}
        self.done.append(number)

    def _waits_for(self, number: int, level: RetryLevel) -> bool:
        if not self.request.ordered or level is RetryLevel.END:
            return False
        return any(n not in self.done and n not in self.left for n in range(number))

    def _open(self, level: RetryLevel) -> Iterator[int]:
        for number, goal in enumerate(self.request.goals):
            if number in self.done or number in self.left or number in self._uncertain:
                continue
            if not goal.tool and level is not RetryLevel.END and self._calls_left():
                continue  # what is read before something is done may not be so any more
            if self._waits.get(number, -1) < len(self.done) or level in (
                RetryLevel.MOST,
                RetryLevel.END,
            ):
                yield number

    def _calls_left(self) -> bool:
        goals = enumerate(self.request.goals)
        return any(g.tool and n not in self.done and n not in self.left for n, g in goals)

    def _refuses(self, number: int, call: ToolCall) -> bool:
        """Say whether a confirmed condition of a goal call does not hold.

        The value that it is about, if it was looked up, is then not taken again: another may fit.
        """
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
        self._binder.unfit.setdefault(number, []).append(at(call.arguments, first))
        return True

    def _look(
        self, searches: Sequence[QueryTarget], level: RetryLevel, only: str
    ) -> NextCall | None:
        rested = [tool for tool in self.readers if not self.experience.idle(tool.name)]
        readers = rested if level is RetryLevel.NONE else self.readers
        gone = self.given_up
        readers = [t for t in readers if t.name not in gone and only in ("", t.name)]
        if level is RetryLevel.SOME:
            readers = [tool for tool in readers if not self._attempts.resting(tool.name)]
        tried = self._attempts.tried(level, len(self.done))
        look = next_query(searches, self.found, self.graph, readers, self.experience, tried)
        if look is None:
            return None
        return NextCall(look.call, None, f"it may show {quoted(searches[0].name)}")

    def _finish(self, number: int, call: ToolCall) -> None:
        """Take note that a goal is done: what was refused before may be allowed now."""
        self._binder.made[number] = call
        self.experience.changed()
        self._binder.pass_over(number, call)
        if self._binder.pending(number):
            return
        if number in self._skipped:
            self._give_up(number)
            return
        self.done.append(number)
        single = {n for n in self.left if not self._binder.count(n)}
        for again in self._attempts.allow_refused(single - set(self.done)):
            self.left.pop(again, None)
            self._skipped.pop(again, None)

    def _leave(self, number: int, call: ToolCall, why: str) -> None:
        self._binder.pass_over(number, call)
        self._skipped.setdefault(number, []).append(why)
        if not self._binder.pending(number) or self._spent:
            self._give_up(number)

    def _give_up(self, number: int) -> None:
        missed, every = self._skipped[number], self._binder.count(number)
        done = f" (made for {every - len(missed)} of {every})" if every > 1 else ""
        self.left[number] = f"{'; '.join(dict.fromkeys(missed))}{done}"

    def _settle(self, number: int, call: ToolCall) -> ToolCall | None:
        """Return the query that shows whether a call has written; if there is none, ask."""
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
        """Settle the uncertain calls on which a repeated query bears."""
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
        """Decide what becomes of a goal whose call failed."""
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
            self._leave(number, outcome.call, self._why[number])
        else:
            self._waits[number] = len(self.done)


def _plain(arguments: Mapping[str, Argument]) -> dict[str, Json]:
    plain: dict[str, Any] = dict(arguments)
    return plain


# Goals by meaning ---------------------------------------------------------------------------------
# What is asked of a world of tools, by meaning, and the goal calls that this means.


@dataclass(frozen=True)
class ToolGoals:
    """What is wanted of a world of tools.

    Args:
        done: tools that are to have been called, in this order where nothing speaks for another.
        known: meanings of which a value is to be known in the end.
        values: what the request says, by meaning.
        request: in words, for people.
    """

    done: tuple[str, ...]
    known: tuple[str, ...]
    values: Mapping[str, Json]
    request: str = ""


def tool_request(asked: ToolGoals, catalogue: Catalogue, suits: ParameterMatcher) -> ToolRequest:
    """Return the goal calls that achieve what is asked.

    An argument that the request says is given; any other is a query.

    Args:
        asked: The tools and values that are wanted, by meaning.
        catalogue: The catalogue that has these tools.
        suits: Knows the meanings of parameters.
    """
    schemas = {tool.name: tool for tool in catalogue.tools}
    goals = [goal_call(schemas[name], asked.values, suits) for name in asked.done]
    goals += [GoalCall("", {name: asked.values.get(name, EntityQuery())}) for name in asked.known]
    facts = tuple(NamedValue(name, value) for name, value in asked.values.items())
    return ToolRequest(tuple(goals), facts, ordered=False, text=asked.request)


def goal_call(tool: ToolSchema, values: Mapping[str, Json], suits: ParameterMatcher) -> GoalCall:
    """Return the goal call of a tool, with a query for each required value that no one has said.

    Args:
        tool: The tool.
        values: The values that the request says, by meaning.
        suits: Knows the meanings of parameters.
    """
    arguments: dict[str, Argument] = {}
    for parameter in tool.takes:
        called = _called(tool.name, parameter.name, suits)
        if called in values:
            arguments[parameter.name] = values[called]
        elif parameter.required:
            query: Argument = EntityQuery()
            several = "array" in parameter.type.split("|")
            arguments[parameter.name] = [query] if several else query
    return GoalCall(tool.name, arguments)


def with_answers(
    request: ToolRequest, values: Mapping[str, Json], suits: ParameterMatcher
) -> ToolRequest:
    """Return a request with the user's answers to its open questions."""
    goals = []
    for goal in request.goals:
        given = {
            name: values[called]
            for name in goal.arguments
            if (called := _called(goal.tool, name, suits)) in values
        }
        goals.append(replace(goal, arguments={**goal.arguments, **given}))
    kept = [one for one in request.said if one.name not in values]
    said = (*kept, *(NamedValue(name, value) for name, value in values.items()))
    return replace(request, goals=tuple(goals), said=said)


def values_of(request: ToolRequest, suits: ParameterMatcher) -> dict[str, Json]:
    """Return the values that a request says, by meaning."""
    found = {one.name: one.value for one in request.said if one.name}
    for goal in request.goals:
        for place, name, value in given_leaves(goal.arguments):
            if len(place) == 1:
                found.setdefault(_called(goal.tool, name, suits), value)
    return dict(sorted(found.items()))


def _called(tool: str, parameter: str, suits: ParameterMatcher) -> str:
    meaning = suits.meaning(tool, parameter)
    return parameter if meaning is None else meaning.name
