"""`hvr tools graph`: the graph of tools and parameters, drawn."""

from __future__ import annotations

import argparse
from pathlib import Path

from hvr.doors.cli.arguments import add_json
from hvr.doors.cli.output import check_writable, print_json
from hvr.doors.cli.tools.graph_files import add_graph_arguments, opened
from hvr.errors import UsageError

_DESCRIPTION = """\
Draw the graph of tools and parameters: who takes and gives what by the schemas, and, with logs of
calls, what was called after what, which values were passed on, and how often that went well.
"""

_EPILOG = """\
examples:
  hvr tools graph tools.json --out graph.svg
  hvr tools graph tools.json --log calls.jsonl --out graph.html
  hvr tools graph tools.json --log calls.jsonl --events graph.jsonl --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    add_graph_arguments(parser)
    parser.add_argument("--out", metavar="FILE", type=Path, help=(
        "picture (.svg), or page with tables (.html)"))  # fmt: skip
    parser.add_argument("--events", metavar="FILE", type=Path, help=(
        "file for the log of the graph, from which it is rebuilt byte for byte"))  # fmt: skip
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        UsageError: there are neither tools nor logs, or the picture is to have another form.
        DataFileError: a file cannot be read or written.
        MissingExtraError: a file or the encoder needs a package that is not installed.
    """
    from hvr.base.files import write_whole
    from hvr.runs.report.tool_graph import draw_tool_graph, summary, tool_graph_page
    from hvr.tools.navigation.graph_log import event_lines, graph_record

    if args.out is not None and args.out.suffix not in (".svg", ".html"):
        raise UsageError(f"--out is a file that ends with .svg or .html, not {str(args.out)!r}")
    for path in (args.out, args.events):
        if path is not None:
            check_writable(path)
    made = opened(args)
    if args.out is not None:
        draw = draw_tool_graph if args.out.suffix == ".svg" else tool_graph_page
        write_whole(args.out, draw(made.graph))
    if args.events is not None:
        write_whole(args.events, event_lines(made.events))
    if args.json:
        print_json(graph_record(made.graph), indent=1)
        return 0
    print(summary(made.graph))
    if args.out is not None:
        print(f"drawn: {args.out}")
    return 0
