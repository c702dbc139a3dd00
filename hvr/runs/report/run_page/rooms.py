"""The floor plan of a run after each of its steps, from the facts that the steps changed."""

from __future__ import annotations

import math
from collections.abc import Iterable

from hvr.runs.report.floor_plan.plan import FloorPlan, ObjectKind, Pose, Shape
from hvr.runs.report.run_page.story import Story, StoryStep
from hvr.worlds.geometry import Box

_WORDS = {"opened": "open", "toggled": "on"}
_STATES = frozenset("opened toggled sliced cracked cooked hot cold dirty broken".split())
_REACH = 0.32
"""Distance of a held object in front of the robot's middle, in metres."""
_SLOTS = (0.0, 0.25, -0.25, 0.4, -0.4)
"""Where objects are put beside each other, as parts of the free width."""


def plans_by_step(story: Story) -> list[FloorPlan]:
    """Return the floor plan before the first step and after each step.

    Objects that the robot moves are drawn on their new places, beside each other. Their exact
    positions are not recorded.
    """
    assert story.before is not None
    room = _Room(story)
    plans = [room.plan(story.before.agent)]
    for step in story.steps:
        added, deleted = observed(step)
        for fact in deleted:
            room.end(*_parts(fact))
        # Pieces must be there before they are put anywhere.
        for fact in sorted(added, key=lambda fact: not fact.startswith("(present ")):
            room.begin(*_parts(fact))
        plans.append(room.plan(step.pose or plans[-1].agent))
    return plans


def observed(step: StoryStep) -> tuple[list[str], list[str]]:
    """Return the facts that a step made true and false, as observed or believed."""
    if step.changed:
        ended = [fact[5:-1] for fact in step.changed if fact.startswith("(not ")]
        return [fact for fact in step.changed if not fact.startswith("(not ")], ended
    added, deleted = step.expected or ((), ())
    begun = [fact for fact in added if fact not in step.missing]
    kept = [fact for fact in deleted if fact not in step.unexpected]
    lost = [fact for fact in step.missing if fact not in added]
    return [*begun, *step.unexpected], [*kept, *lost]


def _parts(fact: str) -> tuple[str, str, str]:
    name, first, second, *_ = [*fact.strip("()").split(), "", "", ""]
    return name, first, second


class _Room:
    """The objects of a room while a run changes them."""

    def __init__(self, story: Story) -> None:
        assert story.before is not None
        self._before = story.before
        self._pieces = {shape.name: shape for shape in (story.after or story.before).shapes}
        self._shapes = {shape.name: shape for shape in story.before.shapes}
        self._held = story.before.held
        self._dropped: str | None = None
        inside = [shape for shape in story.before.shapes if shape.enclosed]
        self._inside = {shape.name for shape in inside}
        steps = [fact for step in story.steps for fact in (*observed(step)[0], *observed(step)[1])]
        opened = {_parts(fact)[1] for fact in steps if _parts(fact)[0] == "opened"}
        self._doors = opened | {shape.place for shape in inside}

    def plan(self, agent: Pose) -> FloorPlan:
        """Return the present floor plan, with the held object in front of the robot."""
        turn = math.radians(agent.yaw)
        x, z = agent.x + _REACH * math.sin(turn), agent.z + _REACH * math.cos(turn)
        for name in (self._held, self._dropped):
            if (shape := self._shapes.get(name or "")) is not None:
                self._move(shape, x, z)
        self._dropped = None
        shapes = (
            shape.replace(enclosed=self._is_enclosed(shape)) for shape in self._shapes.values()
        )
        return self._before.replace(shapes=tuple(shapes), agent=agent, held=self._held)

    def _move(self, shape: Shape, x: float, z: float) -> None:
        """Move an object with all that is on it or in it."""
        dx, dz = x - shape.box.center[0], z - shape.box.center[2]
        moved = {shape.name}
        while more := {
            name
            for name, one in self._shapes.items()
            if one.place in moved and name not in moved and name != self._held
        }:
            moved |= more
        for name in moved:
            one = self._shapes[name]
            self._shapes[name] = one.replace(box=_shifted(one.box, dx, dz))

    def begin(self, name: str, first: str, second: str) -> None:
        """Let a fact be true."""
        if name == "present" and first in self._pieces:
            self._shapes.setdefault(first, self._pieces[first].replace(state=()))
        if (shape := self._shapes.get(first)) is None:
            return
        if name == "holding":
            self._held, self._dropped = first, None
            self._inside.discard(first)
            self._shapes[first] = shape.replace(place="")
        elif name in ("on", "in"):
            self._put(shape, second, inside=name == "in")
        elif name == "contains" or (name == "filled" and not _liquid(shape)):
            kept = [word for word in shape.state if not word.startswith("filled")]
            self._states(shape, [*kept, f"filled with {second or 'water'}"])
        elif name in _STATES:
            self._states(shape, dict.fromkeys((*shape.state, _WORDS.get(name, name))))

    def end(self, name: str, first: str, second: str) -> None:
        """Let a fact be false."""
        if (shape := self._shapes.get(first)) is None:
            return
        if name == "holding" and self._held == first:
            self._held, self._dropped = None, first
        elif name in ("on", "in") and shape.place == second:
            self._inside.discard(first)
            self._shapes[first] = shape.replace(place="")
        elif name == "present":
            del self._shapes[first]
        elif name == "filled":
            self._states(shape, [word for word in shape.state if not word.startswith("filled")])
        elif name in _STATES:
            ended = _WORDS.get(name, name)
            self._states(shape, [word for word in shape.state if word != ended])

    def _states(self, shape: Shape, state: Iterable[str]) -> None:
        self._shapes[shape.name] = shape.replace(state=tuple(state))

    def _put(self, shape: Shape, place: str, *, inside: bool) -> None:
        if inside:
            self._inside.add(shape.name)
        self._held = None if self._held == shape.name else self._held
        self._shapes[shape.name] = shape.replace(place=place)
        there = self._shapes.get(place)
        if there is not None and there.kind is not ObjectKind.FLOOR:
            self._dropped = None
            self._move(self._shapes[shape.name], *self._free(shape, there))

    def _free(self, shape: Shape, place: Shape) -> tuple[float, float]:
        """Return the middle of a free spot on a place."""
        others = [
            one.box.center[0]
            for one in self._shapes.values()
            if one.place == place.name and one.name != shape.name
        ]
        width = shape.box.x1 - shape.box.x0
        room = max(0.0, place.box.x1 - place.box.x0 - width)
        x, _, z = place.box.center
        slots = [x + part * room for part in _SLOTS]
        free = [slot for slot in slots if all(abs(slot - other) > width for other in others)]
        return (free or slots)[0], z

    def _is_enclosed(self, shape: Shape) -> bool:
        # Things are inside of things: a bowl in a drawer has its own contents.
        seen: set[str] = set()
        while shape.name not in seen and (place := self._shapes.get(shape.place)) is not None:
            shut = place.name in self._doors and "open" not in place.state
            if shape.name in self._inside and shut:
                return True
            seen.add(shape.name)
            shape = place
        return False


def _liquid(shape: Shape) -> str:
    return next((word for word in shape.state if word.startswith("filled with ")), "")


def _shifted(box: Box, dx: float, dz: float) -> Box:
    return Box(box.x0 + dx, box.y0, box.z0 + dz, box.x1 + dx, box.y1, box.z1 + dz)
