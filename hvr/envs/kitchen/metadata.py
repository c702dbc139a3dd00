"""The world in AI2-THOR's metadata schema, built only when somebody reads it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hvr.envs.geometry import Box, Vec
from hvr.envs.kitchen.room import Room
from hvr.envs.kitchen.visibility import is_visible
from hvr.envs.kitchen.world import HAND_AHEAD, HAND_BELOW, Thing, World

_PROPERTIES = (
    "receptacle",
    "toggleable",
    "breakable",
    "canFillWithLiquid",
    "dirtyable",
    "canBeUsedUp",
    "cookable",
    "isHeatSource",
    "isColdSource",
    "sliceable",
    "openable",
    "pickupable",
    "moveable",
)


@dataclass(frozen=True)
class Answer:
    """What an action has to say beside the new world.

    Args:
        action: its name.
        success: whether it succeeded.
        message: `errorMessage`, empty on success.
        code: `errorCode`.
        result: `actionReturn`.
    """

    action: str
    success: bool
    message: str = ""
    code: str | None = None
    result: Any = None


class MetadataBuilder:
    """Makes metadata; remembers the dict of each object and uses it again while it is true.

    Args:
        room: the unchanging part of the scene.
    """

    def __init__(self, room: Room) -> None:
        self._room = room
        self._cache: dict[str, tuple[Thing, tuple[str, ...] | None, bool, dict[str, Any]]] = {}
        self._bounds = box_dict(room.bounds)
        self._last: World | None = None
        self._objects: list[dict[str, Any]] = []

    def later(self, world: World, answer: Answer) -> Callable[[], dict[str, Any]]:
        """A function that makes the metadata of this moment when called."""
        return lambda: self.build(world, answer)

    def build(self, world: World, answer: Answer) -> dict[str, Any]:
        """The metadata of the agent."""
        agent = world.agent
        camera = agent.camera
        last, self._last = self._last, world
        if last is None or not (
            last.things is world.things and last.agent == agent and last.held == world.held
        ):
            self._objects = [self._object(world, thing) for thing in world.things.values()]
        inventory = []
        if world.held is not None:
            held = world.things[world.held]
            inventory.append({"objectId": held.object_id, "objectType": held.object_type})
        tilt = {"x": agent.horizon, "y": agent.yaw, "z": 0.0}
        return {
            "objects": list(self._objects),
            "isSceneAtRest": True,
            "agent": {
                "name": "agent",
                "position": vec_dict(agent.position),
                "rotation": {"x": 0.0, "y": agent.yaw, "z": 0.0},
                "cameraHorizon": agent.horizon,
                "isStanding": True,
                "inHighFrictionArea": False,
            },
            "heldObjectPose": {
                "position": vec_dict(agent.hand),
                "rotation": tilt,
                "localPosition": {"x": 0.0, "y": -HAND_BELOW, "z": HAND_AHEAD},
                "localRotation": {"x": 0.0, "y": 0.0, "z": 0.0},
            },
            "arm": None,
            "fov": 90.0,
            "cameraPosition": {"x": camera.x, "y": camera.y, "z": camera.z},
            "cameraOrthSize": -1.0,
            "thirdPartyCameras": [],
            "collided": False,
            "collidedObjects": [],
            "inventoryObjects": inventory,
            "sceneName": f"{self._room.scene.name}_physics",
            "lastAction": answer.action,
            "errorMessage": answer.message,
            "errorCode": answer.code,
            "lastActionSuccess": answer.success,
            "screenWidth": 300,
            "screenHeight": 300,
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
            "currentTime": round(world.time, 4),
            "sceneBounds": self._bounds,
            "actionReturn": answer.result,
        }

    def _object(self, world: World, thing: Thing) -> dict[str, Any]:
        object_id = thing.object_id
        held = object_id == world.held
        contents: tuple[str, ...] | None = None
        if thing.can("receptacle"):
            contents = () if held or thing.inert else world.things.contents.get(object_id, ())
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
        self._cache[object_id] = (thing, contents, carried, entry)
        return entry


def object_dict(
    thing: Thing, contents: tuple[str, ...] | None, held: bool, carried: bool
) -> dict[str, Any]:
    """Metadata of one object as if far from the agent.

    Args:
        thing: the object.
        contents: what it directly holds, None when it is no receptacle.
        held: it is in the hand.
        carried: it is in the hand or rests in what is in the hand; AI2-THOR reports no
            `parentReceptacles` for it then.
    """
    spec = thing.spec
    has_body = "pickupable" in spec.properties or "moveable" in spec.properties
    entry: dict[str, Any] = {
        "name": spec.name,
        "position": vec_dict(thing.position),
        "rotation": vec_dict(thing.rotation),
        "visible": False,
        "isInteractable": False,
        **{prop: prop in spec.properties for prop in _PROPERTIES},
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
    """A point as AI2-THOR writes it."""
    x, y, z = vector
    return {"x": round(x, 5), "y": round(y, 5), "z": round(z, 5)}


def corners(box: Box) -> list[list[float]]:
    """The 8 corner points in AI2-THOR's order."""
    xs, ys, zs = ((box.x1, box.x0), (box.y1, box.y0), (box.z1, box.z0))
    return [[round(x, 5), round(y, 5), round(z, 5)] for x in xs for y in ys for z in zs]


def box_dict(box: Box) -> dict[str, Any]:
    """A box as AI2-THOR writes it."""
    return {
        "cornerPoints": corners(box),
        "center": vec_dict(box.center),
        "size": vec_dict(box.size),
    }
