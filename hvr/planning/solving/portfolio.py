"""The portfolio: which planners can plan with a problem, which works next, and for how long."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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
# Which planners can plan with a problem, and why the others cannot.

_OWN = (GROUNDED, DOWNWARD, FORWARD, TEMPORAL)
_SUPPORT = "support.json"


@dataclass(frozen=True)
class Portfolio:
    """The planners for a problem.

    Args:
        programs: The planners that can plan with it.
        excluded: Why others are not started, by name.
        asks: Whether to ask the engines of unified-planning.
        reserve: Planners for when all others fail.
    """

    programs: tuple[Program, ...]
    excluded: dict[str, str]
    asks: bool = False
    reserve: tuple[Program, ...] = ()


def portfolio(features: frozenset[Feature]) -> Portfolio:
    """Return the planners for a problem that uses these features.

    Raises:
        UsageError: None of hvr's planners can plan with them, nor can any engine.
    """
    # Downward first: where they take turns, it mostly has the first plan (docs/solve.md).
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
    asks = Feature.DERIVED not in features
    if not own and not asks:
        wanted = feature_text(features & frozenset().union(*(p.lacks for p in _OWN)))
        raise UsageError(f"none of hvr's planners has all of {wanted}")
    return Portfolio(own, excluded, asks=asks)


def named(name: str, features: frozenset[Feature]) -> Portfolio:
    """Return the planner of a name.

    Raises:
        UsageError: There is no such planner, or it lacks what the problem uses.
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
        raise UsageError(f"no planner {name!r}; there are {', '.join(known)} and up:ENGINE")
    if missing := program.lacks & features:
        raise UsageError(f"{name} cannot plan with {feature_text(missing)}, which this problem has")
    return Portfolio((program,), {})


class Scout:
    """Asks the engines of unified-planning, in a process of its own, whether they can plan.

    Importing unified-planning takes longer than many searches, so hvr's own planners do not wait.
    No engine starts a program for this.

    Raises:
        OSError: The process cannot be started.
    """

    def __init__(self, domain: Path, problem: Path, folder: Path) -> None:
        self.folder = folder
        self.excluded: dict[str, str] = {}
        module = ["-W", "ignore", "-P", "-m", "hvr.planning.solving.unified"]
        command = [sys.executable, *module, "--support", str(domain.resolve())]
        with (folder / "log").open("wb") as log:
            self._process = ProcessTree([*command, str(problem.resolve())], folder, log)

    def programs(self) -> Sequence[Program] | None:
        """Return the engines that can plan with the problem; None until they have answered."""
        if self._process.code is None:
            return None
        try:
            answers = json.loads((self.folder / _SUPPORT).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            log = (self.folder / "log").read_text(encoding="utf-8", errors="replace").strip()
            last = log.splitlines()[-1] if log else "unified-planning gave no answer"
            answers = {"*": last}
        self.excluded = {f"up:{name}": why for name, why in answers.items() if why}
        return [unified(name) for name, why in answers.items() if not why]

    def end(self) -> None:
        """End the process."""
        self._process.end()


@contextmanager
def scout(domain: Path, problem: Path, folder: Path) -> Iterator[Scout]:
    """Ask engines while the context lasts; see `Scout`."""
    with writing(folder):
        folder.mkdir()
    asked = Scout(domain, problem, folder)
    try:
        yield asked
    finally:
        asked.end()


def feature_text(features: Collection[str]) -> str:
    """Return features in words."""
    return " and ".join(sorted(features))


# Schedule -----------------------------------------------------------------------------------------
# Which planner works next, and for how long: learnt from recorded races.
#
# `races.tsv` has a row for each problem of a set, and how many seconds each planner took for it.
# From the rows that resemble a problem a greedy schedule is made: the next turn is the one that
# solves the most of the rows still unsolved for each second that it takes (Streeter, Golovin &
# Smith 2007, "Combining multiple heuristics online"). It takes at most four times as long, on the
# average of these rows, as their best schedule.

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
