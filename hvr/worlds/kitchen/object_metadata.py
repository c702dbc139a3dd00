"""One object in AI2-THOR's metadata schema."""

from __future__ import annotations

from typing import Any

from hvr.worlds.geometry import Box, Vec
from hvr.worlds.kitchen.thing import Thing
from hvr.worlds.thor.types import PROPERTIES


def object_dict(
    thing: Thing, contents: tuple[str, ...] | None, held: bool, carried: bool
) -> dict[str, Any]:
    """Return metadata of one object as if far from the agent.

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
    """Return a point as AI2-THOR writes it."""
    x, y, z = vector
    return {"x": round(x, 5), "y": round(y, 5), "z": round(z, 5)}


def corners(box: Box) -> list[list[float]]:
    """Return the 8 corner points in AI2-THOR's order."""
    xs, ys, zs = ((box.x1, box.x0), (box.y1, box.y0), (box.z1, box.z0))
    return [[round(x, 5), round(y, 5), round(z, 5)] for x in xs for y in ys for z in zs]


def box_dict(box: Box) -> dict[str, Any]:
    """Return a box as AI2-THOR writes it."""
    return {
        "cornerPoints": corners(box),
        "center": vec_dict(box.center),
        "size": vec_dict(box.size),
    }
