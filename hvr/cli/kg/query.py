"""`hvr kg query`: answers to SPARQL."""

from __future__ import annotations

import argparse

from hvr.cli.arguments import add_json
from hvr.cli.kg.graphs import add_graph_options, open_graph, value_text
from hvr.cli.output import print_json
from hvr.texts import decode, read_stdin

_DESCRIPTION = """\
Answer a SPARQL query.

The prefixes k: (ontology), o: (objects), e: (events), rdf:, rdfs:, owl:, skos: and xsd:
are known.
"""

_EPILOG = """\
examples:
  hvr kg query 'SELECT ?o ?place { ?o a k:Mug ; k:locatedIn ?place }'
  hvr kg query 'SELECT ?o { ?o a k:Food ; k:within o:fridge-1 }' --scene FloorPlan1
  hvr kg query 'SELECT ?e ?a ?t { ?e a k:Action ; k:argument ?a ; k:time ?t }' --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("sparql", metavar="SPARQL", help="SPARQL 1.1 query; - reads standard input")
    add_graph_options(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        UsageError: there is no such graph.
        DataFileError: standard input has no text.
        StoreError: the query is malformed.
    """
    text = decode(read_stdin(), "<stdin>") if args.sparql == "-" else args.sparql
    with open_graph(args.run, args.scene) as graph:
        answer = graph.query(text)
    if args.json:
        print_json(answer.dicts())
    else:
        rows = [tuple("" if v is None else value_text(v) for v in row) for row in answer]
        _print_table(answer.variables, rows)
    return 0


def _print_table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in (header, tuple("-" * w for w in widths), *rows):
        cells = (c.ljust(w) for c, w in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())
