"""`hvr verify evaluate`: how good a verifier is."""

from __future__ import annotations

import argparse
from pathlib import Path

from hvr.doors.cli.arguments import add_json, whole
from hvr.doors.cli.output import print_json
from hvr.errors import DataFileError

_DESCRIPTION = """\
Measure how well a verifier tells true plans from wrong ones that are made of them.
"""

_EPILOG = """\
examples:
  hvr verify evaluate verifier val.jsonl
  hvr verify evaluate verifier val.jsonl --seed 7 --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("model", metavar="VERIFIER", type=Path, help=(
        "folder that `hvr verify train` wrote"))  # fmt: skip
    parser.add_argument("plans", metavar="PLANS", type=Path, help=(
        "true plans that it has not seen, JSON lines"))  # fmt: skip
    parser.add_argument("--seed", type=whole, default=1, help=(
        "of the wrong plans made of them (default: %(default)s)"))  # fmt: skip
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        MissingExtraError: the extra `gnn` is not installed.
        DataFileError: a file cannot be read, or there is no plan in it.
    """
    from hvr.base.extras import need_gnn

    need_gnn()
    from hvr.judging.verifier.judgement.judge_file import load_judge
    from hvr.judging.verifier.wrong_plans import auc_by_kind
    from hvr.tools.plan_files import read_plans

    plans = [p for p in read_plans(args.plans) if p.tools]
    if not plans:
        raise DataFileError(f"{args.plans}: there is no plan with tools in it")
    judge = load_judge(args.model)
    kinds = auc_by_kind(judge.judge, plans, judge.embeddings, args.seed)
    if args.json:
        print_json({"kinds": kinds})
    else:
        print("true plans against wrong ones, ROC-AUC by kind:")
        for kind, auc in kinds.items():
            print(f"  {kind:26}{auc:.3f}")
    return 0
