"""`hvr judge`: finds redundant and missing steps of a plan, with proofs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.doors.cli.arguments import add_json, add_path, add_trust, utf8_text, whole_number
from hvr.errors import UsageError
from hvr.values import SCHEMA_VERSION

if TYPE_CHECKING:
    from hvr.runs.judging import JudgedPlan
    from hvr.tools.logs.reading import ReadPlan

_ADVICE_SECONDS = 10.0

_DESCRIPTION = """\
Judge a plan step by step: find redundant and missing steps, with a proof of each.

PLAN is a PDDL plan, a text that contains one, such as a model's answer, the folder of an hvr run,
or a log of an agent that calls tools (OpenAI, Anthropic, Gemini, LangChain, smolagents, BFCL,
TaskBench). Give the goal of a PDDL plan as a sentence, as PDDL, or as a problem; a run contains its
goal.
"""

_EPILOG = """\
examples:
  hvr judge plan.pddl --domain domain.pddl --problem problem.pddl
  hvr judge plan.pddl --goal "put the apple in the fridge" --scene FloorPlan16
  hvr judge plan.pddl --domain domain.pddl --problem problem.pddl --fix better.pddl --json
  hvr judge plan.pddl --domain domain.pddl --problem problem.pddl --advise
  hvr judge plan.json --domain domain.pddl --problem problem.pddl --format jsonl
  hvr judge runs/coffee --html verdict.html
  hvr judge runs/coffee --llm openai:gpt-4o-mini
  hvr judge calls.json --tools tools.json --graph graph.json

exit codes:
  0  the plan is clean
  1  a step is redundant or missing
  2  undecided: the goal is not understood, the scene lacks an object, or a file or an option is
     invalid
"""


def add_judge_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument(
        "plan",
        metavar="PLAN",
        type=Path,
        help="a PDDL plan, the folder of an hvr run, or logs of agents (JSON)",
    )
    _add_goal_options(parser)
    _add_judging_options(parser)
    _add_output_options(parser)


def _add_goal_options(parser: argparse.ArgumentParser) -> None:
    goal = parser.add_argument_group("goal of the plan")
    goal.add_argument(
        "--goal", metavar="SENTENCE", type=utf8_text, help="goal in English, for a scene"
    )
    add_path(goal, "--goal-pddl", "a PDDL condition on the objects of a scene")
    add_path(goal, "--problem", "a PDDL problem")
    add_path(goal, "--domain", "the domain of the problem (default: the scene's domain)")
    goal.add_argument(
        "--scene", metavar="NAME", help="the scene of --goal and --goal-pddl (default: FloorPlan16)"
    )
    add_path(
        goal,
        "--tools",
        "the tools of tool plans: tools.json, function schemas, MCP, OpenAPI or Python",
    )
    add_path(goal, "--graph", "the links of the tools (default: implied by the tools)")


def _add_judging_options(parser: argparse.ArgumentParser) -> None:
    judging = parser.add_argument_group("judging")
    judging.add_argument(
        "--lenient", action="store_true", help="accept non-standard PDDL that VAL accepts"
    )
    judging.add_argument(
        "--work",
        metavar="N",
        type=whole_number,
        default=40,
        help="work limit for missing steps and proofs, in millions of conditions (default: 40)",
    )
    judging.add_argument(
        "--llm",
        metavar="MODEL",
        type=utf8_text,
        dest="spec",
        help=(
            "also ask a language model, whose claims count only if proven; openai:MODEL, "
            "gemini:MODEL, hf:NAME or replay:FOLDER"
        ),
    )
    judging.add_argument(
        "--base-url", metavar="URL", type=utf8_text, help="address of the model's server"
    )
    add_trust(judging)
    judging.add_argument(
        "--advise",
        action="store_true",
        help="also search a few seconds for a shorter plan with other steps",
    )


def _add_output_options(parser: argparse.ArgumentParser) -> None:
    output = parser.add_argument_group("output")
    add_path(
        output,
        "--fix",
        "write the repaired plan, proven valid, to a file, or print it",
        nargs="?",
        const=Path("-"),
    )
    add_json(output, "print one JSON document")
    output.add_argument(
        "--format",
        choices=("text", "json", "jsonl", "sarif"),
        default="text",
        help="jsonl prints a line per plan with its critique, its repair and the proof",
    )
    output.add_argument("--sarif", action="store_true", help="print SARIF 2.1.0")
    add_path(output, "--html", "write a page")


def run_judge(args: argparse.Namespace) -> int:
    from hvr.doors.cli.output import check_apart, check_page, check_writable, print_json
    from hvr.judging.reports import sarif

    if args.json + args.sarif + (args.format != "text") > 1:
        raise UsageError("give only one of --json, --sarif and --format")
    as_json, as_sarif = args.json or args.format == "json", args.sarif or args.format == "sarif"
    outputs = [path for path in (args.html, args.fix) if path not in (None, Path("-"))]
    models = (args.domain, args.problem, args.goal_pddl, args.tools, args.graph)
    inputs = [str(path) for path in models if path is not None]
    for path in outputs:
        check_writable(path)
    check_apart(outputs, inputs)
    if args.html is not None:  # A repair may overwrite the plan, but a page may not.
        check_apart([args.html], [str(args.plan)])
        check_page(args.html)
    results = _judged(args)
    _warn(results)
    if args.spec is not None:
        results = _with_model(args, results)
    if args.advise:
        results = tuple(map(_advised, results))
    if args.html is not None:
        from hvr.doors.cli.output import write_whole
        from hvr.doors.studio.documents import judged_document, shared_page

        document = judged_document([(r.title, r.goal, r.verdict) for r in results])
        write_whole(args.html, shared_page(document, "Judged plan"))
    fixed = _fixed(args, results)
    if args.format == "jsonl":
        from hvr.judging.reports import record

        for r in results:
            print_json(record(r.goal, r.verdict))
    elif as_json:
        documents = [
            {
                "schema_version": SCHEMA_VERSION,
                "plan": str(r.file),
                **({} if r.tool_plan is None else {"id": r.tool_plan.id}),
                **({} if r.read is None else {"read": r.read.to_json()}),
                "goal": r.goal or None,
                "reading": r.reading or None,
                **r.verdict.to_json(),
            }
            for r in results
        ]
        print_json(documents[0] if len(documents) == 1 else documents)
    elif as_sarif:
        print_json(sarif([(r.file, r.verdict, r.steps) for r in results]), indent=1)
    elif fixed and args.fix == Path("-"):
        print(fixed, end="")
    else:
        _print_text(results)
    return max(result.verdict.exit_code for result in results)


def _warn(results: Sequence[JudgedPlan]) -> None:
    for result in results:
        if result.note:
            print(f"hvr judge: {result.file}: {result.note}", file=sys.stderr)
        if result.validator is not None and not result.steps and result.file.stat().st_size:
            print(
                f"hvr judge: {result.file}: the file has no steps, so the empty plan is judged; a "
                "step is (action object ...)",
                file=sys.stderr,
            )


def _print_text(results: Sequence[JudgedPlan]) -> None:
    from hvr.judging.reports import lines

    for result in results:
        if len(results) > 1:
            print(result.title)
        if result.read is not None and not result.read.fault:
            print(result.read)
        if result.reading:
            print(f"read as: {result.reading} (the reading that fits the plan best)")
        print("\n".join(lines(result.verdict)))


def _judged(args: argparse.Namespace) -> tuple[JudgedPlan, ...]:
    from hvr.doors.cli.verify import is_json
    from hvr.runs.judging import JudgingTarget, judge_plan

    if args.graph is not None and args.tools is None:
        raise UsageError("--graph requires --tools, a file of the tools in the graph")
    # With a problem it is a PDDL plan, whatever its content.
    if is_json(args.plan) and args.problem is None:
        return _judged_tool_plans(args)
    if args.tools is not None:
        raise UsageError(f"--tools requires tool plans (.json or .jsonl), got {args.plan}")
    asked = JudgingTarget(
        problem=args.problem,
        goal=args.goal,
        goal_pddl=args.goal_pddl,
        scene=args.scene,
        domain=args.domain,
        lenient=args.lenient,
    )
    return judge_plan(args.plan, asked, work=args.work * 1_000_000)


def _judged_tool_plans(args: argparse.Namespace) -> tuple[JudgedPlan, ...]:
    from hvr.doors.cli.verify import read_tool_logs
    from hvr.judging.tool_calls import judge_tool_plan
    from hvr.judging.verdict import PlanVerdict
    from hvr.runs.judging import JudgedPlan
    from hvr.tools.call_log import read_known_tools

    for option in ("goal", "goal_pddl", "problem", "domain", "scene", "spec"):
        if getattr(args, option) is not None:
            name = "--llm" if option == "spec" else f"--{option.replace('_', '-')}"
            raise UsageError(
                f"{name} cannot be used with tool plans: they contain their own request"
            )
    known = None if args.tools is None else read_known_tools(args.tools, args.graph)

    def judged(read: ReadPlan) -> JudgedPlan:
        plan = read.plan
        verdict = (
            PlanVerdict((), unknown=read.fault) if read.fault else judge_tool_plan(plan, known)
        )
        return JudgedPlan(args.plan, verdict, (), None, plan.request, tool_plan=plan, read=read)

    return tuple(map(judged, read_tool_logs(args.plan)))


def _with_model(
    args: argparse.Namespace, results: tuple[JudgedPlan, ...]
) -> tuple[JudgedPlan, ...]:
    from hvr.models.choice import ModelChoice
    from hvr.models.connect import connect
    from hvr.runs.judging import with_opinion

    choice = ModelChoice(spec=args.spec, base_url=args.base_url, trust_project=args.trust_project)
    model = connect(choice, plans=len(results))
    return tuple(with_opinion(result, model) for result in results)


def _advised(result: JudgedPlan) -> JudgedPlan:
    from hvr.errors import PlannerError
    from hvr.judging.reports import shorter_plan
    from hvr.planning.search.planners import DEFAULT, make_planner

    if result.validator is None:
        raise UsageError("--advise requires a plan with a problem or a goal", field="advise")
    try:
        planner = make_planner(DEFAULT, _ADVICE_SECONDS)
        better = shorter_plan(result.validator, result.verdict, planner)
    except PlannerError as error:
        print(f"hvr judge: no advice: {error}", file=sys.stderr)
        return result
    return replace(result, verdict=replace(result.verdict, improvement=better))


def _fixed(args: argparse.Namespace, results: tuple[JudgedPlan, ...]) -> str:
    if args.fix is None:
        return ""
    from hvr.doors.cli.output import write_whole
    from hvr.pddl import print_plan

    texts = []
    for result in results:
        repaired = result.repaired
        if result.tool_plan is not None:
            from hvr.judging.tool_calls import repaired_plan
            from hvr.tools.datasets import to_record

            plan = repaired_plan(result.tool_plan, result.verdict)
            texts.append(json.dumps(to_record(plan), ensure_ascii=False) + "\n")
        elif repaired is None:
            why = f"nothing to write for --fix: no repair of {result.file} was found"
            print(why, file=sys.stderr)
            return ""
        else:
            texts.append(print_plan(repaired))
    text = "".join(texts)
    if args.fix != Path("-"):
        write_whole(args.fix, text)
    return text
