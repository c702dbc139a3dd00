"""The unchanging part of a kitchen: grid, bounds, faucets with their basins."""

from __future__ import annotations

import math
from collections import deque
from functools import lru_cache

from hvr.worlds.geometry import VISIBILITY_DISTANCE, Box
from hvr.worlds.object_types import ObjectTypeFacts, load_facts
from hvr.worlds.scenes import ObjectSpec, Scene

GRID = 0.25
"""Distance of neighbouring grid points, metres."""

STANDING_ROOM = 0.2
"""No furniture within this distance of a grid point, metres."""

ZONE_SOURCES = frozenset(
    {"CoffeeMachine", "Faucet", "Fridge", "Microwave", "StoveBurner", "Toaster"}
)
"""Types with an effect on what they hold."""

Point = tuple[float, float]


class Room:
    """The unchanging part of a scene.

    Args:
        scene: the scene.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.facts: ObjectTypeFacts = load_facts()
        self.grid: tuple[Point, ...] = scene.grid
        self.grid_set = frozenset(scene.grid)
        self.agent_height = scene.start_position[1]
        self.floor = next((o.object_id for o in scene.objects if o.object_type == "Floor"), None)
        self.bounds = _bounds(scene)
        self.basins = _served_basins(scene)
        self.holes = _holes(scene)
        self.cold = frozenset(o.object_id for o in scene.objects if o.object_type == "Fridge")
        self.sources = tuple(o.object_id for o in scene.objects if o.object_type in ZONE_SOURCES)
        self._points: dict[float, tuple[Point, ...]] = {}
        self.reach = lru_cache(maxsize=16384)(self._reach)

    def _reach(self, box: Box) -> float:
        """Return how near the agent must be to reach this box, metres, horizontally.

        AI2-THOR's 1.5 m. What no grid point is that near to is reached from the nearest
        ones instead: the true grid of AI2-THOR 5 is not known and is larger than ours.
        """
        if any(box.distance(x, z) <= VISIBILITY_DISTANCE - 0.05 for x, z in self.grid):
            return VISIBILITY_DISTANCE
        nearest = min(box.distance(x, z) for x, z in self.grid)
        return max(VISIBILITY_DISTANCE, nearest + 0.05)

    def walkable(self, x: float, z: float) -> bool:
        """Return whether the agent's body covers this point somewhere where it can stand."""
        cx, cz = round(x / GRID), round(z / GRID)
        for ix in (cx - 1, cx, cx + 1):
            for iz in (cz - 1, cz, cz + 1):
                point = (ix * GRID, iz * GRID)
                if point in self.grid_set and math.dist(point, (x, z)) < STANDING_ROOM:
                    return True
        return False

    def snap(self, x: float, z: float, grid: float = GRID) -> Point:
        """Return the position on a grid that is nearest to a point, reachable or not."""
        if grid == GRID:
            return round(x / GRID) * GRID, round(z / GRID) * GRID
        return round(round(x / grid) * grid, 5), round(round(z / grid) * grid, 5)

    def stands(self, x: float, z: float) -> bool:
        """Return whether the agent can stand at a point.

        Off the 0.25 m grid one of the grid points around it suffices, so that finer grids are
        filled in between.
        """
        if (x, z) in self.grid_set:
            return True
        x0, z0 = math.floor(x / GRID + 1e-6) * GRID, math.floor(z / GRID + 1e-6) * GRID
        xs = (x0,) if abs(x - x0) < 1e-4 else (x0, x0 + GRID)
        zs = (z0,) if abs(z - z0) < 1e-4 else (z0, z0 + GRID)
        return any((px, pz) in self.grid_set for px in xs for pz in zs)

    def points(self, grid: float) -> tuple[Point, ...]:
        """Return where the agent can stand on a grid of another size, sorted."""
        if grid == GRID:
            return self.grid
        if grid not in self._points:
            b = self.bounds
            self._points[grid] = tuple(
                (round(i * grid, 5), round(j * grid, 5))
                for i in range(math.floor(b.x0 / grid), math.ceil(b.x1 / grid) + 1)
                for j in range(math.floor(b.z0 / grid), math.ceil(b.z1 / grid) + 1)
                if self.stands(i * grid, j * grid)
            )
        return self._points[grid]

    def path_lengths(self, start: Point) -> dict[Point, int]:
        """Return number of grid moves from a point to every grid point that can be walked to."""
        first = self.snap(*start)
        lengths = {first: 0}
        todo = deque([first])
        while todo:
            x, z = todo.popleft()
            for step in ((x + GRID, z), (x - GRID, z), (x, z + GRID), (x, z - GRID)):
                if step in self.grid_set and step not in lengths:
                    lengths[step] = lengths[x, z] + 1
                    todo.append(step)
        return lengths


def _bounds(scene: Scene) -> Box:
    boxes = [o.box for o in scene.objects] or [Box(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)]
    return Box(
        min(b.x0 for b in boxes),
        min(b.y0 for b in boxes),
        min(b.z0 for b in boxes),
        max(b.x1 for b in boxes),
        max(b.y1 for b in boxes),
        max(b.z1 for b in boxes),
    )


def _holes(scene: Scene) -> dict[str, tuple[Box, ...]]:
    """Return the boxes of sinks and burners at the height of each counter: no counter there."""
    cuts = [o.box for o in scene.objects if o.object_type in ("SinkBasin", "Sink", "StoveBurner")]
    return {
        o.object_id: tuple(box for box in cuts if abs(box.y1 - o.box.y1) < 0.3)
        for o in scene.objects
        if o.object_type == "CounterTop"
    }


def _served_basins(scene: Scene) -> dict[str, tuple[str, ...]]:
    """Return the basin nearest to each faucet, and its Sink where that holds things itself."""
    ids = {o.object_id: o for o in scene.objects}
    basins = [o for o in scene.objects if o.object_type == "SinkBasin"]
    served: dict[str, tuple[str, ...]] = {}
    for faucet in scene.objects:
        if faucet.object_type != "Faucet" or not basins:
            continue
        basin = min(basins, key=lambda b: (_apart(faucet, b), b.object_id))
        sink = ids.get(basin.object_id.removesuffix("|SinkBasin"))
        both: tuple[str, ...] = (basin.object_id,)
        if sink is not None and sink is not basin and "receptacle" in sink.properties:
            both = (basin.object_id, sink.object_id)
        served[faucet.object_id] = both
    return served


def _apart(a: ObjectSpec, b: ObjectSpec) -> float:
    (ax, _, az), (bx, _, bz) = a.position, b.box.center
    return math.hypot(ax - bx, az - bz)
