"""The state of the kitchen: an immutable value that an action turns into a new one.

Because nothing is changed in place, a failed action leaves the world as it was, a
snapshot is a reference, and an event can describe its own moment at any later time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from hvr.worlds.geometry import Camera, Vec
from hvr.worlds.kitchen.settings import KitchenSettings
from hvr.worlds.kitchen.thing import Thing
from hvr.worlds.kitchen.things import Things
from hvr.worlds.scenes import Scene

__all__ = ["CROUCH", "HAND_AHEAD", "HAND_BELOW", "AgentPose", "KitchenState", "Thing", "Things"]

HAND_AHEAD = 0.38
"""The hand is this far ahead of the camera, metres."""

HAND_BELOW = 0.16
"""The hand is this far below the camera, metres."""

CROUCH = 0.22
"""The crouching agent's camera is this much lower, metres."""


@dataclass(frozen=True, slots=True)
class AgentPose:
    """Pose of the agent, in metres and degrees."""

    position: Vec
    yaw: float
    horizon: float
    standing: bool = True

    @property
    def camera(self) -> Camera:
        """Its eye."""
        eye = Camera.of_agent(self.position, self.yaw, self.horizon)
        return eye if self.standing else eye._replace(y=eye.y - CROUCH)

    @property
    def hand(self) -> Vec:
        """World position of the hand."""
        return self.camera.at(0.0, -HAND_BELOW, HAND_AHEAD)


@dataclass(frozen=True)
class KitchenState:
    """Everything that changes.

    Args:
        things: the objects.
        agent: the agent.
        held: id of what is in the hand.
        time: simulated seconds.
        timers: when what left a hot or cold place is at room temperature again.
        steps: number of actions so far.
        settings: what `Initialize` and the temperature actions set.
    """

    things: Things
    agent: AgentPose
    held: str | None = None
    time: float = 0.0
    timers: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    steps: int = 0
    settings: KitchenSettings = field(default_factory=KitchenSettings)

    @classmethod
    def initial(cls, scene: Scene, settings: KitchenSettings | None = None) -> KitchenState:
        """Return the first state of a scene."""
        return cls(
            things=Things({spec.object_id: Thing.from_spec(spec) for spec in scene.objects}),
            agent=AgentPose(
                scene.start_position, scene.start_yaw, scene.start_horizon, scene.start_standing
            ),
            held=scene.held,
            settings=settings or KitchenSettings(),
        )

    def but(self, **changes: Any) -> KitchenState:
        """Return a copy with these fields changed; their names are not checked."""
        new = object.__new__(KitchenState)
        new.__dict__.update(self.__dict__)
        new.__dict__.update(changes)
        return new

    def changed(self, *things: Thing) -> KitchenState:
        """Return the state with these objects as they are now."""
        return self.but(things=self.things.updated(things))

    def moved(self, before: Thing, after: Thing) -> KitchenState:
        """Return the state with an object elsewhere, and what it holds moved along."""
        (x, y, z), (ox, oy, oz) = after.box.center, before.box.center
        inner = [
            self.things[i].shifted(x - ox, y - oy, z - oz)
            for i in self.things.deep_contents(before.object_id)
        ]
        return self.changed(after, *inner)

    def with_agent(self, agent: AgentPose) -> KitchenState:
        """Return the state with the agent there; what it carries comes along."""
        world = self.but(agent=agent)
        return world.carried() if world.held else world

    def carried(self) -> KitchenState:
        """Return the state with the held object, and what that holds, at the hand."""
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
