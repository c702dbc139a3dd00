"""`hvr tools learn`: what to do next with a request, learnt from judged dialogues."""

from __future__ import annotations

import argparse
from pathlib import Path

from hvr.doors.cli.arguments import add_json, whole
from hvr.doors.cli.output import check_writable, print_json

_DESCRIPTION = """\
Learn from judged dialogues whether a request is one to call tools for, to ask, to find other tools,
or to answer as it is. Each fifth of the dialogues is told by the others first.
"""

_EPILOG = """\
examples:
  hvr tools learn parcels --turns docs/examples/parcel_turns.jsonl --out decisions.json
  hvr tools plan parcels "What is the weather like?" --decisions decisions.json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("files", metavar="FILE", nargs="+", help=(
        "the tools of the dialogues: a world, or descriptions of tools"))  # fmt: skip
    parser.add_argument("--turns", metavar="FILE", type=Path, required=True, help=(
        "judged dialogues, JSON lines"))  # fmt: skip
    parser.add_argument("--out", metavar="FILE", type=Path, help="file for what was learnt")
    parser.add_argument("--vectors", metavar="ENCODER", default="minilm", help=(
        "encoder of requests and tools: lexical-hash, minilm or st:NAME "
        "(default: %(default)s)"))  # fmt: skip
    parser.add_argument("--seed", type=whole, default=0, help=(
        "seed of the folds and of training (default: %(default)s)"))  # fmt: skip
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        UsageError: There are too few dialogues to learn from.
        DataFileError: A file cannot be read or written.
        MissingExtraError: The encoder needs a package that is not installed.
    """
    from hvr.doors.cli.tools.graph_files import described
    from hvr.knowledge.retrieval.text_vectors import TextVectors
    from hvr.tools.navigation.turns.dialogues import read_dialogues
    from hvr.tools.navigation.turns.learnt_moves import learn_moves, write_moves

    if args.out is not None:
        check_writable(args.out)
    catalogue, _ = described(args.files)
    encode = TextVectors(args.vectors).encode
    place = str(args.turns)
    dialogues = read_dialogues(args.turns)
    learnt = learn_moves(dialogues, catalogue, args.vectors, encode, args.seed, place)
    if args.out is not None:
        write_moves(args.out, learnt)
    figures = learnt.figures
    if args.json:
        print_json({"dialogues": len(dialogues), "figures": dict(figures), "used": learnt.better})
        return 0
    print(f"learnt from {figures['turns']:.0f} turns of {len(dialogues)} dialogues")
    told = f"accuracy {figures['accuracy']:.3f}, macro F1 {figures['macro_f1']:.3f}"
    print(f"  on dialogues held out: {told}; always the commonest move: {figures['commonest']:.3f}")
    if not learnt.better:
        print("  that is not surely better than always the same move: it will not be used")
    return 0
