"""`hvr kg`: look into the knowledge graph of a run or of a scene."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.knowledge.describe import Description
    from hvr.knowledge.graph import KnowledgeGraph

app = typer.Typer(
    name="kg",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Query, show, export and check the knowledge graph of a run or a scene.",
)

Run = Annotated[
    Path | None,
    typer.Option(help="Folder of a run. Default: the newest one under ./runs."),
]
Scene = Annotated[
    str | None,
    typer.Option(help="Take the graph of a scene as it starts, such as FloorPlan16."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def query(
    sparql: Annotated[str, typer.Argument(help="SPARQL 1.1 query; - reads standard input.")],
    run: Run = None,
    scene: Scene = None,
    as_json: Json = False,
) -> None:
    """Answer a SPARQL query.

    The prefixes k: (ontology), o: (objects), e: (events), rdf:, rdfs:, owl:, skos: and
    xsd: are known.

    Examples:

    - `hvr kg query 'SELECT ?o ?place { ?o a k:Mug ; k:locatedIn ?place }'`
    - `hvr kg query 'SELECT ?o { ?o a k:Food ; k:within o:fridge-1 }' --scene FloorPlan1`
    - `hvr kg query 'SELECT ?e ?a ?t { ?e a k:Action ; k:argument ?a ; k:time ?t }' --json`
    """
    text = sys.stdin.read() if sparql == "-" else sparql
    with _graph(run, scene) as graph:
        answer = graph.query(text)
    if as_json:
        _print_json(answer.dicts())
        return
    rows = [tuple("" if v is None else _text(v) for v in row) for row in answer]
    _print_table(answer.variables, rows)


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="Name of an object, such as mug-1.")],
    run: Run = None,
    scene: Scene = None,
    as_json: Json = False,
) -> None:
    """Show everything known of one object.

    Examples:

    - `hvr kg show mug-1`
    - `hvr kg show fridge-1 --scene FloorPlan16 --json`
    """
    with _graph(run, scene) as graph:
        found = graph.describe(name)
    if as_json:
        _print_json(found.to_json())
    else:
        typer.echo("\n".join(_lines(found)))


@app.command()
def export(
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write; standard output without.")
    ] = None,
    everything: Annotated[
        bool,
        typer.Option("--all", help="With the ontology and what each event changed, as TriG."),
    ] = False,
    run: Run = None,
    scene: Scene = None,
) -> None:
    """Write the graph as Turtle.

    Examples:

    - `hvr kg export -o kitchen.ttl`
    - `hvr kg export --scene FloorPlan16 | grep CoffeeMachine`
    - `hvr kg export --run runs/20260101-120000 --all -o run.trig`
    """
    with _graph(run, scene) as graph:
        target = out if out is not None else sys.stdout.buffer
        if everything:
            graph.export_all(target)
        else:
            graph.export(target)


@app.command()
def check(
    run: Run = None,
    scene: Scene = None,
    as_json: Json = False,
) -> None:
    """Check the ontology for contradictions, with the facts of a run or scene if one is named.

    Needs Java for the reasoner HermiT. Exit code 1 if there is a contradiction.

    Examples:

    - `hvr kg check`
    - `hvr kg check --scene FloorPlan16`
    """
    from hvr.knowledge.owl import check_consistency

    if run is None and scene is None:
        report = check_consistency()
    else:
        with _graph(run, scene) as graph:
            report = check_consistency(graph.ontology, graph.scene_triples())
    if as_json:
        _print_json(report.to_json())
    elif not report.checked:
        typer.echo(f"not checked: {report.note}")
    else:
        verdict = "consistent" if report.consistent else "NOT consistent"
        typer.echo(f"{verdict} ({report.reasoner})")
        for problem in report.problems:
            typer.echo(f"  {problem}")
    if report.consistent is False:
        raise typer.Exit(1)


@contextmanager
def _graph(run: Path | None, scene: str | None) -> Iterator[KnowledgeGraph]:
    from hvr.knowledge.graph import KnowledgeGraph

    if run is not None and scene is not None:
        raise UsageError("give either --run or --scene, not both")
    if scene is not None:
        graph = _scene_graph(scene)
    else:
        graph = KnowledgeGraph.open(_run_folder(run) / "graph", read_only=True)
    with graph:
        yield graph


def _scene_graph(scene: str) -> KnowledgeGraph:
    from hvr.envs.kitchen import Kitchen
    from hvr.envs.naming import Names
    from hvr.envs.observe import scene_graph
    from hvr.knowledge.graph import KnowledgeGraph

    metadata = Kitchen(scene).last_event.metadata
    names = Names.from_metadata(metadata)
    observed = scene_graph(metadata, names)
    graph = KnowledgeGraph.create()
    graph.add_scene(observed, {n: p for n in observed.objects if (p := names.pieces(n))})
    return graph


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


def _lines(found: Description) -> Iterator[str]:
    yield f"{found.name} ({found.type})"
    yield f"  called       {', '.join(found.labels)}"
    if found.thor_id:
        yield f"  objectId     {found.thor_id}"
    yield f"  is a         {', '.join(found.kinds)}"
    yield f"  good for     {', '.join(found.affordances)}"
    for prop, v in found.state.items():
        yield f"  {prop:<12} {_text(v)}"
    for prop, other in found.relations:
        yield f"  {prop:<12} {other}"
    for other, prop in found.inverse:
        yield f"  {other} {prop} this"
    for event, action, step, outcome in found.events:
        yield f"  {event}: step {step}, {action}, {outcome}"


def _text(v: object) -> str:
    return str(v).lower() if isinstance(v, bool) else str(v)


def _print_table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in (header, tuple("-" * w for w in widths), *rows):
        cells = (c.ljust(w) for c, w in zip(row, widths, strict=True))
        typer.echo("  ".join(cells).rstrip())


def _print_json(data: Any) -> None:
    typer.echo(json.dumps(data, indent=2, ensure_ascii=False))
