"""Measure how many sentences written by real people hvr understands and carries out correctly.

    python benchmarks/human_language.py --data FILE --starts FILE [--part kept]
    python benchmarks/human_language.py --off-topic [FILE] [--scene FloorPlan16]

The sentences describe ALFRED's kitchen demonstrations. hvr reads each one in the kitchen at the
start of its demonstration, plans and executes. `met` applies ALFRED's own condition for the
demonstration's goal and also accepts any other heating appliance in place of the microwave. `wrong`
counts sentences for which hvr reports success although neither condition holds; not all are
misreadings, since people also describe what they did not see or omit what they saw.

As in ALFRED, puts are forced, so any object may go anywhere; `--placement-table` applies AI2-THOR's
table, as `hvr plan` does, which allows no tomato in a microwave. `--part` selects the held-out task
folders or those for tuning; sentences that occur in both are skipped.

`--off-topic` reads sentences that hvr must not act on, one per line, and lists those it accepts.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import side_by_side
from benchmarks.alfred_judge import DATA as STARTS
from benchmarks.alfred_judge import TASK_TYPES
from benchmarks.conditions import conditions
from benchmarks.inputs import measured
from hvr.base.engines.registry import EngineChoice
from hvr.errors import HvrError
from hvr.execution.world import open_world
from hvr.knowledge.world_file import load_world, world_of_scene
from hvr.language.grammar import READERS
from hvr.planning.search.planners import FastDownward
from hvr.policies.symbolic import SymbolicPolicy
from hvr.worlds.kitchen import Kitchen
from studies.human_language import PARTS, Demonstration, Described, Outcome, Trial, demonstrations

DATA = STARTS.parents[1] / "alfred_language" / STARTS.name
"""Default path of the sentences, beside the hvr checkout."""

OFF_TOPIC = Path(__file__).with_name("off_topic.txt")
"""Off-topic sentences written for hvr."""

_BUDGET, _PATIENCE = 5.0, 0.3
"""Seconds for each search, in total and without a shorter plan."""


@lru_cache(maxsize=2)
def _policy(placement_table: bool, reader: str, world: str) -> SymbolicPolicy:
    place = load_world(world)
    return SymbolicPolicy(place.scene_ontology, place.agent.domain(),
                          FastDownward(_BUDGET, _PATIENCE),
                          any_place=not placement_table, reader=reader)  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """Options for reading and executing the sentences.

    Args:
        execute: Whether to execute the goals that hvr understands.
        placement_table: Whether AI2-THOR's placement table restricts placements.
    """

    execute: bool = True
    placement_table: bool = False
    reader: str = "grammar"


def try_one(job: tuple[Demonstration, Settings]) -> Described:
    demonstration, settings = job
    world = world_of_scene(str(demonstration.start["floor_plan"]))
    policy = _policy(settings.placement_table, settings.reader, world.name)
    return Trial(demonstration, policy, policy.reader.goal, execute=settings.execute).run()


def run(
    wanted: Sequence[Demonstration], settings: Settings, engine: EngineChoice | None = None
) -> Iterator[Described]:
    work = [(demonstration, settings) for demonstration in wanted]
    return side_by_side.results(try_one, work, engine or EngineChoice(), chunk=4)


def table(described: Sequence[Described], *, execute: bool) -> str:
    outcomes = [o for d in described for o in d.outcomes]
    heads = ["task type", "sentences", "understood"]
    if execute:
        heads += ["carried out", "met", "met, any appliance", "wrong"]
    lines = [_row(heads), _row(["---"] * len(heads))]
    for name in (*TASK_TYPES, "all"):
        some = [o for o in outcomes if name in (o.task_type, "all")]
        if some:
            lines.append(_row([name, str(len(some)), *_shares(some, execute=execute)]))
    compared = [d.equal for d in described if d.equal is not None]
    read = [d.equal_read for d in described if d.equal_read is not None]
    lines += ["", f"all sentences of a demonstration read as equal goals: {_part(compared)}; "
                  f"of those understood: {_part(read)}"]  # fmt: skip
    return "\n".join(lines)


def _shares(some: Sequence[Outcome], *, execute: bool) -> Iterator[str]:
    total = len(some)
    yield _percent(sum(o.understood for o in some), total)
    if not execute:
        return
    claimed = sum(o.claimed for o in some)
    yield _percent(claimed, total)
    yield _percent(sum(o.met for o in some), total)
    yield _percent(sum(o.met or o.met_by_any for o in some), total)
    wrong = sum(o.wrong for o in some)
    yield f"{wrong} ({_percent(wrong, claimed)} of claims)"


def _part(holds: Sequence[bool]) -> str:
    return f"{sum(holds)} of {len(holds)} ({_percent(sum(holds), len(holds))})"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def misses(described: Iterable[Described]) -> Iterator[str]:
    """Yield the sentences that were refused or that missed ALFRED's goal, grouped by outcome."""
    outcomes = [o for d in described for o in d.outcomes if not (o.met or o.met_by_any)]
    for o in sorted(outcomes, key=lambda o: (o.claimed, o.refusal, o.message, o.text)):
        became = "claimed" if o.claimed else (o.refusal or "not reached")
        yield "\n    ".join(
            [f"{became}: {o.text!r} ({o.demonstration})",
             *filter(None, [o.message, "; then ".join(o.said), o.lacking]), *o.goal]
        )  # fmt: skip


def acted_on(path: Path, scene: str, reader: str = "grammar") -> tuple[int, list[str]]:
    """Return the number of sentences in a file, and those that hvr reads as goals in a scene.

    Empty lines and text after `#` are ignored.
    """
    world = world_of_scene(scene)
    inventory = open_world(Kitchen(scene), ontology=world.scene_ontology).inventory()
    read, total, acted = _policy(True, reader, world.name).reader.goal, 0, []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        total += 1
        with contextlib.suppress(HvrError):
            goal = read(line, inventory)
            told = "; ".join(goal.notes)
            acted.append(
                f"{line!r}: {'; then '.join(goal.paraphrase)}" + (f" ({told})" if told else "")
            )
    return total, acted


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--data", type=Path, default=DATA, help="the sentences, .jsonl.gz")
    parser.add_argument("--starts", type=Path, default=STARTS, help="the start states, .jsonl.gz")
    parser.add_argument("--part", choices=PARTS, help="only these task folders")
    parser.add_argument("--read-only", action="store_true", help="do not execute anything")
    parser.add_argument(
        "--placement-table", action="store_true",
        help="place objects only where AI2-THOR's placement table allows it",
    )  # fmt: skip
    parser.add_argument(
        "--reader", choices=READERS, default="grammar", help="reader of the sentences"
    )
    parser.add_argument("--limit", type=int, help="only N demonstrations, spread evenly")
    parser.add_argument(
        "--match", default="", help="only demonstrations with this text in their ID"
    )
    side_by_side.add_options(parser, jobs=2)
    parser.add_argument(
        "--list-wrong", type=Path, metavar="FILE", help="write all misses to this file"
    )
    parser.add_argument(
        "--off-topic", type=Path, nargs="?", const=OFF_TOPIC, metavar="FILE",
        help="read sentences that hvr must not act on instead",
    )  # fmt: skip
    parser.add_argument("--scene", default="FloorPlan16", help="scene for --off-topic")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write every outcome to this file"
    )
    return parser.parse_args(arguments)


def _off_topic(path: Path, scene: str, reader: str) -> int:
    if not path.is_file():
        print(f"{path} does not exist; give the file with --off-topic", file=sys.stderr)
        return 2
    total, acted = acted_on(path, scene, reader)
    share = _percent(len(acted), total)
    last = f"{len(acted)} of {total} acted on ({share}) in {scene} · reader {reader}"
    print("\n".join([*acted, last]))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit code is 2 if the data are missing."""
    options = parse_arguments(arguments)
    if options.off_topic is not None:
        return _off_topic(options.off_topic, options.scene, options.reader)
    for path, option in ((options.data, "--data"), (options.starts, "--starts")):
        if not path.is_file():
            print(f"{path} does not exist; give the file with {option}", file=sys.stderr)
            return 2
    chosen = [d for d in demonstrations(options.data, options.starts, options.part)
              if options.match in d.id]  # fmt: skip
    if options.limit is not None and options.limit < len(chosen):
        chosen = [chosen[i * len(chosen) // options.limit] for i in range(options.limit)]
    settings = Settings(not options.read_only, options.placement_table, options.reader)
    puts = "by AI2-THOR's placement table" if settings.placement_table else "forced"
    print(
        f"{conditions()} · part {options.part or 'all'} · {len(chosen)} demonstrations · "
        f"{options.jobs} processes · reader {options.reader} · "
        f"puts {puts} · "
        + (f"at most {_BUDGET:g} s per search" if settings.execute else "reading only")
    )
    started = time.perf_counter()
    described = list(run(chosen, settings, side_by_side.chosen(options)))
    print(table(described, execute=settings.execute))
    outcomes = [o for d in described for o in d.outcomes]
    refused = Counter(o.refusal for o in outcomes if o.refusal)
    print("refused:", ", ".join(f"{n} {kind}" for kind, n in refused.most_common()) or "none")
    print(f"{time.perf_counter() - started:.1f} s")
    if options.list_wrong:
        options.list_wrong.write_text("\n".join(misses(described)) + "\n", encoding="utf-8")
    if options.json:
        report = [asdict(d) for d in described]
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(measured(main))
