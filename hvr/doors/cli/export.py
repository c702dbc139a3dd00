"""`hvr export` and `hvr convert`: chat examples, and hierarchical plans in several formats."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.doors.cli.arguments import add_path, real, whole_number
from hvr.doors.cli.output import check_writable, print_chunks, print_json, write_whole
from hvr.errors import DataFileError, HvrError, UsageError

if TYPE_CHECKING:
    from hvr.pddl.hierarchy.plan import HierarchicalPlan


_DESCRIPTION = """\
Write chat examples for supervised fine-tuning: the prompts of the planning pipeline with answers
from proven plans, and corrections of wrong answers in the validator's words. The output has one
line of JSON per example, with its split (train or held-out), licence, task, scene and wording. The
splits share no task, scene or wording.
"""

_EPILOG = """\
examples:
  hvr export sft --worlds blocksworld,logistics,kitchen --out data.jsonl
  hvr export sft --worlds ./my_world --count 1000 --setting HVR --out mine.jsonl

The same options give the same examples.
"""


def add_sft_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument(
        "--worlds",
        metavar="NAMES",
        required=True,
        help="names or folders of worlds, such as blocksworld,kitchen",
    )
    add_path(parser, "--out", "file for the examples", required=True)
    parser.add_argument(
        "--overwrite", action="store_true", help="replace the file if it already exists"
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
        help="setting of the planning pipeline, such as VR or HVR (default: %(default)s)",
    )
    parser.add_argument(
        "--error",
        metavar="RATE",
        type=real,
        default=0.1,
        help="error rate of first answers, which are then corrected (default: %(default)s)",
    )
    parser.add_argument(
        "--seed", metavar="N", type=whole_number, default=0, help="random seed (default: 0)"
    )


def run_sft(args: argparse.Namespace) -> int:
    check_writable(args.out)
    if args.out.is_file() and not args.overwrite:
        raise UsageError(f"{args.out} already exists: name another file, or add --overwrite")
    from hvr.runs.teaching import Teaching, examples

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
    print(f"{len(rows)} example{'s' * (len(rows) != 1)} in {args.out} ({told})", file=sys.stderr)
    for licence in sorted({row["licence"] for row in rows}):
        print(f"licence: {licence}", file=sys.stderr)
    return 0


# Convert ------------------------------------------------------------------------------------------
# `hvr convert` writes hierarchical plans in other formats, and runs of hvr as hierarchical plans.

_CONVERT_DESCRIPTION = """\
Print a hierarchical plan as a tree, a picture or JSON; find the decomposition of a plan that lacks
one; or write the plan of a run, with its macro actions as methods, as HDDL.
"""

_CONVERT_EPILOG = """\
examples:
  hvr convert plan.txt
  hvr convert plan.txt --to svg > plan.svg
  hvr convert actions.txt --to ipc --model domain.hddl problem.hddl
  hvr convert runs/1 --to hddl --folder htn

exit codes:
  0  the plan was printed or written
  1  the actions have no decomposition
  2  a file or an option cannot be used, or no decomposition was found within the limits
"""

_FORMS = ("tree", "svg", "json", "ipc", "hddl")


def add_convert_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _CONVERT_DESCRIPTION, _CONVERT_EPILOG
    parser.add_argument("plan", metavar="PLAN", type=Path, help="a plan; for hddl, a run's folder")
    parser.add_argument(
        "--to", choices=_FORMS, default="tree", help="output format (default: tree)"
    )
    parser.add_argument(
        "--model",
        metavar=("DOMAIN", "PROBLEM"),
        nargs=2,
        type=Path,
        help="find a decomposition of the plan's actions",
    )
    add_path(
        parser,
        "--folder",
        "for hddl: folder for domain.hddl, problem.hddl and plan.txt",
        metavar="DIR",
    )


def run_convert(args: argparse.Namespace) -> int:
    if args.to == "hddl":
        if args.folder is None:
            raise UsageError("--to hddl requires --folder DIR")
        return _export(args.plan, args.folder)
    from hvr.pddl.hierarchy.plan import read_hierarchical_plan

    if args.model is None:
        _print(read_hierarchical_plan(args.plan, file=str(args.plan)), args.to)
        return 0
    found = _found(args.plan, *args.model)
    if found is None:
        return 1
    _print(found, args.to)
    return 0


def _print(plan: HierarchicalPlan, form: str) -> None:
    from hvr.pddl.hierarchy.plan import print_hierarchical_plan
    from hvr.validation.hierarchical import conversion

    if form == "json":
        print_json(conversion.plan_to_values(plan), indent=1)
    elif form == "ipc":
        print_chunks([print_hierarchical_plan(plan)])
    else:
        print_chunks([conversion.draw_svg(plan) if form == "svg" else conversion.draw_tree(plan)])
        for note in conversion.missing_from_drawing(plan):
            print(f"hvr convert: the drawing is incomplete: {note}", file=sys.stderr)


def _found(file: Path, domain: Path, problem: Path) -> HierarchicalPlan | None:
    from hvr.pddl.hierarchy.parser import parse_hddl_domain, parse_hddl_problem
    from hvr.validation.hierarchical.conversion import ActionsJudge, read_actions
    from hvr.validation.hierarchical.verifier import DecompositionVerifier
    from hvr.validation.report import Outcome

    lifted = parse_hddl_domain(domain, file=str(domain))
    task = parse_hddl_problem(problem, lifted, file=str(problem))
    judge = ActionsJudge(DecompositionVerifier(lifted, task))
    report, found = judge.decompose(read_actions(file, file=str(file)))
    if report.outcome is Outcome.UNKNOWN:
        raise HvrError(report.explain())
    if found is None:
        print(report.explain(), file=sys.stderr)
    return found


def _export(run_folder: Path, folder: Path) -> int:
    from hvr.base.texts import read_json
    from hvr.doors.cli.output import write_whole
    from hvr.pddl import GroundAction, parse_domain, parse_problem
    from hvr.pddl.hierarchy.model import print_hddl_domain, print_hddl_problem
    from hvr.pddl.hierarchy.plan import print_hierarchical_plan
    from hvr.validation.hierarchical.conversion import Block, export_blocks

    domain = parse_domain(run_folder / "domain.pddl")
    problem = parse_problem(run_folder / "problem.pddl", domain)
    file = run_folder / "plan.json"
    data = read_json(file)
    try:
        blocks = [
            Block(
                block["macro"]["name"],
                tuple([GroundAction(a["action"], tuple(a["args"])) for a in block["actions"]]),
                tuple(block["macro"]["precondition"]),
            )
            for block in data["blocks"]
        ]
        exported = export_blocks(domain, problem, blocks)
    except (KeyError, TypeError) as error:
        raise DataFileError(f"{file} is not the plan of a run: {error}") from error
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "domain.hddl", print_hddl_domain(exported[0]))
    write_whole(folder / "problem.hddl", print_hddl_problem(exported[1]))
    write_whole(folder / "plan.txt", print_hierarchical_plan(exported[2]))
    print(f"wrote domain.hddl, problem.hddl and plan.txt to {folder}")
    return 0
