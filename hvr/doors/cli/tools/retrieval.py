"""`hvr tools retrieve`, `train` and `evaluate`: finds the tools for the steps of a plan."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.doors.cli.arguments import add_json, add_path, utf8_text, whole_number
from hvr.doors.cli.output import print_json
from hvr.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hvr.tools.retrieval.retriever import Retriever, RetrieverConfig
    from hvr.tools.tool_plans import ToolPlan


# Retrieve -----------------------------------------------------------------------------------------

_RETRIEVE_EPILOG = """\
examples:
  hvr tools retrieve model "find a train to Rome" "book a seat" --request "To Rome, please"
  hvr tools retrieve model --plans val.jsonl --json > found.jsonl
  hvr tools retrieve tools.json "find a train to Rome" "book a seat"       # nothing to train
"""


def add_retrieve_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _RETRIEVE_EPILOG
    parser.add_argument(
        "model",
        metavar="MODEL",
        type=Path,
        help=(
            "folder written by `hvr tools train`, or a file of tools (tools.json, function "
            "schemas, MCP, OpenAPI or Python) for retrieval without training"
        ),
    )
    add_path(
        parser,
        "--graph",
        "links of the tools, if MODEL is a file of tools (default: implied by the tools)",
    )
    parser.add_argument(
        "--encoder",
        help=(
            "encoder, if MODEL is a file of tools: lexical-hash, minilm or st:NAME "
            "(default: minilm)"
        ),
    )
    parser.add_argument(
        "steps",
        metavar="STEP",
        nargs="*",
        type=utf8_text,
        help="steps of a plan in plain English, in order",
    )
    parser.add_argument(
        "--fine-steps",
        action="store_true",
        help="allow steps without a tool, if one call of a tool does the work of several steps",
    )
    parser.add_argument(
        "--request", metavar="TEXT", type=utf8_text, default="", help="the request of the plan"
    )
    add_path(
        parser, "--plans", "plans instead of STEP: JSON lines with user_request and task_steps"
    )
    parser.add_argument(
        "--names",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="read names of tools in steps, or ignore them",
    )
    add_json(parser)


def run_retrieve(args: argparse.Namespace) -> int:
    from hvr.base.registry import need_gnn
    from hvr.tools.tool_plans import ToolPlan

    need_gnn()
    if (args.plans is None) == (not args.steps):
        raise UsageError("give either the steps of a plan or a file of plans with --plans")
    from hvr.tools.datasets import to_record
    from hvr.tools.logs.reading import read_log

    plans = [ToolPlan("1", args.request, tuple(args.steps), ())]
    if args.plans is not None:
        found = read_log(args.plans)
        for read in found:
            if read.fault or not read.plan.steps:
                print(f"{read.place}: {read.fault or 'has no steps'}", file=sys.stderr)
        plans = [read.plan for read in found]
    for plan in _retriever(args).retrieve(plans, names=args.names):
        if args.json:
            print_json(to_record(plan))
        else:
            head = f"{plan.id}: " if args.plans is not None else ""
            print(head + (" -> ".join(plan.tools) or "no tools"))
    return 0


def _retriever(args: argparse.Namespace) -> Retriever:
    from hvr.knowledge.retrieval.embedders import TextVectors
    from hvr.tools.datasets import read_graph
    from hvr.tools.retrieval.retriever import untrained_retriever
    from hvr.tools.retrieval.scorer import load_retriever

    if args.model.is_file():
        graph = read_graph(args.model, args.graph)
        encoder = TextVectors(args.encoder or "minilm")
        return untrained_retriever(graph, encoder, fine=args.fine_steps)
    if args.graph is not None or args.encoder is not None or args.fine_steps:
        raise UsageError(
            "--graph, --encoder and --fine-steps require a file of tools instead of a model"
        )
    return load_retriever(args.model)


# Train --------------------------------------------------------------------------------------------

_TRAIN_EPILOG = """\
examples:
  hvr tools train toolgraphs/ultratool --out model
  hvr tools train toolgraphs/ultratool --out model --settings own --layer none
"""


def add_train_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _TRAIN_EPILOG
    parser.add_argument(
        "data",
        metavar="DATA",
        type=Path,
        help="folder of tools, graph and plans, in GNN4TaskPlan's format",
    )
    add_path(parser, "--out", "folder for the trained retriever", metavar="FOLDER", required=True)
    parser.add_argument(
        "--split", default="train", help="the split to train on (default: %(default)s)"
    )
    parser.add_argument(
        "--settings", default="own", help="own (hvr's) or paper (GNN4Plan's) (default: %(default)s)"
    )
    parser.add_argument(
        "--layer", default="sage", help="graph layer: none or sage (default: %(default)s)"
    )
    parser.add_argument(
        "--encoder",
        default="minilm",
        help="text encoder: lexical-hash, minilm or st:NAME (default: %(default)s)",
    )
    parser.add_argument(
        "--seen-links", action="store_true", help="keep only links that occur in these plans"
    )
    parser.add_argument(
        "--epochs",
        metavar="N",
        type=whole_number,
        help="maximum number of epochs (default: from the settings)",
    )
    parser.add_argument("--device", default="cpu", help="cpu or cuda (default: %(default)s)")
    parser.add_argument(
        "--seed", type=whole_number, default=0, help="random seed (default: %(default)s)"
    )


def run_train(args: argparse.Namespace) -> int:
    from hvr.base.registry import need_gnn

    need_gnn()
    from hvr.tools.datasets import load_data
    from hvr.tools.retrieval.retriever import fit_retriever
    from hvr.tools.retrieval.scorer import data_fingerprint, save_retriever

    config = _config(args)
    data = load_data(args.data)
    plans = data.split(args.split)
    with _epochs(config) as tell:
        fitted = fit_retriever(
            config, data.graph, plans, seen_links=args.seen_links, device=args.device, progress=tell
        )
    save_retriever(fitted, args.out, data_fingerprint(plans))
    print(f"{args.out}: trained on {len(plans)} plans over {len(data.graph)} tools")
    return 0


def _config(args: argparse.Namespace) -> RetrieverConfig:
    from hvr.tools.retrieval.retriever import own, paper

    made = {"own": own, "paper": paper}
    if args.settings not in made:
        raise UsageError(f"unknown settings {args.settings!r}: expected 'own' or 'paper'")
    config = replace(made[args.settings](), layer=args.layer, encoder=args.encoder, seed=args.seed)
    return config if args.epochs is None else replace(config, epochs=args.epochs)


@contextmanager
def _epochs(config: RetrieverConfig) -> Iterator[Callable[[Any], None]]:
    from hvr.doors.cli.output import show_progress

    with show_progress() as shown:

        def tell(epoch: Any) -> None:
            remark = f"accuracy of steps {epoch.accuracy:.3f}"
            shown("epochs", epoch.number, config.epochs, remark)

        yield tell


# Evaluate -----------------------------------------------------------------------------------------

_DESCRIPTION = """\
Compare plans with the correct ones: the F1 of tools (nodes) and of successive pairs (links), and
the shares of plans in which all of them are right.

A request without a prediction counts as 0.
"""

_EVALUATE_EPILOG = """\
examples:
  hvr tools evaluate toolgraphs/ultratool --model model --no-names
  hvr tools evaluate toolgraphs/ultratool --plans predictions.jsonl
"""


def add_evaluate_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _DESCRIPTION, _EVALUATE_EPILOG
    parser.add_argument(
        "data",
        metavar="DATA",
        type=Path,
        help="folder of tools, graph and plans, in GNN4TaskPlan's format",
    )
    add_path(parser, "--model", "a trained retriever, applied to true steps", metavar="FOLDER")
    add_path(parser, "--plans", "predicted plans instead of a model, JSON lines")
    parser.add_argument(
        "--split", default="val", help="the split to compare with (default: %(default)s)"
    )
    parser.add_argument(
        "--names",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="read names of tools in steps, or ignore them",
    )
    add_json(parser)


def run_evaluate(args: argparse.Namespace) -> int:
    from hvr.tools.datasets import load_data
    from hvr.tools.tool_plans import agreement, hallucination

    if (args.model is None) == (args.plans is None):
        raise UsageError("give either --model or --plans")
    data = load_data(args.data)
    truth = data.split(args.split)
    plans = _predicted(args, truth)
    scores = agreement({p.id: p for p in plans}, truth)
    unreal = hallucination(plans, data.graph)
    if args.json:
        print_json(asdict(scores) | {"hallucination": asdict(unreal)}, indent=2)
        return 0
    missing = f", {scores.missing} without a prediction" if scores.missing else ""
    print(f"{scores.requests} requests{missing}")
    for title, value in (
        ("node F1", scores.node_f1),
        ("link F1", scores.link_f1),
        ("accuracy, nodes", scores.node_accuracy),
        ("accuracy, nodes and links", scores.plan_accuracy),
        ("tools that do not exist", unreal.node_micro),
        ("links that do not exist", unreal.link_micro),
    ):
        print(f"{title:26} {value:.4f}")
    return 0


def _predicted(args: argparse.Namespace, truth: Sequence[ToolPlan]) -> list[ToolPlan]:
    if args.plans is not None:
        from hvr.tools.datasets import read_plans

        return list(read_plans(args.plans))
    from hvr.base.registry import need_gnn

    need_gnn()
    from hvr.tools.retrieval.scorer import load_retriever

    return load_retriever(args.model).retrieve(truth, names=args.names)
