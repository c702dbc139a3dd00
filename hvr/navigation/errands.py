"""Errands carried out: values looked up, wanted calls made, other ways tried where one fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from hvr.calling.guard import MOST_EQUAL_FAILURES, GuardedTools
from hvr.calling.values import CallFailure, CallOutcome, Json, ToolCall
from hvr.navigation.doubts import witness
from hvr.navigation.experience import CountedExperience, Experience
from hvr.navigation.findings import Findings, Trait
from hvr.navigation.lookups import Search, call_key, match, next_look_up
from hvr.navigation.naming import fit
from hvr.navigation.preconditions import LearntConditions
from hvr.navigation.wants import (
    Argument,
    Errand,
    NamedValue,
    Place,
    Sought,
    Want,
    at,
    filled,
    given_leaves,
    leaves,
    peers_of,
    scalars_in,
)
from hvr.tools.catalogue.schema import Effect, ToolSchema

ATTEMPTS = MOST_EQUAL_FAILURES
"""How often one and the same call is made before it is given up."""

TOO_OFTEN = 2 * ATTEMPTS
"""How often in a row a look-up's tool may fail, whatever it is called with, until it is left."""

RELATED = 0.5
"""The relevance of look-ups by which a value that is found, but not surely, is made sure."""

NAMED = 0.8
"""How well the name of a value has to suit a look-up's only parameter, to name an entity."""

UNSURE = frozenset({CallFailure.TIMED_OUT, CallFailure.UNAVAILABLE, CallFailure.WRONG_TYPE,
                    CallFailure.EMPTY})  # fmt: skip
"""Failures after which a tool may have changed the world all the same."""


class Insistence(Enum):
    """What is tried again."""

    NONE = "nothing that failed"
    SOME = "calls that failed, and tools that rest"
    MOST = "wanted calls that were refused, too, though nothing has changed since"
    END = "and wanted calls are made though one before them could not be"


@dataclass(frozen=True)
class Carried:
    """How an errand went.

    Args:
        outcomes: of all calls, in order.
        done: numbers of the wants whose calls went well, in the order of the calls.
        left: why each other want is not done, by its number.
    """

    outcomes: tuple[CallOutcome, ...]
    done: tuple[int, ...]
    left: dict[int, str] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether all that was wanted is done."""
        return not self.left


def carry_out(
    tools: GuardedTools,
    errand: Errand,
    experience: Experience | None = None,
    *,
    recombine: bool = True,
    was_done: Callable[[ToolCall], bool | None] | None = None,
    conditions: LearntConditions | None = None,
) -> Carried:
    """Make the wanted calls, and the look-ups that find their values.

    Before each call what comes next is worked out anew. A tool that failed rests, and others that
    lead to the same value are called instead; where there are none it is tried again. A wanted
    call that is refused waits until something else has changed. A writing call that may have
    worked though it failed is not repeated, unless its tool is idempotent, a look-up that was made
    before shows that nothing has changed, or the user says that it was not done.

    Args:
        tools: what may be called, with the budget.
        errand: what is wanted.
        experience: what was learnt from calls before; it learns from these.
        recombine: whether another way is tried where a call fails; if not, only the same again.
        was_done: asks the user whether a call that failed was done all the same; None if the user
            cannot be asked, or cannot say.
        conditions: what was learnt of the states in which tools refuse; it learns from these
            calls. A wanted call of which a confirmed condition does not hold is not made; where
            its features suit another entity, that one is taken.
    """
    learnt = conditions or LearntConditions()
    run = _Run(tools, errand, experience or CountedExperience(), recombine, was_done, learnt)
    return run.carry_out()


class _Run:
    """An errand on its way."""

    def __init__(
        self,
        tools: GuardedTools,
        errand: Errand,
        experience: Experience,
        recombine: bool,
        was_done: Callable[[ToolCall], bool | None] | None,
        conditions: LearntConditions,
    ) -> None:
        self._tools, self._errand = tools, errand
        self._experience, self._recombine, self._was_done = experience, recombine, was_done
        self._conditions = conditions
        self._doubts: dict[int, ToolCall] = {}
        self._unfit: dict[int, list[Json]] = {}
        self._why: dict[int, str] = {}
        self._row: dict[str, int] = {}
        self._schemas = {tool.name: tool for tool in tools.catalogue.tools}
        self._readers = [t for t in self._schemas.values() if t.effect is Effect.READS]
        self._reading = {tool.name for tool in self._readers}
        wanted = [
            NamedValue(name, value)
            for want in errand.wants
            for _, name, value in given_leaves(want.arguments)
            if value is not None
        ]
        self._findings = Findings(errand.facts, wanted, self._experience.flow)
        self._said = [feature.value for feature in (*errand.facts, *wanted)]
        self._outcomes: list[CallOutcome] = []
        self._done: list[int] = []
        self._left: dict[int, str] = {}
        self._failed: dict[str, int] = {}
        self._answered: dict[str, int] = {}
        self._waits: dict[int, int] = {}
        self._made: dict[int, ToolCall] = {}

    def carry_out(self) -> Carried:
        while (step := self._next()) is not None:
            number, call = step
            if not self._make(number, call):
                break
        for number in range(len(self._errand.wants)):
            if number not in self._done:
                why = self._why.get(number, "no call leads on to a value that it needs")
                self._left.setdefault(number, why)
        return Carried(tuple(self._outcomes), tuple(self._done), self._left)

    def _next(self) -> tuple[int | None, ToolCall] | None:
        """Return the next call, with the number of the want if it is a wanted one."""
        for number, call in list(self._doubts.items()):
            look = self._settle(number, call)
            if look is not None:
                return None, look
        if not self._recombine and self._outcomes and not self._outcomes[-1].ok:
            last = self._outcomes[-1].call
            if self._failed.get(call_key(last), 0) < ATTEMPTS and last.tool in self._reading:
                return None, last
            if last.tool in self._reading:
                return None
        for patience in Insistence:
            for number in self._open(patience):
                want = self._errand.wants[number]
                step = self._step(number, want, patience)
                if step is None or (step[0] is not None and self._waits_for(number, patience)):
                    continue
                return step
        return None

    def _step(
        self, number: int, want: Want, patience: Insistence
    ) -> tuple[int | None, ToolCall] | None:
        """Return the next call for a want: a look-up, or, if all is found, the wanted one."""
        for sure in (True, False):
            values, searches, weak = self._bind(number, sure)
            if not searches:
                call = ToolCall(want.tool, _plain(filled(want.arguments, values)))
                if patience is Insistence.NONE and self._experience.idle(want.tool):
                    return None
                if self._refuses(number, call):
                    return self._step(number, want, patience) if number in self._unfit else None
                return number, call
            look = self._look(searches[:1] if weak else searches, patience, RELATED if weak else 0)
            if look is not None:
                return None, look
            if not weak:
                return None
        return None

    def _waits_for(self, number: int, patience: Insistence) -> bool:
        """Say whether a wanted call is to wait for one before it."""
        if not self._errand.ordered or patience is Insistence.END:
            return False
        return any(n not in self._done and n not in self._left for n in range(number))

    def _open(self, patience: Insistence) -> Iterator[int]:
        for number in range(len(self._errand.wants)):
            if number in self._done or number in self._left or number in self._doubts:
                continue
            if self._waits.get(number, -1) < len(self._done) or patience in (
                Insistence.MOST, Insistence.END):  # fmt: skip
                yield number

    def _refuses(self, number: int, call: ToolCall) -> bool:
        """Say whether a confirmed condition of a wanted call does not hold.

        Its first value that was looked up is then not taken again: another entity may fit.
        """
        broken = self._conditions.violated(call.tool, self._known_of(call))
        if broken is None:
            return False
        name, values = " ".join(sorted(broken.name)), ", ".join(map(str, broken.values))
        self._why[number] = f"it is refused unless {name} is {values}"
        first = next((place for place, _, value in leaves(self._errand.wants[number].arguments)
                      if isinstance(value, Sought)), None)  # fmt: skip
        if first is None:
            return True
        self._unfit.setdefault(number, []).append(at(call.arguments, first))
        return True

    def _known_of(self, call: ToolCall) -> frozenset[Trait]:
        """Return what is known of all that a call names."""
        known = (self._findings.known_of(value) for value in scalars_in(call.arguments))
        return frozenset().union(*known)

    def _bind(self, number: int, sure: bool) -> tuple[dict[Place, Json], list[Search], bool]:
        """Return the values of a want that are found, what is still searched, and whether a
        value for the first of these is at hand that is not sure.

        What comes first in a call names the entity of what follows, so nothing is bound before it.
        """
        want = self._errand.wants[number]
        known: dict[Place, Json] = {p: value for p, _, value in given_leaves(want.arguments)}
        searches: list[Search] = []
        found = [v for _, name, v in given_leaves(want.arguments) if self._names_entity(name)]
        weak = False
        before: dict[Place, Json] = {}
        for place, name, sought in leaves(want.arguments):
            if not isinstance(sought, Sought):
                before[place] = known.get(place)
                continue
            bound = tuple(value for value in known.values() if value is not None)
            ties = tuple(peers_of(place, before)) or tuple(found)
            search = Search(name, sought, bound, ties, self._taken(number, place))
            value, certain = (None, False) if searches else match(search, self._findings)
            if value is None or (sure and not certain):
                weak = weak or value is not None
                searches.append(search)
            else:
                known[place] = before[place] = value
                found.append(value)
        return known, searches, weak

    def _names_entity(self, name: str) -> bool:
        """Say whether a parameter's value names something that can be looked up by it alone."""
        for tool in self._readers:
            needed = [parameter.name for parameter in tool.takes if parameter.required]
            if len(needed) == 1 and fit(needed[0], (name,), "") >= NAMED:
                return True
        return False

    def _look(self, searches: list[Search], patience: Insistence, least: float) -> ToolCall | None:
        rested = [tool for tool in self._readers if not self._experience.idle(tool.name)]
        readers = rested if patience is Insistence.NONE else self._readers
        readers = [tool for tool in readers if self._row.get(tool.name, 0) < TOO_OFTEN]
        attempts = 1 if patience is Insistence.NONE else ATTEMPTS
        # What was read before something was written may have changed since.
        old = -1 if patience is Insistence.NONE else len(self._done)
        tried = {k for k, done in self._answered.items() if old < 0 or done >= old}
        tried |= {k for k, times in self._failed.items() if times >= attempts}
        look = next_look_up(searches, self._findings, readers, self._experience, tried, least)
        return look.call if look else None

    def _make(self, number: int | None, call: ToolCall) -> bool:
        """Make a call and take in what came; return whether calls are left."""
        again = number is not None and sum(
            call_key(outcome.call) == call_key(call) for outcome in self._outcomes if outcome.ok
        ) < sum(self._errand.wants[n] == self._errand.wants[number] for n in self._open_or_done())
        known = self._known_of(call) if number is not None else frozenset()
        outcome = self._tools.call_with(call, request=self._said, again=again)
        self._outcomes.append(outcome)
        if outcome.failure is CallFailure.NOT_ALLOWED:
            if number is None:
                return False
            self._left[number] = outcome.error
            return "budget" not in outcome.error
        self._experience.observe(outcome)
        if number is not None:
            self._conditions.observe(outcome, known)
        name = call_key(call)
        self._row[call.tool] = 0 if outcome.ok else self._row.get(call.tool, 0) + 1
        if outcome.ok:
            self._findings.add(outcome)
            if number is None:
                self._answered[name] = len(self._done)
                self._compare(outcome)
            else:
                self._finish(number, call)
            return True
        self._failed[name] = self._failed.get(name, 0) + 1
        if outcome.failure is CallFailure.BAD_ARGUMENTS:
            self._failed[name] = ATTEMPTS
        if number is not None:
            self._after_failure(number, self._schemas[call.tool], outcome)
        return True

    def _finish(self, number: int, call: ToolCall) -> None:
        self._done.append(number)
        self._made[number] = call

    def _settle(self, number: int, call: ToolCall) -> ToolCall | None:
        """Return the look-up that shows whether a call has written; if there is none, ask."""
        seen = witness(call, self._outcomes, self._schemas, self._experience)
        if seen is not None and self._failed.get(call_key(seen.call), 0) < ATTEMPTS:
            return seen.call
        del self._doubts[number]
        done = self._was_done(call) if self._was_done else None
        if done is None:
            self._left[number] = "it may have been done, though the call failed"
        elif done:
            self._finish(number, call)
        elif self._failed[call_key(call)] >= ATTEMPTS:
            self._left[number] = f"its call failed {ATTEMPTS} times"
        return None

    def _compare(self, outcome: CallOutcome) -> None:
        """Settle the doubts on which a look-up that was made again bears."""
        for number, call in list(self._doubts.items()):
            before = witness(call, self._outcomes, self._schemas, self._experience)
            if before is None or before.call != outcome.call:
                continue
            del self._doubts[number]
            if before.result != outcome.result:
                self._finish(number, call)
            elif self._failed[call_key(call)] >= ATTEMPTS:
                self._left[number] = f"its call failed {ATTEMPTS} times"

    def _taken(self, number: int, place: Place) -> tuple[Json, ...]:
        """Return what is not to be taken at a place: what wants that are described in the same
        words have taken there, and entities of which a condition does not hold."""
        wants = self._errand.wants
        same = [n for n in self._made if wants[n] == wants[number]]
        taken = [at(self._made[n].arguments, place) for n in same]
        return (*taken, *self._unfit.get(number, ()))

    def _open_or_done(self) -> list[int]:
        return [n for n in range(len(self._errand.wants)) if n not in self._left]

    def _after_failure(self, number: int, tool: ToolSchema, outcome: CallOutcome) -> None:
        """Decide what becomes of a want whose call failed."""
        if outcome.failure in UNSURE and not tool.idempotent:
            self._doubts[number] = outcome.call
        elif self._failed[call_key(outcome.call)] >= ATTEMPTS:
            self._left[number] = f"its call failed {ATTEMPTS} times: {outcome.error}"
        elif outcome.failure is CallFailure.BAD_ARGUMENTS:
            self._left[number] = outcome.error
        else:
            self._waits[number] = len(self._done)


def _plain(arguments: Mapping[str, Argument]) -> dict[str, Json]:
    """Return arguments in which nothing is sought any more."""
    plain: dict[str, Any] = dict(arguments)
    return plain
