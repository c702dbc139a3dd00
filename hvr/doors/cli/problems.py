"""`hvr problems`: problems to train on."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from hvr.doors.cli.arguments import real, whole
from hvr.errors import UsageError

_DESCRIPTION = """\
Generate planning problems to train on: each with the length of a shortest plan and the reason why
none is shorter, or the reason why there is no plan. One line of JSON for each problem.
"""

_EPILOG = """\
examples:
  hvr problems --count 40 > problems.jsonl
  hvr problems --family blocksworld,ferry --level 1-3 --count 1000 --seed 7 --output train.jsonl
  hvr problems --unsolvable 0.2 --count 200 --output mixed.jsonl

The same options give the same problems.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("--family", metavar="NAMES", default="all", help=(
        "families, such as blocksworld,ferry (default: %(default)s)"))  # fmt: skip
    parser.add_argument("--level", metavar="LEVELS", default="1-5", help=(
        "levels from 1 to 5, such as 2 or 1-3 (default: %(default)s)"))  # fmt: skip
    parser.add_argument("--count", metavar="N", type=whole, default=40, help=(
        "number of problems, spread over families and levels (default: %(default)s)"))  # fmt: skip
    parser.add_argument("--seed", metavar="N", type=whole, default=0, help=(
        "seed of the first problem; the others follow (default: %(default)s)"))  # fmt: skip
    parser.add_argument("--unsolvable", metavar="SHARE", type=real, default=0.0, help=(
        "share of problems without a plan (default: %(default)s)"))  # fmt: skip
    parser.add_argument("--output", metavar="FILE", type=Path, help=(
        "write the problems there (default: standard output)"))  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        HvrError: An option cannot be used, or the file cannot be written.
    """
    from hvr.doors.cli.output import check_writable, write_whole
    from hvr.planning.problems import FAMILIES, series

    if args.output is not None:
        check_writable(args.output)
    names = FAMILIES if args.family == "all" else tuple(args.family.split(","))
    made = (
        json.dumps(problem.to_json(), ensure_ascii=False) + "\n"
        for problem in series(names, _levels(args.level), args.count, args.seed, args.unsolvable)
    )
    if args.output is None:
        sys.stdout.writelines(made)
        return 0
    lines = list(made)
    write_whole(args.output, "".join(lines))
    print(f"{len(lines)} problems in {args.output}", file=sys.stderr)
    return 0


def _levels(text: str) -> tuple[int, ...]:
    first, _, last = text.partition("-")
    try:
        return tuple(range(int(first), int(last or first) + 1))
    except ValueError:
        raise UsageError(f"expected a level or a range such as 1-3, got {text!r}") from None
