"""`hvr tools import`: read tools from their descriptions."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.base.printable import one_line
from hvr.doors.cli.arguments import add_json, add_path, real
from hvr.doors.cli.output import check_writable, print_json
from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.tools.catalogue.schema import Catalogue
    from hvr.tools.catalogue.schema_matching import ParameterMeaning
    from hvr.tools.tool_plans import ToolGraph

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
    """Add the arguments of the command."""
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
        help="encoder of texts: lexical-hash, minilm or st:NAME (default: %(default)s)",
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
    """Run the command and return the exit code."""
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
    """Return the tools, links and meanings as JSON, in the format of tool graph files."""
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
