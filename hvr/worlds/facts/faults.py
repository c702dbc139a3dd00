"""Seeded faults in an environment that executes a PDDL domain."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Any

from hvr.base.numbers import parse_integer, parse_real
from hvr.base.printable import nearest
from hvr.errors import UsageError
from hvr.pddl import Atom, FunctionTerm, GroundAction, State
from hvr.pddl.task import TOTAL_COST, applicable_actions
from hvr.validation.stepper import Stepper
from hvr.values import JsonObject
from hvr.worlds.facts.environment import Observation, PddlEnvironment, base_atoms

_MOST_ACTIONS = 2_000
"""Maximum number of actions from which another agent's action is drawn."""


class WorldFault(StrEnum):
    """The kind of a deviation from the domain."""

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
    """Timing of a fault: a probability or a step number.

    Args:
        step: 1-based step number; None means any step.
    """

    kind: WorldFault
    rate: float = 1.0
    step: int | None = None


@dataclass(frozen=True)
class InjectedFault(JsonObject):
    """A fault that has happened.

    Args:
        step: 1-based number of the step, counting refused ones.
        changed: Current values of the facts and numbers that differ from the prediction.
    """

    step: int
    kind: WorldFault
    action: GroundAction
    changed: tuple[str, ...]

    event = "fault"
    json_shape = "event step kind action changed"


def read_faults(texts: Sequence[str]) -> tuple[FaultRule, ...]:
    """Parse fault rules, such as `lost-effect:0.1` (a probability) or `refused@3` (a step)."""
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
            f"{text!r} is not a fault rule: {error}; write {name}:0.1 for a probability at each "
            f"step, or {name}@3 for a step",
            field="faults",
        ) from None


class FaultyWorld:
    """A PDDL environment with fault injection.

    Attributes:
        log: The injected faults.
    """

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
        """See `FactEnvironment`."""
        self._start()
        self.env.reset()

    def observe(self) -> Observation:
        """See `FactEnvironment`."""
        return self.env.observe()

    def step(self, name: str, args: tuple[str, ...]) -> str:
        """See `FactEnvironment`."""
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
"""A fact or number that an action has changed, with its previous value."""


def _changes(before: State, after: State) -> list[_Change]:
    """Return the differences between two states with their old values, in a deterministic order."""
    was, now = base_atoms(before), base_atoms(after)
    old, new = before.numbers(), after.numbers()
    changes: list[_Change] = [(a, a in was) for a in sorted(was ^ now, key=str)]
    # The cost of the plan is not part of the world.
    differing = {t for t in {*old, *new} if old.get(t) != new.get(t) and t != TOTAL_COST}
    terms = sorted(differing, key=str)
    return [*changes, *((t, old.get(t)) for t in terms)]


def _texts(changes: Sequence[_Change], *, undone: bool) -> tuple[str, ...]:
    """Return the current values as texts: the given values if undone, otherwise their opposites."""
    texts = []
    for what, value in changes:
        if isinstance(what, FunctionTerm):
            texts.append(f"(= {what} {value})" if undone else f"{what} changed")
        else:
            texts.append(str(what) if bool(value) == undone else f"(not {what})")
    return tuple(texts)
