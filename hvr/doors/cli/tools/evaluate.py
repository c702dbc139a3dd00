"""`hvr tools evaluate`: how good plans over tools are."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.doors.cli.arguments import add_json
from hvr.doors.cli.output import print_json
from hvr.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hvr.tools.tool_plan import ToolPlan

_DESCRIPTION = """\
Compare plans with the true ones: node F1, link F1, both accuracies.

A request without a prediction counts 0.
"""

_EPILOG = """\
examples:
  hvr tools evaluate toolgraphs/ultratool --model model --no-names
  hvr tools evaluate toolgraphs/ultratool --plans predictions.jsonl
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("data", metavar="DATA", type=Path, help=(
        "folder of tools, graph and plans, in GNN4TaskPlan's format"))  # fmt: skip
    parser.add_argument("--model", metavar="FOLDER", type=Path, help=(
        "a trained retriever, given the true steps"))  # fmt: skip
    parser.add_argument("--plans", metavar="FILE", type=Path, help=(
        "or predicted plans, JSON lines"))  # fmt: skip
    parser.add_argument("--split", default="val", help=(
        "which true plans to compare with (default: %(default)s)"))  # fmt: skip
    parser.add_argument("--names", action=argparse.BooleanOptionalAction, default=True, help=(
        "read names of tools in steps, or ignore them"))  # fmt: skip
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        MissingExtraError: the extra `gnn` is not installed.
        UsageError: there are no plans to compare, or two sources of them.
        DataFileError: a file cannot be read.
    """
    from hvr.tools.agreement import agreement, hallucination
    from hvr.tools.datasets import load_data

    if (args.model is None) == (args.plans is None):
        raise UsageError("give one of --model and --plans")
    data = load_data(args.data)
    truth = data.split(args.split)
    plans = _predicted(args, truth)
    scores = agreement({p.id: p for p in plans}, truth)
    unreal = hallucination(plans, data.graph)
    if args.json:
        print_json(asdict(scores) | {"hallucination": asdict(unreal)}, indent=2)
        return 0
    missing = f", {scores.missing} without a prediction" if scores.missing else ""
    print(f"{scores.requests} requests{missing}")
    for title, value in (
        ("node F1", scores.node_f1),
        ("link F1", scores.link_f1),
        ("accuracy, nodes", scores.node_accuracy),
        ("accuracy, nodes and links", scores.plan_accuracy),
        ("tools that do not exist", unreal.node_micro),
        ("links that do not exist", unreal.link_micro),
    ):
        print(f"{title:26} {value:.4f}")
    return 0


def _predicted(args: argparse.Namespace, truth: Sequence[ToolPlan]) -> list[ToolPlan]:
    """Return the plans to compare: those of a file, or a retriever's for the true steps."""
    if args.plans is not None:
        from hvr.tools.plan_files import read_plans

        return list(read_plans(args.plans))
    from hvr.base.extras import need_gnn

    need_gnn()
    from hvr.tools.retrieval.checkpoint import load_retriever

    return load_retriever(args.model).retrieve(truth, names=args.names)
