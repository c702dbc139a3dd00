"""Which planner works next, and for how long: learnt from recorded races.

`races.tsv` has a row for each problem of a set, and how many seconds each planner took for it.
From the rows that resemble a problem a greedy schedule is made: the next turn is the one that
solves the most of the rows still unsolved for each second that it takes (Streeter, Golovin &
Smith 2007, "Combining multiple heuristics online"). It takes at most four times as long, on the
average of these rows, as their best schedule.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from hvr.planning.solving.features import Feature

_TIME = frozenset({Feature.DURATIVE, Feature.TIMED})
_FIRST_TURN = 2.0
"""Seconds of the first turn of a planner without a record."""
_MARGIN = 1.5
"""Machines differ, so a turn is longer than the record by this factor."""
_SHORTEST = 1.0
_FEWEST_ROWS = 5
"""Rows that a class must have for a schedule of its own."""


@dataclass(frozen=True)
class RecordedRace:
    """One problem and the seconds that planners took for it; planners that failed are absent."""

    problem: str
    features: frozenset[Feature]
    objects: int
    seconds: Mapping[str, float]


@dataclass(frozen=True)
class WorkSlice:
    """A planner works until it has worked `until` seconds in all."""

    planner: str
    until: float


def read_races(text: str) -> tuple[RecordedRace, ...]:
    """Read recorded races: lines with tabs, names of columns first, comments after `#`."""
    lines = [line.split("\t") for line in text.splitlines() if line and line[0] != "#"]
    planners = lines[0][3:] if lines else []
    return tuple(
        RecordedRace(
            problem,
            frozenset(Feature[name] for name in features.split(",") if name),
            int(objects),
            {
                name: float(value)
                for name, value in zip(planners, seconds, strict=True)
                if value != "-"
            },
        )
        for problem, features, objects, *seconds in lines[1:]
    )


def recorded_races() -> tuple[RecordedRace, ...]:
    """Return the races that come with hvr."""
    return read_races(files(__package__).joinpath("races.tsv").read_text(encoding="utf-8"))


def turns(
    planners: Sequence[str],
    features: frozenset[Feature],
    objects: int,
    races: Sequence[RecordedRace],
    spent: Mapping[str, float],
) -> Iterator[WorkSlice]:
    """Yield turns without end, planners with the best record first.

    Args:
        planners: Names of the planners.
        features: The features of the problem.
        objects: How many objects the problem has.
        races: Recorded races.
        spent: Seconds that planners have worked before; it may change between turns.
    """
    rows = _like(features, objects, races)
    without = list(planners)
    ranked: list[str] = []
    # The first schedule may solve all rows and leave planners out: what would be done without it?
    while schedule := list(_schedule(without, rows)):
        for slice_ in schedule:
            if spent.get(slice_.planner, 0.0) < slice_.until:
                yield slice_
        ranked += dict.fromkeys(slice_.planner for slice_ in schedule)
        without = [name for name in planners if name not in ranked]
    # Those with the best record stay ahead; each turn is twice as long as the one before.
    planners = [*ranked, *without]
    length = _FIRST_TURN
    while planners:
        for name in planners:
            yield WorkSlice(name, spent.get(name, 0.0) + length)
        length *= 2


def _like(
    features: frozenset[Feature], objects: int, races: Sequence[RecordedRace]
) -> list[RecordedRace]:
    """Return the rows of the narrowest class of the problem that has enough of them."""
    timed = bool(features & _TIME)
    same_time = [race for race in races if bool(race.features & _TIME) == timed]
    numeric = Feature.NUMERIC in features
    same_kind = [race for race in same_time if (Feature.NUMERIC in race.features) == numeric]
    half = sorted(race.objects for race in same_kind)[len(same_kind) // 2 :][:1]
    large = bool(half) and objects >= half[0]
    same_size = [race for race in same_kind if (race.objects >= half[0]) == large]
    for rows in (same_size, same_kind, same_time):
        if len(rows) >= _FEWEST_ROWS:
            return rows
    return []


def _schedule(planners: Collection[str], rows: Iterable[RecordedRace]) -> Iterator[WorkSlice]:
    unsolved = list(rows)
    spent = dict.fromkeys(planners, 0.0)
    while True:
        # A rate and, of equal ones, the shorter turn and the earlier planner.
        best: tuple[float, float, int, str] | None = None
        for place, name in enumerate(planners):
            times = sorted({race.seconds[name] for race in unsolved if name in race.seconds})
            for until in times:
                solved = sum(race.seconds.get(name, until + 1) <= until for race in unsolved)
                length = max(until - spent[name], _SHORTEST)
                candidate = (-solved / length, length, place, name)
                if best is None or candidate < best:
                    best, end = candidate, until
        if best is None:
            return
        name = best[3]
        spent[name] = end
        unsolved = [race for race in unsolved if race.seconds.get(name, end + 1) > end]
        yield WorkSlice(name, max(_MARGIN * end, _SHORTEST))
