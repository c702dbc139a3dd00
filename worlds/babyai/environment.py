"""BabyAI's levels as an environment of facts: the agent's map, and actions that walk on it.

Only what an agent has enters: the observation (a view of 7 by 7 cells, the direction, the mission;
what it carries is in the cell where it stands), the reward, and the rules of MiniGrid. The grid of
the level is never read.
"""

from __future__ import annotations

import difflib
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from hvr.errors import MissingExtraError, UsageError
from hvr.worlds.facts.environment import Observation

Cell = tuple[int, int]
Pose = tuple[int, int, int]
"""Column, row and direction of the agent; it starts at (0, 0)."""

LEFT, RIGHT, FORWARD, PICK_UP, DROP, TOGGLE = range(6)
STEPS: tuple[Cell, ...] = ((1, 0), (0, 1), (-1, 0), (0, -1))
"""One step in each direction of the compass."""
AROUND = tuple((x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if (x, y) != (0, 0))

SIDES = ("ahead-of-start", "right-of-start", "behind-start", "left-of-start")
STOPPED = "the level has ended on the way"
DEEDS = ("visited", "picked-up", "opened", "put-next-to")
ESTIMATES = (
    "approachable",
    "way",
    "space-by",
    "cuts-off",
    "beside",
    "fits",
    "may-hold",
    "drop-space",
)


def open_environment(setup):
    """Open the level that the scene names."""
    try:
        import gymnasium
        import minigrid  # noqa: F401 - registers the levels
    except ImportError:
        raise MissingExtraError("minigrid", "minigrid") from None
    levels = level_names()
    if setup.scene not in levels:
        near = difflib.get_close_matches(setup.scene, levels, 1)
        hint = (
            f"did you mean {near[0]!r}?"
            if near
            else f"there are {len(levels)}, such as {levels[0]}"
        )
        raise UsageError(f"BabyAI has no level {setup.scene!r}; {hint}", field="scene")
    level = gymnasium.make(setup.scene, disable_env_checker=True)
    return BabyAI(level, setup.seed)


def level_names():
    """Return the names of BabyAI's levels."""
    import gymnasium

    return [name for name in gymnasium.registry if name.startswith("BabyAI-")]


# Map ----------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Thing:
    """A door, key, ball or box that was seen.

    Attributes:
        cell: Where it was seen last; None if it is carried or was taken away by others.
        first: Where it was seen first.
    """

    name: str
    kind: str
    colour: str
    cell: Cell | None
    first: Cell | None


class Map:
    """What the agent has seen: cells, things and its own pose."""

    def __init__(self) -> None:
        from minigrid.core.constants import IDX_TO_COLOR, IDX_TO_OBJECT

        self._kinds, self._colours = IDX_TO_OBJECT, IDX_TO_COLOR
        self.pose: Pose = (0, 0, 0)
        self.kinds: dict[Cell, str] = {}
        self.doors: dict[Cell, int] = {}
        """0 for an open door, 1 for a closed and 2 for a locked one."""
        self.things: dict[str, Thing] = {}
        self.at: dict[Cell, Thing] = {}
        self.carried: Thing | None = None
        self.size = 7
        self.places: dict[Cell, str] = {}
        self.stale: set[Cell] = set()
        """Cells to look at again, since something is not where it was."""
        self._count = 0

    def see(self, image) -> bool:
        """Take in a view; return whether a cell is new or different."""
        self.size = len(image)
        x, y, _ = self.pose
        changed = False
        shown_now = {(x, y)}
        held = self._kinds[int(image[self.size // 2][self.size - 1][0])]
        for cell, (i, j) in self.view(self.pose).items():
            kind, colour, state = map(int, image[i][j])
            name = self._kinds[kind]
            if name == "unseen" or cell == (x, y):
                continue
            shown = (name, self._colours[colour])
            changed |= self.kinds.get(cell) != name
            self.kinds[cell] = name
            shown_now.add(cell)
            if name == "door":
                changed |= self.doors.get(cell) != state
                self.doors[cell] = state
            changed |= self._notice(cell, *shown)
        self.kinds.setdefault((x, y), "empty")
        self.stale -= shown_now
        if held in ("key", "ball", "box"):
            colour = self._colours[int(image[self.size // 2][self.size - 1][1])]
            if self.carried is None:
                self.carried = self._new(held, colour, None)
        else:
            self.carried = None
        return changed

    def _notice(self, cell: Cell, kind: str, colour: str) -> bool:
        known = self.at.get(cell)
        if known is not None and (known.kind, known.colour) == (kind, colour):
            return False
        if known is not None:
            known.cell = None
            del self.at[cell]
            self.stale |= {c for c in self.kinds if self.passable(c)}
        if kind not in ("door", "key", "ball", "box"):
            return known is not None
        gone = (t for t in self.things.values() if t.cell is None and t is not self.carried)
        thing = next((t for t in gone if (t.kind, t.colour) == (kind, colour)), None)
        thing = thing or self._new(kind, colour, cell)
        thing.cell = cell
        self.at[cell] = thing
        return True

    def _new(self, kind: str, colour: str, cell: Cell | None) -> Thing:
        alike = sum((t.kind, t.colour) == (kind, colour) for t in self.things.values())
        thing = Thing(f"{colour}-{kind}-{alike + 1}", kind, colour, cell, cell)
        self.things[thing.name] = thing
        return thing

    def view(self, pose: Pose) -> dict[Cell, Cell]:
        """Return the cells in view from a pose, with their places in the image."""
        x, y, direction = pose
        fx, fy = STEPS[direction]
        size, middle = self.size, self.size // 2
        return {
            (
                x + fx * (size - 1 - j) - fy * (i - middle),
                y + fy * (size - 1 - j) + fx * (i - middle),
            ): (i, j)
            for i in range(size)
            for j in range(size)
        }

    def unseen(self, cell: Cell) -> bool:
        """Return whether a cell has to be looked at."""
        return cell not in self.kinds or cell in self.stale

    def passable(self, cell: Cell) -> bool:
        """Return whether the agent can step on a cell that it knows."""
        kind = self.kinds.get(cell)
        return kind in ("empty", "floor", "goal") or (kind == "door" and self.doors[cell] == 0)

    def region(self, start: Cell, without: Cell | None = None) -> set[Cell]:
        """Return the cells that can be reached from one, with another one taken."""
        found, waiting = {start}, [start]
        while waiting:
            for other in beside(waiting.pop()):
                if other not in found and other != without and self.passable(other):
                    found.add(other)
                    waiting.append(other)
        return found

    def opaque(self, cell: Cell) -> bool:
        """Return whether a cell hides what is behind it; unknown cells count as clear."""
        kind = self.kinds.get(cell)
        return kind == "wall" or (kind == "door" and self.doors[cell] != 0)

    def visible(self, pose: Pose) -> set[Cell]:
        """Return the cells that would be seen from a pose, by MiniGrid's rule."""
        places = {place: cell for cell, place in self.view(pose).items()}
        size = self.size
        seen = {(size // 2, size - 1)}
        for j in reversed(range(size)):
            for order, step in ((range(size - 1), 1), (range(size - 1, 0, -1), -1)):
                for i in order:
                    if (i, j) in seen and not self.opaque(places[i, j]):
                        seen |= {(i + step, j), (i + step, j - 1), (i, j - 1)}
        return {places[place] for place in seen if place in places}

    def start_room(self) -> set[Cell]:
        """Return the cells of the first room that are known, with its doors."""
        inside, waiting = {(0, 0)}, [(0, 0)]
        doors = set()
        while waiting:
            x, y = waiting.pop()
            for dx, dy in AROUND:
                cell = x + dx, y + dy
                kind = self.kinds.get(cell)
                if kind == "door" and 0 in (dx, dy):
                    doors.add(cell)
                elif kind not in (None, "wall", "door") and cell not in inside:
                    inside.add(cell)
                    waiting.append(cell)
        return inside | doors


def beside(cell: Cell) -> Iterator[Cell]:
    """Yield the four cells next to a cell."""
    for dx, dy in STEPS:
        yield cell[0] + dx, cell[1] + dy


def front(pose: Pose) -> Cell:
    """Return the cell in front of the agent."""
    dx, dy = STEPS[pose[2]]
    return pose[0] + dx, pose[1] + dy


class Routes:
    """The cheapest walks from the agent's pose over the cells that it knows."""

    def __init__(self, known: Map) -> None:
        self.map = known
        self.steps: dict[Pose, int] = {known.pose: 0}
        self._from: dict[Pose, tuple[Pose, int]] = {}
        self.facing: dict[Cell, Pose] = {}
        """For each cell, the first pose that faces it."""
        waiting = deque([known.pose])
        while waiting:
            pose = waiting.popleft()
            x, y, direction = pose
            ahead = front(pose)
            self.facing.setdefault(ahead, pose)
            following = [(x, y, (direction - 1) % 4), (x, y, (direction + 1) % 4)]
            if known.passable(ahead):
                following.append((*ahead, direction))
            for action, after in enumerate(following):
                if after not in self.steps:
                    self.steps[after] = self.steps[pose] + 1
                    self._from[after] = pose, action
                    waiting.append(after)
        self.cells = {(x, y) for x, y, _ in self.steps}

    def first_action(self, goal: Pose) -> int:
        """Return the first action on the way to a pose."""
        action = FORWARD
        while goal in self._from:
            goal, action = self._from[goal]
        return action

    def viewpoints(self, targets: dict[str, set[Cell]]) -> dict[str, Pose]:
        """Return the nearest pose from which a cell of each target would be seen."""
        found: dict[str, Pose] = {}
        reach = self.map.size
        for pose in self.steps:  # in the order of distance
            left = {
                name: cells
                for name, cells in targets.items()
                if name not in found
                and any(abs(c[0] - pose[0]) < reach and abs(c[1] - pose[1]) < reach for c in cells)
            }
            if len(found) == len(targets):
                break
            if left:
                seen = self.map.visible(pose)
                found |= {name: pose for name, cells in left.items() if cells & seen}
        return found


# Environment --------------------------------------------------------------------------------------


class BabyAI:
    """A level of BabyAI; see `hvr.worlds.facts.environment.PosingEnvironment`."""

    def __init__(self, level, seed: int) -> None:
        self._level, self._seed = level, seed
        self.steps = 0
        self._outcome: bool | None = None
        self._stopped = False

    def reset(self) -> None:
        """See `FactEnvironment`."""
        seen, _ = self._level.reset(seed=self._seed)
        self.steps, self._outcome = 0, None
        self._mission = str(seen["mission"])
        self.map = Map()
        self.map.pose = 0, 0, int(seen["direction"])
        self._heading = int(seen["direction"])
        self._take_in(seen)

    def request(self) -> str:
        """See `PosingEnvironment`."""
        return self._mission

    def outcome(self) -> bool | None:
        """See `PosingEnvironment`: the reward of the level decides."""
        return self._outcome

    def close(self) -> None:
        """Close the level."""
        self._level.close()

    def replace_level(self, level) -> None:
        """Play another level from the next reset on, such as one in which others act too."""
        self._level.close()
        self._level = level

    def _act(self, action: int) -> bool:
        """Do one of MiniGrid's actions; return whether something new was seen."""
        x, y, direction = self.map.pose
        if action in (LEFT, RIGHT):
            self.map.pose = x, y, (direction + (1 if action == RIGHT else -1)) % 4
        elif action == FORWARD and self.map.passable(front(self.map.pose)):
            self.map.pose = (*front(self.map.pose), direction)
        seen, reward, ended, out_of_time, _ = self._level.step(action)
        self.steps += 1
        if ended or out_of_time:
            self._outcome, self._stopped = bool(ended and reward > 0), True
        return self._take_in(seen)

    def _take_in(self, seen) -> bool:
        self.__dict__.pop("_routes", None)
        return self.map.see(seen["image"])

    @cached_property
    def _routes(self) -> Routes:
        return Routes(self.map)

    # --- actions -------------------------------------------------------------------------

    def step(self, name: str, args: tuple[str, ...]) -> str:
        """See `FactEnvironment`."""
        if self._outcome is False:
            return "the level has ended"
        self._stopped = False  # its own mission may be fulfilled on the way to another goal
        return getattr(self, f"_{name}")(*args)

    def _go_to(self, thing: str) -> str:
        return self._face(lambda: self._cell(thing), thing)

    def _pick_up(self, thing: str) -> str:
        if trouble := self._go_to(thing):
            return trouble
        wanted = self.map.things[thing]
        cell, wanted.cell = wanted.cell, None
        self.map.carried = wanted
        del self.map.at[cell]
        self._act(PICK_UP)
        return "" if self.map.carried is wanted else f"{thing} could not be picked up"

    def _put_down(self, thing: str) -> str:
        trouble = self._face(self._place_to_drop, "a free place")
        return trouble or self._drop(thing)

    def _put_next_to(self, thing: str, other: str) -> str:
        trouble = self._face(lambda: self._space_by(self._cell(other)), f"a place next to {other}")
        return trouble or self._drop(thing)

    def _drop(self, thing: str) -> str:
        dropped, cell = self.map.things[thing], front(self.map.pose)
        if self.map.carried is not dropped:
            return f"{thing} is not in the hand"
        dropped.cell = cell
        self.map.at[cell] = dropped
        self._act(DROP)
        return "" if self.map.carried is None else f"{thing} could not be put down"

    def _open(self, door: str) -> str:
        return self._toggle_door(door)

    def _unlock(self, door: str, key: str) -> str:
        if self.map.carried is not self.map.things[key]:
            return f"{key} is not in the hand"
        return self._toggle_door(door)

    def _open_again(self, door: str) -> str:
        if trouble := self._go_to(door):
            return trouble
        self._act(TOGGLE)
        return self._toggle_door(door)

    def _toggle_door(self, door: str) -> str:
        if trouble := self._go_to(door):
            return trouble
        cell = self._cell(door)
        self._act(TOGGLE)
        return "" if self.map.doors[cell] == 0 else f"{door} did not open"

    def _look_into(self, box: str) -> str:
        if trouble := self._go_to(box):
            return trouble
        thing = self.map.things.pop(box)
        del self.map.at[thing.cell]
        self._act(TOGGLE)
        return ""

    def _explore(self, place: str) -> str:
        """Walk until something of a place is seen, or something new on the way."""
        known = set(self.map.things)
        cells = {cell for cell, name in self.map.places.items() if name == place}
        while not self._stopped:
            left = {c for c in cells if self.map.unseen(c)}
            if left != cells or self.map.things.keys() - known:
                return ""
            pose = self._routes.viewpoints({place: left}).get(place)
            if pose is None:
                return f"there is no way to {place}"
            if pose == self.map.pose:
                # MiniGrid's view differs from what its rule predicts: look no further there.
                self.map.kinds |= dict.fromkeys(left - self.map.kinds.keys(), "wall")
                self.map.stale -= left
                return ""
            self._act(self._routes.first_action(pose))
        return STOPPED

    def _face(self, target, what: str) -> str:
        """Walk until the agent faces a cell; the target may change with what is seen."""
        while not self._stopped:
            cell = target()
            pose = None if cell is None else self._routes.facing.get(cell)
            if pose is None:
                return f"there is no way to {what}"
            if pose == self.map.pose:
                return ""
            self._act(self._routes.first_action(pose))
        return STOPPED

    def _cell(self, thing: str) -> Cell | None:
        known = self.map.things.get(thing)
        return None if known is None else known.cell

    def _nearest(self, cells: Iterable[Cell]) -> Cell | None:
        routes = self._routes
        reached = [c for c in cells if c in routes.facing]
        return min(reached, key=lambda c: (routes.steps[routes.facing[c]], c), default=None)

    def _empty(self, cell: Cell) -> bool:
        return self.map.kinds.get(cell) in ("empty", "floor")

    def _space_by(self, cell: Cell | None) -> Cell | None:
        """Return the nearest free cell next to a cell, where something can be put."""
        return None if cell is None else self._nearest(c for c in beside(cell) if self._empty(c))

    def _place_to_drop(self) -> Cell | None:
        """Return a cell to put something down, in the way if there is no other."""
        cells = (c for c in self._routes.facing if self._empty(c) and c != self.map.pose[:2])
        return self._free_cell() or next(cells, None)

    def _free_cell(self) -> Cell | None:
        """Return the nearest cell where something can lie without being in the way."""
        routes, known = self._routes, self.map
        needed = [set(beside(t.cell)) for t in known.things.values() if t.cell is not None]
        groups: dict[str, set[Cell]] = {}
        for cell, name in known.places.items():
            groups.setdefault(name, set()).update(beside(cell))
        needed = [spots & routes.cells for spots in (*needed, *groups.values())]
        needed = [spots for spots in needed if spots]
        for cell, pose in routes.facing.items():  # in the order of distance
            if self._empty(cell) and cell != known.pose[:2]:
                left = known.region(pose[:2], without=cell)
                if all(spots & left for spots in needed):
                    return cell
        return None

    # --- observation ---------------------------------------------------------------------

    def observe(self) -> Observation:
        """See `FactEnvironment`."""
        facts = Facts(self)
        return Observation(
            facts.facts,
            {("distance", name): steps for name, steps in facts.distances().items()}
            | {("doubt",): facts.doubt},
            hidden=DEEDS,
            objects=facts.objects,
            supposed=facts.supposed,
            estimates=ESTIMATES,
        )


class Facts:
    """What the map says, as facts, with places to explore and things that may be there."""

    def __init__(self, level: BabyAI) -> None:
        self.map, self.routes = level.map, level._routes
        self.level = level
        things = list(self.map.things.values())
        self.objects = {t.name: t.kind for t in things}
        self.facts: list[tuple[str, ...]] = []
        self.spots: dict[str, set[Cell]] = {}
        """For each object, the cells from which it can be approached if they are reached."""
        self.room = self.map.start_room()
        for thing in things:
            self._thing(thing)
        self.places = self._places()
        for name, (_, spots) in self.places.items():
            self.objects[name] = "place"
            self.spots[name] = spots
        lost = [t.name for t in things if t.cell is None and t is not self.map.carried]
        self.facts += [("way", name, place) for name in lost for place in self.places]
        self.doubt = 4 * (len(self.map.kinds) + 1)
        self.supposed = [*self.places]
        self._ways(things)
        self._cuts(things)
        self._suppose(things)

    def _thing(self, thing: Thing) -> None:
        name, cell, facts = thing.name, thing.cell, self.facts
        facts.append((thing.colour, name))
        if thing.first in self.room:
            facts += [(side, name) for side in self._sides(thing.first)]
        if thing is self.map.carried:
            facts.append(("holding", name))
        elif cell is not None:
            self.spots[name] = set(beside(cell))
            if thing.kind != "door":
                facts.append(("in-place", name))
        if thing.kind == "box":
            facts.append(("sealed", name))
        if thing.kind == "door" and self.map.doors[cell]:
            facts.append(("closed", name))
            if self.map.doors[cell] == 2:
                facts.append(("locked", name))
                keys = [
                    t
                    for t in self.map.things.values()
                    if (t.kind, t.colour) == ("key", thing.colour)
                ]
                facts += [("fits", key.name, name) for key in keys]
        if cell is None or self._space_by(cell):
            facts.append(("space-by", name))
        if cell is not None:
            near = [self.map.at[c] for c in beside(cell) if c in self.map.at]
            facts += [("beside", t.name, name) for t in near if t.kind != "door"]

    def _space_by(self, cell: Cell) -> bool:
        """Return whether something can be put next to a cell, once it can be approached."""
        if self.routes.cells & {*beside(cell)}:
            return self.level._space_by(cell) is not None
        return any(c not in self.map.kinds or self.level._empty(c) for c in beside(cell))

    def _sides(self, cell: Cell) -> Iterator[str]:
        """Yield the sides of the start on which a cell is."""
        for turn, side in enumerate(SIDES):
            dx, dy = STEPS[(self.level._heading + turn) % 4]
            if cell[0] * dx + cell[1] * dy > 0:
                yield side

    def _places(self) -> dict[str, tuple[set[Cell], set[Cell]]]:
        """Return the groups of unknown cells that border on known ones, with these neighbours."""
        known = self.map
        edge: dict[Cell, set[Cell]] = {}
        for cell, kind in known.kinds.items():
            if kind != "wall":
                for other in beside(cell):
                    if known.unseen(other):
                        edge.setdefault(other, set()).add(cell)
        groups: list[set[Cell]] = []
        left = set(edge)
        while left:
            group, waiting = set(), [left.pop()]
            while waiting:
                x, y = waiting.pop()
                group.add((x, y))
                near = {(x + dx, y + dy) for dx, dy in AROUND} & left
                # A closed door separates what is before it from what is behind it.
                left -= near
                waiting += near
            groups.append(group)
        named: dict[Cell, str] = {}
        found: dict[str, tuple[set[Cell], set[Cell]]] = {}
        for group in sorted(groups, key=min):
            names = sorted({known.places[c] for c in group if c in known.places} - set(found))
            if not names:
                known._count += 1
            name = names[0] if names else f"unseen-place-{known._count}"
            found[name] = group, {c for cell in group for c in edge[cell]}
            named |= dict.fromkeys(group, name)
        known.places = named
        return found

    def _ways(self, things: list[Thing]) -> None:
        """State what can be approached, and what has to be cleared first for the rest."""
        reached = self.routes.cells
        region = self._regions()
        blocked = {}
        for name, spots in self.spots.items():
            if spots & reached:
                self.facts.append(("approachable", name))
            else:
                blocked[name] = spots
        for thing in things:
            if thing.cell is None or (thing.kind == "door" and not self.map.doors[thing.cell]):
                continue
            opened = {thing.cell}.union(*(region.get(c, ()) for c in beside(thing.cell)))
            for name, spots in blocked.items():
                if name != thing.name and spots & opened:
                    self.facts.append(("way", name, thing.name))

    def _cuts(self, things: list[Thing]) -> None:
        """State what would be out of reach if something lay next to a thing that can be reached."""
        routes, reached = self.routes, self.routes.cells
        left: dict[Cell, set[Cell]] = {}
        for thing in things:
            cell = None if thing.cell is None else self.level._space_by(thing.cell)
            if cell is None or not self.spots[thing.name] & reached:
                continue
            if cell not in left:
                left[cell] = self.map.region(routes.facing[cell][:2], without=cell)
            for name, spots in self.spots.items():
                if spots & reached and not spots & left[cell]:
                    self.facts.append(("cuts-off", thing.name, name))

    def _regions(self) -> dict[Cell, set[Cell]]:
        """Return the connected free cells around each free cell."""
        region: dict[Cell, set[Cell]] = {}
        for cell in self.map.kinds:
            if cell not in region and self.map.passable(cell):
                group = self.map.region(cell)
                region |= dict.fromkeys(group, group)
        return region

    def _suppose(self, things: list[Thing]) -> None:
        """Suppose one thing of each kind and colour behind what was not seen."""
        from minigrid.core.constants import COLOR_NAMES

        if self.map.carried is None:
            self.facts.append(("hand-empty",))
        if self.level._free_cell() is not None or not self._opening():
            self.facts.append(("drop-space",))
        carried = self.map.carried
        boxes = [t.name for t in things if t.kind == "box" and (t.cell or t is carried)]
        near = [n for n, (cells, spots) in self.places.items() if spots & self.room]
        edge = {c for n in near for c in self.places[n][0]}
        edge |= {(x + dx, y + dy) for x, y in edge for dx, dy in AROUND} - self.map.kinds.keys()
        sides = {side for cell in edge for side in self._sides(cell)}
        for colour in COLOR_NAMES:
            for kind in ("door", "key", "ball", "box"):
                closed = boxes if kind != "door" else []
                if self.places or closed:
                    self._supposed(f"unseen-{colour}-{kind}", kind, colour, self.places, closed)
                if near and sides:
                    name = f"unseen-near-{colour}-{kind}"
                    self._supposed(name, kind, colour, near)
                    self.facts += [(side, name) for side in sides]
        locked = [t for t in things if t.kind == "door" and self.map.doors[t.cell] == 2]
        for door in locked:
            key = f"unseen-{door.colour}-key"
            if key in self.objects:
                self.facts.append(("fits", key, door.name))

    def _opening(self) -> bool:
        """Return whether something is left to open or explore, where there may be more space."""
        closed = any(self.map.doors[c] for c in self.map.doors)
        return bool(self.places) or closed

    def _supposed(
        self, name: str, kind: str, colour: str, places: Iterable[str], boxes: Iterable[str] = ()
    ) -> None:
        self.objects[name] = kind
        self.supposed.append(name)
        self.facts += [(colour, name), ("space-by", name), *(("way", name, p) for p in places)]
        self.facts += [("may-hold", box, name) for box in boxes]
        if kind == "door":
            self.facts.append(("closed", name))

    def distances(self) -> dict[str, int]:
        """Return the number of actions to each object, roughly for what is out of reach."""
        routes, far = self.routes, {}
        views = routes.viewpoints({name: cells for name, (cells, _) in self.places.items()})
        for name in self.objects:
            thing = self.map.things.get(name)
            cell = thing.cell if thing else None
            pose = views.get(name) or routes.facing.get(cell)
            if pose is not None:
                far[name] = routes.steps[pose]
            elif name in self.places or cell is not None:
                x, y, _ = self.map.pose
                far[name] = min(
                    abs(c[0] - x) + abs(c[1] - y)
                    for c in (self.places[name][0] if name in self.places else {cell})
                )
            else:
                far[name] = 0 if thing else self.doubt
        return far
