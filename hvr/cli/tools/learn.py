"""`hvr tools learn`: which tool is called after which, learnt from logs of calls."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hvr.cli.arguments import add_json, whole
from hvr.cli.output import check_writable, print_json
from hvr.cli.tools.graph_files import add_graph_arguments, opened
from hvr.errors import UsageError
from hvr.printable import console, one_line

_DESCRIPTION = """\
Learn from logs of calls which tool is called after which, also where no call has shown it yet. A
fifth of the runs is held out first, to say how well that works; then all are learnt from.

With --turns: learn from judged dialogues whether a request is one to call tools for, to ask, to
find other tools, or to answer as it is. Each fifth of the dialogues is told by the others first.
"""

_EPILOG = """\
examples:
  hvr tools learn tools.json --log calls.jsonl --out links.json
  hvr tools graph tools.json --log calls.jsonl --links links.json --out graph.html
  hvr tools learn parcels --turns docs/examples/parcel_turns.jsonl --out decisions.json
  hvr tools plan parcels "What is the weather like?" --decisions decisions.json
"""

_SHOWN = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    add_graph_arguments(parser)
    parser.add_argument("--turns", metavar="FILE", type=Path, help=(
        "judged dialogues, JSON lines: learn the next move instead of links"))  # fmt: skip
    parser.add_argument("--out", metavar="FILE", type=Path, help=(
        "file for the links, or for what was learnt of the next move"))  # fmt: skip
    parser.add_argument("--method", default="pairs", help=(
        "pairs, logistic, sgc, hgt, counted, adamic-adar or cosine (default: %(default)s, the best "
        "of them where they were compared)"))  # fmt: skip
    parser.add_argument("--vectors", metavar="ENCODER", default="minilm", help=(
        "what tells the likeness of tools: lexical-hash, minilm or st:NAME "
        "(default: %(default)s)"))  # fmt: skip
    parser.add_argument("--seed", type=whole, default=0, help=(
        "of all that is random (default: %(default)s)"))  # fmt: skip
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        UsageError: there is no log of calls, no such method, or too little to learn from.
        DataFileError: a file cannot be read or written.
        MissingExtraError: the method or the encoder needs a package that is not installed.
    """
    if args.turns is not None:
        return _learn_moves(args)
    from hvr.extras import need_gnn
    from hvr.navigation.opening import catalogue_of
    from hvr.navigation.prediction.learning import METHODS, WITHOUT_TRAINING, learnt_links
    from hvr.navigation.prediction.predicted import known_method, write_links
    from hvr.navigation.prediction.vectors import node_vectors
    from hvr.retrieval.text_vectors import TextVectors

    if known_method(args.method, METHODS) not in WITHOUT_TRAINING:
        need_gnn()
        import torch

        # The networks are small: threads that wait for each other make training slower.
        torch.set_num_threads(1)
    if not args.log:
        raise UsageError("give a log of calls with --log, or judged dialogues with --turns")
    if args.out is not None:
        check_writable(args.out)
    made = opened(args)
    catalogue = catalogue_of(made.names, made.graph)
    vectors = node_vectors(catalogue, made.names, TextVectors(args.vectors))
    with _steps() as tell:
        links = learnt_links(vectors, made.runs, args.method, args.seed, tell)
    if args.out is not None:
        write_links(args.out, links)
    seen = {(source, target) for source, target, _ in made.graph.calls}
    new = [link for link in links.likely() if link[:2] not in seen]
    if args.json:
        print_json({
            "method": links.method, "runs": len(made.runs), "figures": dict(links.figures),
            "threshold": links.threshold,
            "new": [{"source": s, "target": t, "chance": round(c, 4)} for s, t, c in new],
        })  # fmt: skip
        return 0
    print(f"learnt from {len(made.runs)} runs over {len(vectors.tools)} tools ({links.method})")
    for name, value in links.figures.items():
        print(f"  on runs held out: {name} {value:.3g}")
    if not links.figures:
        print("  too few runs to hold any out: nothing is known of how good the links are")
    print(f"{len(new)} likely links that no call has shown")
    for source, target, chance in new[:_SHOWN]:
        print(f"  {chance:.2f}  {one_line(source)} -> {one_line(target)}")
    return 0


def _learn_moves(args: argparse.Namespace) -> int:
    """Learn the next move from judged dialogues, and return the exit code."""
    from hvr.cli.tools.graph_files import described
    from hvr.navigation.turns.dialogues import read_dialogues
    from hvr.navigation.turns.learnt_moves import learn_moves, write_moves
    from hvr.retrieval.text_vectors import TextVectors

    if args.log:
        raise UsageError("--turns and --log are learnt from one at a time")
    if args.out is not None:
        check_writable(args.out)
    if not args.files:
        raise UsageError("name the tools of the dialogues: a world, or descriptions of tools")
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


@contextmanager
def _steps() -> Iterator[Callable[[int, int, float], None]]:
    """Return a progress bar on standard error."""
    from rich.progress import Progress

    with Progress(console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("learning", total=None)

        def tell(done: int, of: int, loss: float) -> None:
            del loss
            bar.update(task, completed=done, total=of)

        yield tell
