"""Count everyday requests that hvr handles correctly, and those that it wrongly reports as done.

    python benchmarks/everyday.py [--match REGEX] [--sample N] [--reader both] [--markdown]

Each line of `everyday.txt` has a scene or world, a request and its required end state, separated by
bars. Every request starts in a fresh scene, and the checks read the environment's end state, which
hvr's readers never see:

    2 fork @ sinkbasin      two forks are in the sink, also indirectly; 'all', 'no' or a number
    mug|cup is coffee       a mug or a cup has a state, or contains a liquid
    hand apple              the apple is in the hand
    (on red green)          PDDL, in worlds of facts
    !                       hvr refuses or asks

`right` counts the requests that end as required; `wrong` counts the other requests that hvr reports
as done.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import side_by_side
from benchmarks.alfred_judge import Judge
from benchmarks.conditions import conditions
from benchmarks.inputs import measured
from hvr.base.texts import read_text
from hvr.errors import DataFileError, HvrError
from hvr.execution.executor import Executor
from hvr.execution.facts.planning import StatePlanner
from hvr.execution.facts.sentences import problem_for
from hvr.execution.world import World, open_world
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.world_file import find_world, load_world, world_of_scene
from hvr.language.grammar import READERS
from hvr.pddl import Task, parse_formula
from hvr.planning.search.planners import FastDownward
from hvr.policies.symbolic import SymbolicPolicy
from hvr.validation import Validator
from hvr.worlds.facts.folder import WorldFolder
from hvr.worlds.kitchen import Kitchen

FILE = Path(__file__).with_name("everyday.txt")

REFUSE = "!"


@dataclass(frozen=True)
class Line:
    group: str
    place: str
    text: str
    checks: str


@dataclass
class Outcome:
    """The outcome of a request.

    Args:
        claimed: Whether hvr reports success.
        unmet: First check that the end state fails.
        message: Refusal, or hvr's reading of the request.
    """

    line: Line
    claimed: bool = False
    unmet: str = ""
    message: str = ""
    seconds: float = 0.0

    @property
    def right(self) -> bool:
        refused = self.line.checks == REFUSE
        return not self.claimed if refused else self.claimed and not self.unmet

    @property
    def wrong(self) -> bool:
        return self.claimed and not self.right


def read_lines(path: Path) -> Iterator[Line]:
    group = ""
    for number, text in enumerate(read_text(path).splitlines(), 1):
        if text.startswith("## "):
            group = text[3:]
        elif text.strip() and not text.startswith("#"):
            parts = [part.strip() for part in text.split(" | ")]
            if len(parts) != 3:
                raise DataFileError(f"{path}:{number}: expected a scene, a request and checks")
            yield Line(group, *parts)


# Kitchens and other rooms -------------------------------------------------------------------------

_STATES: Mapping[str, tuple[str, Any]] = {
    "open": ("isOpen", True), "closed": ("isOpen", False),
    "on": ("isToggled", True), "off": ("isToggled", False),
    "dirty": ("isDirty", True), "clean": ("isDirty", False),
    "cooked": ("isCooked", True), "filled": ("isFilledWithLiquid", True),
    "empty": ("isFilledWithLiquid", False), "hot": ("temperature", "Hot"),
    "cold": ("temperature", "Cold"), "hand": ("isPickedUp", True),
}  # fmt: skip

_HISTORY = frozenset({"washed", "microwaved", "chilled"})


class EndState:
    """The objects of a scene at the end of a run, and the events that changed them."""

    def __init__(self, judge: Judge) -> None:
        self.objects = judge.last_event.metadata["objects"]
        self.by_id = {o["objectId"]: o for o in self.objects}
        self.history = judge.history

    def passes(self, check: str) -> bool:
        count, kinds, rest = self._parsed(check)
        things = [o for o in self.objects if o["objectType"].lower() in kinds]
        if rest.startswith("@ "):
            places = set(rest[2:].split("|"))
            fitting = sum(bool(self._around(o) & places) for o in things)
        else:
            states = rest.removeprefix("is ").split("|")
            fitting = sum(any(self._is(o, state) for state in states) for o in things)
        if count == "no":
            return not fitting
        return fitting == len(things) > 0 if count == "all" else fitting >= int(count)

    def _parsed(self, check: str) -> tuple[str, set[str], str]:
        words = check.split()
        if words[0] == "hand":
            return "1", set(words[1].split("|")), "is hand"
        count = words.pop(0) if words[0] in {"all", "no"} or words[0].isdecimal() else "1"
        return count, set(words[0].split("|")), " ".join(words[1:])

    def _around(self, thing: Mapping[str, Any]) -> set[str]:
        found: set[str] = set()
        waiting = list(thing.get("parentReceptacles") or ())
        while waiting:
            holder = self.by_id.get(waiting.pop(0))
            if holder is not None and holder["objectType"].lower() not in found:
                found.add(holder["objectType"].lower())
                waiting += holder.get("parentReceptacles") or ()
        return found

    def _is(self, thing: Mapping[str, Any], state: str) -> bool:
        if state == "there":
            return True
        if state in _HISTORY:
            return thing["objectId"] in self.history[state]
        if state in _STATES:
            name, value = _STATES[state]
            return bool(thing.get(name) == value)
        return bool(thing.get("isFilledWithLiquid") and thing.get("fillLiquid") == state)


@cache
def _policy(world: str, reader: str) -> SymbolicPolicy:
    place = load_world(world)
    ontology = place.scene_ontology
    return SymbolicPolicy(ontology, place.agent.domain(), FastDownward(10.0, 0.3), reader=reader)


def _in_scene(outcome: Outcome, reader: str) -> None:
    line = outcome.line
    policy = _policy(world_of_scene(line.place).name, reader)
    judge = Judge(Kitchen(line.place))
    inventory = open_world(Kitchen(line.place), ontology=policy.ontology).inventory()
    goal = policy.reader.goal(line.text, inventory)
    outcome.message = "; then ".join(goal.paraphrase)
    world = World(judge, KnowledgeGraph.create(ontology=policy.ontology))
    executor = Executor(world, policy, lambda _event: None, lambda _planned: None)
    finished = executor.run(goal.stages)
    outcome.claimed = finished.reached
    outcome.message += f" {finished.reason}"
    if line.checks != REFUSE:
        end = EndState(judge)
        checks = [check.strip() for check in line.checks.split(";")]
        outcome.unmet = next((check for check in checks if not end.passes(check)), "")


# Worlds of facts ----------------------------------------------------------------------------------


@cache
def _folder(world: str) -> WorldFolder:
    return WorldFolder(find_world(world))


def _in_world(outcome: Outcome) -> None:
    line, folder = outcome.line, _folder(outcome.line.place)
    problem, _ = folder.problem(None)
    posed = problem_for(line.text, folder.domain, problem, folder.words, folder.ontology)
    outcome.message = posed.said
    plan = StatePlanner(seconds=20).plan(Task(posed.domain, posed.problem)).plan
    outcome.claimed = True
    if line.checks != REFUSE:
        wanted = parse_formula(line.checks, posed.domain, posed.problem.objects)
        steps = [step for block in plan.blocks for step in block.actions]
        end = posed.problem.replace(goal=wanted)
        if not Validator(posed.domain, end).check(steps).valid:
            outcome.unmet = line.checks


def try_line(job: tuple[Line, str]) -> Outcome:
    line, reader = job
    outcome, started = Outcome(line), time.perf_counter()
    try:
        if line.place.startswith("FloorPlan"):
            _in_scene(outcome, reader)
        else:
            _in_world(outcome)
    except HvrError as error:
        outcome.message = f"{outcome.message} {type(error).__name__}: {error}".strip()
    outcome.seconds = time.perf_counter() - started
    return outcome


def table(outcomes: list[Outcome]) -> str:
    lines = ["| group | requests | right | claimed | wrong claims |", "|---" * 5 + "|"]
    for group in (*dict.fromkeys(o.line.group for o in outcomes), "all"):
        some = [o for o in outcomes if group in (o.line.group, "all")]
        counts = [sum(o.right for o in some), sum(o.claimed for o in some)]
        counts.append(sum(o.wrong for o in some))
        lines.append(f"| {group} | {len(some)} | {' | '.join(map(str, counts))} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=FILE, help="the requests")
    parser.add_argument("--match", default="", help="only requests that match")
    parser.add_argument("--sample", type=int, help="only N requests, spread evenly")
    parser.add_argument("--reader", choices=READERS, default="both", help="reader of the requests")
    side_by_side.add_options(parser, jobs=2)
    options = parser.parse_args()
    lines = [line for line in read_lines(options.data) if re.search(options.match, line.text)]
    if options.sample and options.sample < len(lines):
        lines = [lines[i * len(lines) // options.sample] for i in range(options.sample)]
    print(f"{conditions()} · {options.jobs} processes · reader {options.reader}")
    work = [(line, options.reader) for line in lines]
    outcomes = list(side_by_side.results(try_line, work, side_by_side.chosen(options), chunk=4))
    for o in outcomes:
        if not o.right:
            what = "WRONG CLAIM" if o.wrong else "refused" if not o.claimed else "missed"
            print(
                f"{what}: {o.line.place}: {o.line.text!r}: {o.unmet or o.line.checks}: {o.message}"
            )
    print(table(outcomes))
    print(f"longest: {max((o.seconds for o in outcomes), default=0):.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(measured(main))
