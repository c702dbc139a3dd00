"""`hvr verify`: scores how well a plan, its steps and their links match the request."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.doors.cli.arguments import add_json, add_path, utf8_text, whole_number
from hvr.doors.cli.output import print_json
from hvr.errors import DataFileError, UsageError

if TYPE_CHECKING:
    from hvr.judging.verifier.config import ProgressCallback
    from hvr.judging.verifier.judgement.judge import Judge
    from hvr.judging.verifier.verdict import NoVerdict, Verdict
    from hvr.tools.logs.reading import ReadPlan
    from hvr.tools.tool_plans import ToolPlan


# Tool plans ---------------------------------------------------------------------------------------


def is_json(plan: Path) -> bool:
    """Return whether a file is JSON (tool plans or agent logs), judging by its suffix or start."""
    if not plan.is_file():
        return False
    if plan.suffix in (".json", ".jsonl", ".ndjson"):
        return True
    with plan.open("rb") as file:
        return file.read(64).lstrip()[:1] in (b"{", b"[")


def tool_verdicts(
    path: Path, request: str | None, model: Path | None, tools: Path | None, graph: Path | None
) -> Sequence[Verdict | NoVerdict]:
    """Return a verdict for each tool plan in a file, or the reason why there is none.

    Args:
        request: Replaces the request of each plan; None to keep it.
        model: Folder of a verifier.
        tools: The tools that the verifier must know; None to skip the check.
        graph: File with the links between the tools, if they are not in the same file.

    Raises:
        UsageError: `model` is missing, or the verifier was trained for other tools.
    """
    from hvr.judging.verifier.verdict import NoVerdict

    judge = _tool_judge(model, tools, graph)
    found = read_tool_logs(path)
    plans = [r.plan if request is None else replace(r.plan, request=request) for r in found]
    refused = [r.fault or _refused(judge, p) for r, p in zip(found, plans, strict=True)]
    asked = [p for p, why in zip(plans, refused, strict=True) if not why]
    scores = iter(judge.judge(asked))
    return tuple(
        NoVerdict(plan.id, plan.request, why, str(read))
        if why
        else replace(next(scores), read=str(read))
        for read, plan, why in zip(found, plans, refused, strict=True)
    )


def _refused(judge: Judge, plan: ToolPlan) -> str:
    from hvr.judging.verifier.graph import plan_graph

    try:
        plan_graph(plan, judge.embeddings.tools)
    except UsageError as error:
        return str(error)
    return ""


def read_tool_logs(path: Path) -> Sequence[ReadPlan]:
    """Return the plans in a log file of any known format; raise a DataFileError if it has none."""
    from hvr.tools.logs.reading import read_log

    found = read_log(path)
    if not found:
        raise DataFileError(f"{path} has no plans")
    return found


def _tool_judge(model: Path | None, tools: Path | None, graph: Path | None) -> Judge:
    from hvr.judging.verifier.judgement.judge import load_judge
    from hvr.judging.verifier.verifier import tools_fingerprint
    from hvr.tools.datasets import read_graph

    if model is None:
        raise UsageError(
            "a tool plan needs --model: train a verifier on plans that use your tools with "
            "hvr verify train"
        )
    if graph is not None and tools is None:
        raise UsageError("--graph requires --tools, a file of the tools in the graph")
    judge = load_judge(model)
    if tools is not None:
        mine, given = (
            tools_fingerprint(judge.embeddings.tools),
            tools_fingerprint(read_graph(tools, graph)),
        )
        if mine != given:
            files = f"{tools} and {graph}" if graph else str(tools)
            raise UsageError(
                f"{model} was trained for tools other than those in {files} "
                f"({mine} and {given}): train a verifier for them with hvr verify train"
            )
    return judge


# Plan ---------------------------------------------------------------------------------------------

_PLAN_DESCRIPTION = """\
Score how likely a plan does what was asked, and show risky steps and links with the reasons.

The score of a tool plan is the probability that it is correct. The exit code is 1 if it is below
the threshold, and 4 if the verifier is undecided. `hvr verify PLAN` is short for
`hvr verify plan PLAN`.
"""

_PLAN_EPILOG = """\
examples:
  hvr verify runs/coffee
  hvr verify plan.pddl --problem problem.pddl --request "make coffee"
  hvr verify plans.jsonl --model verifier --svg plan.svg
  hvr verify plan.json --model verifier --tools tools.json --graph graph.json --json
"""


def add_plan_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _PLAN_DESCRIPTION, _PLAN_EPILOG
    parser.add_argument(
        "plan",
        metavar="PLAN",
        type=Path,
        help="tool plans or agents' logs (JSON), the folder of an hvr run, or a PDDL plan",
    )
    parser.add_argument(
        "--request",
        metavar="TEXT",
        type=utf8_text,
        help="the request, if the plan does not contain it",
    )
    add_path(
        parser,
        "--model",
        "a verifier written by `hvr verify train` (default for robot plans: the one that comes "
        "with hvr)",
        metavar="FOLDER",
    )
    add_path(parser, "--tools", "the tools: tools.json, function schemas, MCP, OpenAPI or Python")
    add_path(parser, "--graph", "links of the tools (default: implied by the tools)")
    add_path(parser, "--domain", "the domain of a PDDL plan (default: hvr's kitchen)")
    add_path(parser, "--problem", "the problem of a PDDL plan")
    add_path(parser, "--svg", "draw a single plan with its risks")
    add_json(parser)


def run_plan(args: argparse.Namespace) -> int:
    from hvr.base.registry import need_gnn

    need_gnn()
    from hvr.doors.cli.output import check_writable, print_json, write_whole
    from hvr.judging.verifier.verdict import NoVerdict
    from hvr.runs.verifying import verify

    if args.svg is not None:
        check_writable(args.svg)
    if is_json(args.plan):
        verdicts: list[Verdict | NoVerdict] = list(
            tool_verdicts(args.plan, args.request, args.model, args.tools, args.graph)
        )
    else:
        verdicts = [
            verify(
                args.plan, args.request, model=args.model, domain=args.domain, problem=args.problem
            )
        ]
    if args.svg is not None:
        from hvr.runs.report.graphs import draw_plan_graph

        if len(verdicts) != 1:
            raise UsageError(f"--svg requires a single plan, but {args.plan} has {len(verdicts)}")
        if isinstance(verdicts[0], NoVerdict):
            raise UsageError(
                f"--svg has nothing to draw, because there is no verdict ({verdicts[0].unknown})"
            )
        write_whole(args.svg, draw_plan_graph(verdicts[0]))
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


# Train --------------------------------------------------------------------------------------------

_TRAIN_EPILOG = """\
examples:
  hvr verify train train.jsonl --tools tools.json --graph graph.json --out verifier
  hvr verify train train.jsonl --tools tools.json --encoder lexical-hash
"""


def add_train_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _TRAIN_EPILOG
    parser.add_argument("plans", metavar="PLANS", type=Path, help="correct plans, JSON lines")
    add_path(
        parser,
        "--tools",
        "the tools: tools.json, function schemas, MCP, OpenAPI or Python",
        required=True,
    )
    add_path(
        parser,
        "--graph",
        "links of the tools, graph.json or graph_desc.json (default: implied by the tools)",
    )
    add_path(
        parser,
        "--out",
        "folder for the verifier (default: %(default)s)",
        metavar="FOLDER",
        default=Path("verifier"),
    )
    parser.add_argument(
        "--encoder",
        metavar="NAME",
        type=utf8_text,
        default="minilm",
        help=(
            "encoder of requests and steps: minilm, lexical-hash, or st: and a name of "
            "sentence-transformers (default: %(default)s)"
        ),
    )
    parser.add_argument(
        "--seen-links", action="store_true", help="use only links that occur in these plans"
    )
    parser.add_argument(
        "--seed",
        type=whole_number,
        default=0,
        help="seed of the simulated drafts (default: %(default)s)",
    )
    add_json(parser)


def run_train(args: argparse.Namespace) -> int:
    from hvr.base.registry import need_gnn

    need_gnn()
    from dataclasses import asdict

    from hvr.judging.verifier.config import VerifierConfig
    from hvr.judging.verifier.features import ToolEmbeddings
    from hvr.judging.verifier.judgement.fit import MIN_PLANS, fit_judge
    from hvr.judging.verifier.judgement.judge import save_judge
    from hvr.judging.verifier.verifier import make_encoder
    from hvr.tools.datasets import only_seen, read_graph, read_plans

    config = VerifierConfig.small(encoder=args.encoder, seed=args.seed)
    tools = read_graph(args.tools, args.graph)
    plans = read_plans(args.plans)
    if args.seen_links:
        tools = only_seen(tools, plans)
    with _progress() as progress:
        embeddings = ToolEmbeddings(tools, make_encoder(config), config)
        judge = fit_judge(embeddings, plans, progress, seed=args.seed)
        save_judge(judge, args.out)
    at = judge.thresholds
    if judge.weights is None:
        print(
            f"too few plans to learn from ({len(judge.past)}, at least {MIN_PLANS} needed): "
            "plans will be judged and corrected by the names of tools alone",
            file=sys.stderr,
        )
    if args.json:
        about = {
            "verifier": str(args.out),
            "tools": len(tools),
            "plans": len(judge.past),
            "thresholds": asdict(at),
        }
        print_json(about)
    else:
        print(
            f"{args.out}: a verifier for {len(tools)} tools, from {len(judge.past)} plans; a plan "
            f"is accepted at a score of {at.graph:.2f} or more, a step is risky at {at.node:.2f} "
            f"or more, a link at {at.edge:.2f} or more"
        )
    return 0


@contextmanager
def _progress() -> Iterator[ProgressCallback]:
    from hvr.doors.cli.output import show_progress

    with show_progress() as tell:
        yield lambda epoch: tell(epoch.stage, epoch.number, epoch.of, "")


# Correct ------------------------------------------------------------------------------------------

_CORRECT_DESCRIPTION = """\
Correct plans at their risky steps and links; the changes are printed on standard error.

A change is made only if changes of its kind improved held-out training plans.
"""

_CORRECT_EPILOG = """\
examples:
  hvr verify correct verifier plans.jsonl --out corrected.jsonl
  hvr verify correct verifier plans.jsonl --requests requests.jsonl
"""


def add_correct_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _CORRECT_DESCRIPTION, _CORRECT_EPILOG
    parser.add_argument(
        "model", metavar="VERIFIER", type=Path, help="folder written by `hvr verify train`"
    )
    parser.add_argument("plans", metavar="PLANS", type=Path, help="plans to correct, JSON lines")
    add_path(
        parser,
        "--requests",
        "JSON lines with id and user_request, for plans that lack their request",
    )
    add_path(parser, "--out", "write the plans as JSON lines (default: print them)")


def run_correct(args: argparse.Namespace) -> int:
    from hvr.base.registry import need_gnn

    need_gnn()
    from hvr.doors.cli.output import check_writable, print_chunks, write_whole
    from hvr.judging.verifier.judgement.judge import load_judge
    from hvr.tools.datasets import read_plans, to_record

    if args.out is not None:
        check_writable(args.out)
    judge = load_judge(args.model)
    if judge.weights is None:
        print(
            f"the verifier has {len(judge.past)} plans, too few to learn from: only names of "
            "tools and links are corrected",
            file=sys.stderr,
        )
    drafts = read_plans(args.plans)
    if not drafts:
        raise DataFileError(f"{args.plans} has no plans")
    if args.requests is not None:
        drafts = _asked(drafts, {p.id: p.request for p in read_plans(args.requests)})
    if unasked := sum(not p.request for p in drafts):
        print(
            f"{unasked} of {len(drafts)} plans have no request and are corrected by their steps "
            "alone: give --requests",
            file=sys.stderr,
        )
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
    from hvr.doors.cli.output import show_progress
    from hvr.judging.verifier.judgement.judge import correct

    with show_progress() as tell:
        for number, plan in enumerate(plans, 1):
            (corrected,) = correct(judge, [plan])
            tell("plans", number, len(plans), "")
            yield corrected.plan, corrected.changes


def _asked(plans: Sequence[ToolPlan], requests: Mapping[str, str]) -> tuple[ToolPlan, ...]:
    return tuple(p if p.request else replace(p, request=requests.get(p.id, "")) for p in plans)


# Evaluate -----------------------------------------------------------------------------------------

_EVALUATE_EPILOG = """\
examples:
  hvr verify evaluate verifier val.jsonl
  hvr verify evaluate verifier val.jsonl --seed 7 --json
"""


def add_evaluate_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EVALUATE_EPILOG
    parser.add_argument(
        "model", metavar="VERIFIER", type=Path, help="folder written by `hvr verify train`"
    )
    parser.add_argument(
        "plans", metavar="PLANS", type=Path, help="correct plans not used in training, JSON lines"
    )
    parser.add_argument(
        "--seed", type=whole_number, default=1, help="seed of the mutations (default: %(default)s)"
    )
    add_json(parser)


def run_evaluate(args: argparse.Namespace) -> int:
    from hvr.base.registry import need_gnn

    need_gnn()
    from hvr.judging.verifier.judgement.judge import load_judge
    from hvr.judging.verifier.wrong_plans import auc_by_kind
    from hvr.tools.datasets import read_plans

    plans = [p for p in read_plans(args.plans) if p.tools]
    if not plans:
        raise DataFileError(f"{args.plans} has no plan with tools")
    judge = load_judge(args.model)
    kinds = auc_by_kind(judge.judge, plans, judge.embeddings, args.seed)
    if args.json:
        print_json({"kinds": kinds})
    else:
        print("correct plans against mutated ones, ROC-AUC by kind:")
        for kind, auc in kinds.items():
            print(f"  {kind:26}{auc:.3f}")
    return 0
