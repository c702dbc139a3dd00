"""`hvr tools graph`, `serve-stats` and `learn`: tools, parameters, and statistics from logs."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.base.printable import one_line
from hvr.doors.cli.arguments import add_json, add_path, real, whole_number
from hvr.doors.cli.output import check_writable, print_json
from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.tools.catalogue.schema import Catalogue
    from hvr.tools.catalogue.schema_matching import ParameterMeaning
    from hvr.tools.navigation.graph_log import MeaningNames, OpenedGraph
    from hvr.tools.tool_plans import ToolGraph


# Graph files --------------------------------------------------------------------------------------


def add_tool_graph_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for tool catalogues, logs and parameter meanings."""
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="*",
        help="descriptions of tools, as `hvr tools import` reads them, or a world",
    )
    add_path(
        parser,
        "--log",
        "log of calls, or of a graph (--events); may be repeated",
        action="append",
        default=[],
    )
    parser.add_argument(
        "--encoder",
        default="lexical-hash",
        help="text encoder: lexical-hash, minilm or st:NAME (default: %(default)s)",
    )
    add_path(parser, "--overrides", "TOML file with parameters to merge or keep apart")
    parser.add_argument(
        "--look",
        metavar="DAYS",
        type=real,
        default=0.0,
        help=(
            "prune the graph after every DAYS days of a log of calls: remove failing tools, try "
            "some again, and let weights decay (default: never)"
        ),
    )


def meaning_names(args: argparse.Namespace) -> MeaningNames:
    """Return the names of the parameters' meanings; there are none if only logs are given.

    Raises:
        UsageError: Neither descriptions of tools nor logs are given.
    """
    from hvr.tools.catalogue.schema import Catalogue
    from hvr.tools.navigation.graph_log import MeaningNames

    if not args.files and not args.log:
        raise UsageError("give descriptions of tools, or a log with --log")
    if not args.files:
        return MeaningNames(Catalogue(()))
    from hvr.knowledge.retrieval.embedders import TextVectors
    from hvr.tools.catalogue.schema_matching import NO_OVERRIDES, meanings, read_overrides

    catalogue, own = described_tools(args.files)
    file = args.overrides or own
    overrides = NO_OVERRIDES if file is None else read_overrides(file)
    found = meanings(catalogue, TextVectors(args.encoder), overrides=overrides)
    return MeaningNames(catalogue, found)


def described_tools(names: Sequence[str]) -> tuple[Catalogue, Path | None]:
    """Return the tools in files or in one world, and the world's file of meanings, if any."""
    from hvr.knowledge.world_file import FILE
    from hvr.tools.catalogue.reading import read_catalogue

    files = [Path(name) for name in names]
    (first, *others) = files
    if others or first.is_file() or (first.exists() and not (first / FILE).is_file()):
        return read_catalogue(files), None
    if not first.exists() and (len(first.parts) > 1 or first.suffix):
        return read_catalogue(files), None
    from hvr.knowledge.world_file import load_world
    from hvr.tools.calling.worlds import listed_tools, meanings_file, open_tools

    world = load_world(names[0])
    catalogue = listed_tools(world) if world.tools else None
    if catalogue is None:
        tools = open_tools(world)
        tools.close()
        catalogue = tools.catalogue
    return catalogue, meanings_file(world)


def open_graph_of_tools(args: argparse.Namespace) -> OpenedGraph:
    """Return the graph of the tools, with statistics from the logged calls."""
    from hvr.tools.navigation.graph_log import open_graph

    return open_graph(meaning_names(args), args.log, args.look)


# Graph --------------------------------------------------------------------------------------------

_GRAPH_DESCRIPTION = """\
Draw the graph of tools and parameters: inputs and outputs by the schemas and, with logs of calls,
the order of calls, the values passed on, and the success rates.
"""

_GRAPH_EPILOG = """\
examples:
  hvr tools graph tools.json --out graph.svg
  hvr tools graph tools.json --log calls.jsonl --out graph.html
  hvr tools graph tools.json --log calls.jsonl --events graph.jsonl --json
"""


def add_graph_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _GRAPH_DESCRIPTION, _GRAPH_EPILOG
    add_tool_graph_options(parser)
    add_path(parser, "--out", "picture (.svg), or page with tables (.html)")
    add_path(
        parser,
        "--events",
        "file for the log of the graph, from which it can be rebuilt byte for byte",
    )
    add_json(parser)


def run_graph(args: argparse.Namespace) -> int:
    from hvr.base.files import write_whole
    from hvr.runs.report.graphs import draw_tool_graph, summary, tool_graph_page
    from hvr.tools.navigation.graph_log import event_lines, graph_record

    if args.out is not None and args.out.suffix not in (".svg", ".html"):
        raise UsageError(f"--out must end in .svg or .html, got {str(args.out)!r}")
    for path in (args.out, args.events):
        if path is not None:
            check_writable(path)
    made = open_graph_of_tools(args)
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


# Serve stats --------------------------------------------------------------------------------------

_SERVE_STATS_DESCRIPTION = """\
Serve success rates, links and removed tools of logs of calls on 127.0.0.1: a page at /, JSON at
/stats.json. The logs are read again for each request, so the statistics are current.
"""

_SERVE_STATS_EPILOG = """\
examples:
  hvr tools serve-stats tools.json --log calls.jsonl
  hvr tools serve-stats --log graph.jsonl --port 8765
"""


def add_serve_stats_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _SERVE_STATS_DESCRIPTION, _SERVE_STATS_EPILOG
    add_tool_graph_options(parser)
    parser.add_argument(
        "--port", type=whole_number, default=0, help="port (default: any free port)"
    )


def run_serve_stats(args: argparse.Namespace) -> int:
    from hvr.runs.report.graphs import ADDRESS, loopback_server, tool_graph_page
    from hvr.tools.navigation.graph_log import graph_record, open_graph

    names = meaning_names(args)

    def pages(path: str) -> tuple[str, str] | None:
        if path not in ("/", "/stats.json"):
            return None
        graph = open_graph(names, args.log, args.look).graph
        if path == "/":
            return "text/html", tool_graph_page(graph)
        return "application/json", json.dumps(graph_record(graph)) + "\n"

    pages("/stats.json")
    with loopback_server(pages, args.port) as server:
        print(f"http://{ADDRESS}:{server.server_port}/", flush=True)
        server.serve_forever()
    return 0


# Learn --------------------------------------------------------------------------------------------

_LEARN_DESCRIPTION = """\
Learn from judged dialogues whether a request needs calls, a question, other tools, or just an
answer. The accuracy is measured by five-fold cross-validation.
"""

_LEARN_EPILOG = """\
examples:
  hvr tools learn parcels --turns examples/parcel_turns.jsonl --out decisions.json
  hvr tools plan parcels "What is the weather like?" --decisions decisions.json
"""


def add_learn_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _LEARN_DESCRIPTION, _LEARN_EPILOG
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="the tools of the dialogues: a world, or descriptions of tools",
    )
    add_path(parser, "--turns", "judged dialogues, JSON lines", required=True)
    add_path(parser, "--out", "file for the result")
    parser.add_argument(
        "--vectors",
        metavar="ENCODER",
        default="minilm",
        help="text encoder: lexical-hash, minilm or st:NAME (default: %(default)s)",
    )
    parser.add_argument(
        "--seed",
        type=whole_number,
        default=0,
        help="seed of the folds and of training (default: %(default)s)",
    )
    add_json(parser)


def run_learn(args: argparse.Namespace) -> int:
    from hvr.knowledge.retrieval.embedders import TextVectors
    from hvr.tools.navigation.turn_judge import learn_moves, write_moves
    from hvr.tools.navigation.turns import read_dialogues

    if args.out is not None:
        check_writable(args.out)
    catalogue, _ = described_tools(args.files)
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
    scores = f"accuracy {figures['accuracy']:.3f}, macro F1 {figures['macro_f1']:.3f}"
    print(f"  on held-out dialogues: {scores}; most common move: {figures['commonest']:.3f}")
    if not learnt.better:
        print(
            "  not significantly better than always choosing the most common "
            "move, so hvr will ignore it"
        )
    return 0


# Ingest -------------------------------------------------------------------------------------------
# `hvr tools import` reads tools from their descriptions.

_DESCRIPTION = """\
Read tools from lists of function schemas (OpenAI, Anthropic), MCP's tools/list, OpenAPI 3 (JSON or
YAML) and Python functions with type hints, and find parameters with the same meaning.

A tool is linked to the tools that take its results. Nothing is called or executed.
"""

_EPILOG = """\
examples:
  hvr tools import openapi.yaml --out catalogue.json
  hvr tools import mcp.json functions.json --encoder minilm --overrides meanings.toml
  hvr judge calls.json --tools catalogue.json
"""


_SHOWN = 20
"""Maximum number of printed parameters per meaning."""


def add_import_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument(
        "files",
        metavar="FILE",
        type=Path,
        nargs="+",
        help="descriptions of tools, in any of these formats",
    )
    add_path(
        parser,
        "--out",
        "JSON file for tools, meanings and links; other commands take it as --tools",
    )
    parser.add_argument(
        "--encoder",
        default="lexical-hash",
        help="text encoder: lexical-hash, minilm or st:NAME (default: %(default)s)",
    )
    parser.add_argument(
        "--alike",
        metavar="COSINE",
        type=real,
        help="minimum similarity of parameters with the same meaning (default: 0.8)",
    )
    add_path(parser, "--overrides", "TOML file with parameters to merge or keep apart")
    add_json(parser)


def run_import(args: argparse.Namespace) -> int:
    from hvr.base.files import write_whole
    from hvr.knowledge.retrieval.embedders import TextVectors
    from hvr.tools.catalogue.reading import read_catalogue
    from hvr.tools.catalogue.schema_matching import (
        MIN_DESCRIPTION_COSINE,
        NO_OVERRIDES,
        meanings,
        read_overrides,
        tool_graph,
    )

    alike = MIN_DESCRIPTION_COSINE if args.alike is None else args.alike
    if not 0 < alike <= 1:
        raise UsageError(f"--alike must be a cosine above 0 and at most 1, got {alike:g}")
    if args.out is not None:
        check_writable(args.out)
    catalogue = read_catalogue(args.files)
    overrides = NO_OVERRIDES if args.overrides is None else read_overrides(args.overrides)
    found = meanings(catalogue, TextVectors(args.encoder), alike, overrides)
    graph = tool_graph(catalogue, found)
    document = _document(catalogue, found, graph)
    if args.out is not None:
        write_whole(args.out, json.dumps(document, indent=1) + "\n")
    if args.json:
        print_json(document, indent=1)
    else:
        print("\n".join(_lines(catalogue, found, graph)))
    return 0


def _document(
    catalogue: Catalogue, found: tuple[ParameterMeaning, ...], graph: ToolGraph
) -> dict[str, Any]:
    return {
        "nodes": [
            {
                "id": tool.id,
                "desc": tool.description,
                "input-type": list(tool.inputs),
                "output-type": list(tool.outputs),
                "effect": schema.effect.value,
            }
            for tool, schema in zip(graph.tools, catalogue.tools, strict=True)
        ],
        "links": [{"source": a, "target": b} for a, b in graph.links],
        "meanings": [
            {
                "name": m.name,
                "alike": round(m.min_cosine, 3),
                "said": m.by_user,
                "subject": m.subject,
                "parameters": [
                    {"tool": s.tool, "name": s.name, "of": "result" if s.gives else "arguments"}
                    for s in m.slots
                ],
            }
            for m in found
        ],
        "left_out": list(catalogue.left_out),
    }


def _lines(
    catalogue: Catalogue, found: tuple[ParameterMeaning, ...], graph: ToolGraph
) -> list[str]:
    from hvr.tools.catalogue.formats import MAX_PARAMETERS, MAX_SCHEMA_VALUES

    shared = [m for m in found if len(m.slots) > 1]
    slots = sum(len(m.slots) for m in found)
    lines = [
        f"{len(catalogue.tools)} tools, {slots} parameters with {len(found)} meanings, "
        f"{len(graph.links)} links"
    ]
    for meaning in shared:
        derived = meaning.subject or f"similarity {meaning.min_cosine:.2f}"
        how = "declared" if meaning.by_user else derived
        lines.append(f"  {meaning.name}  ({how})")
        lines += [f"      {slot}" for slot in meaning.slots[:_SHOWN]]
        if more := len(meaning.slots) - _SHOWN:
            lines += [f"      and {more} more (--json or --out has all)"] if more > 0 else []
    lines += [f"left out: {text}" for text in catalogue.left_out]
    silent = [t.name for t in catalogue.tools if not t.gives]
    if silent:
        lines.append(f"tools without declared results have no outgoing links: {_few(silent)}")
    cut = [
        t.name
        for t in catalogue.tools
        if len(t.takes) >= MAX_PARAMETERS or len(t.gives) >= MAX_SCHEMA_VALUES
    ]
    if cut:
        lines.append(
            f"only {MAX_PARAMETERS} parameters and {MAX_SCHEMA_VALUES} result values were read: "
            f"{_few(cut)}"
        )
    return [one_line(line) for line in lines]


def _few(names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more
