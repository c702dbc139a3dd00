"""`hvr verify train`: a verifier for tools of your own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.cli.arguments import add_json, whole
from hvr.cli.output import print_json

if TYPE_CHECKING:
    from hvr.verifier.config import VerifierConfig
    from hvr.verifier.network.progress import ProgressCallback

_EPILOG = """\
examples:
  hvr verify train train.jsonl --tools tools.json --graph graph.json --out verifier
  hvr verify train train.jsonl --tools tools.json --graph graph.json --config mine.yaml
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = "Train a verifier on true plans over your tools."
    parser.epilog = _EPILOG
    parser.add_argument("plans", metavar="PLANS", type=Path, help="true plans, JSON lines")
    parser.add_argument("--tools", metavar="FILE", type=Path, required=True, help=(
        "the tools: tools.json, function schemas, MCP, OpenAPI or Python"))  # fmt: skip
    parser.add_argument("--graph", metavar="FILE", type=Path, help=(
        "their links (graph.json or graph_desc.json; default: those that follow from the "
        "tools)"))  # fmt: skip
    parser.add_argument("--out", metavar="FOLDER", type=Path, default=Path("verifier"), help=(
        "folder for the verifier (default: %(default)s)"))  # fmt: skip
    parser.add_argument("--config", metavar="FILE", type=Path, help=(
        "YAML file of settings that differ from the usual ones; see docs/verifier.md"))  # fmt: skip
    parser.add_argument("--paper", action="store_true", help=(
        "the paper's settings instead of the small ones"))  # fmt: skip
    parser.add_argument("--seen-links", action="store_true", help=(
        "links are those that occur in these plans, whatever else the files list"))  # fmt: skip
    parser.add_argument("--seed", type=whole, help=(
        "of all that is drawn (default: that of --config, else 0)"))  # fmt: skip
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        MissingExtraError: the extra `gnn` is not installed.
        UsageError: a setting cannot be used.
        DataFileError: a file cannot be read or written.
    """
    from hvr.extras import need_gnn

    need_gnn()
    from dataclasses import asdict

    from hvr.cli.verify.tool_plans import read_tool_graph
    from hvr.tools.datasets import only_seen
    from hvr.tools.plan_files import read_plans
    from hvr.verifier.judgement.fit import MIN_PLANS, fit_judge
    from hvr.verifier.judgement.judge_file import save_judge
    from hvr.verifier.network.fit import train

    config = _config(args)
    tools = read_tool_graph(args.tools, args.graph)
    plans = read_plans(args.plans)
    if args.seen_links:
        tools = only_seen(tools, plans)
    with _progress() as progress:
        verifier = train(config, plans, tools, progress)
        judge = fit_judge(verifier.embeddings, plans, progress, seed=config.seed)
        save_judge(judge, verifier, args.out)
    at = judge.thresholds
    if judge.weights is None:
        print(f"{len(judge.past)} plans are too few to learn from (there must be {MIN_PLANS}): "
              "plans will be judged and corrected by the names of tools alone",
              file=sys.stderr)  # fmt: skip
    if args.json:
        about = {"verifier": str(args.out), "tools": len(tools), "plans": len(judge.past),
                 "thresholds": asdict(at)}  # fmt: skip
        print_json(about)
    else:
        print(
            f"{args.out}: a verifier for {len(tools)} tools, by {len(judge.past)} plans; a plan is "
            f"accepted from {at.graph:.2f} on, a step is risky from {at.node:.2f}, a link from "
            f"{at.edge:.2f}"
        )
    return 0


def _config(args: argparse.Namespace) -> VerifierConfig:
    from dataclasses import replace

    from hvr.verifier.config import VerifierConfig

    base = VerifierConfig() if args.paper else VerifierConfig.small()
    config = base if args.config is None else VerifierConfig.load(args.config, base)
    return config if args.seed is None else replace(config, seed=args.seed)


@contextmanager
def _progress() -> Iterator[ProgressCallback]:
    """Report epochs on standard error."""
    from hvr.cli.progress import shown_progress
    from hvr.verifier.network.progress import Epoch

    with shown_progress() as tell:

        def shown(epoch: Epoch) -> None:
            # What the judge does a number of times has no loss.
            told = f"loss {epoch.loss:.3f}" if epoch.loss else ""
            tell(epoch.stage, epoch.number, epoch.of, told)

        yield shown
