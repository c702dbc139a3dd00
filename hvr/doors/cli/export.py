"""`hvr export sft`: chat examples that teach a language model to plan."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter

from hvr.doors.cli.arguments import add_path, real, whole_number
from hvr.doors.cli.output import check_writable, write_whole
from hvr.errors import UsageError

_DESCRIPTION = """\
Write chat examples for supervised tuning: the prompts of the planning pipeline with answers from
proven plans, and corrections of wrong answers in the validator's words. The output has one line of
JSON per example; each names its half (train or held-out), its task, scene and wording, which the
halves never share, and its licence.
"""

_EPILOG = """\
examples:
  hvr export sft --worlds blocksworld,logistics,kitchen --out data.jsonl
  hvr export sft --worlds ./my_world --count 1000 --setting HVR --out mine.jsonl

The same options give the same examples.
"""


def add_sft_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument(
        "--worlds",
        metavar="NAMES",
        required=True,
        help="names or folders of worlds, such as blocksworld,kitchen",
    )
    add_path(parser, "--out", "write the examples there", required=True)
    parser.add_argument(
        "--overwrite", action="store_true", help="replace the file if it exists already"
    )
    parser.add_argument(
        "--count",
        metavar="N",
        type=whole_number,
        default=100,
        help="number of requests per world, with an example for each prompt (default: %(default)s)",
    )
    parser.add_argument(
        "--held-out",
        metavar="SHARE",
        type=real,
        default=0.2,
        help="share of held-out requests, from 0 to 1 (default: %(default)s)",
    )
    parser.add_argument(
        "--setting",
        metavar="NAME",
        default="VR",
        help="setting of the pipeline that asks, such as VR or HVR (default: %(default)s)",
    )
    parser.add_argument(
        "--error",
        metavar="RATE",
        type=real,
        default=0.1,
        help="share of wrong steps in answers that are corrected (default: %(default)s)",
    )
    parser.add_argument(
        "--seed", metavar="N", type=whole_number, default=0, help="random seed (default: 0)"
    )


def run_sft(args: argparse.Namespace) -> int:
    """Run the command and return the exit code."""
    check_writable(args.out)
    if args.out.is_file() and not args.overwrite:
        raise UsageError(f"{args.out} exists already: name another file, or add --overwrite")
    from hvr.runs.teaching.examples import Teaching, examples

    teaching = Teaching(
        worlds=tuple(filter(None, args.worlds.split(","))),
        count=args.count,
        held_out=args.held_out,
        setting=args.setting,
        error=args.error,
        seed=args.seed,
    )
    rows = list(examples(teaching))
    write_whole(
        args.out, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), durable=True
    )
    halves = Counter(row["split"] for row in rows)
    told = ", ".join(f"{number} {half}" for half, number in sorted(halves.items()))
    print(f"{len(rows)} examples in {args.out} ({told})", file=sys.stderr)
    for licence in sorted({row["licence"] for row in rows}):
        print(f"licence: {licence}", file=sys.stderr)
    return 0
