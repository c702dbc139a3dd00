"""`hvr tools train`: a retriever of tools."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.doors.cli.arguments import whole
from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.tools.retrieval.config import RetrieverConfig

_EPILOG = """\
examples:
  hvr tools train toolgraphs/ultratool --out model
  hvr tools train toolgraphs/ultratool --out model --settings own --layer none
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = "Train a retriever on true plans.", _EPILOG
    parser.add_argument("data", metavar="DATA", type=Path, help=(
        "folder of tools, graph and plans, in GNN4TaskPlan's format"))  # fmt: skip
    parser.add_argument("--out", metavar="FOLDER", type=Path, required=True, help=(
        "folder for the trained retriever"))  # fmt: skip
    parser.add_argument("--split", default="train", help=(
        "which plans to learn from (default: %(default)s)"))  # fmt: skip
    parser.add_argument("--settings", default="own", help=(
        "own (hvr's) or paper (GNN4Plan's) (default: %(default)s)"))  # fmt: skip
    parser.add_argument("--layer", default="sage", help=(
        "of the graph: none or sage (default: %(default)s)"))  # fmt: skip
    parser.add_argument("--encoder", default="minilm", help=(
        "lexical-hash, minilm or st:NAME (default: %(default)s)"))  # fmt: skip
    parser.add_argument("--seen-links", action="store_true", help=(
        "keep only links that occur in these plans"))  # fmt: skip
    parser.add_argument("--epochs", metavar="N", type=whole, help=(
        "at most (default: what the settings say)"))  # fmt: skip
    parser.add_argument("--device", default="cpu", help="cpu or cuda (default: %(default)s)")
    parser.add_argument("--seed", type=whole, default=0, help=(
        "of all that is random (default: %(default)s)"))  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        MissingExtraError: the extra `gnn` is not installed.
        UsageError: an option cannot be used.
        DataFileError: a file cannot be read or written.
    """
    from hvr.base.extras import need_gnn

    need_gnn()
    from hvr.tools.datasets import load_data
    from hvr.tools.retrieval.checkpoint import data_fingerprint, save_retriever
    from hvr.tools.retrieval.retriever import fit_retriever

    config = _config(args)
    data = load_data(args.data)
    plans = data.split(args.split)
    with _epochs(config) as tell:
        fitted = fit_retriever(
            config, data.graph, plans,
            seen_links=args.seen_links, device=args.device, progress=tell,
        )  # fmt: skip
    save_retriever(fitted, args.out, data_fingerprint(plans))
    print(f"{args.out}: trained on {len(plans)} plans over {len(data.graph)} tools")
    return 0


def _config(args: argparse.Namespace) -> RetrieverConfig:
    from hvr.tools.retrieval.config import own, paper

    made = {"own": own, "paper": paper}
    if args.settings not in made:
        raise UsageError(f"unknown settings {args.settings!r}: use own or paper")
    config = replace(made[args.settings](), layer=args.layer, encoder=args.encoder, seed=args.seed)
    return config if args.epochs is None else replace(config, epochs=args.epochs)


@contextmanager
def _epochs(config: RetrieverConfig) -> Iterator[Callable[[Any], None]]:
    """Report epochs on standard error."""
    from hvr.doors.cli.progress import shown_progress

    with shown_progress() as shown:

        def tell(epoch: Any) -> None:
            remark = f"accuracy of steps {epoch.accuracy:.3f}"
            shown("epochs", epoch.number, config.epochs, remark)

        yield tell
