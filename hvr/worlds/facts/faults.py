"""Seeded faults in a world that runs a PDDL domain."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Any

from hvr.base.numbers import parse_integer, parse_real
from hvr.errors import UsageError
from hvr.pddl import Atom, FunctionTerm, GroundAction, State, applicable_actions
from hvr.pddl.diagnostics import nearest
from hvr.pddl.task import TOTAL_COST
from hvr.validation.stepper import Stepper
from hvr.worlds.facts.environment import Observation, PddlEnvironment, base_atoms

_MOST_ACTIONS = 2_000
"""An action of somebody else is drawn from so many at most."""


class WorldFault(StrEnum):
    """What goes otherwise than the domain says."""

    REFUSED = "refused"
    """The action is refused, though it is possible."""
    NO_EFFECT = "no-effect"
    """The action is reported as done and changes nothing."""
    LOST_EFFECT = "lost-effect"
    """One of the effects of the action does not come."""
    CHANGED_FACT = "changed-fact"
    """After the action a fact changes that the action does not touch."""
    OTHER_AGENT = "other-agent"
    """After the action somebody else does a possible action."""


@dataclass(frozen=True)
class FaultRule:
    """When a fault happens: with a probability, or at one step.

    Args:
        kind: its kind.
        rate: the probability at each step.
        step: the step, counted from 1; None: any.
    """

    kind: WorldFault
    rate: float = 1.0
    step: int | None = None


@dataclass(frozen=True)
class InjectedFault:
    """A fault that has happened.

    Args:
        step: the step in which it happened, counted from 1, refused ones included.
        kind: its kind.
        action: the action of the step.
        changed: the facts and numbers that are otherwise than the domain says, each with what is
            true now.
    """

    step: int
    kind: WorldFault
    action: GroundAction
    changed: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "event": "fault",
            "step": self.step,
            "kind": self.kind.value,
            "action": str(self.action),
            "changed": list(self.changed),
        }


def read_faults(texts: Sequence[str]) -> tuple[FaultRule, ...]:
    """Read rules: `lost-effect:0.1` (at each step with this probability), `refused@3` (at step 3).

    Raises:
        UsageError: a text is no rule.
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
            f"no kind of fault {name!r}{hint} (kinds: {', '.join(kinds)})", field="faults"
        )
    try:
        if sign == "@":
            step = parse_integer(number)
            if step < 1:
                raise ValueError("steps are counted from 1")
            return FaultRule(WorldFault(name), step=step)
        rate = parse_real(number)
        if rate > 1:
            raise ValueError("a probability is at most 1")
        return FaultRule(WorldFault(name), rate)
    except ValueError as error:
        raise UsageError(
            f"{text!r} is no fault: {error}; write {name}:0.1 for a probability at each step, or "
            f"{name}@3 for a step",
            field="faults",
        ) from None


class FaultyWorld:
    """A PDDL environment in which faults happen.

    Attributes:
        log: the faults that have happened.
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
            self._note(WorldFault.REFUSED, action, ())
            return "no reason is given"
        before = self.env.state
        error = self.env.step(name, args)
        if error:
            return error
        for kind in WorldFault:  # in a fixed order
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
                    if changed := _changes(now, after):  # else nothing has gone wrong
                        self._note(kind, action, _texts(changed, undone=False))

    def _facts(self) -> list[Atom]:
        task = self.env.task
        return sorted({*base_atoms(self.env.state), *base_atoms(task.initial)}, key=str)

    def _undo(self, kind: WorldFault, action: GroundAction, changes: Sequence[_Change]) -> None:
        """Give facts and numbers the value that stands beside them."""
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
        self._note(kind, action, _texts(changes, undone=True))

    def _note(self, kind: WorldFault, action: GroundAction, changed: tuple[str, ...]) -> None:
        self.log.append(InjectedFault(self._steps, kind, action, changed))


_Change = tuple[Atom | FunctionTerm, Any]
"""A fact or number that an action has changed, and the value that it had before."""


def _changes(before: State, after: State) -> list[_Change]:
    """Return what differs between two states, with the old values, in a fixed order."""
    was, now = base_atoms(before), base_atoms(after)
    old, new = before.numbers(), after.numbers()
    changes: list[_Change] = [(a, a in was) for a in sorted(was ^ now, key=str)]
    # What a plan has cost is no fact of the world.
    differing = {t for t in {*old, *new} if old.get(t) != new.get(t) and t != TOTAL_COST}
    terms = sorted(differing, key=str)
    return [*changes, *((t, old.get(t)) for t in terms)]


def _texts(changes: Sequence[_Change], *, undone: bool) -> tuple[str, ...]:
    """Say what is true now: the value beside each change, or for facts its opposite."""
    texts = []
    for what, value in changes:
        if isinstance(what, FunctionTerm):
            texts.append(f"(= {what} {value})" if undone else f"{what} changed")
        else:
            texts.append(str(what) if bool(value) == undone else f"(not {what})")
    return tuple(texts)
