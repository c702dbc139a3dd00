"""`hvr library`: look into the library of macro actions, merge and share libraries."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from hvr.library.clusters import Cluster
    from hvr.library.entry import Entry
    from hvr.library.library import Library

app = typer.Typer(
    name="library",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="List, show, merge, export, import and cluster the macro actions that hvr has learnt.",
)

File = Annotated[
    Path | None,
    typer.Option(
        "--library",
        help="The library, .ttl or .json. Default: $HVR_LIBRARY, or library.ttl in the folder "
        "for users' data (~/.local/share/hvr on Linux).",
    ),
]
Agent = Annotated[
    str | None, typer.Option(help="Only what this agent has learnt: single-arm, dual-arm, pusher.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list")
def list_(library: File = None, agent: Agent = None, as_json: Json = False) -> None:
    """List the macro actions.

    Examples:

    - `hvr library list`
    - `hvr library list --agent dual-arm`
    - `hvr library list --library shared.ttl --json`
    """
    found = _read(library, agent)
    if as_json:
        _print_json([_summary(entry) for entry in found])
        return
    if not len(found):
        typer.echo(f"{_path(library)}: no macro actions" + (f" of {agent}" if agent else ""))
        return
    rows = [
        (e.id, e.name, e.agent, str(len(e.steps)), _sources(e), f"{e.validated}/{e.used}")
        for e in sorted(found, key=lambda e: (e.name, e.agent, e.id))
    ]
    _print_table(("id", "macro action", "agent", "steps", "learnt from", "valid/used"), rows)


@app.command()
def show(
    entry_id: Annotated[
        str, typer.Argument(metavar="ID", help="The id of a macro action, or how it begins.")
    ],
    library: File = None,
    as_json: Json = False,
) -> None:
    """Show one macro action: conditions, block, where it was learnt, and its cluster.

    Examples:

    - `hvr library show 3f2a`
    - `hvr library show 3f2a91c0de44 --library shared.ttl --json`
    """
    from hvr.knowledge.ontology import load_ontology

    known = _read(library, None)
    entry = known.find(entry_id)
    cluster = known.cluster_of(entry.id, load_ontology())
    if as_json:
        _print_json({**entry.to_json(), "cluster": cluster.to_json()})
    else:
        typer.echo("\n".join(_lines(entry, cluster)))


@app.command()
def merge(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="Libraries to merge in.")],
    library: File = None,
) -> None:
    """Merge other libraries into this one; nothing is lost, nothing is there twice.

    Examples:

    - `hvr library merge robot1.ttl robot2.ttl`
    - `hvr library merge monday.ttl tuesday.json --library all.ttl`
    """
    from hvr.library.library import Library
    from hvr.library.store import read_library

    _merge_in(Library().merge(*(read_library(file) for file in files)), library)


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="The library to take in, .ttl or .json.")],
    library: File = None,
) -> None:
    """Take in a library that somebody has exported.

    Examples:

    - `hvr library import shared.ttl`
    - `hvr library import shared.json --library mine.ttl`
    """
    from hvr.library.store import read_library

    _merge_in(read_library(file), library)


@app.command()
def export(
    file: Annotated[Path, typer.Argument(help="The file to write, .ttl or .json.")],
    library: File = None,
    agent: Agent = None,
) -> None:
    """Write the library to another file, as Turtle or, if its name ends in .json, as JSON.

    Examples:

    - `hvr library export shared.ttl`
    - `hvr library export pusher.json --agent pusher`
    """
    from hvr.library.store import write_library

    found = _read(library, agent)
    write_library(found, file)
    typer.echo(f"{file}: {_count(len(found))}")


@app.command()
def clusters(library: File = None, as_json: Json = False) -> None:
    """Show which macro actions do the same, across agents, and what they have in common.

    Examples:

    - `hvr library clusters`
    - `hvr library clusters --library shared.ttl --json`
    """
    from hvr.knowledge.ontology import load_ontology

    found = _read(library, None).clusters(load_ontology())
    if as_json:
        _print_json([cluster.to_json() for cluster in found])
        return
    rows = [
        (
            c.id,
            c.general.name,
            ", ".join(f"{variable} {kind}" for variable, kind in c.general.parameters),
            str(len(c.members)),
            ", ".join(c.agents),
        )
        for c in found
    ]
    _print_table(("id", "in general", "parameters", "members", "agents"), rows)


def _path(library: Path | None) -> Path:
    from hvr.library.store import default_path

    return library if library is not None else default_path()


def _read(library: Path | None, agent: str | None) -> Library:
    """Return the library, of one agent if one is named. The default one need not exist yet."""
    from hvr.agents import load_agent
    from hvr.library.store import read_library

    found = read_library(_path(library), missing_ok=library is None)
    return found if agent is None else found.of_agent(load_agent(agent).name)


def _merge_in(more: Library, library: Path | None) -> None:
    from hvr.library.store import read_library, update_library

    path = _path(library)
    before = len(read_library(path, missing_ok=True))
    after = len(update_library(path, more))
    typer.echo(f"{path}: {_count(after)}, {after - before} of them new")


def _count(number: int) -> str:
    return f"{number} macro action{'' if number == 1 else 's'}"


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


def _lines(entry: Entry, cluster: Cluster) -> list[str]:
    def block(title: str, texts: tuple[str, ...]) -> list[str]:
        return [f"{title if n == 0 else '':<12} {text}" for n, text in enumerate(texts)]

    origins = tuple(
        ", ".join(
            filter(None, (o.request, o.scene, o.model, "simulated" if o.simulated else "",
                          o.date, f"hvr {o.version}" if o.version else "", o.run))
        )
        for o in entry.origins
    )  # fmt: skip
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
        *block("used", (f"{entry.used} times, {entry.validated} times valid",)),
        *block("cluster", (f"{cluster.id}  {cluster.general.name}",)),
        *block("with it", same),
    ]


def _print_table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in header:
        table.add_column(title, no_wrap=title == "id", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console(file=sys.stdout, width=None if sys.stdout.isatty() else 160).print(table)


def _print_json(data: Any) -> None:
    typer.echo(json.dumps(data, indent=2, ensure_ascii=False))
