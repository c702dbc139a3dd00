"""Report the outcomes of many sentences: understood, planned, executed, or refused and why.

    python benchmarks/sentences.py [--file sentences.txt] [--match REGEX] [--markdown]
                                   [--understand-only]

Each line of the file has a scene and a sentence, separated by a bar. A sentence after `!` must be
refused. Every sentence starts in a fresh scene. `--data benchmarks/sentences_home.txt` has
sentences for rooms other than kitchens. The exit status is always 0; the table reports the
outcomes.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions
from inputs import measured

from hvr.base.texts import read_text
from hvr.errors import DataFileError, HvrError
from hvr.execution.events import Event, PlanReady
from hvr.execution.executor import Executor
from hvr.execution.world import open_world
from hvr.knowledge.world_file import load_world, world_of_scene
from hvr.planning.search.planners import FastDownward
from hvr.policies.symbolic import SymbolicPolicy
from hvr.worlds.kitchen import Kitchen

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Line:
    group: str
    scene: str
    text: str
    refuse: bool


@dataclass
class Outcome:
    line: Line
    understood: bool = False
    reached: bool = False
    steps: int = 0
    message: str = ""
    language_ms: float = 0.0
    planning_s: float = 0.0
    notes: tuple[str, ...] = field(default=())

    @property
    def right(self) -> bool:
        """Whether the goal was reached, or the sentence refused as required."""
        return not self.understood if self.line.refuse else self.reached

    @property
    def said(self) -> str:
        if self.reached:
            return f"{self.steps} step{'s' * (self.steps != 1)}"
        return self.message


def read_lines(path: Path) -> Iterator[Line]:
    group = ""
    for text in read_text(path).splitlines():
        if text.startswith("## "):
            group = text[3:]
        elif "|" in text and not text.startswith("#"):
            scene, sentence = (part.strip() for part in text.split("|", 1))
            yield Line(group, scene, sentence.removeprefix("!").strip(), sentence.startswith("!"))


@cache
def policy_in(world: str) -> SymbolicPolicy:
    place = load_world(world)
    return SymbolicPolicy(place.scene_ontology, place.agent.domain(), FastDownward())


def try_line(line: Line, *, execute: bool) -> Outcome:
    outcome = Outcome(line)
    policy = policy_in(world_of_scene(line.scene).name)
    world = open_world(Kitchen(line.scene), ontology=policy.ontology)
    inventory = world.inventory()
    started = time.perf_counter()

    def listen(event: Event) -> None:
        if isinstance(event, PlanReady):
            outcome.planning_s += event.seconds

    try:
        goal = policy.reader.goal(line.text, inventory)
        outcome.language_ms = 1000 * (time.perf_counter() - started)
        outcome.understood, outcome.notes = True, goal.notes
        if execute:
            executor = Executor(world, policy, listen, lambda _planned: None)
            finished = executor.run(goal.stages)
            outcome.reached, outcome.steps = finished.reached, finished.steps
            outcome.message = finished.reason
        else:
            outcome.reached = True
    except HvrError as error:
        outcome.language_ms = outcome.language_ms or 1000 * (time.perf_counter() - started)
        outcome.message = str(error)
    return outcome


def table(outcomes: list[Outcome]) -> str:
    parts = []
    for group in dict.fromkeys(o.line.group for o in outcomes):
        rows = [o for o in outcomes if o.line.group == group]
        parts.append(f"### {group}\n\n| scene | sentence | outcome |\n|---|---|---|")
        for o in rows:
            mark = "" if o.right else "**failed** "
            notes = f" ({'; '.join(o.notes)})" if o.notes and not o.line.refuse else ""
            cells = [o.line.scene.removeprefix("FloorPlan"), o.line.text, mark + o.said + notes]
            parts.append("| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |")
        parts.append("")
    return "\n".join(parts)


def summary(outcomes: list[Outcome]) -> str:
    wanted = [o for o in outcomes if not o.line.refuse]
    refused = [o for o in outcomes if o.line.refuse]
    understood = sum(o.understood for o in wanted)
    reached = sum(o.reached for o in wanted)
    correctly = sum(o.right for o in refused)
    language = sorted(o.language_ms for o in outcomes)
    planning = sorted(o.planning_s for o in wanted if o.understood)

    def middle(values: list[float]) -> float:
        return values[len(values) // 2] if values else 0.0

    return (
        f"{len(wanted)} sentences to execute: {understood} understood, {reached} executed "
        f"({100 * reached / max(len(wanted), 1):.1f} %).\n"
        f"{len(refused)} sentences to refuse: {correctly} refused with a reason.\n"
        f"Language: median {middle(language):.1f} ms, maximum {max(language, default=0):.0f} ms. "
        f"Planning: median {middle(planning):.2f} s, maximum {max(planning, default=0):.1f} s."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument(
        "--data", "--file", type=Path, default=HERE / "sentences.txt",
        help="lines such as FloorPlan1 | make coffee",
    )  # fmt: skip
    parser.add_argument("--match", default="", help="only sentences that match")
    parser.add_argument("--markdown", action="store_true", help="the whole table")
    parser.add_argument("--understand-only", action="store_true", help="do not plan")
    options = parser.parse_args()
    lines = [line for line in read_lines(options.data) if re.search(options.match, line.text)]
    if not lines:
        raise DataFileError(f"{options.data}: no sentences, lines such as FloorPlan1 | make coffee")
    print(conditions())
    for world in {world_of_scene(line.scene).name for line in lines}:
        policy_in(world).reader.lexicon.lookup("mug")  # load the lexicon before the clock starts
    outcomes = [try_line(line, execute=not options.understand_only) for line in lines]
    if options.markdown:
        print(table(outcomes))
    for outcome in outcomes:
        if not outcome.right and not options.markdown:
            print(f"{outcome.line.scene}: {outcome.line.text!r}: {outcome.said or 'understood'}")
    print(summary(outcomes))


if __name__ == "__main__":
    sys.exit(measured(main))
