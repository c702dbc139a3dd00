"""`hvr tools`: which tools carry out the steps of a plan."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.tools.retrieval.config import RetrieverConfig
    from hvr.tools.tool_plan import ToolPlan

app = typer.Typer(
    name="tools",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Find the tools that carry out the steps of a plan.",
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Names = Annotated[
    bool, typer.Option("--names/--no-names", help="Read names of tools in steps, or ignore them.")
]
Data = Annotated[
    Path, typer.Argument(help="Folder of tools, graph and plans, in GNN4TaskPlan's format.")
]


@app.command()
def retrieve(
    model: Annotated[Path, typer.Argument(help="What `hvr tools train` wrote.")],
    steps: Annotated[
        list[str] | None, typer.Argument(help="Steps of a plan, in order, in words.")
    ] = None,
    request: Annotated[str, typer.Option(help="What the plan is for.")] = "",
    plans: Annotated[
        Path | None, typer.Option(help="JSON lines with user_request and task_steps instead.")
    ] = None,
    names: Names = True,
    as_json: Json = False,
) -> None:
    """Print the tools for the steps of a plan, in order.

    Examples:

    - `hvr tools retrieve model "find a train to Rome" "book a seat" --request "To Rome, please"`
    - `hvr tools retrieve model --plans val.jsonl --json > found.jsonl`
    """
    from hvr.extras import need_gnn
    from hvr.tools.tool_plan import ToolPlan

    need_gnn()
    if (plans is None) == (not steps):
        raise UsageError("give the steps of a plan, or a file of plans with --plans")
    from hvr.tools.plan_files import read_plans, to_record
    from hvr.tools.retrieval.checkpoint import load_retriever

    asked = (
        read_plans(plans)
        if plans is not None
        else (ToolPlan("1", request, tuple(steps or ()), ()),)
    )
    for plan in load_retriever(model).retrieve(asked, names=names):
        if as_json:
            typer.echo(json.dumps(to_record(plan), ensure_ascii=False))
        else:
            head = f"{plan.id}: " if plans is not None else ""
            typer.echo(head + (" -> ".join(plan.tools) or "no tools"))


@app.command()
def train(
    data: Data,
    out: Annotated[Path, typer.Option(help="Folder for the trained retriever.")],
    split: Annotated[str, typer.Option(help="Which plans to learn from.")] = "train",
    settings: Annotated[str, typer.Option(help="own (hvr's) or paper (GNN4Plan's).")] = "own",
    layer: Annotated[
        str, typer.Option(help="none, sgc, gcn, gat, sage, gin or transformer.")
    ] = "sage",
    encoder: Annotated[str, typer.Option(help="lexical-hash, minilm or st:NAME.")] = "minilm",
    seen_links: Annotated[
        bool, typer.Option("--seen-links", help="Keep only links that occur in these plans.")
    ] = False,
    co_train: Annotated[
        bool, typer.Option("--co-train", help="Train the encoder along (slow without a GPU).")
    ] = False,
    epochs: Annotated[
        int | None, typer.Option(help="At most; default: what the settings say.")
    ] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    seed: Annotated[int, typer.Option(help="Of all that is random.")] = 0,
) -> None:
    """Train a retriever on true plans.

    Examples:

    - `hvr tools train toolgraphs/ultratool --out model`
    - `hvr tools train toolgraphs/ultratool --out model --settings paper --layer gcn`
    """
    from hvr.extras import need_gnn

    need_gnn()
    from hvr.tools.datasets import load_data
    from hvr.tools.retrieval.checkpoint import data_fingerprint, save_retriever
    from hvr.tools.retrieval.retriever import fit_retriever

    config = _config(settings, layer, encoder, co_train, seed)
    config = config if epochs is None else replace(config, epochs=epochs)
    read = load_data(data)
    plans = read.split(split)
    with _epochs(config) as tell:
        fitted = fit_retriever(
            config, read.graph, plans, seen_links=seen_links, device=device, progress=tell
        )
    save_retriever(fitted, out, data_fingerprint(plans))
    typer.echo(f"{out}: trained on {len(plans)} plans over {len(read.graph)} tools")


@app.command()
def evaluate(
    data: Data,
    model: Annotated[
        Path | None, typer.Option(help="A trained retriever, given the true steps.")
    ] = None,
    plans: Annotated[Path | None, typer.Option(help="Or predicted plans, JSON lines.")] = None,
    split: Annotated[str, typer.Option(help="Which true plans to compare with.")] = "val",
    names: Names = True,
    as_json: Json = False,
) -> None:
    """Compare plans with the true ones: node F1, link F1, both accuracies.

    A request without a prediction counts 0.

    Examples:

    - `hvr tools evaluate toolgraphs/ultratool --model model --no-names`
    - `hvr tools evaluate toolgraphs/ultratool --plans predictions.jsonl`
    """
    from hvr.tools.agreement import agreement, hallucination
    from hvr.tools.datasets import load_data
    from hvr.tools.plan_files import read_plans

    if (model is None) == (plans is None):
        raise UsageError("give one of --model and --plans")
    read = load_data(data)
    truth = read.split(split)
    found: list[ToolPlan] = []
    if plans is not None:
        found = list(read_plans(plans))
    elif model is not None:
        from hvr.extras import need_gnn

        need_gnn()
        from hvr.tools.retrieval.checkpoint import load_retriever

        found = load_retriever(model).retrieve(truth, names=names)
    scores = agreement({p.id: p for p in found}, truth)
    unreal = hallucination(found, read.graph)
    if as_json:
        typer.echo(json.dumps(asdict(scores) | {"hallucination": asdict(unreal)}, indent=2))
        return
    missing = f", {scores.missing} without a prediction" if scores.missing else ""
    typer.echo(f"{scores.requests} requests{missing}")
    for title, value in (
        ("node F1", scores.node_f1),
        ("link F1", scores.link_f1),
        ("accuracy, nodes", scores.node_accuracy),
        ("accuracy, nodes and links", scores.plan_accuracy),
        ("tools that do not exist", unreal.node_micro),
        ("links that do not exist", unreal.link_micro),
    ):
        typer.echo(f"{title:26} {value:.4f}")


def _config(settings: str, layer: str, encoder: str, co_train: bool, seed: int) -> RetrieverConfig:
    from hvr.tools.retrieval.config import own, paper

    made = {"own": own, "paper": paper}
    if settings not in made:
        raise UsageError(f"unknown settings {settings!r}: use own or paper")
    config = replace(made[settings](), layer=layer, encoder=encoder, seed=seed)  # type: ignore[arg-type]
    return replace(config, tune_encoder=True, batch=32, epochs=10) if co_train else config


@contextmanager
def _epochs(config: RetrieverConfig) -> Iterator[Callable[[Any], None]]:
    """Return a progress bar on standard error."""
    from rich.console import Console
    from rich.progress import Progress, TextColumn

    columns = (*Progress.get_default_columns(), TextColumn("{task.fields[accuracy]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("epochs", total=config.epochs, accuracy="")

        def tell(epoch: Any) -> None:
            said = f"accuracy of steps {epoch.accuracy:.3f}"
            bar.update(task, completed=epoch.number, accuracy=said)

        yield tell
