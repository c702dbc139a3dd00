"""`hvr tools retrieve`: the tools for the steps of a plan."""

from __future__ import annotations

import argparse
from pathlib import Path

from hvr.cli.arguments import add_json, words
from hvr.cli.output import print_json
from hvr.errors import UsageError

_EPILOG = """\
examples:
  hvr tools retrieve model "find a train to Rome" "book a seat" --request "To Rome, please"
  hvr tools retrieve model --plans val.jsonl --json > found.jsonl
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = "Print the tools for the steps of a plan, in order."
    parser.epilog = _EPILOG
    parser.add_argument("model", metavar="MODEL", type=Path, help=(
        "folder that `hvr tools train` wrote"))  # fmt: skip
    parser.add_argument("steps", metavar="STEP", nargs="*", type=words, help=(
        "steps of a plan, in order, in words"))  # fmt: skip
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
    from hvr.extras import need_gnn
    from hvr.tools.tool_plan import ToolPlan

    need_gnn()
    if (args.plans is None) == (not args.steps):
        raise UsageError("give the steps of a plan, or a file of plans with --plans")
    from hvr.tools.plan_files import read_plans, to_record
    from hvr.tools.retrieval.checkpoint import load_retriever

    plans = (
        read_plans(args.plans)
        if args.plans is not None
        else (ToolPlan("1", args.request, tuple(args.steps), ()),)
    )
    for plan in load_retriever(args.model).retrieve(plans, names=args.names):
        if args.json:
            print_json(to_record(plan))
        else:
            head = f"{plan.id}: " if args.plans is not None else ""
            print(head + (" -> ".join(plan.tools) or "no tools"))
    return 0
