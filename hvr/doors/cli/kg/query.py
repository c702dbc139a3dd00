"""`hvr kg query`: answers to SPARQL."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from hvr.base.texts import decode, read_stdin
from hvr.doors.cli.arguments import add_json, seconds, whole, words
from hvr.doors.cli.kg.graphs import add_graph_options, graph_quads, open_server, value_text
from hvr.doors.cli.output import print_json
from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.knowledge.result import QueryResult

_DESCRIPTION = """\
Answer a SPARQL query.

The prefixes k: (ontology), o: (objects), e: (events), rdf:, rdfs:, owl:, skos: and xsd:
are known. Exit code 4 if time or memory did not suffice.
"""

_EPILOG = """\
examples:
  hvr kg query 'SELECT ?o ?place { ?o a k:Mug ; k:locatedIn ?place }'
  hvr kg query 'SELECT ?o { ?o a k:Food ; k:within o:fridge-1 }' --scene FloorPlan1
  hvr kg query 'SELECT ?e ?a ?t { ?e a k:Action ; k:argument ?a ; k:time ?t }' --json
  hvr kg query 'SELECT ?run ?o { GRAPH ?run { ?o k:in o:fridge-1 } }' --store http://localhost:7878
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument(
        "sparql", metavar="SPARQL", type=words, help="SPARQL 1.1 query; - reads standard input"
    )
    add_graph_options(parser)
    parser.add_argument(
        "--timeout", metavar="SECONDS", type=seconds, default=30.0,
        help="most time for the answer (default: 30)",
    )  # fmt: skip
    parser.add_argument(
        "--limit", metavar="ROWS", dest="rows", type=whole, default=10_000,
        help="most rows to print; more are told of on standard error (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--allow-service", action="store_true",
        help="let SERVICE in the query open connections to servers",
    )  # fmt: skip
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        UsageError: there is no such graph, or a limit is out of range.
        DataFileError: standard input has no text.
        StoreError: the query is malformed, or a server does not answer.
        QueryLimitError: the limits did not suffice.
    """
    from hvr.knowledge.asking import QueryLimits, ask

    limits = QueryLimits(args.timeout, args.rows)
    text = decode(read_stdin(), "<stdin>") if args.sparql == "-" else args.sparql
    if args.store is not None:
        answer = _asked_of_server(args, text)
    else:
        quads = graph_quads(args.run, args.scene)
        answer = ask(quads, text, limits, allow_service=args.allow_service)
    if args.json:
        print_json(answer.dicts(), indent=2)
    else:
        rows = [tuple("" if v is None else value_text(v) for v in row) for row in answer]
        _print_table(answer.variables, rows)
    if not answer.complete:
        print(
            f"note: there are more rows than these {len(answer)}; --limit sets how many",
            file=sys.stderr,
        )
    return 0


def _asked_of_server(args: argparse.Namespace, text: str) -> QueryResult:
    """Let a server answer: about one run and its ontology, or about all named graphs."""
    from hvr.knowledge.shared import ask_run

    if args.scene is not None:
        raise UsageError("a store has runs, not scenes: leave --scene out")
    with open_server(args.store, args.timeout) as server:
        if args.run is not None:
            return ask_run(server, str(args.run), text, rows=args.rows)
        return server.query(text, rows=args.rows, allow_service=args.allow_service)


def _print_table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in (header, tuple("-" * w for w in widths), *rows):
        cells = (c.ljust(w) for c, w in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())
