"""`hvr kg`: queries, shows, exports and checks the knowledge graph of a run or a scene."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.base.texts import decode, read_stdin
from hvr.doors.cli.arguments import add_json, add_path, seconds, utf8_text, whole_number
from hvr.doors.cli.output import print_json
from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.knowledge.graph import KnowledgeGraph
    from hvr.knowledge.graph_reader import Description
    from hvr.knowledge.query import QueryResult
    from hvr.knowledge.sparql_server import SparqlServer
    from hvr.knowledge.world_file import WorldFile


# Graphs -------------------------------------------------------------------------------------------


def add_graph_options(parser: argparse.ArgumentParser) -> None:
    add_path(
        parser, "--run", "folder of a run (default: the newest one under ./runs)", metavar="FOLDER"
    )
    parser.add_argument("--scene", help="use the initial graph of a scene, such as FloorPlan16")
    add_store_option(
        parser, "a SPARQL server with the graphs of many runs, one of which --run names"
    )


def add_store_option(parser: argparse.ArgumentParser, text: str, *, needed: bool = False) -> None:
    parser.add_argument("--store", metavar="URL", required=needed, help=text)


@contextmanager
def open_server(store: str, timeout: float = 30.0) -> Iterator[SparqlServer]:
    """Connect to a SPARQL server with credentials from the environment; `timeout` is in seconds."""
    from hvr.knowledge.sparql_server import ServerAddress, SparqlServer

    with SparqlServer(ServerAddress.read(store, os.environ), timeout) as server:
        yield server


@contextmanager
def open_graph(
    run: Path | None, scene: str | None, store: str | None = None
) -> Iterator[KnowledgeGraph]:
    """Open the graph of a run or scene, by default of the newest run below `runs/`.

    Args:
        run: Folder of a run or, with `store`, name of a run.
        store: Address of a SPARQL server that stores the run, if any.
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
    """Return the graph of a scene or run, by default of the newest run, as N-Quads."""
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
    from hvr.knowledge.sparql_server import list_runs, run_quads
    from hvr.knowledge.world_file import load_world

    if run is None:
        raise UsageError("name a run in the store with --run: `hvr kg runs` lists them")
    with open_server(store) as server:
        quads = run_quads(server, str(run))
        world = next((r.world for r in list_runs(server) if r.name == str(run)), "")
    ontology = (load_world(world) if world else load_world()).scene_ontology
    return KnowledgeGraph.of_quads(quads, f"{store}, run {run}", ontology)


def _scene_graph(scene: str) -> KnowledgeGraph:
    from hvr.knowledge.graph import KnowledgeGraph
    from hvr.knowledge.world_file import world_of_scene
    from hvr.worlds.kitchen import Kitchen
    from hvr.worlds.scenes import load_scene
    from hvr.worlds.thor.observe import Names, scene_graph

    place = load_scene(scene)
    metadata = Kitchen(place).last_event.metadata
    names = Names.from_metadata(metadata)
    observed = scene_graph(metadata, names)
    graph = KnowledgeGraph.create(ontology=world_of_scene(place.name).scene_ontology)
    graph.add_scene(observed, {n: p for n in observed.objects if (p := names.pieces(n))})
    return graph


def world_of_run(folder: Path) -> WorldFile:
    """Return the world of a run; the default world if the run's status names none."""
    from hvr.knowledge.world_file import load_world
    from hvr.runs.folder import STATUS_FILE, read_status

    status = read_status(folder)[0] if (folder / STATUS_FILE).is_file() else {}
    name = status.get("world")
    return load_world(name) if isinstance(name, str) else load_world()


def _run_folder(run: Path | None) -> Path:
    if run is not None:
        if not run.is_dir():
            raise UsageError(f"--run {run}: the folder does not exist")
        if not (run / "graph").is_dir():
            raise UsageError(f"--run {run} is not a run folder: it contains no graph")
        return run
    runs = [p.parent for p in Path("runs").glob("*/graph") if p.is_dir()]
    if not runs:
        raise UsageError("no run under ./runs: name a folder with --run, or use --scene")
    return max(runs, key=lambda p: (p.stat().st_mtime, p.name))


def value_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# Query --------------------------------------------------------------------------------------------

_QUERY_DESCRIPTION = """\
Run a SPARQL query.

The prefixes k: (ontology), o: (objects), e: (events), rdf:, rdfs:, owl:, skos: and xsd: are
predefined. The exit code is 4 if the query exceeds the time or memory limit.
"""

_QUERY_EPILOG = """\
examples:
  hvr kg query 'SELECT ?o ?place { ?o a k:Mug ; k:locatedIn ?place }'
  hvr kg query 'SELECT ?o { ?o a k:Food ; k:within o:fridge-1 }' --scene FloorPlan1
  hvr kg query 'SELECT ?e ?a ?t { ?e a k:Action ; k:argument ?a ; k:time ?t }' --json
  hvr kg query 'SELECT ?run ?o { GRAPH ?run { ?o k:in o:fridge-1 } }' --store http://localhost:7878
"""


def add_query_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _QUERY_DESCRIPTION, _QUERY_EPILOG
    parser.add_argument(
        "sparql", metavar="SPARQL", type=utf8_text, help="SPARQL 1.1 query; - reads standard input"
    )
    add_graph_options(parser)
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=seconds,
        default=30.0,
        help="time limit of the answer (default: 30)",
    )
    parser.add_argument(
        "--limit",
        metavar="ROWS",
        dest="rows",
        type=whole_number,
        default=10_000,
        help="maximum number of rows; if there are more, a message says so (default: %(default)s)",
    )
    parser.add_argument(
        "--allow-service",
        action="store_true",
        help="allow SERVICE clauses to connect to other servers",
    )
    add_json(parser)


def run_query(args: argparse.Namespace) -> int:
    from hvr.knowledge.query import QueryLimits, run_limited_query

    limits = QueryLimits(args.timeout, args.rows)
    text = decode(read_stdin(), "<stdin>") if args.sparql == "-" else args.sparql
    if args.store is not None:
        answer = _asked_of_server(args, text)
    else:
        quads = graph_quads(args.run, args.scene)
        answer = run_limited_query(quads, text, limits, allow_service=args.allow_service)
    if args.json:
        print_json(answer.dicts(), indent=2)
    else:
        rows = [tuple("" if v is None else value_text(v) for v in row) for row in answer]
        _print_table(answer.variables, rows)
    if not answer.complete:
        print(
            f"note: only the first {len(answer)} rows are shown; use --limit for more",
            file=sys.stderr,
        )
    return 0


def _asked_of_server(args: argparse.Namespace, text: str) -> QueryResult:
    from hvr.knowledge.sparql_server import query_run

    if args.scene is not None:
        raise UsageError("a store has runs, not scenes: omit --scene")
    with open_server(args.store, args.timeout) as server:
        if args.run is not None:
            return query_run(server, str(args.run), text, rows=args.rows)
        return server.query(text, rows=args.rows, allow_service=args.allow_service)


def _print_table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in (header, tuple("-" * w for w in widths), *rows):
        cells = (c.ljust(w) for c, w in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())


# Show ---------------------------------------------------------------------------------------------

_SHOW_EPILOG = """\
examples:
  hvr kg show mug-1
  hvr kg show fridge-1 --scene FloorPlan16 --json
"""


def add_show_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _SHOW_EPILOG
    parser.add_argument("name", metavar="NAME", help="name of an object, such as mug-1")
    add_graph_options(parser)
    add_json(parser)


def run_show(args: argparse.Namespace) -> int:
    with open_graph(args.run, args.scene, args.store) as graph:
        description = graph.describe(args.name)
    if args.json:
        print_json(asdict(description), indent=2)
    else:
        print("\n".join(_lines(description)))
    return 0


def _lines(about: Description) -> Iterator[str]:
    yield f"{about.name} ({about.type})"
    yield f"  called       {', '.join(about.labels)}"
    if about.thor_id:
        yield f"  objectId     {about.thor_id}"
    yield f"  is a         {', '.join(about.kinds)}"
    yield f"  affordances  {', '.join(about.affordances)}"
    for prop, v in about.state.items():
        yield f"  {prop:<12} {value_text(v)}"
    for prop, other in about.relations:
        yield f"  {prop:<12} {other}"
    for other, prop in about.inverse:
        yield f"  {other} {prop} this"
    for event, action, step, outcome in about.events:
        yield f"  {event}: step {step}, {action}, {outcome}"


# Export -------------------------------------------------------------------------------------------

_EXPORT_EPILOG = """\
examples:
  hvr kg export -o kitchen.ttl
  hvr kg export --scene FloorPlan16 | grep CoffeeMachine
  hvr kg export --run runs/20260101-120000 --all -o run.trig
"""


def add_export_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EXPORT_EPILOG
    parser.add_argument(
        "--out", "-o", metavar="FILE", type=Path, help="file to write (default: standard output)"
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="include the ontology and the changes of each event, as TriG",
    )
    add_graph_options(parser)


def run_export(args: argparse.Namespace) -> int:
    from hvr.base.printable import printable

    shown = BytesIO()
    with open_graph(args.run, args.scene, args.store) as graph:
        to_file = args.out is not None and str(args.out) != "-"
        target = args.out if to_file else shown
        if args.all:
            graph.export_all(target)
        else:
            graph.export(target)
    sys.stdout.buffer.write(printable(shown.getvalue().decode("utf-8")).encode("utf-8"))
    return 0


# Runs ---------------------------------------------------------------------------------------------

_RUNS_EPILOG = """\
examples:
  hvr kg runs --store http://localhost:7878
  hvr kg runs --store fuseki+http://localhost:3030/robots --json
"""


def add_runs_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _RUNS_EPILOG
    add_store_option(parser, "address of the SPARQL server", needed=True)
    add_json(parser)


def run_runs(args: argparse.Namespace) -> int:
    from hvr.knowledge.sparql_server import list_runs

    with open_server(args.store) as server:
        runs = list_runs(server)
    if args.json:
        print_json([asdict(one) for one in runs], indent=2)
    else:
        for one in runs:
            print("  ".join((one.began, one.name, one.robot, one.scene, one.request)))
    return 0


# Publish ------------------------------------------------------------------------------------------

_PUBLISH_DESCRIPTION = """\
Upload the graph of a run to a SPARQL server, and replace a graph with the same name.

`hvr plan --store URL` uploads during the run. Use this command for runs without --store, and for
runs whose server failed; the graph of such a run keeps its name on the server.
"""

_PUBLISH_EPILOG = """\
examples:
  hvr kg publish runs/coffee --store http://localhost:7878
  hvr kg publish runs/coffee --store http://localhost:7878 --name robot7-coffee
"""


def add_publish_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _PUBLISH_DESCRIPTION, _PUBLISH_EPILOG
    parser.add_argument("run", metavar="FOLDER", type=Path, help="folder of the run")
    add_store_option(parser, "address of the SPARQL server", needed=True)
    parser.add_argument(
        "--name", help="name on the server (default: its current name there, or the folder's)"
    )


def run_publish(args: argparse.Namespace) -> int:
    from hvr.knowledge.sparql_server import SharedRun, publish
    from hvr.runs.folder import read_status, shared_names

    quads = graph_quads(args.run, None)
    about, _ = read_status(args.run)
    world = world_of_run(args.run)
    scene = str(about.get("scene", ""))
    name, robot = shared_names(args.run) or (args.run.resolve().name, "")
    named = SharedRun(
        name=args.name or name,
        request=str(about.get("request", "")),
        scene=scene if scene.isalnum() else "",
        world=world.name,
        robot=robot,
        began=str(about.get("began", "")),
    )
    with open_server(args.store) as server:
        publish(server, named, world.scene_ontology, quads)
    print(f"published as {named.name}")
    return 0


# Check --------------------------------------------------------------------------------------------

_CHECK_DESCRIPTION = """\
Check the ontology for contradictions, optionally with the facts of a run or a scene.

The reasoner HermiT needs Java. The exit code is 1 if there is a contradiction.
"""

_CHECK_EPILOG = """\
examples:
  hvr kg check
  hvr kg check --scene FloorPlan16
"""


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _CHECK_DESCRIPTION, _CHECK_EPILOG
    add_graph_options(parser)
    add_json(parser)


def run_check(args: argparse.Namespace) -> int:
    from hvr.knowledge.owl import check_consistency

    if args.run is None and args.scene is None and args.store is None:
        report = check_consistency()
    else:
        with open_graph(args.run, args.scene, args.store) as graph:
            report = check_consistency(graph.ontology, graph.scene_triples())
    if args.json:
        print_json(asdict(report), indent=2)
    elif not report.checked:
        print(f"not checked: {report.note}")
    else:
        verdict = "consistent" if report.consistent else "NOT consistent"
        print(f"{verdict} ({report.reasoner})")
        for problem in report.problems:
            print(f"  {problem}")
    return 1 if report.consistent is False else 0
