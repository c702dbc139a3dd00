"""Select the planners for a problem, and schedule their turns."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from hvr.base.files import writing
from hvr.base.processes import ProcessTree
from hvr.errors import UsageError
from hvr.planning.solving.programs import (
    DOWNWARD,
    FORWARD,
    GROUNDED,
    TEMPORAL,
    Feature,
    Program,
    unified,
)

# Portfolio ----------------------------------------------------------------------------------------

_OWN = (GROUNDED, DOWNWARD, FORWARD, TEMPORAL)
_SUPPORT = "support.json"


@dataclass(frozen=True)
class Portfolio:
    """The planners for a problem.

    Args:
        excluded: The other planners, with the reason why they are not started.
        asks_engines: Whether to also ask the engines of unified-planning.
        reserve: Planners to run if all others fail.
    """

    programs: tuple[Program, ...]
    excluded: dict[str, str]
    asks_engines: bool = False
    reserve: tuple[Program, ...] = ()


def portfolio(features: frozenset[Feature]) -> Portfolio:
    """Return the planners for a problem with the given features.

    Raises:
        UsageError: Neither hvr's planners nor the engines of unified-planning support them.
    """
    # Downward first: it usually finds the first plan (docs/how-to/solve.md).
    able = tuple(p for p in (DOWNWARD, GROUNDED) if not p.lacks & features)
    timed = features & {Feature.DURATIVE, Feature.TIMED}
    own = tuple(p for p in ((TEMPORAL,) if timed else (FORWARD,)) if not p.lacks & features)
    excluded = {
        program.name: f"cannot plan with {feature_text(program.lacks & features)}"
        for program in _OWN
        if program.lacks & features
    }
    if able:
        return Portfolio(able, excluded, reserve=own)
    if Feature.CONTINUOUS in features:
        raise UsageError(f"none of hvr's planners can plan with {Feature.CONTINUOUS}")
    asks_engines = Feature.DERIVED not in features
    if not own and not asks_engines:
        missing = feature_text(features & frozenset().union(*(p.lacks for p in _OWN)))
        raise UsageError(f"none of hvr's planners supports {missing}")
    return Portfolio(own, excluded, asks_engines=asks_engines)


def named(name: str, features: frozenset[Feature]) -> Portfolio:
    """Return a portfolio with a single planner.

    Raises:
        UsageError: The planner is unknown or does not support the features.
    """
    kind, _, engine = name.partition(":")
    known = {p.name: p for p in _OWN}
    if kind == "up" and engine:
        from hvr.planning.search.unified import installed_engines

        if engine not in (installed := installed_engines()):
            names = ", ".join(installed) or "none"
            raise UsageError(f"unified-planning has no engine {engine!r} here; it has: {names}")
        program = unified(engine)
    elif name in known:
        program = known[name]
    else:
        raise UsageError(f"no planner {name!r} (planners: {', '.join(known)}, up:ENGINE)")
    if missing := program.lacks & features:
        raise UsageError(f"{name} cannot plan with {feature_text(missing)}, which this problem has")
    return Portfolio((program,), {})


class Scout:
    """A process that asks the engines of unified-planning whether they support a problem.

    Importing unified-planning takes longer than many searches, so hvr's own planners do not wait
    for the answer. Asking does not start the engines.
    """

    def __init__(self, domain: Path, problem: Path, folder: Path) -> None:
        self.folder = folder
        self.excluded: dict[str, str] = {}
        with writing(folder):
            folder.mkdir()
        module = ["-W", "ignore", "-P", "-m", "hvr.planning.solving.unified"]
        command = [sys.executable, *module, "--support", str(domain.resolve())]
        with (folder / "log").open("wb") as log:
            self._process = ProcessTree([*command, str(problem.resolve())], folder, log)

    def programs(self) -> Sequence[Program] | None:
        """Return the engines that support the problem, or None until they have answered."""
        if self._process.code is None:
            return None
        try:
            answers = json.loads((self.folder / _SUPPORT).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            log = (self.folder / "log").read_text(encoding="utf-8", errors="replace").strip()
            last = log.splitlines()[-1] if log else "unified-planning gave no answer"
            answers = {"*": last}
        self.excluded = {f"up:{name}": reason for name, reason in answers.items() if reason}
        return [unified(name) for name, reason in answers.items() if not reason]

    def __enter__(self) -> Scout:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.end()


def feature_text(features: Collection[str]) -> str:
    return " and ".join(sorted(features))


# Schedule -----------------------------------------------------------------------------------------
# The order and length of turns, learnt from recorded races.
#
# `races.tsv` has one row per problem, with the seconds each planner took for it. A greedy
# schedule is computed from the rows that resemble a problem: the next turn is the one that solves
# the most unsolved rows per second (Streeter, Golovin & Smith 2007, "Combining multiple
# heuristics online"). On average over these rows, it takes at most four times as long as the best
# schedule.

_TIME = frozenset({Feature.DURATIVE, Feature.TIMED})
_FIRST_TURN = 2.0
"""Seconds of the first turn of a planner without recorded races."""
_MARGIN = 1.5
"""Factor by which turns exceed the recorded times, because machines differ."""
_SHORTEST = 1.0
_FEWEST_ROWS = 5
"""Minimum number of rows for a class to have its own schedule."""


@dataclass(frozen=True)
class RecordedRace:
    """A problem and the seconds that planners took for it, without the planners that failed."""

    problem: str
    features: frozenset[Feature]
    objects: int
    seconds: Mapping[str, float]


@dataclass(frozen=True)
class WorkSlice:
    """A turn of a planner, which lasts until it has worked for `until` seconds in total."""

    planner: str
    until: float


def read_races(text: str) -> tuple[RecordedRace, ...]:
    """Read recorded races: tab-separated lines, column names first, comments after `#`."""
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
    """Return the recorded races that are part of hvr."""
    return read_races(files(__package__).joinpath("races.tsv").read_text(encoding="utf-8"))


def turns(
    planners: Sequence[str],
    features: frozenset[Feature],
    objects: int,
    races: Sequence[RecordedRace],
    spent: Mapping[str, float],
) -> Iterator[WorkSlice]:
    """Yield an endless sequence of turns, the planners with the best records first.

    `spent`, the seconds that each planner has worked, may change between turns.
    """
    rows = _similar_races(features, objects, races)
    without = list(planners)
    ranked: list[str] = []
    # A schedule may solve all rows without some planners: rank the rest by a separate schedule.
    while schedule := list(_schedule(without, rows)):
        for slice_ in schedule:
            if spent.get(slice_.planner, 0.0) < slice_.until:
                yield slice_
        ranked += dict.fromkeys(slice_.planner for slice_ in schedule)
        without = [name for name in planners if name not in ranked]
    # The best planners stay first; each round of turns is twice as long as the previous one.
    planners = [*ranked, *without]
    length = _FIRST_TURN
    while planners:
        for name in planners:
            yield WorkSlice(name, spent.get(name, 0.0) + length)
        length *= 2


def _similar_races(
    features: frozenset[Feature], objects: int, races: Sequence[RecordedRace]
) -> list[RecordedRace]:
    """Return the rows of the most specific class of the problem that has enough rows."""
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
        # Highest rate first; ties are broken by the shorter turn, then by the earlier planner.
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
