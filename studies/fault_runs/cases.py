"""Cases: every fault at every step of a plan where it is possible."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from hvr.worlds.faults import Fault, FaultEffect, FaultKind, FaultTiming
from hvr.worlds.faults.fault import MOVES, SWITCHES
from studies.fault_runs.baseline import Baseline, BaseStep, Sent

KINDS = tuple(kind for kind in FaultKind if kind is not FaultKind.NOISE)
"""Fault kinds that occur at a step."""

_POSES = 3
"""Places that the robot tries before it abandons a navigation."""

_MISTAKEN = 3
"""Number of actions for which an object is misperceived."""

_GRASPABLE = frozenset({"OpenObject", "PickupObject"})
_STATES = ("openable", "toggleable", "dirtyable", "canFillWithLiquid")


@dataclass(frozen=True)
class Case:
    """A run with one fault, at the 1-based step `step` of the plan."""

    task: str
    scene: str
    step: int
    fault: Fault
    seed: int = 0

    @property
    def key(self) -> str:
        return f"{self.task}/{self.scene}/{self.fault.kind.value}/{self.step}"


def cases(baseline: Baseline, kinds: Iterable[FaultKind] = KINDS, seed: int = 0) -> Iterator[Case]:
    """Yield every kind of fault at every step where it is possible.

    `seed` chooses the object that the fault moves, changes or misperceives.
    """
    for kind in kinds:
        for step in baseline.steps:
            chance = random.Random(
                f"{seed}/{baseline.task.id}/{baseline.scene}/{kind}/{step.number}"
            )
            fault = _fault(kind, step, baseline, chance)
            if fault is not None:
                yield Case(baseline.task.id, baseline.scene, step.number, fault, seed)


def _fault(
    kind: FaultKind, step: BaseStep, baseline: Baseline, chance: random.Random
) -> Fault | None:
    if not step.sent:
        return None
    last = step.sent[-1]
    here = FaultTiming(last.number)
    if kind is FaultKind.DROP:
        return Fault(kind, here) if step.held_before or step.held_after else None
    if kind is FaultKind.SLIPPERY:
        return Fault(kind, here) if step.held_after else None
    if kind is FaultKind.BLOCKED:
        return _blocked(step, last)
    if kind is FaultKind.FAILED and last.action in MOVES:
        return Fault(kind, FaultTiming(step.sent[0].number, times=_POSES))
    if kind in (FaultKind.SILENT, FaultKind.FAILED, FaultKind.MISSING_STEP):
        return Fault(kind, here)
    if kind is FaultKind.OCCUPIED:
        other = _pick(_bystanders(baseline), chance)
        return Fault(kind, here, FaultEffect(other=other)) if last.action == "PutObject" else None
    if kind is FaultKind.WRONG_OBJECT:
        return Fault(kind, FaultTiming(last.number, times=1)) if last.target else None
    if kind is FaultKind.SWAPPED:
        return Fault(kind, here) if _has_twin(last, baseline) else None
    if kind is FaultKind.MISPERCEIVED:
        here = FaultTiming(last.number, times=_MISTAKEN)
    target = _target(kind, step, baseline, chance)
    return Fault(kind, here, FaultEffect(target)) if target else None


def _blocked(step: BaseStep, last: Sent) -> Fault | None:
    if last.action in MOVES:
        return Fault(FaultKind.BLOCKED, FaultTiming(step.sent[0].number, times=_POSES))
    if last.action in _GRASPABLE:
        return Fault(FaultKind.BLOCKED, FaultTiming(last.number, (last.action,)))
    return None


def _has_twin(last: Sent, baseline: Baseline) -> bool:
    if last.action not in SWITCHES:
        return False
    kind = last.target.split("|")[0]
    return len([o for o in _objects(baseline) if o["objectType"] == kind]) > 1


def _bystanders(baseline: Baseline) -> list[str]:
    relevant = set(baseline.planned.relevant.names)
    loose = (baseline.names[o["objectId"]] for o in _objects(baseline) if o["pickupable"])
    return sorted(name for name in loose if name not in relevant)


def _target(
    kind: FaultKind, step: BaseStep, baseline: Baseline, chance: random.Random
) -> str | None:
    relevant = set(baseline.planned.relevant.names)
    options = []
    for o in _objects(baseline):
        name = baseline.names[o["objectId"]]
        if name not in relevant or name == step.held_after:
            continue
        if o["pickupable"] if kind is FaultKind.MOVED else any(o[s] for s in _STATES):
            options.append(name)
    ahead = {n for later in baseline.steps[step.number :] for n in later.action.args}
    # A fault on the step's own objects would look like the action's effect.
    others = [n for n in options if n not in step.action.args]
    needed = [n for n in others if n in ahead]
    return _pick(sorted(needed or others or options), chance) or None


def _objects(baseline: Baseline) -> list[dict[str, Any]]:
    return list(baseline.metadata["objects"])


def _pick(options: list[str], chance: random.Random) -> str:
    return chance.choice(options) if options else ""
