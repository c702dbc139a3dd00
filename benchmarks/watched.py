"""Count the runs that satisfy requests with conditions over time.

    python benchmarks/watched.py [--data FILE] [--match REGEX] [--sight visible]

Each line of `watched.txt` contains a request and checks of its run. The checks read the states that
the robot passes through; in PDDL worlds, they read the states of the proven plan. `right` counts
the requests that pass their checks, and `wrong` the other requests that hvr reports as done. The
exit status is always 0.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.conditions import conditions
from hvr.errors import HvrError
from hvr.execution.events import Event, StepDone
from hvr.execution.facts.planning import StatePlanner
from hvr.execution.facts.sentences import problem_for
from hvr.knowledge.world_file import find_world
from hvr.pddl import Atom, Task
from hvr.runs.request import Options
from hvr.runs.spine import plan
from hvr.validation.validator import Validator
from hvr.worlds.facts.folder import WorldFolder

HERE = Path(__file__).parent
State = frozenset[Atom]


@dataclass(frozen=True)
class Outcome:
    """The states through which a run passes; none if hvr refuses or asks."""

    states: tuple[State, ...] = ()
    reached: bool = False
    message: str = ""


def holds(fact: str, state: State) -> bool:
    """Return whether a fact over names or types holds, or, if it is negated, does not hold."""
    predicate, *args = fact.removeprefix("!").split()
    found = any(
        a.predicate == predicate
        and all(arg in {n, n.rpartition("-")[0]} for arg, n in zip(args, a.args, strict=False))
        for a in state
    )
    return found is not fact.startswith("!")


def _all(facts: str, state: State) -> bool:
    return all(holds(fact.strip(), state) for fact in facts.split("&"))


def passes(check: str, states: Sequence[State]) -> bool:
    if check.startswith("never "):
        return not any(_all(check[6:], state) for state in states)
    if check.startswith("some "):
        return any(_all(check[5:], state) for state in states)
    if " before " in check:
        first, second = check.split(" before ")
        at = next((n for n, state in enumerate(states) if holds(second, state)), len(states))
        return at == len(states) or any(holds(first, state) for state in states[:at])
    return holds(check, states[-1])


def in_scene(scene: str, text: str, sight: str, folder: Path) -> Outcome:
    states: list[State] = []
    worlds = []

    def listen(event: Event) -> None:
        if isinstance(event, StepDone):
            states.append(frozenset(worlds[0].graph.facts()))

    from hvr.runs import spine

    options = Options(scene=scene, sight=sight, reader="grammar", save=folder)
    opened = spine.open_world

    def open_world(*args: object, **more: object) -> object:
        worlds.append(opened(*args, **more))
        states.append(frozenset(worlds[0].graph.facts()))
        return worlds[0]

    spine.open_world = open_world
    try:
        run = plan(text, options=options, listen=listen)
    except HvrError as error:
        return Outcome(message=f"{type(error).__name__}: {error}")
    finally:
        spine.open_world = opened
    said = "; then ".join(run.goal.paraphrase) if run.goal else ""
    return Outcome(tuple(states), bool(run.reached), f"{said} ({run.verdict})")


def in_world(world: str, text: str) -> Outcome:
    """Plan a request in a world of facts, and return the states of the plan."""
    folder = WorldFolder(find_world(world))
    problem, _ = folder.problem(None)
    try:
        posed = problem_for(text, folder.domain, problem, folder.words, folder.ontology)
        task = Task(posed.domain, posed.problem)
        steps = StatePlanner(seconds=20).plan(task).plan.actions
    except HvrError as error:
        return Outcome(message=f"{type(error).__name__}: {error}")
    valid = Validator(task).check(steps).valid
    states = [
        frozenset(Validator(task).state_after(steps, number).atoms(static=True))
        for number in range(len(steps) + 1)
    ]
    return Outcome(tuple(states), valid, posed.said)


def lines_of(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the place, request and checks of each line."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            place, text, checks = (part.strip() for part in line.split(" | "))
            yield place, text, checks


def failures(
    path: Path,
    folder: Path,
    sight: str = "omniscient",
    match: str = "",
    every: int = 1,
    show: bool = False,
) -> list[str]:
    """Return a line for each request that fails its checks; wrong reports of success are marked.

    `show` prints how hvr reads each request.
    """
    found = []
    for number, (place, text, checks) in enumerate(list(lines_of(path))[::every]):
        if not re.search(match, text):
            continue
        if place.startswith("FloorPlan"):
            outcome = in_scene(place, text, sight, folder / str(number))
        else:
            outcome = in_world(place, text)
        if show:
            print(f"{text}\n    {outcome.message}")
        if checks == "refused":
            if outcome.states:
                found.append(f"WRONG {place}: {text}: not refused: {outcome.message}")
        elif not outcome.states or not outcome.reached:
            found.append(f"{place}: {text}: {outcome.message}")
        elif unmet := [c for c in checks.split("; ") if not passes(c, outcome.states)]:
            found.append(f"WRONG {place}: {text}: {unmet}: {outcome.message}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=HERE / "watched.txt", help="the requests")
    parser.add_argument("--match", default="", help="only requests that match")
    parser.add_argument("--sight", default="omniscient", help="what the robot sees")
    parser.add_argument("--show", action="store_true", help="show how each request is read")
    options = parser.parse_args()
    print(conditions())
    count = sum(bool(re.search(options.match, text)) for _, text, _ in lines_of(options.data))
    with tempfile.TemporaryDirectory() as folder:
        failed = failures(
            options.data, Path(folder), options.sight, options.match, show=options.show
        )
    wrong = sum(line.startswith("WRONG") for line in failed)
    print("\n".join([*failed, f"{count - len(failed)} of {count} right, {wrong} wrong claims"]))


if __name__ == "__main__":
    main()
