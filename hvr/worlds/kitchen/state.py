"""The state of the kitchen: immutable values, replaced by actions."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from hvr.errors import UsageError
from hvr.values import Value
from hvr.worlds.scenes import Box, Camera, ObjectSpec, Scene, Vec

# Objects ------------------------------------------------------------------------------------------

SHATTERS = frozenset(
    {"Bottle", "Bowl", "Cup", "Egg", "Mug", "Plate", "Statue", "Vase", "WineBottle"}
)
"""Types that shatter when they break; all others stay in one piece."""


class KitchenObject(Value):
    """The state of one object. Fields named as in AI2-THOR's metadata have the same meaning.

    Args:
        position: Pivot in metres.
        rotation: Euler angles in degrees.
        parents: Receptacles that hold the object, innermost first; kept while the receptacle is
            carried.
        liquid: Liquid in the object; empty if AI2-THOR does not name it, None if there is none.
        inert: Whether the object was sliced or shattered: still listed, but without a body.
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
    def from_spec(cls, spec: ObjectSpec) -> KitchenObject:
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
            is_sliced=bool(state.get("isSliced", False)),
            is_used_up=bool(state.get("isUsedUp", False)),
            inert=bool(state.get("isSliced", False))
            or (bool(state.get("isBroken", False)) and spec.object_type in SHATTERS),
            is_cooked=bool(state.get("isCooked", False)),
            is_dirty=bool(state.get("isDirty", False)),
            liquid=(state.get("fillLiquid") or "") if state.get("isFilledWithLiquid") else None,
            temperature=str(state.get("temperature", "RoomTemp")),
        )

    @property
    def object_id(self) -> str:
        return self.spec.object_id

    @property
    def object_type(self) -> str:
        return self.spec.object_type

    @property
    def is_open(self) -> bool:
        return self.openness > 0.0

    def can(self, prop: str) -> bool:
        """Return whether a property field such as `pickupable` is true."""
        return prop in self.spec.properties

    def but(self, **changes: Any) -> KitchenObject:
        """Return a copy with changed fields, whose names are not checked."""
        new = object.__new__(KitchenObject)
        new.__dict__.update(self.__dict__)
        new.__dict__.update(changes)
        return new

    def shifted(self, dx: float, dy: float, dz: float) -> KitchenObject:
        x, y, z = self.position
        b = self.box
        return self.but(
            position=(x + dx, y + dy, z + dz),
            box=Box(b.x0 + dx, b.y0 + dy, b.z0 + dz, b.x1 + dx, b.y1 + dy, b.z1 + dz),
        )

    def turned_back(self) -> KitchenObject:
        """Return the object with its initial rotation around its current centre."""
        if self.rotation == self.spec.rotation:
            return self
        (x, y, z), (ox, oy, oz) = self.box.center, self.spec.box.center
        start = self.but(
            box=self.spec.box, position=self.spec.position, rotation=self.spec.rotation
        )
        return start.shifted(x - ox, y - oy, z - oz)

    def moved_to(self, center: Vec) -> KitchenObject:
        x, y, z = self.box.center
        return self.shifted(center[0] - x, center[1] - y, center[2] - z)


# Object collection --------------------------------------------------------------------------------

_IN_THE_WAY = frozenset({"Faucet", "StoveKnob", "Fridge"})
_FURNITURE = frozenset({"Chair", "DiningTable", "ShelvingUnit", "SideTable", "Stool"})


class KitchenObjects(Mapping[str, KitchenObject]):
    """All objects by id, in order of creation.

    A changed copy reuses the indices, so apart from copying one dict, its cost does not depend on
    the number of objects.
    """

    __slots__ = ("_bodies", "_by_id", "_contents", "_warm")

    def __init__(self, by_id: dict[str, KitchenObject]) -> None:
        self._by_id = by_id
        contents: dict[str, tuple[str, ...]] = {}
        for object_id, thing in by_id.items():
            for parent in thing.parents:
                contents[parent] = (*contents.get(parent, ()), object_id)
        self._contents = contents
        self._warm = frozenset(i for i, t in by_id.items() if t.temperature != "RoomTemp")
        self._bodies = {i: t.box for i, t in by_id.items() if _is_body(t)}

    def __getitem__(self, object_id: str) -> KitchenObject:
        return self._by_id[object_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_id)

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, object_id: object) -> bool:
        return object_id in self._by_id

    # Overridden for speed: Mapping's views and `get` go through __getitem__.

    def keys(self) -> KeysView[str]:
        return self._by_id.keys()

    def values(self) -> ValuesView[KitchenObject]:
        return self._by_id.values()

    def items(self) -> ItemsView[str, KitchenObject]:
        return self._by_id.items()

    def get(self, object_id: str, default: Any = None) -> Any:
        return self._by_id.get(object_id, default)

    @property
    def contents(self) -> Mapping[str, tuple[str, ...]]:
        """Ids of the direct contents of each receptacle."""
        return self._contents

    @property
    def warm(self) -> frozenset[str]:
        """Ids of the objects that are not at room temperature."""
        return self._warm

    @property
    def bodies(self) -> Mapping[str, Box]:
        """Boxes of the objects that can obstruct a placement, by id."""
        return self._bodies

    def deep_contents(self, object_id: str) -> tuple[str, ...]:
        """Return the contents of a receptacle at any depth.

        Fixtures are excluded, because AI2-THOR reports some of them as contents of objects that
        they only touch.
        """
        direct = self._contents.get(object_id)
        if not direct:
            return ()
        result: dict[str, None] = {}
        todo = list(direct)
        for inner in todo:
            if inner not in result and inner != object_id:
                if self._by_id[inner].spec.is_fixture:
                    continue
                result[inner] = None
                todo.extend(self._contents.get(inner, ()))
        return tuple(result)

    def ancestors(self, object_id: str) -> tuple[str, ...]:
        """Return the receptacles around an object, nearest first.

        Receptacles of fixtures do not count, for the reason given in `deep_contents`.
        """
        thing = self._by_id[object_id]
        if not thing.parents or thing.spec.is_fixture:
            return ()
        result: dict[str, None] = {}
        todo = list(thing.parents)
        for outer in todo:
            if outer not in result and outer != object_id and outer in self._by_id:
                result[outer] = None
                if not self._by_id[outer].spec.is_fixture:
                    todo.extend(self._by_id[outer].parents)
        return tuple(result)

    def updated(self, changed: Iterable[KitchenObject]) -> KitchenObjects:
        """Return the collection with changed and new objects; new objects come last.

        An index is copied only when it changes, since most actions change a single object and none
        of its relations.
        """
        by_id = self._by_id.copy()
        contents, warm, bodies = self._contents, self._warm, self._bodies
        for thing in changed:
            object_id = thing.spec.object_id
            old = by_id.get(object_id)
            by_id[object_id] = thing
            before = old.parents if old is not None else ()
            if thing.parents != before:
                if contents is self._contents:
                    contents = contents.copy()
                _relate(contents, object_id, before, thing.parents)
            if (thing.temperature != "RoomTemp") != (object_id in warm):
                warm = warm ^ {object_id}
            known = bodies.get(object_id)
            if (known is not thing.box or thing.inert) and (known is not None or _is_body(thing)):
                if bodies is self._bodies:
                    bodies = bodies.copy()
                if thing.inert:
                    bodies.pop(object_id, None)
                else:
                    bodies[object_id] = thing.box
        new = KitchenObjects.__new__(KitchenObjects)
        new._by_id, new._contents, new._warm, new._bodies = by_id, contents, warm, bodies
        return new


def _is_body(thing: KitchenObject) -> bool:
    kind = thing.spec.object_type
    return not thing.inert and (
        kind in _IN_THE_WAY or not (thing.spec.is_fixture or kind in _FURNITURE)
    )


def _relate(
    contents: dict[str, tuple[str, ...]],
    object_id: str,
    before: tuple[str, ...],
    after: tuple[str, ...],
) -> None:
    for parent in before:
        if parent not in after:
            left = tuple(i for i in contents[parent] if i != object_id)
            if left:
                contents[parent] = left
            else:
                del contents[parent]
    for parent in after:
        if parent not in before:
            contents[parent] = (*contents.get(parent, ()), object_id)


# Settings -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class KitchenSettings:
    """Arguments of AI2-THOR's `Initialize` and of the temperature actions.

    Args:
        grid_size: Length of a move and distance of grid points, in metres.
        snap_to_grid: Whether positions after a move are multiples of `grid_size`.
        rotate_step: Default angle of a rotation in degrees.
        visibility_distance: Range of sight and reach in metres.
        field_of_view: Vertical and horizontal field of view in degrees.
        decay_time: Simulated seconds after which an object that has left a hot or cold place is at
            room temperature.
        decays: Whether objects return to room temperature.
    """

    grid_size: float = 0.25
    snap_to_grid: bool = True
    rotate_step: float = 90.0
    visibility_distance: float = 1.5
    field_of_view: float = 90.0
    width: int = 300
    height: int = 300
    decay_time: float = 10.0
    decays: bool = True


class Profile(Value):
    """Differences between versions of AI2-THOR; docs/reference/kitchen.md lists the sources.

    Args:
        first_piece: Number of the first piece in ids (`…|AppleSliced_0`).
        put_names_both: Whether PutObject takes the held object as `objectId` and the receptacle as
            `receptacleObjectId`; otherwise, `objectId` is the receptacle.
        look_step: Default angle of LookUp and LookDown in degrees.
    """

    name: str
    first_piece: int = 0
    put_names_both: bool = False
    look_step: float = 30.0


THOR_5 = Profile("5")
"""AI2-THOR 5, the default."""

THOR_2_1_0 = Profile("2.1.0", first_piece=1, put_names_both=True, look_step=15.0)
"""AI2-THOR 2.1.0, the version used by ALFRED."""

PROFILES = MappingProxyType({profile.name: profile for profile in (THOR_5, THOR_2_1_0)})
"""All profiles by name."""


def profile_named(name: str) -> Profile:
    profile = PROFILES.get(name)
    if profile is None:
        raise UsageError(f"unknown profile {name!r} of AI2-THOR (profiles: {', '.join(PROFILES)})")
    return profile


def initialized(settings: KitchenSettings, args: Mapping[str, Any]) -> KitchenSettings:
    """Return the settings after `Initialize`; raise a ValueError for a number not above 0.

    Unknown arguments are ignored.
    """
    changed: dict[str, Any] = {}
    for argument, name in _ARGUMENTS.items():
        value = args.get(argument)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
            raise ValueError(f"{argument} must be a number > 0")
        changed[name] = int(value) if name in ("width", "height") else float(value)
    if args.get("snapToGrid") is not None:
        changed["snap_to_grid"] = bool(args["snapToGrid"])
    return replace(settings, **changed) if changed else settings


_ARGUMENTS = MappingProxyType(
    {
        "gridSize": "grid_size",
        "rotateStepDegrees": "rotate_step",
        "visibilityDistance": "visibility_distance",
        "fieldOfView": "field_of_view",
        "width": "width",
        "height": "height",
    }
)


@dataclass(frozen=True, slots=True)
class SceneExtras:
    """The parts of a state that are rarely used.

    Args:
        disabled: Objects that `DisableObject` removed from the scene.
        hand_shift: Offset of the hand from its default place (right, up, ahead), in metres.
        hand_turn: Rotation of the hand relative to the agent, in degrees.
        paused: Whether simulated time stands still between actions.
        map_view: Whether the agent's camera shows the room from above.
    """

    cameras: tuple[Mapping[str, Any], ...] = ()
    disabled: tuple[KitchenObject, ...] = ()
    hand_shift: Vec = (0.0, 0.0, 0.0)
    hand_turn: Vec = (0.0, 0.0, 0.0)
    paused: bool = False
    map_view: bool = False


NO_EXTRAS = SceneExtras()

# State --------------------------------------------------------------------------------------------
# States are immutable: a failed action leaves the state unchanged, a snapshot is a reference, and
# an event can describe its own state at any later time.

HAND_AHEAD = 0.38
"""Distance of the hand in front of the camera in metres."""

HAND_BELOW = 0.16
"""Distance of the hand below the camera in metres."""

CROUCH = 0.22
"""Distance in metres by which crouching lowers the camera."""


@dataclass(frozen=True, slots=True)
class AgentPose:
    """Pose of the agent, in metres and degrees."""

    position: Vec
    yaw: float
    horizon: float
    standing: bool = True

    @property
    def camera(self) -> Camera:
        eye = Camera.of_agent(self.position, self.yaw, self.horizon)
        return eye if self.standing else eye._replace(y=eye.y - CROUCH)


@dataclass(frozen=True)
class KitchenState:
    """The variable part of a kitchen.

    Args:
        held: Id of the object in the hand, if any.
        time: Simulated seconds since the start.
        timers: Simulated time at which each hot or cold object returns to room temperature.
        steps: Number of actions since the start.
    """

    things: KitchenObjects
    agent: AgentPose
    held: str | None = None
    time: float = 0.0
    timers: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    steps: int = 0
    settings: KitchenSettings = field(default_factory=KitchenSettings)
    extras: SceneExtras = NO_EXTRAS

    @classmethod
    def initial(cls, scene: Scene, settings: KitchenSettings | None = None) -> KitchenState:
        return cls(
            things=KitchenObjects(
                {spec.object_id: KitchenObject.from_spec(spec) for spec in scene.objects}
            ),
            agent=AgentPose(
                scene.start_position, scene.start_yaw, scene.start_horizon, scene.start_standing
            ),
            held=scene.held,
            settings=settings or KitchenSettings(),
        )

    def but(self, **changes: Any) -> KitchenState:
        """Return a copy with changed fields, whose names are not checked."""
        new = object.__new__(KitchenState)
        new.__dict__.update(self.__dict__)
        new.__dict__.update(changes)
        return new

    def changed(self, *things: KitchenObject) -> KitchenState:
        return self.but(things=self.things.updated(things))

    def moved(self, before: KitchenObject, after: KitchenObject) -> KitchenState:
        (x, y, z), (ox, oy, oz) = after.box.center, before.box.center
        inner = [
            self.things[i].shifted(x - ox, y - oy, z - oz)
            for i in self.things.deep_contents(before.object_id)
        ]
        return self.changed(after, *inner)

    def with_agent(self, agent: AgentPose) -> KitchenState:
        """Return the state with a new agent pose; the held object moves with the agent."""
        world = self.but(agent=agent)
        return world.with_hand_reset().carried() if world.held else world

    def with_hand_reset(self) -> KitchenState:
        extras = self.extras
        if extras.hand_shift == extras.hand_turn == NO_EXTRAS.hand_turn:
            return self
        return self.but(extras=replace(extras, hand_shift=(0.0,) * 3, hand_turn=(0.0,) * 3))

    @property
    def hand(self) -> Vec:
        """World position of the hand."""
        right, up, ahead = self.extras.hand_shift
        return self.agent.camera.at(right, up - HAND_BELOW, HAND_AHEAD + ahead)

    def carried(self) -> KitchenState:
        """Return the state with the held object and its contents at the hand."""
        if self.held is None:
            return self
        held = self.things[self.held]
        x, y, z = held.position
        hx, hy, hz = self.hand
        delta = (hx - x, hy - y, hz - z)
        if not any(delta):
            return self
        moved = [held, *(self.things[i] for i in self.things.deep_contents(self.held))]
        return self.changed(*(thing.shifted(*delta) for thing in moved))
