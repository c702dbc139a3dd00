"""`hvr verify train`: a verifier for tools of your own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.doors.cli.arguments import add_json, whole, words
from hvr.doors.cli.output import print_json

if TYPE_CHECKING:
    from hvr.judging.verifier.progress import ProgressCallback

_EPILOG = """\
examples:
  hvr verify train train.jsonl --tools tools.json --graph graph.json --out verifier
  hvr verify train train.jsonl --tools tools.json --encoder lexical-hash
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
    parser.add_argument("--encoder", metavar="NAME", type=words, default="minilm", help=(
        "encoder of requests and steps: minilm, lexical-hash, or st: and a name of "
        "sentence-transformers (default: %(default)s)"))  # fmt: skip
    parser.add_argument("--seen-links", action="store_true", help=(
        "links are those that occur in these plans, whatever else the files list"))  # fmt: skip
    parser.add_argument("--seed", type=whole, default=0, help=(
        "seed of the simulated drafts (default: %(default)s)"))  # fmt: skip
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        MissingExtraError: the extra `gnn` is not installed.
        UsageError: a setting cannot be used.
        DataFileError: a file cannot be read or written.
    """
    from hvr.base.extras import need_gnn

    need_gnn()
    from dataclasses import asdict

    from hvr.doors.cli.verify.tool_plans import read_tool_graph
    from hvr.judging.verifier.config import VerifierConfig
    from hvr.judging.verifier.judgement.fit import MIN_PLANS, fit_judge
    from hvr.judging.verifier.judgement.judge_file import save_judge
    from hvr.judging.verifier.tool_embeddings import ToolEmbeddings
    from hvr.judging.verifier.verifier import make_encoder
    from hvr.tools.datasets import only_seen
    from hvr.tools.plan_files import read_plans

    config = VerifierConfig.small(encoder=args.encoder, seed=args.seed)
    tools = read_tool_graph(args.tools, args.graph)
    plans = read_plans(args.plans)
    if args.seen_links:
        tools = only_seen(tools, plans)
    with _progress() as progress:
        embeddings = ToolEmbeddings(tools, make_encoder(config), config)
        judge = fit_judge(embeddings, plans, progress, seed=args.seed)
        save_judge(judge, args.out)
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


@contextmanager
def _progress() -> Iterator[ProgressCallback]:
    """Report progress on standard error."""
    from hvr.doors.cli.progress import shown_progress

    with shown_progress() as tell:
        yield lambda epoch: tell(epoch.stage, epoch.number, epoch.of, "")
