"""The kitchen simulator: actions in, events out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hvr.errors import UsageError
from hvr.values import Value
from hvr.worlds.environment import EnvironmentSetup, Event
from hvr.worlds.kitchen.actions import find_action
from hvr.worlds.kitchen.manipulation import hand_rotation
from hvr.worlds.kitchen.scene_changes import CAMERA_PLANES, map_view_camera
from hvr.worlds.kitchen.state import (
    HAND_AHEAD,
    HAND_BELOW,
    AgentPose,
    KitchenObject,
    KitchenSettings,
    KitchenState,
    profile_named,
)
from hvr.worlds.kitchen.state_changes import settle
from hvr.worlds.kitchen.visibility import (
    ActionFailedError,
    BadRequestError,
    Context,
    Room,
    is_visible,
)
from hvr.worlds.scenes import Box, Scene, Vec, load_scene
from hvr.worlds.thor.observe import PROPERTIES

# Metadata -----------------------------------------------------------------------------------------
# The state in AI2-THOR's metadata schema, built only on access.


def object_dict(
    thing: KitchenObject, contents: tuple[str, ...] | None, held: bool, carried: bool
) -> dict[str, Any]:
    """Return the metadata of an object as if the agent were far away.

    Args:
        contents: Ids of the objects in or on the object; None if it is not a receptacle.
        held: Whether the object itself is in the hand.
        carried: Whether the object or its receptacle is in the hand. AI2-THOR then reports no
            `parentReceptacles`.
    """
    spec = thing.spec
    has_body = "pickupable" in spec.properties or "moveable" in spec.properties
    entry: dict[str, Any] = {
        "name": spec.name,
        "position": vec_dict(thing.position),
        "rotation": vec_dict(thing.rotation),
        "visible": False,
        "isInteractable": False,
        **{prop: prop in spec.properties for prop in PROPERTIES},
        "isToggled": thing.is_toggled,
        "isBroken": thing.is_broken,
        "isFilledWithLiquid": thing.liquid is not None,
        "fillLiquid": thing.liquid or None,
        "isDirty": thing.is_dirty,
        "isUsedUp": thing.is_used_up,
        "isCooked": thing.is_cooked,
        "temperature": thing.temperature,
        "isSliced": thing.is_sliced,
        "isOpen": thing.is_open,
        "openness": thing.openness,
        "isPickedUp": held,
        "mass": spec.mass,
        "salientMaterials": None if spec.materials is None else list(spec.materials),
        "receptacleObjectIds": None if contents is None else list(contents),
        "distance": 0.0,
        "objectType": spec.object_type,
        "objectId": spec.object_id,
        "assetId": spec.asset_id,
        "parentReceptacles": list(thing.parents) if thing.parents and not carried else None,
        "controlledObjects": None if spec.controls is None else list(spec.controls),
        "isMoving": False,
        "axisAlignedBoundingBox": box_dict(thing.box),
        "objectOrientedBoundingBox": {"cornerPoints": corners(thing.box)} if has_body else None,
    }
    return entry


def vec_dict(vector: Vec) -> dict[str, float]:
    x, y, z = vector
    return {"x": round(x, 5), "y": round(y, 5), "z": round(z, 5)}


def corners(box: Box) -> list[list[float]]:
    xs, ys, zs = ((box.x1, box.x0), (box.y1, box.y0), (box.z1, box.z0))
    return [[round(x, 5), round(y, 5), round(z, 5)] for x in xs for y in ys for z in zs]


def box_dict(box: Box) -> dict[str, Any]:
    return {
        "cornerPoints": corners(box),
        "center": vec_dict(box.center),
        "size": vec_dict(box.size),
    }


class ActionReply(Value):
    """The result of an action, apart from the new state; the message is empty on success."""

    action: str
    success: bool
    message: str = ""
    code: str | None = None
    result: Any = None


class MetadataBuilder:
    """Builds metadata; the dicts of unchanged objects are shared between events."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._cache: dict[
            str, tuple[KitchenObject, tuple[str, ...] | None, bool, dict[str, Any]]
        ] = {}
        self._bounds = box_dict(room.bounds)
        self._last: KitchenState | None = None
        self._objects: list[dict[str, Any]] = []

    def later(self, world: KitchenState, answer: ActionReply) -> Callable[[], dict[str, Any]]:
        return lambda: self.build(world, answer)

    def build(self, world: KitchenState, answer: ActionReply) -> dict[str, Any]:
        settings = world.settings
        self._update_objects(world)
        result = answer.result
        return {
            "objects": list(self._objects),
            "isSceneAtRest": True,
            "agent": _agent(world.agent),
            "heldObjectPose": _held_pose(world),
            "arm": None,
            "fov": settings.field_of_view,
            **self._camera(world),
            "thirdPartyCameras": [dict(camera) for camera in world.extras.cameras],
            "collided": False,
            "collidedObjects": [],
            "inventoryObjects": _inventory(world),
            "sceneName": f"{self._room.scene.name}_physics",
            "lastAction": answer.action,
            "errorMessage": answer.message,
            "errorCode": answer.code,
            "lastActionSuccess": answer.success,
            "screenWidth": settings.width,
            "screenHeight": settings.height,
            **_unused_fields(),
            "currentTime": round(world.time, 4),
            "sceneBounds": self._bounds,
            "actionReturn": dict(result) if isinstance(result, Mapping) else result,
        }

    def _camera(self, world: KitchenState) -> dict[str, Any]:
        if world.extras.map_view:
            above = map_view_camera(self._room)
            return {
                "cameraPosition": above["position"],
                "cameraOrthSize": above["orthographicSize"],
            }
        camera = world.agent.camera
        return {
            "cameraPosition": {"x": camera.x, "y": camera.y, "z": camera.z},
            "cameraOrthSize": -1.0,
        }

    def _update_objects(self, world: KitchenState) -> None:
        last, self._last = self._last, world
        same_view = (
            last is not None
            and last.agent == world.agent
            and last.held == world.held
            and last.settings is world.settings
        )
        if last is None or not (same_view and last.things is world.things):
            self._objects = self._entries(world, last if same_view else None)

    def _entries(self, world: KitchenState, last: KitchenState | None) -> list[dict[str, Any]]:
        things, cache = world.things, self._cache
        if last is None:
            return [self._object(world, thing) for thing in things.values()]
        before = last.things
        doors = any(
            thing.openness != old.openness
            for object_id, thing in things.items()
            if (old := before.get(object_id)) is not thing and old is not None
        )
        objects = []
        for object_id, thing in things.items():
            known = cache.get(object_id)
            if (
                known is not None
                and known[0] is thing
                and before.get(object_id) is thing
                and not (doors and thing.parents)
                and (known[1] is None or known[1] == self._contents(world, thing))
            ):
                objects.append(known[3])
            else:
                objects.append(self._object(world, thing))
        return objects

    @staticmethod
    def _contents(world: KitchenState, thing: KitchenObject) -> tuple[str, ...] | None:
        if not thing.can("receptacle"):
            return None
        if thing.inert or thing.object_id == world.held:
            return ()
        return world.things.contents.get(thing.object_id, ())

    def _object(self, world: KitchenState, thing: KitchenObject) -> dict[str, Any]:
        object_id = thing.object_id
        held = object_id == world.held
        contents = self._contents(world, thing)
        carried = held or world.held in thing.parents
        seen = is_visible(world, self._room, object_id)
        distance = round(math.dist(world.agent.position, thing.position), 5)
        known = self._cache.get(object_id)
        if known and known[0] is thing and known[1] == contents and known[2] == carried:
            entry = known[3]
            if entry["distance"] == distance and entry["visible"] == seen:
                return entry
            entry = entry.copy()
            entry["visible"] = entry["isInteractable"] = seen
            entry["distance"] = distance
        else:
            entry = object_dict(thing, contents, held, carried)
            entry.update(visible=seen, isInteractable=seen, distance=distance)
            if held:  # a held object turns with the agent
                turned = any(world.extras.hand_turn)
                rotation = hand_rotation(world) if turned else (0.0, world.agent.yaw, 0.0)
                entry["rotation"] = vec_dict(rotation)
        self._cache[object_id] = (thing, contents, carried, entry)
        return entry


def _agent(agent: AgentPose) -> dict[str, Any]:
    return {
        "name": "agent",
        "position": vec_dict(agent.position),
        "rotation": {"x": 0.0, "y": agent.yaw, "z": 0.0},
        "cameraHorizon": agent.horizon,
        "isStanding": agent.standing,
        "inHighFrictionArea": False,
    }


def _held_pose(world: KitchenState) -> dict[str, Any]:
    right, up, ahead = world.extras.hand_shift
    return {
        "position": vec_dict(world.hand),
        "rotation": vec_dict(hand_rotation(world)),
        "localPosition": vec_dict((right, up - HAND_BELOW, ahead + HAND_AHEAD)),
        "localRotation": vec_dict(world.extras.hand_turn),
    }


def _inventory(world: KitchenState) -> list[dict[str, str]]:
    if world.held is None:
        return []
    held = world.things[world.held]
    return [{"objectId": held.object_id, "objectType": held.object_type}]


def _unused_fields() -> dict[str, Any]:
    return {
        "agentId": 0,
        "depthFormat": "Meters",
        "colors": None,
        "flatSurfacesOnGrid": [],
        "distances": [],
        "normals": [],
        "isOpenableGrid": [],
        "segmentedObjectIds": [],
        "objectIdsInBox": [],
        "actionIntReturn": 0,
        "actionFloatReturn": 0.0,
        "actionStringsReturn": [],
        "actionFloatsReturn": [],
        "actionVector3sReturn": [],
        "visibleRange": None,
    }


# Kitchen ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Snapshot:
    """A state of a kitchen, for `Kitchen.restore`; its fields are private."""

    scene: Scene
    world: KitchenState
    answer: ActionReply


class Kitchen:
    """A kitchen with AI2-THOR's actions, arguments, metadata and error messages.

    It is deterministic: the same scene, seed and actions give the same metadata.

    Args:
        scene: A scene, or its name or file; see `load_scene`.
        seed: Seed for the landing places of thrown objects.
        placement_table: Whether PutObject refuses pairs of types that AI2-THOR's placement table
            does not list, unless forced.
        profile: The version of AI2-THOR to simulate: `5` or `2.1.0`.
        settings: Grid, reach and other arguments of AI2-THOR's `Initialize`; None for its defaults.

    Raises:
        SceneError: The scene is unknown or cannot be loaded.
    """

    def __init__(
        self,
        scene: Scene | str = "FloorPlan1",
        seed: int = 0,
        *,
        placement_table: bool = True,
        profile: str = "5",
        settings: KitchenSettings | None = None,
    ) -> None:
        self._scene = load_scene(scene) if isinstance(scene, str) else scene
        self._seed = seed
        self._placement_table = placement_table
        self._profile = profile_named(profile)
        self._settings = settings or KitchenSettings()
        self.reset()

    @property
    def profile(self) -> str:
        """The version of AI2-THOR that the kitchen simulates."""
        return self._profile.name

    @property
    def world(self) -> KitchenState:
        return self._world

    @property
    def scene(self) -> Scene:
        return self._scene

    @property
    def last_event(self) -> Event:
        return self._event

    def reset(self, scene: Scene | str | None = None) -> Event:
        """See `Environment`; raises `SceneError` if the scene is unknown or cannot be loaded."""
        if scene is not None:
            self._scene = load_scene(scene) if isinstance(scene, str) else scene
        self._room = Room(self._scene)
        self._context = Context(self._room, self._placement_table, self._seed, self._profile)
        self._builder = MetadataBuilder(self._room)
        self._world = settle(KitchenState.initial(self._scene, self._settings), self._room)
        return self._publish(ActionReply("Initialize", True, result=CAMERA_PLANES))

    def step(self, action: str | dict[str, Any] | None = None, **kwargs: Any) -> Event:
        """Execute an action; see `Environment.step`.

        The event of a failed action is false in a condition, and its `errorMessage` gives the
        reason. As in AI2-THOR's client, `last_event` is updated even if the request raises
        `ValueError`.
        """
        if isinstance(action, dict):
            kwargs = {**action, **kwargs}
            action = kwargs.pop("action", None)
        name = str(action)
        try:
            spec = find_action(name, kwargs, self._profile)
        except BadRequestError as error:
            self._world = settle(self._world, self._room)
            self._publish(ActionReply(name, False, error.message, error.code))
            raise ValueError(error.message) from None
        try:
            world, result = spec.run(self._world, self._context, kwargs)
        except BadRequestError as error:
            self._publish(ActionReply(name, False, error.message, error.code))
            raise ValueError(error.message) from None
        except ActionFailedError as error:
            self._world = settle(self._world, self._room)
            return self._publish(ActionReply(name, False, error.message, error.code))
        self._world = settle(world, self._room, 0.0 if world.extras.paused else spec.seconds)
        return self._publish(ActionReply(name, True, "", None, result))

    def snapshot(self) -> Snapshot:
        return Snapshot(self._scene, self._world, self._answer)

    def restore(self, snapshot: Snapshot) -> Event:
        if snapshot.scene is not self._scene and snapshot.scene != self._scene:
            raise UsageError(
                f"the snapshot is of {snapshot.scene.name}, but the kitchen shows "
                f"{self._scene.name}: reset it to {snapshot.scene.name} first"
            )
        self._world = snapshot.world
        return self._publish(snapshot.answer)

    def stop(self) -> None:
        """Do nothing; AI2-THOR's controller has this method."""

    def _publish(self, answer: ActionReply) -> Event:
        self._answer = answer
        self._event = Event(self._builder.later(self._world, answer), answer.success)
        return self._event


def open_kitchen(setup: EnvironmentSetup) -> Kitchen:
    """Open the kitchen of a scene; raises `UsageError` if options are given."""
    if setup.options:
        raise UsageError(
            f"the kitchen has no option {setup.options[0]!r}; options of AI2-THOR need --env thor"
        )
    return Kitchen(setup.scene, setup.seed)
