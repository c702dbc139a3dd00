"""A small test house in ProcTHOR's schema 1.0.0: two rooms and a door."""

from __future__ import annotations

from typing import Any


def point(x: float, y: float, z: float) -> dict[str, float]:
    return {"x": x, "y": y, "z": z}


def wall(name: str, room: str, start: tuple[float, float], end: tuple[float, float]) -> Any:
    (ax, az), (bx, bz) = start, end
    polygon = [point(ax, 0, az), point(bx, 0, bz), point(bx, 3, bz), point(ax, 3, az)]
    return {"id": name, "roomId": room, "polygon": polygon, "material": {"name": "Wood"}}


def thing(name: str, asset: str, at: tuple[float, float, float], **more: Any) -> dict[str, Any]:
    return {
        "id": name, "assetId": asset, "kinematic": True, "position": point(*at),
        "rotation": point(0, 0, 0), "layer": "Procedural0", "material": None, **more,
    }  # fmt: skip


def house(**changes: Any) -> dict[str, Any]:
    """Return a kitchen (x 0 to 4) and a living room (x 4 to 8) with an open door between them."""
    rooms = [
        {"id": "room|2", "roomType": "Kitchen",
         "floorPolygon": [point(0, 0, 0), point(0, 0, 4), point(4, 0, 4), point(4, 0, 0)]},
        {"id": "room|3", "roomType": "LivingRoom",
         "floorPolygon": [point(4, 0, 0), point(4, 0, 4), point(8, 0, 4), point(8, 0, 0)]},
    ]  # fmt: skip
    walls = [
        wall("wall|2|w", "room|2", (0, 0), (0, 4)), wall("wall|2|n", "room|2", (0, 4), (4, 4)),
        wall("wall|2|e", "room|2", (4, 4), (4, 0)), wall("wall|2|s", "room|2", (4, 0), (0, 0)),
        wall("wall|3|w", "room|3", (4, 0), (4, 4)), wall("wall|3|n", "room|3", (4, 4), (8, 4)),
        wall("wall|3|e", "room|3", (8, 4), (8, 0)), wall("wall|3|s", "room|3", (8, 0), (4, 0)),
    ]  # fmt: skip
    door = {
        "id": "door|2|3", "assetId": "Doorway_2", "room0": "room|2", "room1": "room|3",
        "wall0": "wall|2|e", "wall1": "wall|3|w", "openable": True, "openness": 1,
        "holePolygon": [point(0.5, 0, 0), point(1.5, 2, 0)], "assetPosition": point(1, 1, 0),
    }  # fmt: skip
    table = thing(
        "DiningTable|2|0", "Dining_Table_99", (1.0, 0.4, 1.0),
        children=[thing("Apple|surface|2|1", "Apple_1", (1.0, 0.85, 1.0), kinematic=False),
                  thing("Gadget|surface|2|2", "Unheard_Of_3", (1.2, 0.85, 1.0))],
    )  # fmt: skip
    fridge = thing(
        "Fridge|2|1", "Fridge_1", (0.6, 1.0, 3.3), openness=0,
        children=[thing("Egg|surface|2|3", "Egg_1", (0.6, 1.0, 3.3), kinematic=False)],
    )  # fmt: skip
    sofa = thing("Sofa|3|0", "Sofa_777", (7.2, 0.4, 2.0), rotation=point(0, 90, 0))
    agent = {
        "position": point(2.0, 0.95, 2.0), "rotation": point(0, 90, 0), "horizon": 30,
        "standing": True,
    }  # fmt: skip
    return {
        "proceduralParameters": {"skyboxId": "Sky1"},
        "rooms": rooms, "walls": walls, "doors": [door], "windows": [],
        "objects": [table, fridge, sofa],
        "metadata": {"schema": "1.0.0", "agent": agent},
        **changes,
    }  # fmt: skip
