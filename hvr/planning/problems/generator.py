"""Generate graded problems from seeds, prove their properties and validate their plans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.resources import files
from itertools import combinations, pairwise, product
from math import gcd
from random import Random
from typing import TypeAlias

from hvr.errors import UsageError
from hvr.pddl import Task, parse_domain, parse_problem
from hvr.pddl.state import Values
from hvr.validation.relaxation import Deadline, Relaxation
from hvr.validation.search import execute, read_functions
from hvr.values import Value

# Values -------------------------------------------------------------------------------------------
# Families of generated problems: classical, numeric and temporal.

_PROMPT = """\
Write a plan for the planning problem below, one step a line, such as (action object object).{more}

{domain}
{problem}"""
_TIMED = " Begin each line with its start time, such as 0.0: (action object) [duration]."


class Draft(Value):
    """A problem about which nothing is proven yet, with its initial facts and values."""

    objects: str
    init: tuple[str, ...]
    goal: tuple[str, ...]


class Proven(Value):
    """A proven property of a problem.

    Attributes:
        plan: The steps of a shortest plan, or None if the problem is unsolvable.
        states: The number of states examined, or 0 if the proof needs none.
    """

    plan: tuple[str, ...] | None
    proof: str
    states: int = 0


class GradedProblem(Value):
    """A generated problem.

    Attributes:
        level: The intended difficulty, from 1 to 5.
        best: The number of steps of a shortest plan, or None if the problem is unsolvable.
        proof: The reason why no plan is shorter, or why the problem is unsolvable.
        timed: Whether the steps of its plans have times.
    """

    family: str
    level: int
    seed: int
    domain: str
    problem: str
    best: int | None
    plan: tuple[str, ...] | None
    proof: str
    timed: bool = False

    json_shape = "id family level seed prompt domain problem solvable best plan=plan_text proof"

    @property
    def solvable(self) -> bool:
        return self.plan is not None

    @property
    def plan_text(self) -> str | None:
        return None if self.plan is None else "\n".join(self.plan)

    @property
    def id(self) -> str:
        """The name of the problem: family, level and seed."""
        return f"{self.family}-{self.level}-{self.seed}"

    @property
    def prompt(self) -> str:
        """A prompt that asks for a plan, with the domain and the problem."""
        more = _TIMED if self.timed else ""
        return _PROMPT.format(more=more, domain=self.domain, problem=self.problem)


# Families -----------------------------------------------------------------------------------------
# Classical and numeric families: random drafts for a level. For an unsolvable problem, something
# that every plan needs is removed; the search proves it.


def names(letter: str, count: int) -> list[str]:
    return [f"{letter}{number}" for number in range(1, count + 1)]


def blocksworld(rng: Random, level: int, *, solvable: bool) -> Draft:
    """Return a random problem with 3 to 7 blocks in towers."""
    blocks = names("b", level + 2)
    facts = ["(handempty)"]
    for tower in _towers(rng, blocks, len(blocks)):
        facts += [f"(ontable {tower[0]})", f"(clear {tower[-1]})"]
        facts += [f"(on {above} {below})" for below, above in pairwise(tower)]
    goal = [
        f"(on {above} {below})"
        for tower in _towers(rng, blocks, 5 - level // 2)  # Higher levels require higher towers.
        for below, above in pairwise(tower)
    ]
    if not solvable or not goal:
        # A cycle of blocks on each other is impossible.
        ring = rng.sample(blocks, rng.randint(2, len(blocks)))
        goal = [f"(on {above} {below})" for below, above in pairwise([*ring, ring[0]])]
    return Draft(" ".join(blocks), tuple(facts), tuple(goal))


def _towers(rng: Random, blocks: Sequence[str], most: int) -> list[list[str]]:
    towers: list[list[str]] = []
    for block in rng.sample(blocks, len(blocks)):
        place = rng.randrange(min(len(towers) + 1, most))
        if place == len(towers):
            towers.append([])
        towers[place].append(block)
    return towers


def gripper(rng: Random, level: int, *, solvable: bool) -> Draft:
    """Return a random problem with 1 to 5 balls in 2 to 4 rooms."""
    rooms, balls = names("room", 2 + level // 2), names("ball", level)
    doors = _tree(rng, rooms)
    places = {ball: rng.choice(rooms) for ball in balls}
    goals = {ball: _other(rng, rooms, places[ball]) for ball in balls}
    if not solvable:
        doors = _cut(doors, rooms, goals[balls[0]])
    robot = rng.choice([r for r in rooms if solvable or r != goals[balls[0]]])
    init = [f"(robot-in {robot})", "(free left)", "(free right)"]
    init += [f"(door {a} {b})" for one, two in doors for a, b in ((one, two), (two, one))]
    init += [f"(in {ball} {room})" for ball, room in places.items()]
    goal = [f"(in {ball} {room})" for ball, room in goals.items()]
    objects = f"{' '.join(rooms)} - room {' '.join(balls)} - ball left right - gripper"
    return Draft(objects, tuple(init), tuple(goal))


def ferry(rng: Random, level: int, *, solvable: bool) -> Draft:
    """Return a random problem with 1 to 5 cars and 3 or 4 ports."""
    ports, cars = names("port", 3 + level // 3), names("car", level)
    lines = _tree(rng, ports)
    places = {car: rng.choice(ports) for car in cars}
    goals = {car: _other(rng, ports, places[car]) for car in cars}
    if not solvable:
        lines = _cut(lines, ports, goals[cars[0]])
    start = rng.choice([p for p in ports if solvable or p != goals[cars[0]]])
    init = [f"(ferry-at {start})", "(empty)"]
    init += [f"(line {a} {b})" for one, two in lines for a, b in ((one, two), (two, one))]
    init += [f"(at {car} {port})" for car, port in places.items()]
    goal = [f"(at {car} {port})" for car, port in goals.items()]
    return Draft(f"{' '.join(ports)} - port {' '.join(cars)} - car", tuple(init), tuple(goal))


def logistics(rng: Random, level: int, *, solvable: bool) -> Draft:
    """Return a random problem with 1 to 3 parcels and 2 or 3 cities.

    Each city has an airport and an office. If the problem is unsolvable, a city that is the
    destination of a parcel has no truck.
    """
    cities = names("city", 2 if level < 5 else 3)
    parcels = names("parcel", min(1 + level // 2, 3))
    airports = {city: f"air{city[4:]}" for city in cities}
    offices = {city: f"office{city[4:]}" for city in cities}
    places = [*airports.values(), *offices.values()]
    at = {parcel: rng.choice(places) for parcel in parcels}
    to = {parcel: _other(rng, places, at[parcel]) for parcel in parcels}
    trucks = {f"truck{city[4:]}": city for city in cities}
    if not solvable:
        # The first parcel's destination is an office in a city without a truck.
        city = rng.choice([c for c in cities if offices[c] != at[parcels[0]]])
        to[parcels[0]] = offices[city]
        del trucks[f"truck{city[4:]}"]
    init = [f"(at plane1 {rng.choice(list(airports.values()))})"]
    for city in cities:
        init += [f"(part-of {airports[city]} {city})", f"(part-of {offices[city]} {city})"]
    init += [f"(at {t} {rng.choice([airports[c], offices[c]])})" for t, c in trucks.items()]
    init += [f"(lies-at {parcel} {place})" for parcel, place in at.items()]
    objects = (
        f"{' '.join(trucks)} - truck plane1 - plane {' '.join(airports.values())} - airport "
        f"{' '.join(offices.values())} - place {' '.join(parcels)} - parcel "
        f"{' '.join(cities)} - city"
    )
    goal = [f"(lies-at {parcel} {place})" for parcel, place in to.items()]
    return Draft(objects, tuple(init), tuple(goal))


def grid(rng: Random, level: int, *, solvable: bool) -> Draft:
    """Return a random problem on a grid of 3 by 2 to 5 by 4 cells, one of them locked.

    There are 1 or 2 keys.
    """
    width, height = 2 + (level + 1) // 2, 2 + level // 2
    cells = {(x, y): f"c{x}-{y}" for x, y in product(range(width), range(height))}
    # A wall with one locked cell divides the grid.
    wall = rng.randrange(1, width - 1)
    door = cells[wall, rng.randrange(height)]
    walls = {cells[wall, y] for y in range(height)} - {door}
    near = [cell for (x, _), cell in cells.items() if x < wall]
    far = [cell for (x, _), cell in cells.items() if x > wall]
    keys = names("key", 1 + level // 3)
    shapes = {key: f"shape{number}" for number, key in enumerate(keys, 1)}
    robot, goal = rng.choice(near), rng.choice(far)
    lies = {key: rng.choice(near) for key in keys}
    if not solvable:
        lies[keys[0]] = rng.choice(far)  # The key is behind the door that it opens.
    init = [f"(robot-at {robot})", "(free)", f"(locked {door})", f"(lock-shape {door} shape1)"]
    init += [f"(open {cell})" for cell in cells.values() if cell != door and cell not in walls]
    for (x, y), cell in cells.items():
        beside = (cells.get((x + a, y + b)) for a, b in ((1, 0), (-1, 0), (0, 1), (0, -1)))
        init += [f"(next {cell} {other})" for other in beside if other is not None]
    init += [f"(key-shape {key} {shape})" for key, shape in shapes.items()]
    init += [f"(lies {key} {cell})" for key, cell in lies.items()]
    wanted = [f"(robot-at {goal})"]
    if level > 1:
        wanted = [f"(lies {keys[-1]} {goal})"] + ([] if level < 4 else [f"(robot-at {robot})"])
    if not solvable:
        wanted = [f"(robot-at {goal})"]
    objects = (
        f"{' '.join(cells.values())} - cell {' '.join(keys)} - key "
        f"{' '.join(shapes.values())} - shape"
    )
    return Draft(objects, tuple(init), tuple(wanted))


def kitchen(rng: Random, level: int, *, solvable: bool) -> Draft:
    """Return a random problem with 1 or 2 objects to fetch, wash, heat or cool in a kitchen."""
    appliances = {"sink": "washes", "microwave": "heats", "fridge": "cools"}
    states = {"washes": "clean", "heats": "hot", "cools": "cold"}
    doors = ("microwave", "fridge", "cupboard")
    places = ["table", "sink", "microwave", "fridge", "cupboard"][: 4 if level < 3 else 5]
    things = rng.sample(["mug", "plate", "apple", "potato"], 1 if level < 3 else 2)
    goal: list[str] = []
    missing = "" if solvable else rng.choice(list(appliances))
    for number, thing in enumerate(things):
        goal.append(f"(in {thing} {rng.choice(['table', places[-1]])})")
        wanted = [a for a in appliances if a != missing]
        if level > 1 and (number == 0 or level > 3):
            some = rng.sample(wanted, 1 if level < 5 else min(2, len(wanted)))
            some = [a for a in some if not (a == "fridge" and "microwave" in some)]
            goal += [f"({states[appliances[a]]} {thing})" for a in some]
    if missing:
        goal.append(f"({states[appliances[missing]]} {things[0]})")
    init = ["(hand-empty)", f"(near {rng.choice(places)})"]
    init += [f"(in {thing} {rng.choice(places)})" for thing in things]
    init += [f"({'closed' if place in doors else 'open'} {place})" for place in places]
    init += [f"({does} {place})" for place, does in appliances.items() if place != missing]
    objects = f"{' '.join(places)} - place {' '.join(things)} - thing"
    return Draft(objects, tuple(init), tuple(dict.fromkeys(goal)))


def jugs(rng: Random, level: int, *, solvable: bool) -> Draft:
    """Return a random problem with two jugs and a target amount for the larger jug."""
    while True:
        sizes = rng.sample(range(1 + level, 3 + 3 * level), 2)
        if not solvable:
            sizes = [size * rng.choice((2, 3)) for size in sizes]
        unit = gcd(*sizes)
        amounts = [a for a in range(1, max(sizes)) if (a % unit == 0) == solvable]
        amounts = [a for a in amounts if a not in sizes]
        if amounts:
            break
    pair = names("jug", 2)
    init = [f"(= (capacity {jug}) {size})" for jug, size in zip(pair, sizes, strict=True)]
    init += [f"(= (amount {jug}) 0)" for jug in pair]
    goal = f"(= (amount {pair[sizes.index(max(sizes))]}) {rng.choice(amounts)})"
    return Draft(f"{' '.join(pair)} - jug", tuple(init), (goal,))


def _tree(rng: Random, nodes: Sequence[str]) -> list[tuple[str, str]]:
    return [(nodes[number], rng.choice(nodes[:number])) for number in range(1, len(nodes))]


def _cut(
    edges: Sequence[tuple[str, str]], nodes: Sequence[str], node: str
) -> list[tuple[str, str]]:
    others = [other for other in nodes if other != node]
    kept = [edge for edge in edges if node not in edge]
    return [*kept, *pairwise(others)]


def _other(rng: Random, values: Sequence[str], value: str) -> str:
    return rng.choice([other for other in values if other != value])


# Match cellar -------------------------------------------------------------------------------------
# A temporal family: fuses are repaired by the light of matches.
#
# Each repair must fit into the burning time of one match, and repairs exclude each other. A plan is
# therefore an assignment of fuses to matches such that the repairs by the light of each match take
# less time than it burns. A shortest plan uses as few matches as possible.

_GAP = 0.01
"""Time between two happenings, larger than the usual epsilon of 0.001."""


class Cellar:
    """A problem about repairing fuses by the light of matches, given the time that each takes."""

    def __init__(self, matches: Sequence[int], fuses: Sequence[int]) -> None:
        self.matches = tuple(matches)
        self.fuses = tuple(fuses)

    @classmethod
    def drawn(cls, rng: Random, level: int, *, solvable: bool) -> Cellar:
        """Draw 1 to 5 fuses, and matches that suffice if and only if `solvable` is set."""
        while True:
            fuses = [rng.randint(2, 6) for _ in range(level)]
            matches = [rng.randint(4, 9) for _ in range(rng.randint(1, level))]
            cellar = cls(matches, fuses)
            if (cellar.assignment() is not None) == solvable:
                return cellar

    def assignment(self) -> tuple[tuple[int, ...], ...] | None:
        """Return the indexes of the fuses for each match, using as few matches as possible.

        An unused match has no fuses. The result is None if all matches together do not suffice.
        """
        for count in range(1, len(self.matches) + 1):
            for used in combinations(range(len(self.matches)), count):
                found = self._fitted(used, 0, [()] * len(self.matches))
                if found is not None:
                    return found
        return None

    def _fitted(
        self, used: Sequence[int], fuse: int, given: list[tuple[int, ...]]
    ) -> tuple[tuple[int, ...], ...] | None:
        if fuse == len(self.fuses):
            return tuple(given)
        for match in used:
            taken = given[match]
            if sum(self.fuses[other] for other in (*taken, fuse)) < self.matches[match]:
                given[match] = (*taken, fuse)
                found = self._fitted(used, fuse + 1, given)
                if found is not None:
                    return found
                given[match] = taken
        return None

    def draft(self) -> Draft:
        matches, fuses = names("match", len(self.matches)), names("fuse", len(self.fuses))
        init = ["(hand-free)", *(f"(unused {match})" for match in matches)]
        init += [f"(broken {fuse})" for fuse in fuses]
        init += [f"(= (burning-time {m}) {t})" for m, t in zip(matches, self.matches, strict=True)]
        init += [f"(= (mending-time {f}) {t})" for f, t in zip(fuses, self.fuses, strict=True)]
        objects = f"{' '.join(matches)} - match {' '.join(fuses)} - fuse"
        return Draft(objects, tuple(init), tuple([f"(mended {f})" for f in fuses]))

    def proven(self) -> Proven:
        """Return a plan with as few steps as possible, or a proof that no plan exists."""
        given = self.assignment()
        if given is None:
            return Proven(
                None,
                "no assignment of fuses to matches keeps the repairs by each match shorter than "
                "its light: all were tried",
            )
        plan: list[str] = []
        clock = 0.0
        for number, fuses in enumerate(given, 1):
            if not fuses:
                continue
            light = self.matches[number - 1]
            plan.append(f"{clock:.2f}: (strike match{number}) [{light}]")
            now = clock + _GAP
            for fuse in fuses:
                mending = self.fuses[fuse]
                plan.append(f"{now:.2f}: (mend fuse{fuse + 1} match{number}) [{mending}]")
                now += mending + _GAP
            clock += light + _GAP
        struck = sum(map(bool, given))
        return Proven(
            tuple(plan),
            f"each of {len(self.fuses)} fuses needs one repair, and no assignment of fuses to "
            f"fewer than {struck} matches keeps the repairs by each match shorter than its light",
        )


# Exhaustive search --------------------------------------------------------------------------------
# Breadth-first search for shortest plans and proofs of unsolvability.

_State: TypeAlias = tuple[int, Values]


def shortest(task: Task, most: int) -> Proven | None:
    """Return a shortest plan, or a proof that there is none.

    Returns None if more than `most` states, or too many actions, would have to be examined.
    """
    start: _State = (task.initial.bits, task.initial.values)
    if task.goal.holds(*start):
        return Proven((), "the goal holds at the start")
    relaxation = Relaxation(
        task.initial, task.goal, read_functions(task), Deadline(60.0), beyond=None
    )
    if not relaxation.complete:
        return None
    if not relaxation.reachable:
        return Proven(None, "the goal is not reachable even if no fact ever ceases to hold")
    operators = relaxation.operators
    # Testing literals here avoids a call for most operators.
    literals = [(one.positive | one.negative, one.positive) for one in operators]
    before: dict[_State, tuple[_State, int]] = {start: (start, -1)}
    layer, depth = [start], 0
    while layer:
        after: list[_State] = []
        for state in layer:
            for number, (mask, positive) in enumerate(literals):
                if state[0] & mask != positive:
                    continue
                then = execute(task, operators[number], *state)
                if then is None or then in before:
                    continue
                before[then] = state, number
                if task.goal.holds(*then):
                    steps = _path(before, then)
                    plan = tuple([str(operators[step].action) for step in steps])
                    return Proven(
                        plan,
                        f"breadth-first search: no state within {depth} steps of the start "
                        f"reaches the goal",
                        len(before),
                    )
                after.append(then)
            if len(before) > most:
                return None
        layer, depth = after, depth + 1
    proof = f"breadth-first search: none of the {len(before)} reachable states meets the goal"
    return Proven(None, proof, len(before))


def _path(before: dict[_State, tuple[_State, int]], state: _State) -> list[int]:
    steps: list[int] = []
    while True:
        state, number = before[state]
        if number < 0:
            return steps[::-1]
        steps.append(number)


# Generator ----------------------------------------------------------------------------------------

LEVELS = (1, 2, 3, 4, 5)
_DRAWN = {
    "blocksworld": blocksworld,
    "logistics": logistics,
    "gripper": gripper,
    "ferry": ferry,
    "grid": grid,
    "kitchen": kitchen,
    "jugs": jugs,
}
_TIMED_generator = "cellar"
FAMILIES = (*_DRAWN, _TIMED_generator)
"""The families: seven classical and numeric ones, and one temporal one."""
_STATES = 200_000
"""Maximum number of states of a problem; larger draws are rejected."""


def graded(family: str, level: int, seed: int, *, solvable: bool = True) -> GradedProblem:
    """Return the problem with a family, level and seed.

    Args:
        level: The difficulty, from 1 to 5. Higher levels have more objects and longer plans.
        seed: Any integer; equal seeds give equal problems.
        solvable: Whether the problem has a plan.

    Raises:
        UsageError: The family or level is unknown.
    """
    if family not in FAMILIES:
        raise UsageError(f"no family named {family!r}; expected one of {', '.join(FAMILIES)}")
    if level not in LEVELS:
        raise UsageError(f"the level must be from 1 to 5, got {level}")
    domain = (files("hvr.planning.problems") / "domains" / f"{family}.pddl").read_text(
        encoding="utf-8"
    )
    rng = Random(f"{family} {level} {seed} {solvable}")
    while True:
        draft, proven = _proven(family, domain, rng, level, solvable=solvable)
        # Reject draws that are trivial, too large to prove anything, or not of the requested
        # kind.
        if proven is None or proven.plan == () or (proven.plan is not None) != solvable:
            continue
        plan = proven.plan
        return GradedProblem(
            family,
            level,
            seed,
            domain,
            _text(draft, domain),
            len(plan) if plan else None,
            plan,
            proven.proof,
            family == _TIMED_generator,
        )


def series(
    chosen: Sequence[str] = FAMILIES,
    levels: Sequence[int] = LEVELS,
    count: int = 40,
    seed: int = 0,
    unsolvable: float = 0.0,
) -> Iterator[GradedProblem]:
    """Yield problems, cycling through the families and levels.

    Args:
        seed: The seed of the first problem; each further problem uses the next integer.
        unsolvable: The proportion of problems without a plan, from 0 to 1.

    Raises:
        UsageError: A family or level is unknown, none is given, or the proportion is out of
            range.
    """
    if not 0 <= unsolvable <= 1:
        raise UsageError(f"the share of unsolvable problems must be from 0 to 1, got {unsolvable}")
    kinds = [(family, level) for level in levels for family in chosen]
    if not kinds:
        raise UsageError("name at least one family and one level")
    for number in range(count):
        family, level = kinds[number % len(kinds)]
        # Spread unsolvable problems evenly: the n-th problem of a kind is unsolvable if n times
        # the proportion passes an integer.
        turn = number // len(kinds)
        none = int((turn + 1) * unsolvable) > int(turn * unsolvable)
        yield graded(family, level, seed + number, solvable=not none)


def _proven(
    family: str, domain: str, rng: Random, level: int, *, solvable: bool
) -> tuple[Draft, Proven | None]:
    if family == _TIMED_generator:
        cellar = Cellar.drawn(rng, level, solvable=solvable)
        return cellar.draft(), cellar.proven()
    draft = _DRAWN[family](rng, level, solvable=solvable)
    parsed = parse_domain(domain)
    task = Task(parsed, parse_problem(_text(draft, domain), parsed))
    return draft, shortest(task, _STATES)


def _text(draft: Draft, domain: str) -> str:
    name = domain.partition("(domain ")[2].partition(")")[0]
    goal = "\n    ".join(draft.goal)
    return (
        f"(define (problem drawn)\n  (:domain {name})\n  (:objects {draft.objects})\n"
        f"  (:init\n    {chr(10).join(draft.init).replace(chr(10), chr(10) + '    ')})\n"
        f"  (:goal (and\n    {goal})))\n"
    )
