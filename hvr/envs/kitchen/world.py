"""The state of the kitchen: immutable values that an action turns into new ones.

Because nothing is changed in place, a failed action leaves the world as it was, a
snapshot is a reference, and an event can describe its own moment at any later time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

from hvr.envs.geometry import Box, Camera, Vec
from hvr.envs.scenes import ObjectSpec, Scene

HAND_AHEAD = 0.38
"""The hand is this far ahead of the camera, metres."""

HAND_BELOW = 0.16
"""The hand is this far below the camera, metres."""


@dataclass(frozen=True, slots=True)
class Thing:
    """One object now. Fields named as in AI2-THOR's metadata mean the same.

    Args:
        spec: what never changes.
        position: pivot, metres.
        rotation: Euler angles, degrees.
        box: axis aligned box.
        parents: receptacles that hold it, innermost first; kept while the receptacle is
            carried.
        liquid: what fills it; the empty string when it is filled with something that
            AI2-THOR does not name, None when it is empty.
        inert: sliced or shattered: still listed, without a body.
    """

    spec: ObjectSpec
    position: Vec
    rotation: Vec
    box: Box
    parents: tuple[str, ...] = ()
    openness: float = 0.0
    is_toggled: bool = False
    is_broken: bool = False
    is_sliced: bool = False
    is_cooked: bool = False
    is_dirty: bool = False
    is_used_up: bool = False
    liquid: str | None = None
    temperature: str = "RoomTemp"
    inert: bool = False

    @classmethod
    def from_spec(cls, spec: ObjectSpec) -> Thing:
        """The object as the scene starts."""
        state = spec.state
        is_open = bool(state.get("isOpen", False))
        return cls(
            spec=spec,
            position=spec.position,
            rotation=spec.rotation,
            box=spec.box,
            parents=spec.parents,
            openness=float(state.get("openness", 1.0)) if is_open else 0.0,
            is_toggled=bool(state.get("isToggled", False)),
            is_broken=bool(state.get("isBroken", False)),
            is_cooked=bool(state.get("isCooked", False)),
            is_dirty=bool(state.get("isDirty", False)),
            liquid=(state.get("fillLiquid") or "") if state.get("isFilledWithLiquid") else None,
            temperature=str(state.get("temperature", "RoomTemp")),
        )

    @property
    def object_id(self) -> str:
        """AI2-THOR's `objectId`."""
        return self.spec.object_id

    @property
    def object_type(self) -> str:
        """AI2-THOR's `objectType`."""
        return self.spec.object_type

    @property
    def is_open(self) -> bool:
        """Open at all."""
        return self.openness > 0.0

    def can(self, prop: str) -> bool:
        """Whether the property field (`pickupable`, …) is true."""
        return prop in self.spec.properties

    def shifted(self, dx: float, dy: float, dz: float) -> Thing:
        """The same object elsewhere."""
        x, y, z = self.position
        b = self.box
        return replace(
            self,
            position=(x + dx, y + dy, z + dz),
            box=Box(b.x0 + dx, b.y0 + dy, b.z0 + dz, b.x1 + dx, b.y1 + dy, b.z1 + dz),
        )

    def turned_back(self) -> Thing:
        """The same object in the middle of where it is, turned as it was at the start."""
        if self.rotation == self.spec.rotation:
            return self
        (x, y, z), (ox, oy, oz) = self.box.center, self.spec.box.center
        start = replace(
            self, box=self.spec.box, position=self.spec.position, rotation=self.spec.rotation
        )
        return start.shifted(x - ox, y - oy, z - oz)

    def moved_to(self, center: Vec) -> Thing:
        """The same object with the middle of its box at `center`."""
        x, y, z = self.box.center
        return self.shifted(center[0] - x, center[1] - y, center[2] - z)


class Things(Mapping[str, Thing]):
    """All objects by id, in the order in which they came to be."""

    def __init__(self, by_id: dict[str, Thing]) -> None:
        self._by_id = by_id

    def __getitem__(self, object_id: str) -> Thing:
        return self._by_id[object_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_id)

    def __len__(self) -> int:
        return len(self._by_id)

    @cached_property
    def contents(self) -> Mapping[str, tuple[str, ...]]:
        """What each receptacle directly holds."""
        found: dict[str, list[str]] = {}
        for object_id, thing in self._by_id.items():
            for parent in thing.parents:
                found.setdefault(parent, []).append(object_id)
        return MappingProxyType({key: tuple(ids) for key, ids in found.items()})

    def deep_contents(self, object_id: str) -> tuple[str, ...]:
        """What a receptacle holds, and what that holds, at any depth."""
        result: dict[str, None] = {}
        todo = list(self.contents.get(object_id, ()))
        while todo:
            inner = todo.pop(0)
            if inner not in result:
                result[inner] = None
                todo.extend(self.contents.get(inner, ()))
        return tuple(result)

    def ancestors(self, object_id: str) -> tuple[str, ...]:
        """Receptacles around an object, nearest first, at any depth."""
        result: dict[str, None] = {}
        todo = list(self._by_id[object_id].parents)
        while todo:
            outer = todo.pop(0)
            if outer not in result and outer in self._by_id:
                result[outer] = None
                todo.extend(self._by_id[outer].parents)
        return tuple(result)

    def updated(self, changed: Iterable[Thing]) -> Things:
        """With these objects in their new state; new ones come last."""
        by_id = dict(self._by_id)
        for thing in changed:
            by_id[thing.spec.object_id] = thing
        return Things(by_id)


@dataclass(frozen=True, slots=True)
class Agent:
    """Where the agent stands and looks: metres and degrees."""

    position: Vec
    yaw: float
    horizon: float

    @property
    def camera(self) -> Camera:
        """Its eye."""
        return Camera.of_agent(self.position, self.yaw, self.horizon)

    @property
    def hand(self) -> Vec:
        """World position of the hand."""
        return self.camera.at(0.0, -HAND_BELOW, HAND_AHEAD)


@dataclass(frozen=True)
class World:
    """Everything that changes.

    Args:
        things: the objects.
        agent: the agent.
        held: id of what is in the hand.
        time: simulated seconds.
        timers: when what left a hot or cold place is at room temperature again.
        steps: number of actions so far.
    """

    things: Things
    agent: Agent
    held: str | None = None
    time: float = 0.0
    timers: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    steps: int = 0

    @classmethod
    def initial(cls, scene: Scene) -> World:
        """The first state of a scene."""
        return cls(
            things=Things({spec.object_id: Thing.from_spec(spec) for spec in scene.objects}),
            agent=Agent(scene.start_position, scene.start_yaw, scene.start_horizon),
        )

    def changed(self, *things: Thing) -> World:
        """With these objects in their new state."""
        return replace(self, things=self.things.updated(things))

    def with_agent(self, agent: Agent) -> World:
        """With the agent there; what it carries comes along."""
        world = replace(self, agent=agent)
        return world.carried() if world.held else world

    def carried(self) -> World:
        """With the held object, and what it holds, at the hand."""
        if self.held is None:
            return self
        held = self.things[self.held]
        x, y, z = held.position
        hx, hy, hz = self.agent.hand
        delta = (hx - x, hy - y, hz - z)
        if not any(delta):
            return self
        moved = [held, *(self.things[i] for i in self.things.deep_contents(self.held))]
        return self.changed(*(thing.shifted(*delta) for thing in moved))
