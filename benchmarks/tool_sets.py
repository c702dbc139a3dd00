"""Tool sets for the benchmarks of plans over tools: which files, by option."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hvr.base.extras import need_gnn
from hvr.errors import DataFileError, HvrError
from hvr.tools.datasets import load_data, only_seen, read_plans
from hvr.tools.tool_plans import ToolGraph, ToolPlan

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "toolgraphs"


@dataclass(frozen=True)
class ToolSet:
    """Tools, true plans to learn from and to measure on, and drafts of a planner.

    Args:
        tools: with their links.
        train: true plans to learn from.
        held: true plans to measure on.
        drafts: a planner's, each with the request of a plan of `held`.
    """

    tools: ToolGraph
    train: Sequence[ToolPlan]
    held: Sequence[ToolPlan]
    drafts: Sequence[ToolPlan]

    @property
    def pairs(self) -> list[tuple[ToolPlan, ToolPlan]]:
        """Each draft with the true plan."""
        truth = {p.id: p for p in self.held}
        return [(d, truth[d.id]) for d in self.drafts]


def add_tool_set(parser: argparse.ArgumentParser, folder: str = "ultratool") -> None:
    """Add the options that choose a tool set."""
    parser.add_argument("--data", type=Path, default=DATA / folder, help=(
        "folder of tools, graph and plans (default: %(default)s)"))  # fmt: skip
    parser.add_argument("--train", default="train", help=(
        "split, or file, of true plans to learn from (default: %(default)s)"))  # fmt: skip
    parser.add_argument("--plans", default="val", help=(
        "split, or file, of true plans to measure on (default: %(default)s)"))  # fmt: skip
    parser.add_argument("--drafts", type=Path, help=(
        "a planner's drafts (default: predictions_direct_*.jsonl of the folder)"))  # fmt: skip
    parser.add_argument("--links", choices=("whole", "seen"), default="whole", help=(
        "all links, or those of the plans to learn from (default: %(default)s)"))  # fmt: skip
    parser.add_argument("--seeds", type=int, default=3, help="0, 1, … (default: %(default)s)")


def on_tool_set(
    parser: argparse.ArgumentParser, measure: Callable[[ToolSet, argparse.Namespace], None]
) -> int:
    """Measure on the tool set that options choose, and return the exit code."""
    args = parser.parse_args()
    if not args.data.exists():
        print(f"no data: {args.data} is missing; say where with --data", file=sys.stderr)
        return 2
    try:
        need_gnn()
        measure(read_tool_set(args), args)
    except HvrError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def read_tool_set(args: argparse.Namespace) -> ToolSet:
    """Return the tool set that options choose.

    Raises:
        DataFileError: a file is missing or damaged.
        UsageError: there is no such split.
    """
    data = load_data(args.data)

    def plans(name: str) -> tuple[ToolPlan, ...]:
        path = Path(name)
        return read_plans(path) if path.suffix in (".json", ".jsonl") else data.split(name)

    train, held = plans(args.train), plans(args.plans)
    files = [args.drafts] if args.drafts else sorted(args.data.glob("predictions_direct_*.jsonl"))
    if args.drafts and not args.drafts.exists():
        raise DataFileError(f"{args.drafts}: there is no such file")
    truth = {p.id: p.request for p in held}
    drafts = [
        replace(d, request=truth[d.id]) for f in files for d in read_plans(f) if d.id in truth
    ]
    tools = only_seen(data.graph, train) if args.links == "seen" else data.graph
    return ToolSet(tools, train, held, drafts)
