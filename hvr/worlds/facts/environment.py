"""The interface of PDDL environments, and the environment that simulates a PDDL domain."""

from __future__ import annotations

import os
import random
import traceback
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias, runtime_checkable

from hvr.base.printable import nearest
from hvr.base.texts import parse_integer, parse_real
from hvr.errors import SimulatorError, UsageError
from hvr.pddl import Atom, Domain, FunctionTerm, GroundAction, Problem, State, Task
from hvr.pddl.task import TOTAL_COST, applicable_actions
from hvr.validation.stepper import Stepper
from hvr.values import JsonObject

Fact: TypeAlias = tuple[str, ...]
"""A predicate and its objects, such as `("at", "truck-1", "depot")`."""

Numbers: TypeAlias = Mapping[Fact, Fraction | int | float]
"""Values of functions, such as `{("fuel", "truck-1"): 7}`."""


def error_location(error: BaseException) -> str:
    """Return where third-party code raised an error, as ` (file.py:12)`, or "" if unknown."""
    foreign = {Path(__file__).parents[2], Path(os.__file__).parent}  # hvr and the standard library
    frames = traceback.walk_tb(error.__traceback__)
    places = [(Path(frame.f_code.co_filename), line) for frame, line in frames]
    theirs = [
        (file, line) for file, line in places if file.is_file() and not foreign & {*file.parents}
    ]
    return f" ({theirs[-1][0]}:{theirs[-1][1]})" if theirs else ""


@dataclass(frozen=True)
class Observation:
    """The facts and numbers of a world that can be observed.

    Args:
        facts: Facts observed to hold. A fluent fact that is neither listed nor hidden is false.
        hidden: Predicates and functions that cannot be observed.
        objects: The objects seen so far, with their types, if the environment reveals its objects;
            None if the problem lists all objects. The facts then include static ones.
        supposed: Entries of `objects` that have not been seen but may exist.
        estimates: Predicates whose facts the environment infers and may revise without any change
            in the world.
    """

    facts: Collection[Fact]
    numbers: Numbers = field(default_factory=lambda: MappingProxyType({}))
    hidden: Collection[str] = frozenset()
    objects: Mapping[str, str] | None = None
    supposed: Collection[str] = frozenset()
    estimates: Collection[str] = frozenset()


class FactEnvironment(Protocol):
    """An environment whose states are sets of facts."""

    def reset(self) -> None: ...

    def step(self, name: str, args: tuple[str, ...]) -> str:
        """Execute an action; return the reason for a refusal, or "" on success."""
        ...

    def observe(self) -> Observation: ...


class PosingEnvironment(FactEnvironment, Protocol):
    """An environment that reveals its objects, makes a request, and judges the outcome."""

    def request(self) -> str: ...

    def outcome(self) -> bool | None:
        """Return whether the request was fulfilled, or None while the run is undecided."""
        ...


@runtime_checkable
class CallReporter(Protocol):
    """An environment that reports how it executed each action."""

    def sent(self) -> dict[str, Any]:
        """Return the call that executed the last action, for the page of the run.

        An empty dictionary means that the action itself is shown.
        """
        ...


def close_environment(env: FactEnvironment) -> str:
    """Close an environment if it has a method `close`; return an error message or ""."""
    close = getattr(env, "close", None)
    return str(close() or "") if callable(close) else ""


def base_atoms(state: State) -> frozenset[Atom]:
    """Return the true facts that are not derived."""
    derived = state.task.derived_predicates
    return frozenset(a for a in state.atoms() if a.predicate not in derived)


class PddlEnvironment:
    """Simulates a PDDL domain exactly as it is written.

    Args:
        hidden: Predicates and functions that observations omit.

    Raises:
        UsageError: The domain uses timing, or a hidden name is unknown or derived.
    """

    def __init__(self, domain: Domain, problem: Problem, hidden: Collection[str] = ()) -> None:
        require_untimed(domain, problem)
        known = {*domain.predicates, *domain.functions}
        for name in hidden:
            if name not in known:
                names = ", ".join(sorted(known))
                raise UsageError(
                    f"{name!r} cannot be hidden: expected a predicate or function of the domain "
                    f"({names})",
                    field="hide",
                )
            if any(rule.predicate == name for rule in domain.derived):
                raise UsageError(
                    f"{name!r} cannot be hidden, because it is derived: name the facts behind it",
                    field="hide",
                )
        self.task = Task(domain, problem)
        self.hidden = frozenset(hidden)
        self._stepper = Stepper(self.task)

    @property
    def state(self) -> State:
        return self._stepper.state

    def reset(self) -> None:
        self._stepper = Stepper(self.task)

    def step(self, name: str, args: tuple[str, ...]) -> str:
        failure = self._stepper.advance(GroundAction(name, args))
        # Real environments do not know the plan's model, so no failed precondition is named.
        return "" if failure is None else "the action is not possible here"

    def observe(self) -> Observation:
        state, hidden = self.state, self.hidden
        facts = [(a.predicate, *a.args) for a in state.atoms() if a.predicate not in hidden]
        numbers = {
            (term.function, *term.args): value
            for term, value in state.numbers().items()
            if term.function not in hidden
        }
        return Observation(facts, numbers, hidden)

    def put(self, atoms: Collection[Atom], numbers: Mapping[FunctionTerm, Fraction]) -> None:
        self._stepper = Stepper(self.task, self.task.state_with(atoms, numbers))


def require_untimed(domain: Domain, problem: Problem) -> None:
    """Raise a UsageError if a model has durative actions, processes, events or timed literals."""
    if domain.durative_actions:
        name = next(iter(domain.durative_actions))
        raise UsageError(
            f"{domain.name} has durative actions, such as {name!r}: worlds execute "
            "actions step by step, without time"
        )
    if domain.processes or domain.events:
        name = next(iter((*domain.processes, *domain.events)))
        raise UsageError(
            f"{domain.name} has processes or events, such as {name!r}: worlds change "
            "only through actions"
        )
    if problem.timed_init:
        raise UsageError(
            f"{problem.name} has timed initial literals, such as {problem.timed_init[0]}: "
            "worlds execute actions step by step, without time"
        )


# Observation --------------------------------------------------------------------------------------
# Observations are checked because environments may be third-party code.


def read_observation(
    task: Task, seen: Observation, *, static: bool = False
) -> tuple[set[Atom], dict[FunctionTerm, Fraction]]:
    """Return the checked facts and numbers of an observation, without derived facts.

    Unless `static`, only fluent facts are returned.

    Raises:
        SimulatorError: A fact or number does not match the domain and the objects.
    """
    atoms: set[Atom] = set()
    known = frozenset(task.domain.predicates) - task.derived_predicates
    fluent = task.fluent_predicates - task.derived_predicates
    for fact in seen.facts:
        predicate, *args = _names(fact)
        declared = task.domain.predicates.get(predicate)
        arity = None if declared is None else len(declared.parameters)
        _check(task, f"({' '.join((predicate, *args))})", "predicate", predicate, args, arity)
        if predicate in (known if static else fluent):
            atoms.add(Atom(predicate, tuple(args)))
    values: dict[FunctionTerm, Fraction] = {}
    numbers: Mapping[tuple[str, ...], object] = seen.numbers
    for term, value in numbers.items():
        function, *args = _names(term)
        declared_as = task.domain.functions.get(function)
        arity = None if declared_as is None else len(declared_as.parameters)
        text = f"({' '.join((function, *args))})"
        _check(task, text, "function", function, args, arity)
        try:
            number = Fraction(str(value))
        except ValueError:
            raise SimulatorError(
                f"expected a number for {text} from the environment, found {value!r}", exit_code=2
            ) from None
        values[FunctionTerm(function, tuple(args))] = number
    return atoms, values


def _names(fact: object) -> tuple[str, ...]:
    if isinstance(fact, tuple) and fact and all(isinstance(name, str) for name in fact):
        return fact
    raise SimulatorError(
        f'expected a tuple of names from the environment, such as ("at", "truck"), found {fact!r}',
        exit_code=2,
    )


def _check(
    task: Task, text: str, kind: str, name: str, args: Sequence[str], arity: int | None
) -> None:
    if arity is None:
        trouble = f"the domain has no {kind} {name!r}"
    elif arity != len(args):
        trouble = f"{name} takes {arity} object{'s' * (arity != 1)}"
    else:
        unknown = [one for one in args if one not in task.objects]
        if not unknown:
            return
        trouble = f"the problem has no object {unknown[0]!r}"
    raise SimulatorError(f"the environment shows {text}: {trouble}", exit_code=2)


# Faults -------------------------------------------------------------------------------------------
# Seeded faults in an environment that executes a PDDL domain.

_MOST_ACTIONS = 2_000
"""Maximum number of actions among which another agent's action is drawn."""


class WorldFault(StrEnum):
    """How an injected fault deviates from the domain."""

    REFUSED = "refused"
    """An applicable action is refused."""
    NO_EFFECT = "no-effect"
    """The action is reported as done but changes nothing."""
    LOST_EFFECT = "lost-effect"
    """One effect of the action is missing."""
    CHANGED_FACT = "changed-fact"
    """A fact that the action does not affect changes after it."""
    OTHER_AGENT = "other-agent"
    """Another agent executes an applicable action afterwards."""


@dataclass(frozen=True)
class FaultRule:
    """A fault that occurs with probability `rate` at the 1-based `step`; None means every step."""

    kind: WorldFault
    rate: float = 1.0
    step: int | None = None


@dataclass(frozen=True)
class InjectedFault(JsonObject):
    """A fault that was injected.

    Args:
        step: 1-based number of the step; refused steps count.
        changed: Facts that differ from the prediction, as they are now. A changed number appears
            with its current value or, if another agent changed it, as `TERM changed`.
    """

    step: int
    kind: WorldFault
    action: GroundAction
    changed: tuple[str, ...]

    event = "fault"
    json_shape = "event step kind action changed"


def read_faults(texts: Sequence[str]) -> tuple[FaultRule, ...]:
    """Parse rules such as `lost-effect:0.1` (a probability) or `refused@3` (a step).

    Any other text raises a UsageError.
    """
    return tuple(_rule(part.strip()) for text in texts for part in text.split(","))


def _rule(text: str) -> FaultRule:
    sign = "@" if "@" in text else ":"
    name, _, number = text.partition(sign)
    kinds = [kind.value for kind in WorldFault]
    if name not in kinds:
        near = nearest(name, kinds)
        hint = f"; did you mean {near!r}?" if near else ""
        raise UsageError(
            f"unknown fault kind {name!r}{hint} (kinds: {', '.join(kinds)})", field="faults"
        )
    try:
        if sign == "@":
            step = parse_integer(number)
            if step < 1:
                raise ValueError("steps are counted from 1")
            return FaultRule(WorldFault(name), step=step)
        rate = parse_real(number)
        if rate > 1:
            raise ValueError("a probability must be at most 1")
        return FaultRule(WorldFault(name), rate)
    except ValueError as error:
        raise UsageError(
            f"{text!r} is not a fault rule: {error}; write {name}:0.1 for probability 0.1 "
            f"at each step, or {name}@3 for step 3 only",
            field="faults",
        ) from None


class FaultyWorld:
    """A PDDL environment with fault injection; `log` lists the injected faults."""

    def __init__(self, env: PddlEnvironment, rules: Sequence[FaultRule], seed: int = 0) -> None:
        self.env = env
        self.rules = tuple(rules)
        self.seed = seed
        self._start()

    def _start(self) -> None:
        self.log: list[InjectedFault] = []
        self._random = random.Random(self.seed)
        self._steps = 0

    def reset(self) -> None:
        self._start()
        self.env.reset()

    def observe(self) -> Observation:
        return self.env.observe()

    def step(self, name: str, args: tuple[str, ...]) -> str:
        self._steps += 1
        kinds = {
            rule.kind
            for rule in self.rules
            if (rule.step is None or rule.step == self._steps) and self._random.random() < rule.rate
        }
        action = GroundAction(name, args)
        if WorldFault.REFUSED in kinds:
            self._log(WorldFault.REFUSED, action, ())
            return "no reason is given"
        before = self.env.state
        error = self.env.step(name, args)
        if error:
            return error
        for kind in WorldFault:  # the order of the enum, so that a seed gives the same faults
            if kind in kinds:
                self._inject(kind, action, before)
        return ""

    def _inject(self, kind: WorldFault, action: GroundAction, before: State) -> None:
        now = self.env.state
        changes = _changes(before, now)
        match kind:
            case WorldFault.NO_EFFECT:
                self._undo(kind, action, changes)
            case WorldFault.LOST_EFFECT if changes:
                self._undo(kind, action, [self._random.choice(changes)])
            case WorldFault.CHANGED_FACT:
                own = {what for what, _ in changes}
                others = [(a, a not in before) for a in self._facts() if a not in own]
                if others:
                    atom, _ = self._random.choice(others)
                    self._undo(kind, action, [(atom, atom not in base_atoms(now))])
            case WorldFault.OTHER_AGENT:
                can = list(islice(applicable_actions(now), _MOST_ACTIONS))
                if can:
                    other = Stepper(self.env.task, now)
                    other.advance(self._random.choice(can))
                    after = other.state
                    self.env.put(base_atoms(after), after.numbers())
                    if changed := _changes(now, after):  # otherwise the fault had no effect
                        self._log(kind, action, _texts(changed, undone=False))

    def _facts(self) -> list[Atom]:
        task = self.env.task
        return sorted({*base_atoms(self.env.state), *base_atoms(task.initial)}, key=str)

    def _undo(self, kind: WorldFault, action: GroundAction, changes: Sequence[_Change]) -> None:
        if not changes:
            return
        now = self.env.state
        atoms, numbers = set(base_atoms(now)), dict(now.numbers())
        for what, value in changes:
            if isinstance(what, FunctionTerm):
                if value is None:
                    numbers.pop(what, None)
                else:
                    numbers[what] = value
            elif value:
                atoms.add(what)
            else:
                atoms.discard(what)
        self.env.put(atoms, numbers)
        self._log(kind, action, _texts(changes, undone=True))

    def _log(self, kind: WorldFault, action: GroundAction, changed: tuple[str, ...]) -> None:
        self.log.append(InjectedFault(self._steps, kind, action, changed))


_Change = tuple[Atom | FunctionTerm, Any]
"""A fact or number that an action changed, with its previous value."""


def _changes(before: State, after: State) -> list[_Change]:
    was, now = base_atoms(before), base_atoms(after)
    old, new = before.numbers(), after.numbers()
    changes: list[_Change] = [(a, a in was) for a in sorted(was ^ now, key=str)]
    # The cost of the plan is not part of the world.
    differing = {t for t in {*old, *new} if old.get(t) != new.get(t) and t != TOTAL_COST}
    terms = sorted(differing, key=str)
    return [*changes, *((t, old.get(t)) for t in terms)]


def _texts(changes: Sequence[_Change], *, undone: bool) -> tuple[str, ...]:
    texts = []
    for what, value in changes:
        if isinstance(what, FunctionTerm):
            texts.append(f"(= {what} {value})" if undone else f"{what} changed")
        else:
            texts.append(str(what) if bool(value) == undone else f"(not {what})")
    return tuple(texts)
