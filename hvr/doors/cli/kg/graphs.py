"""Which graph a command of `hvr kg` is about."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.knowledge.graph import KnowledgeGraph
    from hvr.knowledge.sparql_server import SparqlServer
    from hvr.knowledge.world_file import WorldFile


def add_graph_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a graph."""
    parser.add_argument(
        "--run", metavar="FOLDER", type=Path,
        help="folder of a run (default: the newest one under ./runs)",
    )  # fmt: skip
    parser.add_argument(
        "--scene", help="take the graph of a scene as it starts, such as FloorPlan16"
    )
    add_store_option(parser, "a SPARQL server with the graphs of many runs; --run names one there")


def add_store_option(parser: argparse.ArgumentParser, text: str, *, needed: bool = False) -> None:
    """Add the option that names a server."""
    parser.add_argument("--store", metavar="URL", required=needed, help=text)


@contextmanager
def open_server(store: str, timeout: float = 30.0) -> Iterator[SparqlServer]:
    """Reach a server, with what the environment says of its users.

    Args:
        store: its address.
        timeout: most seconds to wait for an answer.

    Raises:
        UsageError: the address cannot be used.
    """
    from hvr.knowledge.sparql_server import ServerAddress, SparqlServer

    with SparqlServer(ServerAddress.read(store, os.environ), timeout) as server:
        yield server


@contextmanager
def open_graph(
    run: Path | None, scene: str | None, store: str | None = None
) -> Iterator[KnowledgeGraph]:
    """Open the graph of a run, of a scene, or, with neither, of the newest run.

    Raises:
        UsageError: both are named, or there is no such run.
        UnknownObjectError: a server does not list the run.
        StoreError: a server does not answer.
    """
    from hvr.knowledge.graph import KnowledgeGraph

    _check(run, scene)
    if store is not None:
        graph = _graph_of_server(store, run)
    elif scene is not None:
        graph = _scene_graph(scene)
    else:
        folder = _run_folder(run)
        ontology = world_of_run(folder).scene_ontology
        graph = KnowledgeGraph.open(folder / "graph", read_only=True, ontology=ontology)
    with graph:
        yield graph


def graph_quads(run: Path | None, scene: str | None) -> bytes:
    """Return the quads of such a graph as N-Quads; of a run, without the time to make a graph.

    Raises:
        UsageError: both are named, or there is no such run.
        StoreError: there is no graph of the run, or it is corrupt.
    """
    from hvr.knowledge.journal import read_journal

    _check(run, scene)
    if scene is None:
        return read_journal(_run_folder(run) / "graph")
    with _scene_graph(scene) as graph:
        return graph.quads()


def _check(run: Path | None, scene: str | None) -> None:
    if run is not None and scene is not None:
        raise UsageError("give either --run or --scene, not both")


def _graph_of_server(store: str, run: Path | None) -> KnowledgeGraph:
    from hvr.knowledge.graph import KnowledgeGraph
    from hvr.knowledge.shared import list_runs, run_quads
    from hvr.knowledge.world_file import load_world

    if run is None:
        raise UsageError("name a run of the store with --run: `hvr kg runs` lists them")
    with open_server(store) as server:
        quads = run_quads(server, str(run))
        world = next((r.world for r in list_runs(server) if r.name == str(run)), "")
    ontology = (load_world(world) if world else load_world()).scene_ontology
    return KnowledgeGraph.of_quads(quads, f"{store}, run {run}", ontology)


def _scene_graph(scene: str) -> KnowledgeGraph:
    from hvr.knowledge.graph import KnowledgeGraph
    from hvr.knowledge.world_file import world_of_scene
    from hvr.worlds.kitchen import Kitchen
    from hvr.worlds.naming import Names
    from hvr.worlds.scenes import load_scene
    from hvr.worlds.thor.observe import scene_graph

    place = load_scene(scene)
    metadata = Kitchen(place).last_event.metadata
    names = Names.from_metadata(metadata)
    observed = scene_graph(metadata, names)
    graph = KnowledgeGraph.create(ontology=world_of_scene(place.name).scene_ontology)
    graph.add_scene(observed, {n: p for n in observed.objects if (p := names.pieces(n))})
    return graph


def world_of_run(folder: Path) -> WorldFile:
    """Return the world of a run; the usual one where its account does not say."""
    from hvr.knowledge.world_file import load_world
    from hvr.runs.report.run_page.state import ACCOUNT, read_account

    account = read_account(folder)[0] if (folder / ACCOUNT).is_file() else {}
    name = account.get("world")
    return load_world(name) if isinstance(name, str) else load_world()


def _run_folder(run: Path | None) -> Path:
    if run is not None:
        if not run.is_dir():
            raise UsageError(f"--run {run}: there is no such folder")
        if not (run / "graph").is_dir():
            raise UsageError(f"--run {run}: this is no folder of a run; it has no graph in it")
        return run
    runs = [p.parent for p in Path("runs").glob("*/graph") if p.is_dir()]
    if not runs:
        raise UsageError("there is no run under ./runs: name a folder with --run, or use --scene")
    return max(runs, key=lambda p: (p.stat().st_mtime, p.name))


def value_text(value: object) -> str:
    """Return a value of the graph, for people."""
    return str(value).lower() if isinstance(value, bool) else str(value)
