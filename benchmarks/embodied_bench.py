"""Measure how many of EB-ALFRED's instructions hvr understands and carries out correctly.

    python benchmarks/embodied_bench.py --data embodiedbench/envs/eb_alfred/data

The data are part of the EmbodiedBench repository: `splits/splits.json` names six sets of 50
instructions, and `json_2.1.0/` has the start and the goal of each. As in ALFRED, puts are forced.
`benchmarks/human_language.py` defines the columns `met` and `wrong`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import side_by_side
from benchmarks.alfred_judge import Wanted
from benchmarks.conditions import conditions
from benchmarks.human_language import Settings, misses, run
from benchmarks.inputs import measured
from hvr.base.texts import read_text
from hvr.errors import DataFileError
from hvr.language.grammar import READERS
from studies.human_language import Demonstration, Described


def instructions(data: Path) -> Iterator[tuple[str, Demonstration]]:
    """Yield each instruction, as a demonstration with one sentence, and the name of its set."""
    for name, tasks in _json(data / "splits" / "splits.json").items():
        for number, task in enumerate(tasks):
            trial = data / "json_2.1.0" / task["task"] / "pp"
            record = _json(trial / f"ann_{task['repeat_idx']}.json")
            start = _start(record)
            wanted = Wanted.of(record)
            if wanted is not None:
                known = f"{name}-{number}/{task['task']}"
                yield name, Demonstration(known, wanted, start, (task["instruction"],))


def _start(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return ALFRED's record of an initial state in the form that `scene_from_alfred` reads."""
    scene = record["scene"]
    poses = [
        {"name": p["objectName"], **p["position"], "rotation": p["rotation"]}
        for p in scene["object_poses"]
    ]
    return {**scene, "init": scene["init_action"], "object_poses": poses}


def _json(path: Path) -> Any:
    try:
        return json.loads(read_text(path))
    except ValueError as error:
        raise DataFileError(f"{path}: invalid JSON: {error}") from error


def table(names: Sequence[str], described: Sequence[Described]) -> str:
    lines = ["| set | instructions | understood | claimed | met | wrong |", "|---" * 6 + "|"]
    for name in (*dict.fromkeys(names), "all"):
        pairs = zip(names, described, strict=True)
        some = [o for n, d in pairs for o in d.outcomes if name in (n, "all")]
        counts = [
            sum(o.understood for o in some),
            sum(o.claimed for o in some),
            sum(o.met or o.met_by_any for o in some),
            sum(o.wrong for o in some),
        ]
        lines.append(f"| {name} | {len(some)} | {' | '.join(map(str, counts))} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="EB-ALFRED's folder data")
    parser.add_argument("--set", default="", help="only this set")
    parser.add_argument("--reader", choices=READERS, default="both", help="reader of the sentences")
    parser.add_argument("--read-only", action="store_true", help="do not execute anything")
    parser.add_argument("--list-wrong", type=Path, metavar="FILE", help="write all misses here")
    side_by_side.add_options(parser, jobs=2)
    options = parser.parse_args(arguments)
    chosen = [(n, d) for n, d in instructions(options.data) if options.set in ("", n)]
    settings = replace(Settings(), execute=not options.read_only, reader=options.reader)
    print(f"{conditions()} · {options.jobs} processes · reader {options.reader} · puts forced")
    started = time.perf_counter()
    work = [demonstration for _, demonstration in chosen]
    described = list(run(work, settings, side_by_side.chosen(options)))
    print(table([name for name, _ in chosen], described))
    print(f"{time.perf_counter() - started:.1f} s")
    if options.list_wrong:
        options.list_wrong.write_text("\n".join(misses(described)) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(measured(main))
