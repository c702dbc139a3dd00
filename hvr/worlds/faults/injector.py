"""Fault injection: the environment wrapper, failed actions, and the log of faults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from hvr.errors import UnknownObjectError
from hvr.values import JsonObject
from hvr.worlds.environment import Environment, Event
from hvr.worlds.faults import effects
from hvr.worlds.faults.effects import (
    Lens,
    Restorable,
    choose_misreport,
    combined_event,
    event_through,
    fabricated_event,
    interfere,
    misreporting_lens,
    with_noise,
)
from hvr.worlds.faults.fault import MOVES, PERCEPTION_KINDS, SWITCHES, FaultKind, Schedule, Trigger
from hvr.worlds.thor.observe import STATES, Names

# Statements ---------------------------------------------------------------------------------------
# Metadata as statements, so that the log can list the changes made by a fault.

Statement: TypeAlias = tuple[str, str, str | bool]
"""An object's name, a property and its value, such as `("mug-1", "in", "sinkbasin-1")`."""

ROBOT = "robot"
"""Name of the robot in statements about its pose and in the held object's `heldBy`."""


def statements(metadata: Mapping[str, Any], names: Names) -> frozenset[Statement]:
    """Return (subject, field, value) for types, places, non-false states, held object and pose."""
    facts: set[Statement] = set()
    for entry in metadata["objects"]:
        name = name_of(names, entry["objectId"])
        facts.add((name, "objectType", str(entry["objectType"])))
        for field in STATES:
            value = entry.get(field)
            if value is not None and value is not False:
                facts.add((name, field, value))
        for parent in entry.get("parentReceptacles") or ():
            facts.add((name, "in", name_of(names, parent)))
    for entry in metadata.get("inventoryObjects") or ():
        facts.add((name_of(names, entry["objectId"]), "heldBy", ROBOT))
    agent = metadata["agent"]
    at, yaw = agent["position"], agent["rotation"]["y"]
    pose = f"{at['x']:.2f} {at['z']:.2f} facing {yaw:.0f} {agent['cameraHorizon']:.0f}"
    facts.add((ROBOT, "at", pose))
    return frozenset(facts)


def name_of(names: Names, object_id: str) -> str:
    """Return hvr's name for an object, or its id if it has no name."""
    try:
        return names.name(object_id)
    except UnknownObjectError:
        return object_id


# Log ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Injection(JsonObject):
    """A fault that was injected.

    Args:
        step: Number of the action, 0 for the start of the scene.
        action: Name of the AI2-THOR action; empty at the start.
        objects: Names of the affected objects, most affected first.
        added: Statements that are true, or reported, only because of the fault.
        removed: Statements that would be true, or reported, without the fault.
        fault: 0-based index of the fault in the schedule.
    """

    step: int
    kind: FaultKind
    action: str
    objects: tuple[str, ...]
    added: tuple[Statement, ...] = ()
    removed: tuple[Statement, ...] = ()
    fault: int = 0

    json_shape = "*"

    @property
    def changed(self) -> bool:
        """Whether the fault changed the world or a report."""
        return bool(self.added or self.removed)


def ordered(facts: Iterable[Statement]) -> tuple[Statement, ...]:
    return tuple(sorted(facts, key=lambda s: (s[0], s[1], str(s[2]))))


# Diverted actions ---------------------------------------------------------------------------------

_TRIES = 8

DIVERTING_KINDS = frozenset({FaultKind.WRONG_OBJECT, FaultKind.SWAPPED})
"""Kinds handled by `Diversions`."""


class Diversions:
    """The objects that are currently mistaken for each other."""

    def __init__(self, env: Environment, names: Names) -> None:
        self._env = env
        self._names = names
        self._pairs: dict[Trigger, tuple[str, str]] = {}

    def divert(self, trigger: Trigger, action: str, args: dict[str, Any]) -> tuple[str, ...]:
        """Redirect an action by changing its arguments `args`.

        Returns the ids of the intended and of the actual object, or () if nothing is redirected.
        """
        target = args.get("objectId")
        if target is None:
            return ()
        pair = self._pair(trigger, action, target)
        if pair is None or target not in pair:
            return ()
        if trigger.fault.kind is FaultKind.WRONG_OBJECT:
            if target != pair[0]:
                return ()
            other = pair[1]
        else:
            meant = effects.entries(self._env).get(str(target))
            if action not in SWITCHES or meant is None or not meant["isInteractable"]:
                return ()
            other = pair[1 - pair.index(target)]
            # The other switch may be out of reach; a real swap would still work.
            args["forceAction"] = True
        args["objectId"] = other
        return str(target), other

    def redirected(self, trigger: Trigger, args: dict[str, Any]) -> dict[str, Any]:
        what = trigger.fault.what
        if trigger.fault.kind is not FaultKind.WRONG_OBJECT or trigger.fault.when.actions:
            return args
        pair = self._pairs.get(trigger)
        if pair is None and what.target and what.other:
            pair = (self._names.object_id(what.target), self._names.object_id(what.other))
        return {**args, "objectId": pair[1]} if pair and args.get("objectId") == pair[0] else args

    def _pair(self, trigger: Trigger, action: str, target: Any) -> tuple[str, str] | None:
        if trigger in self._pairs:
            return self._pairs[trigger]
        what, known = trigger.fault.what, effects.entries(self._env)
        first = self._names.object_id(what.target) if what.target else target
        if first not in known:
            return None
        if what.other:
            second: str | None = self._names.object_id(what.other)
        elif trigger.fault.kind is FaultKind.SWAPPED:
            second = effects.other_switch(known, first, trigger.chance)
        else:
            options = effects.similar_objects(known, first, action, trigger.chance)
            second = next((i for i in options[:_TRIES] if self._works(action, i)), None)
        if second is None:
            return None
        self._pairs[trigger] = (first, second)
        return first, second

    def _works(self, action: str, object_id: str) -> bool:
        # True is assumed if the environment cannot be restored.
        if not isinstance(self._env, Restorable):
            return True
        before = self._env.snapshot()
        facts = statements(self._env.last_event.metadata, self._names)
        try:
            event = self._env.step(action, objectId=object_id)
            return bool(event) and statements(event.metadata, self._names) != facts
        finally:
            self._env.restore(before)


# Refused actions ----------------------------------------------------------------------------------

NO_ROOM = "No valid positions to place object found"
_HIDDEN = "NullReferenceException: Target object not found within the specified visibility."


@dataclass(frozen=True)
class Refusal:
    """The refusal of an action, with the ids of its object and of the obstacle."""

    message: str
    objects: tuple[str, ...]
    trigger: Trigger


class Obstacles:
    """Obstacles that block actions until another agent or the robot removes them."""

    def __init__(self, env: Environment) -> None:
        self._env = env
        self._occupied: dict[str, tuple[str, Trigger]] = {}
        self._blocked: dict[str, tuple[str, Any, Trigger]] = {}

    def occupy(self, receptacle: str, thing: str, trigger: Trigger) -> None:
        """Refuse to put anything into the receptacle as long as it contains `thing`."""
        self._occupied[receptacle] = (thing, trigger)

    def block(self, target: str, blocker: str, trigger: Trigger) -> None:
        """Refuse the fault's actions on the target until the blocker is moved."""
        where = effects.entries(self._env)[blocker]["position"]
        self._blocked[target] = (blocker, where, trigger)

    def refusal(self, action: str, args: Mapping[str, Any]) -> Refusal | None:
        """Return the refusal of an action because of an obstacle, or None."""
        if not (self._occupied or self._blocked):
            return None
        target, known = str(args.get("objectId", "")), effects.entries(self._env)
        if action == "PutObject" and target in self._occupied:
            thing, trigger = self._occupied[target]
            if target in (known[thing]["parentReceptacles"] or ()):
                return Refusal(NO_ROOM, (target, thing), trigger)
        if target in self._blocked:
            blocker, where, trigger = self._blocked[target]
            if action in trigger.fault.actions and known[blocker]["position"] == where:
                message = trigger.fault.what.message or obstacle_message(
                    action, known[blocker]["name"]
                )
                return Refusal(message, (target, blocker), trigger)
        return None


def obstacle_message(action: str, what: str = "Obstacle") -> str:
    if action in ("OpenObject", "CloseObject"):
        return f"Object failed to open/close successfully: {what} is blocking it."
    if action.startswith("Teleport"):
        return f"Collided with: {what}."
    if action in MOVES:
        return f"{what} is blocking Agent 0 from moving by (0.0000, 0.0000, 0.2500)."
    return _HIDDEN


# Injector -----------------------------------------------------------------------------------------

QUERY_ACTIONS = frozenset({"GetReachablePositions", "GetInteractablePoses"})
"""Actions that change nothing; they have no number, and no fault occurs at them."""

OBSERVING_ACTIONS = frozenset({"Pass", "Done", "NoOp"})

_REPLACING = frozenset(
    {FaultKind.SILENT, FaultKind.FAILED, FaultKind.BLOCKED, FaultKind.MISSING_STEP}
)
_DROPPING = frozenset({FaultKind.DROP, FaultKind.SLIPPERY})
_Facts = frozenset[Statement]


class FaultyEnvironment:
    """An environment with injected faults.

    World faults use the environment's own forced actions. Perception faults change only what
    `last_event` and the results of `step` report. `log` lists all injected faults.

    If the environment has `snapshot` and `restore`, like the kitchen, an action with a fault is
    first executed without the fault, so that the log contains exactly the fault's changes.
    Otherwise, the log contains every difference from the state before the action.
    """

    def __init__(self, env: Environment, schedule: Schedule) -> None:
        self.env = env
        self.schedule = schedule
        self._begin()

    def _begin(self) -> None:
        self._event = self._answer = first = self.env.last_event
        self._names = Names.from_metadata(first.metadata)
        seed = self.schedule.seed
        self._triggers = [Trigger(f, f"{seed}/{i}") for i, f in enumerate(self.schedule.faults)]
        for fault in self.schedule.faults:
            for name in fault.named:
                self._names.object_id(name)
        self._diversions = Diversions(self.env, self._names)
        self._obstacles = Obstacles(self.env)
        self._misreports: dict[Trigger, tuple[str, str, Any]] = {}
        self._active: list[Trigger] = []
        self._lenses: list[Lens] = []
        self._log: list[Injection] = []
        self._steps = self._looks = 0
        due = [t for t in self._triggers if t.due(0, "", "")]
        for trigger in (t for t in due if t.fault.kind not in PERCEPTION_KINDS):
            before = self._facts()
            if ids := self._interfere(trigger, ""):
                trigger.fired()
                self._record(trigger, "", ids, before, self._facts())
        self._report(first)
        self._active = [t for t in due if t.fault.kind in PERCEPTION_KINDS]
        self._look(self._event)

    @property
    def last_event(self) -> Event:
        return self._event

    @property
    def log(self) -> tuple[Injection, ...]:
        """Faults injected since the reset, in order. Noise is logged when it is first read."""
        return tuple(self._log)

    @property
    def steps(self) -> int:
        """Number of actions since the reset, not counting queries."""
        return self._steps

    def reset(self, scene: Any = None) -> Event:
        """Reset to the initial state of a scene, and restart the schedule and the log."""
        self.env.reset(scene)
        self._begin()
        return self._event

    def stop(self) -> None:
        stop = getattr(self.env, "stop", None)
        if stop is not None:
            stop()

    def step(self, action: str | dict[str, Any] | None = None, **kwargs: Any) -> Event:
        if isinstance(action, dict):
            kwargs = {**action, **kwargs}
            action = kwargs.pop("action", None)
        name = str(action)
        if name in QUERY_ACTIONS:
            for trigger in self._triggers:
                if trigger.standing(self._steps + 1):
                    kwargs = self._diversions.redirected(trigger, kwargs)
            return self._report(self.env.step(name, **kwargs))
        if name in OBSERVING_ACTIONS:
            self._looks += 1
            return self._look(self.env.step(name, **kwargs))
        self._steps += 1
        target = self._name(kwargs.get("objectId"))
        due = [t for t in self._triggers if t.due(self._steps, name, target)]
        world = [t for t in due if t.fault.kind not in PERCEPTION_KINDS]
        self._active, self._lenses = [t for t in due if t.fault.kind in PERCEPTION_KINDS], []
        try:
            if world or self._obstacles.refusal(name, kwargs) is not None:
                self._with_faults(name, kwargs, world)
            else:
                self._report(self.env.step(name, **kwargs))
        except ValueError:
            self._report(self.env.last_event)
            raise
        for trigger in self._active:
            trigger.fired()
        self._answer = self._event
        return self._look(self._event, name)

    def _with_faults(self, name: str, kwargs: dict[str, Any], due: list[Trigger]) -> None:
        # Faults that prevent, divert or replace the action come before it, the others after it. A
        # drop with an empty hand comes after it, to drop the object that the action takes.
        without = self._fault_free(name, kwargs)
        done: dict[Trigger, tuple[str, ...]] = {}
        late: list[Trigger] = []
        answer: Event | None = None
        sent, target = dict(kwargs), str(kwargs.get("objectId", ""))
        for trigger in due:
            kind = trigger.fault.kind
            ids: tuple[str, ...] = ()
            if kind is FaultKind.DROP and effects.held(self.env) is not None:
                ids = self._drop()
            elif kind is FaultKind.OCCUPIED:
                ids = self._interfere(trigger, target)
            elif kind in DIVERTING_KINDS:
                ids = self._diversions.divert(trigger, name, sent)
            elif kind not in _REPLACING:
                late.append(trigger)
            elif answer is None:
                answer, ids = self._replacement(trigger, name, target)
            if ids:
                done[trigger] = ids
        refusal = self._obstacles.refusal(name, sent)
        if answer is None and refusal is not None:
            answer = fabricated_event(name, False, refusal.message)
            done.setdefault(refusal.trigger, refusal.objects)
        if answer is None:
            answer = self.env.step(name, **sent)
        for trigger in late:
            falls = trigger.fault.kind in _DROPPING
            if ids := self._drop() if falls else self._interfere(trigger, target):
                done[trigger] = ids
        self._report(answer)
        for trigger, ids in done.items():
            trigger.fired()
            self._record(trigger, name, ids, without, self._facts())

    def _fault_free(self, name: str, kwargs: dict[str, Any]) -> _Facts:
        if not isinstance(self.env, Restorable):
            return self._facts()
        before = self.env.snapshot()
        try:
            return statements(self.env.step(name, **kwargs).metadata, self._names)
        finally:
            self.env.restore(before)

    def _replacement(
        self, trigger: Trigger, name: str, target: str
    ) -> tuple[Event, tuple[str, ...]]:
        kind, what = trigger.fault.kind, trigger.fault.what
        meant = target or effects.held(self.env) or ROBOT
        if kind is FaultKind.MISSING_STEP:
            return self._answer, (meant,)
        if kind is FaultKind.SILENT:
            return fabricated_event(name, True, ""), (meant,)
        ids: tuple[str, ...] = (meant,)
        message = obstacle_message(name)
        if kind is FaultKind.FAILED:
            message = f"{name} could not be done."
        elif what.other:
            blocker = self._names.object_id(what.other)
            self._obstacles.block(meant, blocker, trigger)
            message = obstacle_message(name, effects.entries(self.env)[blocker]["name"])
            ids = (meant, blocker)
        return fabricated_event(name, False, what.message or message), ids

    def _interfere(self, trigger: Trigger, target: str) -> tuple[str, ...]:
        ids = interfere(self.env, self._names, trigger, target)
        if ids and trigger.fault.kind is FaultKind.OCCUPIED:
            self._obstacles.occupy(ids[0], ids[1], trigger)
        return ids

    def _drop(self) -> tuple[str, ...]:
        hand = effects.held(self.env)
        return (hand,) if hand is not None and effects.drop(self.env) else ()

    def _look(self, event: Event, name: str = "") -> Event:
        self._lenses = []
        for trigger in self._active:
            if trigger.fault.kind is FaultKind.NOISE:
                lens = self._noise(trigger, name)
            else:
                wrong = self._misreports.get(trigger) or choose_misreport(
                    self.env, self._names, trigger
                )
                if wrong is None:
                    continue
                lens = misreporting_lens(wrong)
                if trigger not in self._misreports:
                    self._misreports[trigger] = wrong
                    true = statements(event.metadata, self._names)
                    reported = statements(lens(event.metadata), self._names)
                    self._record(trigger, name, wrong[:1], true, reported)
            self._lenses.append(lens)
        return self._report(event)

    def _noise(self, trigger: Trigger, name: str) -> Lens:
        number = self._triggers.index(trigger)
        seed = f"{self.schedule.seed}/{number}/{self._steps}/{self._looks}"
        logged = False

        def lens(metadata: Mapping[str, Any]) -> dict[str, Any]:
            nonlocal logged
            reported = with_noise(metadata, trigger.fault.what, seed)
            pairs = zip(metadata["objects"], reported["objects"], strict=True)
            changed = tuple(b["objectId"] for a, b in pairs if a is not b)
            if changed and not logged:
                logged = True
                true = statements(metadata, self._names)
                self._record(trigger, name, changed, true, statements(reported, self._names))
            return reported

        return lens

    def _report(self, answer: Event) -> Event:
        now = self.env.last_event
        event = answer if answer is now else combined_event(now, answer)
        for lens in self._lenses:
            event = event_through(event, lens)
        self._event = event
        return event

    def _record(
        self, trigger: Trigger, name: str, ids: tuple[str, ...], without: _Facts, now: _Facts
    ) -> None:
        self._log.append(
            Injection(
                step=self._steps,
                kind=trigger.fault.kind,
                action=name,
                objects=tuple(self._name(i) for i in ids),
                added=ordered(now - without),
                removed=ordered(without - now),
                fault=self._triggers.index(trigger),
            )
        )

    def _facts(self) -> _Facts:
        return statements(self.env.last_event.metadata, self._names)

    def _name(self, object_id: Any) -> str:
        return name_of(self._names, str(object_id)) if object_id else ""
