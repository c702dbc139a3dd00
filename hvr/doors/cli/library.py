"""`hvr library`: lists, shows, merges and shares libraries of macro actions."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.base.printable import console
from hvr.doors.cli.arguments import add_json, add_path
from hvr.doors.cli.output import print_json
from hvr.validation.report import count

if TYPE_CHECKING:
    from hvr.planning.library.clusters import Cluster
    from hvr.planning.library.entry import Entry
    from hvr.planning.library.library import Library


# Libraries ----------------------------------------------------------------------------------------


def add_library_option(parser: argparse.ArgumentParser) -> None:
    add_path(
        parser,
        "--library",
        "the library, .ttl or .json (default: $HVR_LIBRARY, or library.ttl in the user's data "
        "folder, ~/.local/share/hvr on Linux)",
    )


def add_agent_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--agent", help="only macro actions of this agent: single-arm, dual-arm, pusher"
    )


def library_path(library: Path | None) -> Path:
    from hvr.planning.library.library import default_path

    return library if library is not None else default_path()


def read(library: Path | None, agent: str | None = None) -> Library:
    """Return a library, or only the macro actions learnt by an agent.

    The default library may be missing and is then empty.
    """
    from hvr.knowledge.world_file import load_agent
    from hvr.planning.library.library import read_library

    whole = read_library(library_path(library), missing_ok=library is None)
    return whole if agent is None else whole.of_agent(load_agent(agent).name)


def merge_in(more: Library, library: Path | None) -> None:
    """Merge macro actions into a library, and print how many it then contains."""
    from hvr.planning.library.library import read_library, update_library

    path = library_path(library)
    before = len(read_library(path, missing_ok=True))
    after = len(update_library(path, more))
    print(f"{path}: {count(after, 'macro action')}, {after - before} of them new")


def print_table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    """Print a table in which IDs are never truncated."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in header:
        table.add_column(title, no_wrap=title == "id", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console(width=None if sys.stdout.isatty() else 160).print(table)


# Listing ------------------------------------------------------------------------------------------

_LIST_EPILOG = """\
examples:
  hvr library list
  hvr library list --agent dual-arm
  hvr library list --library shared.ttl --json
"""


def add_list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _LIST_EPILOG
    add_library_option(parser)
    add_agent_option(parser)
    add_json(parser)


def run_list(args: argparse.Namespace) -> int:
    library = read(args.library, args.agent)
    if args.json:
        print_json([_summary(entry) for entry in library], indent=2)
    elif not len(library):
        of = f" of {args.agent}" if args.agent else ""
        print(f"{library_path(args.library)}: no macro actions{of}")
    else:
        rows = [
            (e.id, e.name, e.agent, str(len(e.steps)), _sources(e), f"{e.validated}/{e.used}")
            for e in sorted(library, key=lambda e: (e.name, e.agent, e.id))
        ]
        print_table(("id", "macro action", "agent", "steps", "learnt from", "valid/used"), rows)
    return 0


def _summary(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "name": entry.name,
        "agent": entry.agent,
        "steps": len(entry.steps),
        "origins": [origin.to_json() for origin in entry.origins],
        "used": entry.used,
        "validated": entry.validated,
    }


def _sources(entry: Entry) -> str:
    texts = dict.fromkeys(
        " ".join(filter(None, (o.request, o.scene, "(simulated)" if o.simulated else "")))
        for o in entry.origins
    )
    first = next(iter(texts), "")
    return first if len(texts) <= 1 else f"{first} and {len(texts) - 1} more"


# Show ---------------------------------------------------------------------------------------------

_SHOW_EPILOG = """\
examples:
  hvr library show 3f2a
  hvr library show 3f2a91c0de44 --library shared.ttl --json
"""


def add_show_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _SHOW_EPILOG
    parser.add_argument("id", metavar="ID", help="id of a macro action, or a prefix of it")
    add_library_option(parser)
    add_json(parser)


def run_show(args: argparse.Namespace) -> int:
    from hvr.base.printable import one_line
    from hvr.knowledge.ontology import load_ontology

    library = read(args.library)
    entry = library.find(args.id)
    cluster = library.cluster_of(entry.id, load_ontology())
    if args.json:
        print_json({**entry.to_json(), "cluster": cluster.to_json()}, indent=2)
    else:
        print("\n".join(map(one_line, _lines(entry, cluster))))
    return 0


def _lines(entry: Entry, cluster: Cluster) -> list[str]:
    def block(title: str, texts: tuple[str, ...]) -> list[str]:
        return [f"{title if n == 0 else '':<12} {text}" for n, text in enumerate(texts)]

    origins = tuple(
        ", ".join(
            filter(
                None,
                (
                    o.request,
                    o.scene,
                    o.model,
                    "simulated" if o.simulated else "",
                    o.date,
                    f"hvr {o.version}" if o.version else "",
                    o.run,
                ),
            )
        )
        for o in entry.origins
    )
    same = tuple(f"{e.id}  {e.name}  ({e.agent})" for e in cluster.members if e.id != entry.id)
    return [
        f"{entry.name}  ({entry.agent})",
        *block("id", (entry.id,)),
        *block("also", entry.names[1:]),
        *block("parameters", tuple(str(p) for p in entry.parameters)),
        *block("needs", entry.precondition),
        *block("brings about", entry.postcondition),
        *block("block", tuple(f"{n}. {step}" for n, step in enumerate(entry.steps, 1))),
        *block("learnt from", origins),
        *block("used", (f"{count(entry.used, 'time')}, {count(entry.validated, 'time')} valid",)),
        *block("cluster", (f"{cluster.id}  {cluster.general.name}",)),
        *block("with it", same),
    ]


# Merge --------------------------------------------------------------------------------------------

_MERGE_EPILOG = """\
examples:
  hvr library merge robot1.ttl robot2.ttl
  hvr library merge monday.ttl tuesday.json --library all.ttl
"""


def add_merge_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _MERGE_EPILOG
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="libraries to merge in")
    add_library_option(parser)


def run_merge(args: argparse.Namespace) -> int:
    from hvr.planning.library.library import Library, read_library

    merge_in(Library().merge(*(read_library(file) for file in args.files)), args.library)
    return 0


# Import -------------------------------------------------------------------------------------------

_IMPORT_EPILOG = """\
examples:
  hvr library import shared.ttl
  hvr library import shared.json --library mine.ttl
"""


def add_import_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _IMPORT_EPILOG
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="the library to import, .ttl or .json"
    )
    add_library_option(parser)


def run_import(args: argparse.Namespace) -> int:
    from hvr.planning.library.library import read_library

    merge_in(read_library(args.file), args.library)
    return 0


# Export -------------------------------------------------------------------------------------------

_EXPORT_EPILOG = """\
examples:
  hvr library export shared.ttl
  hvr library export pusher.json --agent pusher
"""


def add_export_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EXPORT_EPILOG
    parser.add_argument("file", metavar="FILE", type=Path, help="the file to write, .ttl or .json")
    add_library_option(parser)
    add_agent_option(parser)


def run_export(args: argparse.Namespace) -> int:
    from hvr.planning.library.library import write_library

    library = read(args.library, args.agent)
    write_library(library, args.file)
    print(f"{args.file}: {count(len(library), 'macro action')}")
    return 0


# Clusters -----------------------------------------------------------------------------------------

_CLUSTERS_EPILOG = """\
examples:
  hvr library clusters
  hvr library clusters --library shared.ttl --json
"""


def add_clusters_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _CLUSTERS_EPILOG
    add_library_option(parser)
    add_json(parser)


def run_clusters(args: argparse.Namespace) -> int:
    from hvr.knowledge.ontology import load_ontology

    clusters = read(args.library).clusters(load_ontology())
    if args.json:
        print_json([cluster.to_json() for cluster in clusters], indent=2)
        return 0
    rows = [
        (
            c.id,
            c.general.name,
            ", ".join(f"{variable} {kind}" for variable, kind in c.general.parameters),
            str(len(c.members)),
            ", ".join(c.agents),
        )
        for c in clusters
    ]
    print_table(("id", "in general", "parameters", "members", "agents"), rows)
    return 0
