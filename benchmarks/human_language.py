"""People's own sentences: how many are understood, and whether the right thing is then done.

    python benchmarks/human_language.py --data FILE --starts FILE [--part kept]
    python benchmarks/human_language.py --off-topic [FILE] [--scene FloorPlan16]

The sentences describe ALFRED's kitchen demonstrations. Each is read in the kitchen at the start
of its demonstration, planned for and carried out there; ALFRED's own condition for the goal of the
demonstration then says whether that was right (`met`), also with any appliance that heats in
place of the microwave. `wrong` counts sentences of which hvr reports success although neither
holds; not all are misreadings, since people also describe what they did not see or leave out what
they saw.

Puts are forced, as in ALFRED, so that everything may be put everywhere; `--placement-table` keeps
to AI2-THOR's table, as `hvr plan` does, which lets no tomato into a microwave.
`--part` takes the task folders kept apart, or those for tuning; sentences that occur in both are
left out.

`--off-topic` reads sentences that hvr must not act on, one a line, and lists those that it would.
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
"""Where the sentences are looked for: beside the checkout of hvr."""

OFF_TOPIC = Path(__file__).with_name("off_topic.txt")
"""Sentences off the point, written for hvr."""

_BUDGET, _PATIENCE = 5.0, 0.3
"""Seconds for each search, and without a shorter plan."""


@lru_cache(maxsize=2)
def _policy(placement_table: bool, reader: str, world: str) -> SymbolicPolicy:
    place = load_world(world)
    return SymbolicPolicy(place.scene_ontology, place.agent.domain(),
                          FastDownward(_BUDGET, _PATIENCE),
                          any_place=not placement_table, reader=reader)  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """How the sentences are tried.

    Args:
        execute: carry out what was read.
        placement_table: AI2-THOR's placement table decides what may be put where.
        reader: who reads the sentences.
    """

    execute: bool = True
    placement_table: bool = False
    reader: str = "grammar"


def try_one(job: tuple[Demonstration, Settings]) -> Described:
    """Try the sentences of one demonstration."""
    demonstration, settings = job
    world = world_of_scene(str(demonstration.start["floor_plan"]))
    policy = _policy(settings.placement_table, settings.reader, world.name)
    return Trial(demonstration, policy, policy.reader.goal, execute=settings.execute).run()


def run(
    wanted: Sequence[Demonstration], settings: Settings, engine: EngineChoice | None = None
) -> Iterator[Described]:
    """Try the sentences of demonstrations, in their order."""
    work = [(demonstration, settings) for demonstration in wanted]
    return side_by_side.results(try_one, work, engine or EngineChoice(), chunk=4)


def table(described: Sequence[Described], *, execute: bool) -> str:
    """Return a row for each task type, and one for all."""
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
    """Yield the sentences that were refused or missed ALFRED's goal, by what became of them."""
    outcomes = [o for d in described for o in d.outcomes if not (o.met or o.met_by_any)]
    for o in sorted(outcomes, key=lambda o: (o.claimed, o.refusal, o.message, o.text)):
        became = "claimed" if o.claimed else (o.refusal or "not reached")
        yield "\n    ".join(
            [f"{became}: {o.text!r} ({o.demonstration})",
             *filter(None, [o.message, "; then ".join(o.said), o.lacking]), *o.goal]
        )  # fmt: skip


def acted_on(path: Path, scene: str, reader: str = "grammar") -> tuple[int, list[str]]:
    """Return how many sentences a file has, and those of which a goal is read in a scene.

    Empty lines and lines after `#` are no sentences.
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
    """Return the options."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--data", type=Path, default=DATA, help="the sentences, .jsonl.gz")
    parser.add_argument("--starts", type=Path, default=STARTS, help="the start states, .jsonl.gz")
    parser.add_argument("--part", choices=PARTS, help="only these task folders")
    parser.add_argument("--read-only", action="store_true", help="do not carry anything out")
    parser.add_argument(
        "--placement-table", action="store_true",
        help="put things only where AI2-THOR's placement table allows it",
    )  # fmt: skip
    parser.add_argument("--reader", choices=READERS, default="grammar", help="who reads them")
    parser.add_argument("--limit", type=int, help="only N demonstrations, spread evenly")
    parser.add_argument("--match", default="", help="only demonstrations with this in their id")
    side_by_side.add_options(parser, jobs=2)
    parser.add_argument("--list-wrong", type=Path, metavar="FILE", help="write all misses there")
    parser.add_argument(
        "--off-topic", type=Path, nargs="?", const=OFF_TOPIC, metavar="FILE",
        help="read sentences that hvr must not act on, instead",
    )  # fmt: skip
    parser.add_argument("--scene", default="FloorPlan16", help="in which --off-topic reads")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every outcome there")
    return parser.parse_args(arguments)


def _off_topic(path: Path, scene: str, reader: str) -> int:
    """Print the sentences off the point that are acted on; return the exit code."""
    if not path.is_file():
        print(f"nothing at {path}: say with --off-topic where it is", file=sys.stderr)
        return 2
    total, acted = acted_on(path, scene, reader)
    share = _percent(len(acted), total)
    last = f"{len(acted)} of {total} acted on ({share}) in {scene} · reader {reader}"
    print("\n".join([*acted, last]))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, and say 0, or 2 when the data are not there."""
    options = parse_arguments(arguments)
    if options.off_topic is not None:
        return _off_topic(options.off_topic, options.scene, options.reader)
    for path, option in ((options.data, "--data"), (options.starts, "--starts")):
        if not path.is_file():
            print(f"nothing at {path}: say with {option} where it is", file=sys.stderr)
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
        f"puts {puts} · " + (f"at most {_BUDGET:g} s a search" if settings.execute else "only read")
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
