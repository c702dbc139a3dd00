"""`hvr verify correct`: plans mended at their risky places."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hvr.judging.verifier.judgement.judge import Judge
    from hvr.tools.tool_plan import ToolPlan

_DESCRIPTION = """\
Correct plans at their risky places; the changes are printed on standard error.

A plan changes only where such changes were a gain on training plans that were left out.
"""

_EPILOG = """\
examples:
  hvr verify correct verifier plans.jsonl --out corrected.jsonl
  hvr verify correct verifier plans.jsonl --requests requests.jsonl
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("model", metavar="VERIFIER", type=Path, help=(
        "folder that `hvr verify train` wrote"))  # fmt: skip
    parser.add_argument("plans", metavar="PLANS", type=Path, help="plans to correct, JSON lines")
    parser.add_argument("--requests", metavar="FILE", type=Path, help=(
        "JSON lines with id and user_request, for plans that lack their request"))  # fmt: skip
    parser.add_argument("--out", metavar="FILE", type=Path, help=(
        "write the plans as JSON lines (default: print them)"))  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        MissingExtraError: the extra `gnn` is not installed.
        UsageError: an option cannot be used.
        DataFileError: a file cannot be read or written.
    """
    from hvr.base.extras import need_gnn

    need_gnn()
    from hvr.doors.cli.output import check_writable, print_chunks, write_whole
    from hvr.doors.cli.verify.tool_plans import read_tool_plans
    from hvr.judging.verifier.judgement.judge_file import load_judge
    from hvr.tools.plan_files import read_plans, to_record

    if args.out is not None:
        check_writable(args.out)
    judge = load_judge(args.model)
    if judge.weights is None:
        print(f"the verifier knows {len(judge.past)} plans, too few to learn from: only names of "
              "tools and links are corrected", file=sys.stderr)  # fmt: skip
    drafts = read_tool_plans(args.plans)
    if args.requests is not None:
        drafts = _asked(drafts, {p.id: p.request for p in read_plans(args.requests)})
    if unasked := sum(not p.request for p in drafts):
        print(f"{unasked} of {len(drafts)} plans have no request, and are corrected by their "
              "steps alone: give --requests", file=sys.stderr)  # fmt: skip
    records, changed = [], 0
    for draft, (corrected, changes) in zip(drafts, _corrected(judge, drafts), strict=True):
        changed += corrected.tools != draft.tools
        records.append(json.dumps(to_record(corrected), ensure_ascii=False))
        for change in changes:
            print(f"{corrected.id}: {change}", file=sys.stderr)
    print(f"{changed} of {len(drafts)} plans changed", file=sys.stderr)
    if args.out is not None:
        write_whole(args.out, "".join(f"{record}\n" for record in records))
        print(f"wrote {args.out}")
    else:
        print_chunks(f"{record}\n" for record in records)
    return 0


def _corrected(
    judge: Judge, plans: Sequence[ToolPlan]
) -> Iterable[tuple[ToolPlan, tuple[str, ...]]]:
    """Yield the corrected plans, each with its changes in words."""
    from hvr.doors.cli.progress import shown_progress
    from hvr.judging.verifier.judgement.corrector import correct

    with shown_progress() as tell:
        for number, plan in enumerate(plans, 1):
            (corrected,) = correct(judge, [plan])
            tell("plans", number, len(plans), "")
            yield corrected.plan, corrected.changes


def _asked(plans: Sequence[ToolPlan], requests: Mapping[str, str]) -> tuple[ToolPlan, ...]:
    """Return plans with the requests that they lack, where these are known."""
    return tuple(p if p.request else replace(p, request=requests.get(p.id, "")) for p in plans)
