"""`hvr verify plan`, or `hvr verify` for short: the score of a plan."""

from __future__ import annotations

import argparse
from pathlib import Path

from hvr.doors.cli.arguments import add_json, words
from hvr.errors import UsageError

_DESCRIPTION = """\
Score a plan: does it do what was asked? Which steps and links are risky, and why?

The score of a tool plan is the probability that it is right. Exit code 1 if it is below the
threshold, 4 if the verifier does not know. `hvr verify PLAN` is short for `hvr verify plan PLAN`.
"""

_EPILOG = """\
examples:
  hvr verify runs/coffee
  hvr verify plan.pddl --problem problem.pddl --request "make coffee"
  hvr verify plans.jsonl --model verifier --svg plan.svg
  hvr verify plan.json --model verifier --tools tools.json --graph graph.json --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("plan", metavar="PLAN", type=Path, help=(
        "tool plans or agents' logs (JSON), the folder of an hvr run, or a PDDL plan"))  # fmt: skip
    parser.add_argument("--request", metavar="TEXT", type=words, help=(
        "what was asked, if the plan does not say"))  # fmt: skip
    parser.add_argument("--model", metavar="FOLDER", type=Path, help=(
        "a verifier that `hvr verify train` wrote (default for robot plans: the one that comes "
        "with hvr)"))  # fmt: skip
    parser.add_argument("--tools", metavar="FILE", type=Path, help=(
        "the tools: tools.json, function schemas, MCP, OpenAPI or Python"))  # fmt: skip
    parser.add_argument("--graph", metavar="FILE", type=Path, help=(
        "their links (default: those that follow from the tools)"))  # fmt: skip
    parser.add_argument("--domain", metavar="FILE", type=Path, help=(
        "the domain of a PDDL plan (default: hvr's kitchen)"))  # fmt: skip
    parser.add_argument("--problem", metavar="FILE", type=Path, help=(
        "the problem of a PDDL plan"))  # fmt: skip
    parser.add_argument("--svg", metavar="FILE", type=Path, help=(
        "draw the plan with its risks; for one plan only"))  # fmt: skip
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        MissingExtraError: the extra `gnn` is not installed.
        UsageError: an option cannot be used, or one is missing.
        DataFileError: a file is missing or damaged, or the picture cannot be written.
        PddlError: a PDDL file is wrong.
    """
    from hvr.base.extras import need_gnn

    need_gnn()
    from hvr.doors.cli.output import check_writable, print_json, write_whole
    from hvr.doors.cli.verify.tool_plans import is_json, tool_verdicts
    from hvr.judging.verifier.verdict import NoVerdict, Verdict
    from hvr.runs.verification import verify

    if args.svg is not None:
        check_writable(args.svg)
    if is_json(args.plan):
        verdicts: list[Verdict | NoVerdict] = list(
            tool_verdicts(args.plan, args.request, args.model, args.tools, args.graph)
        )
    else:
        verdicts = [
            verify(
                args.plan,
                args.request,
                model=args.model,
                domain=args.domain,
                problem=args.problem,
            )
        ]
    if args.svg is not None:
        from hvr.runs.report.plan_graph import draw

        if len(verdicts) != 1:
            raise UsageError(f"--svg draws one plan, and {args.plan} has {len(verdicts)}")
        if isinstance(verdicts[0], NoVerdict):
            raise UsageError(f"--svg has nothing to draw: {verdicts[0].unknown}")
        write_whole(args.svg, draw(verdicts[0]))
    if args.json:
        documents = [verdict.to_dict() for verdict in verdicts]
        print_json(documents[0] if len(documents) == 1 else documents)
    else:
        for verdict in verdicts:
            print("\n".join(verdict.lines()))
        if len(verdicts) > 1:
            good = sum(v.accepted for v in verdicts)
            print(f"{good} of {len(verdicts)} plans accepted")
    if all(verdict.accepted for verdict in verdicts):
        return 0
    return 1 if any(not v.accepted and not v.unknown for v in verdicts) else 4
