"""Which planners can plan with a problem, and why the others cannot."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hvr.base.files import writing
from hvr.base.processes import ProcessTree
from hvr.errors import UsageError
from hvr.planning.solving.features import Feature
from hvr.planning.solving.programs import DOWNWARD, FORWARD, GROUNDED, TEMPORAL, Program, unified

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
        program.name: f"cannot plan with {listed(program.lacks & features)}"
        for program in _OWN
        if program.lacks & features
    }
    if able:
        return Portfolio(able, excluded, reserve=own)
    if Feature.CONTINUOUS in features:
        raise UsageError(f"none of hvr's planners can plan with {Feature.CONTINUOUS}")
    asks = Feature.DERIVED not in features
    if not own and not asks:
        wanted = listed(features & frozenset().union(*(p.lacks for p in _OWN)))
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
        raise UsageError(f"{name} cannot plan with {listed(missing)}, which this problem has")
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


def listed(features: Collection[str]) -> str:
    """Return features in words."""
    return " and ".join(sorted(features))
