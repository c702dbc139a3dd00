"""`hvr verify correct`: plans mended at their risky places."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.cli.arguments import words
from hvr.cli.model_options import add_model_options, model_choice, refuse_model_options

if TYPE_CHECKING:
    from hvr.llm.choice import ModelChoice
    from hvr.tools.tool_plan import ToolPlan
    from hvr.verifier.verifier import Verifier

_DESCRIPTION = """\
Correct plans at their risky places; the changes are printed on standard error.

A plan changes only where such changes were a gain on training plans that were left out; or a
language model edits the draft (--llm).
"""

_EPILOG = """\
examples:
  hvr verify correct verifier plans.jsonl --out corrected.jsonl
  hvr verify correct verifier plans.jsonl --requests requests.jsonl
  hvr verify correct verifier plans.jsonl --llm openai:gpt-4o-mini
"""

_MODEL_FIELDS = (
    "base_url", "cache", "timeout", "calls_per_plan", "max_calls", "max_tokens", "max_dollars",
)  # fmt: skip

Mend = Callable[["Sequence[ToolPlan]"], "Iterable[tuple[ToolPlan, tuple[str, ...]]]"]
"""From plans to the corrected ones, each with what was changed, in words."""


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
    parser.add_argument("--llm", dest="spec", metavar="MODEL", type=words, help=(
        "let a language model edit the risky places, such as openai:MODEL"))  # fmt: skip
    add_model_options(parser, _MODEL_FIELDS)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        MissingExtraError: the extra `gnn` is not installed.
        UsageError: an option cannot be used.
        DataFileError: a file cannot be read or written.
        LLMError: the language model gives no answer.
    """
    from hvr.extras import need_gnn

    need_gnn()
    from hvr.cli.output import check_writable, print_chunks, write_whole
    from hvr.cli.verify.tool_plans import read_tool_plans
    from hvr.tools.plan_files import read_plans, to_record
    from hvr.verifier.verifier import Verifier

    if args.out is not None:
        check_writable(args.out)
    if args.spec is None:
        refuse_model_options(args, "none is asked without --llm: add --llm MODEL, or leave it out")
    verifier = Verifier.load(args.model)
    mend = (
        _by_model(verifier, model_choice(args))
        if args.spec is not None
        else _by_judge(verifier, args.model)
    )
    drafts = read_tool_plans(args.plans)
    if args.requests is not None:
        drafts = _asked(drafts, {p.id: p.request for p in read_plans(args.requests)})
    if unasked := sum(not p.request for p in drafts):
        print(f"{unasked} of {len(drafts)} plans have no request, and are corrected by their "
              "steps alone: give --requests", file=sys.stderr)  # fmt: skip
    records, changed = [], 0
    for draft, (corrected, changes) in zip(drafts, mend(drafts), strict=True):
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


def _by_judge(verifier: Verifier, folder: Path) -> Mend:
    from hvr.cli.progress import shown_progress
    from hvr.verifier.judgement.corrector import correct
    from hvr.verifier.judgement.judge_file import load_judge

    judge = load_judge(folder, verifier)
    if judge.weights is None:
        print(f"the verifier knows {len(judge.past)} plans, too few to learn from: only names of "
              "tools and links are corrected", file=sys.stderr)  # fmt: skip

    def mend(plans: Sequence[ToolPlan]) -> Iterable[tuple[ToolPlan, tuple[str, ...]]]:
        with shown_progress() as tell:
            for number, plan in enumerate(plans, 1):
                (corrected,) = correct(judge, [plan])
                tell("plans", number, len(plans), "")
                yield corrected.plan, corrected.changes

    return mend


def _by_model(verifier: Verifier, choice: ModelChoice) -> Mend:
    from hvr.llm.connect import connect, reach
    from hvr.llm.notices import notices
    from hvr.verifier.correction.llm_correction import repair

    reach(choice)  # what cannot be used is refused before the plans are read

    def mend(plans: Sequence[ToolPlan]) -> Iterable[tuple[ToolPlan, tuple[str, ...]]]:
        model = connect(choice, plans=len(plans))
        for plan in plans:
            if not plan.tools:
                yield plan, ("the plan is empty: nothing to edit",)
                continue
            with notices():
                correction = repair(verifier, plan, model)
            changes = tuple(str(edit) for edit in correction.edits) or (correction.outcome,)
            yield correction.after.graph.plan(), changes

    return mend


def _asked(plans: Sequence[ToolPlan], requests: Mapping[str, str]) -> tuple[ToolPlan, ...]:
    """Return plans with the requests that they lack, where these are known."""
    return tuple(p if p.request else replace(p, request=requests.get(p.id, "")) for p in plans)
