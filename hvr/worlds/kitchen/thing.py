"""One object of the kitchen: an immutable value that an action turns into a new one."""

from __future__ import annotations

from typing import Any

from hvr.values import Value
from hvr.worlds.geometry import Box, Vec
from hvr.worlds.scenes import ObjectSpec

SHATTERS = frozenset(
    {"Bottle", "Bowl", "Cup", "Egg", "Mug", "Plate", "Statue", "Vase", "WineBottle"}
)
"""Types that fall to pieces when they break; anything else keeps its body."""


class Thing(Value):
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
        """Return the object as the scene starts."""
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
        """AI2-THOR's `objectId`."""
        return self.spec.object_id

    @property
    def object_type(self) -> str:
        """AI2-THOR's `objectType`."""
        return self.spec.object_type

    @property
    def is_open(self) -> bool:
        """It is open, however little."""
        return self.openness > 0.0

    def can(self, prop: str) -> bool:
        """Return whether the property field (`pickupable`, …) is true."""
        return prop in self.spec.properties

    def but(self, **changes: Any) -> Thing:
        """Return a copy with these fields changed; their names are not checked.

        Does what `dataclasses.replace` does, at a fraction of its cost.
        """
        new = object.__new__(Thing)
        new.__dict__.update(self.__dict__)
        new.__dict__.update(changes)
        return new

    def shifted(self, dx: float, dy: float, dz: float) -> Thing:
        """Return the same object elsewhere."""
        x, y, z = self.position
        b = self.box
        return self.but(
            position=(x + dx, y + dy, z + dz),
            box=Box(b.x0 + dx, b.y0 + dy, b.z0 + dz, b.x1 + dx, b.y1 + dy, b.z1 + dz),
        )

    def turned_back(self) -> Thing:
        """Return the same object in the middle of where it is, turned as it was at the start."""
        if self.rotation == self.spec.rotation:
            return self
        (x, y, z), (ox, oy, oz) = self.box.center, self.spec.box.center
        start = self.but(
            box=self.spec.box, position=self.spec.position, rotation=self.spec.rotation
        )
        return start.shifted(x - ox, y - oy, z - oz)

    def moved_to(self, center: Vec) -> Thing:
        """Return the same object with the middle of its box at `center`."""
        x, y, z = self.box.center
        return self.shifted(center[0] - x, center[1] - y, center[2] - z)
