"""Read tool sets for the benchmarks of tool plans."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hvr.base.registry import need_gnn
from hvr.errors import DataFileError, HvrError
from hvr.tools.datasets import load_data, only_seen, read_plans
from hvr.tools.tool_plans import ToolGraph, ToolPlan

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "toolgraphs"


@dataclass(frozen=True)
class ToolSet:
    """Tools, true plans for training and evaluation, and a planner's drafts.

    Args:
        train: True plans for training.
        held: True plans for evaluation.
        drafts: A planner's drafts, each for the request of a plan in `held`.
    """

    tools: ToolGraph
    train: Sequence[ToolPlan]
    held: Sequence[ToolPlan]
    drafts: Sequence[ToolPlan]

    @property
    def pairs(self) -> list[tuple[ToolPlan, ToolPlan]]:
        """Each draft with the true plan for its request."""
        truth = {p.id: p for p in self.held}
        return [(d, truth[d.id]) for d in self.drafts]


def add_tool_set(parser: argparse.ArgumentParser, folder: str = "ultratool") -> None:
    """Add the command-line options that choose a tool set."""
    parser.add_argument("--data", type=Path, default=DATA / folder, help=(
        "folder of tools, graph and plans (default: %(default)s)"))  # fmt: skip
    parser.add_argument("--train", default="train", help=(
        "split or file of true plans for training (default: %(default)s)"))  # fmt: skip
    parser.add_argument("--plans", default="val", help=(
        "split or file of true plans for evaluation (default: %(default)s)"))  # fmt: skip
    parser.add_argument("--drafts", type=Path, help=(
        "a planner's drafts (default: predictions_direct_*.jsonl of the folder)"))  # fmt: skip
    parser.add_argument("--links", choices=("whole", "seen"), default="whole", help=(
        "all links, or only those of training plans (default: %(default)s)"))  # fmt: skip
    parser.add_argument("--seeds", type=int, default=3, help="0, 1, … (default: %(default)s)")


def on_tool_set(
    parser: argparse.ArgumentParser, measure: Callable[[ToolSet, argparse.Namespace], None]
) -> int:
    """Run a measurement on the chosen tool set, and return the exit code."""
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
    """Return the tool set that the options choose.

    Raises:
        DataFileError: A file is missing or damaged.
        UsageError: The split does not exist.
    """
    data = load_data(args.data)

    def plans(name: str) -> tuple[ToolPlan, ...]:
        path = Path(name)
        return read_plans(path) if path.suffix in (".json", ".jsonl") else data.split(name)

    train, held = plans(args.train), plans(args.plans)
    files = [args.drafts] if args.drafts else sorted(args.data.glob("predictions_direct_*.jsonl"))
    if args.drafts and not args.drafts.exists():
        raise DataFileError(f"{args.drafts}: no such file")
    truth = {p.id: p.request for p in held}
    drafts = [
        replace(d, request=truth[d.id]) for f in files for d in read_plans(f) if d.id in truth
    ]
    tools = only_seen(data.graph, train) if args.links == "seen" else data.graph
    return ToolSet(tools, train, held, drafts)
