"""`hvr kg check`: contradictions."""

from __future__ import annotations

import argparse

from hvr.doors.cli.arguments import add_json
from hvr.doors.cli.kg.graphs import add_graph_options, open_graph
from hvr.doors.cli.output import print_json

_DESCRIPTION = """\
Check the ontology for contradictions, with the facts of a run or scene if one is named.

Needs Java for the reasoner HermiT. Exit code 1 if there is a contradiction.
"""

_EPILOG = """\
examples:
  hvr kg check
  hvr kg check --scene FloorPlan16
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    add_graph_options(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        UsageError: there is no such graph.
    """
    from hvr.knowledge.owl import check_consistency

    if args.run is None and args.scene is None and args.store is None:
        report = check_consistency()
    else:
        with open_graph(args.run, args.scene, args.store) as graph:
            report = check_consistency(graph.ontology, graph.scene_triples())
    if args.json:
        print_json(report.to_json(), indent=2)
    elif not report.checked:
        print(f"not checked: {report.note}")
    else:
        verdict = "consistent" if report.consistent else "NOT consistent"
        print(f"{verdict} ({report.reasoner})")
        for problem in report.problems:
            print(f"  {problem}")
    return 1 if report.consistent is False else 0
