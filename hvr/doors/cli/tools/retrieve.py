"""`hvr tools retrieve`: the tools for the steps of a plan."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.doors.cli.arguments import add_json, words
from hvr.doors.cli.output import print_json
from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.tools.retrieval.retriever import Retriever

_EPILOG = """\
examples:
  hvr tools retrieve model "find a train to Rome" "book a seat" --request "To Rome, please"
  hvr tools retrieve model --plans val.jsonl --json > found.jsonl
  hvr tools retrieve tools.json "find a train to Rome" "book a seat"       # nothing to train
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = "Print the tools for the steps of a plan, in order."
    parser.epilog = _EPILOG
    parser.add_argument("model", metavar="MODEL", type=Path, help=(
        "folder that `hvr tools train` wrote, or a file of tools (tools.json, function schemas, "
        "MCP, OpenAPI or Python), to retrieve by their texts and links alone"))  # fmt: skip
    parser.add_argument("--graph", metavar="FILE", type=Path, help=(
        "links of the tools of a file (default: those that follow from the tools)"))  # fmt: skip
    parser.add_argument("--encoder", help=(
        "of the texts of a file: lexical-hash, minilm or st:NAME (default: minilm)"))  # fmt: skip
    parser.add_argument("steps", metavar="STEP", nargs="*", type=words, help=(
        "steps of a plan, in order, in words"))  # fmt: skip
    parser.add_argument("--fine-steps", action="store_true", help=(
        "steps are finer than the tools of a file, and many call none"))  # fmt: skip
    parser.add_argument(
        "--request", metavar="TEXT", type=words, default="", help="what the plan is for"
    )
    parser.add_argument("--plans", metavar="FILE", type=Path, help=(
        "JSON lines with user_request and task_steps instead"))  # fmt: skip
    parser.add_argument("--names", action=argparse.BooleanOptionalAction, default=True, help=(
        "read names of tools in steps, or ignore them"))  # fmt: skip
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        MissingExtraError: the extra `gnn` is not installed.
        UsageError: there are no steps, or two sources of them.
        DataFileError: a file cannot be read.
    """
    from hvr.base.extras import need_gnn
    from hvr.tools.tool_plan import ToolPlan

    need_gnn()
    if (args.plans is None) == (not args.steps):
        raise UsageError("give the steps of a plan, or a file of plans with --plans")
    from hvr.tools.logs.reading import read_log
    from hvr.tools.plan_files import to_record

    plans = [ToolPlan("1", args.request, tuple(args.steps), ())]
    if args.plans is not None:
        found = read_log(args.plans)
        for read in found:
            if read.fault or not read.plan.steps:
                print(f"{read.place}: {read.fault or 'has no steps'}", file=sys.stderr)
        plans = [read.plan for read in found]
    for plan in _retriever(args).retrieve(plans, names=args.names):
        if args.json:
            print_json(to_record(plan))
        else:
            head = f"{plan.id}: " if args.plans is not None else ""
            print(head + (" -> ".join(plan.tools) or "no tools"))
    return 0


def _retriever(args: argparse.Namespace) -> Retriever:
    """Return a trained retriever, or one that needs no training for the tools of a file."""
    from hvr.knowledge.retrieval.text_vectors import TextVectors
    from hvr.tools.datasets import read_graph
    from hvr.tools.retrieval.checkpoint import load_retriever
    from hvr.tools.retrieval.retriever import untrained_retriever

    if args.model.is_file():
        graph = read_graph(args.model, args.graph)
        encoder = TextVectors(args.encoder or "minilm")
        return untrained_retriever(graph, encoder, fine=args.fine_steps)
    if args.graph is not None or args.encoder is not None or args.fine_steps:
        raise UsageError(
            "--graph, --encoder and --fine-steps are for a file of tools; a model has its own"
        )
    return load_retriever(args.model)
