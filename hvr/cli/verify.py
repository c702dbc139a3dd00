"""`hvr verify`: does a plan do what was asked? Scored as a whole, by step and by link."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from hvr.tools.tool_graph import ToolGraph
    from hvr.tools.tool_plan import ToolPlan
    from hvr.verifier.network.progress import ProgressCallback
    from hvr.verifier.verdict import Verdict
    from hvr.verifier.verifier import Verifier


app = typer.Typer(
    name="verify",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Score a plan: does it do what was asked? Which steps and links are risky, and why?\n\n"
    "`hvr verify PLAN` is short for `hvr verify plan PLAN`.",
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Model = Annotated[
    Path | None,
    typer.Option(
        help="A verifier that `hvr verify train` wrote. Default for robot plans: the one that "
        "comes with hvr."
    ),
]
Tools = Annotated[Path | None, typer.Option(help="The tools (tools.json or tool_desc.json).")]
Graph = Annotated[Path | None, typer.Option(help="Their links (graph.json or graph_desc.json).")]


@app.command("plan")
def plan_(
    plan: Annotated[
        Path,
        typer.Argument(
            metavar="PLAN",
            help="Tool plans (JSON, one or several), the folder of an hvr run, or a PDDL plan.",
        ),
    ],
    request: Annotated[
        str | None, typer.Option(help="What was asked, if the plan does not say.")
    ] = None,
    model: Model = None,
    tools: Tools = None,
    graph: Graph = None,
    domain: Annotated[
        Path | None, typer.Option(help="The domain of a PDDL plan; default: hvr's kitchen.")
    ] = None,
    problem: Annotated[Path | None, typer.Option(help="The problem of a PDDL plan.")] = None,
    svg: Annotated[
        Path | None, typer.Option(help="Draw the plan with its risks; for one plan only.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Score a plan; exit code 1 if it scores below the threshold.

    Examples:

    - `hvr verify runs/coffee`
    - `hvr verify plan.pddl --problem problem.pddl --request "make coffee"`
    - `hvr verify plans.jsonl --model verifier --svg plan.svg`
    - `hvr verify plan.json --model verifier --tools tools.json --graph graph.json --json`
    """
    from hvr.errors import UsageError
    from hvr.extras import need_gnn

    need_gnn()
    from hvr.cli.output import check_writable, write_whole

    if svg is not None:
        check_writable(svg)
    if _is_json(plan):
        verifier = _tool_verifier(model, tools, graph)
        verdicts = verifier.score(_tool_plans(plan, request))
    else:
        from hvr.run.verification import verify

        verdicts = [verify(plan, request, model=model, domain=domain, problem=problem)]
    if svg is not None:
        from hvr.report.plan_graph import draw

        if len(verdicts) != 1:
            raise UsageError(f"--svg draws one plan, and {plan} has {len(verdicts)}")
        write_whole(svg, draw(verdicts[0]))
    if as_json:
        found = [verdict.to_dict() for verdict in verdicts]
        typer.echo(json.dumps(found[0] if len(found) == 1 else found, ensure_ascii=False))
    else:
        for verdict in verdicts:
            typer.echo("\n".join(lines(verdict)))
        if len(verdicts) > 1:
            good = sum(v.accepted for v in verdicts)
            typer.echo(f"{good} of {len(verdicts)} plans accepted")
    if not all(verdict.accepted for verdict in verdicts):
        raise typer.Exit(1)


@app.command()
def train(
    plans: Annotated[Path, typer.Argument(help="True plans, JSON lines.")],
    tools: Annotated[Path, typer.Option(help="The tools (tools.json or tool_desc.json).")],
    graph: Annotated[Path, typer.Option(help="Their links (graph.json or graph_desc.json).")],
    out: Annotated[Path, typer.Option(help="Folder for the verifier.")] = Path("verifier"),
    config: Annotated[
        Path | None, typer.Option(help="YAML file of settings; see docs/verifier.md.")
    ] = None,
    paper: Annotated[
        bool, typer.Option("--paper", help="The paper's settings instead of the small ones.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of all that is drawn.")] = 0,
    log: Annotated[Path | None, typer.Option(help="CSV file of losses by epoch.")] = None,
    as_json: Json = False,
) -> None:
    """Train a verifier on true plans over your tools.

    Examples:

    - `hvr verify train train.jsonl --tools tools.json --graph graph.json --out verifier`
    - `hvr verify train train.jsonl --tools tools.json --graph graph.json --config mine.yaml`
    """
    from hvr.errors import UsageError
    from hvr.extras import need_gnn

    need_gnn()
    from dataclasses import replace

    from hvr.tools.plan_files import read_plans
    from hvr.verifier.config import VerifierConfig
    from hvr.verifier.correction.corrector_file import save_corrector
    from hvr.verifier.correction.corrector_fit import fit_corrector
    from hvr.verifier.correction.prior_models import PriorConfig
    from hvr.verifier.network.fit import train as fit

    if config is not None and paper:
        raise UsageError("give --config or --paper, not both")
    chosen = VerifierConfig.load(config) if config else (
        VerifierConfig() if paper else VerifierConfig.small()
    )  # fmt: skip
    known = _tool_graph(tools, graph)
    true = read_plans(plans)
    with _progress(log) as progress:
        verifier = fit(replace(chosen, seed=seed), true, known, progress)
        verifier.save(out)
        corrector = fit_corrector(verifier, true, PriorConfig(seed=seed), progress=progress)
        save_corrector(corrector, out)
    said = {"verifier": str(out), "tools": len(known), "thresholds": _thresholds(verifier)}
    if as_json:
        typer.echo(json.dumps(said))
    else:
        at = verifier.thresholds
        typer.echo(
            f"{out}: a verifier for {len(known)} tools; a plan is accepted from {at.graph:.2f} on, "
            f"a step is risky from {at.node:.2f}, a link from {at.edge:.2f}"
        )


@app.command()
def correct(
    model: Annotated[Path, typer.Argument(help="What `hvr verify train` wrote.")],
    plans: Annotated[Path, typer.Argument(help="Plans to correct, JSON lines.")],
    llm: Annotated[
        str | None,
        typer.Option(
            help="Let a language model edit the risky places, such as openai:MODEL. Without one "
            "the best plan near the draft is searched for."
        ),
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="Address of the model's server.")] = None,
    requests: Annotated[
        Path | None,
        typer.Option(
            help="JSON lines with id and user_request, for plans that do not have their request."
        ),
    ] = None,
    one_by_one: Annotated[
        bool,
        typer.Option(
            "--one-by-one",
            help="The plans are not all by one planner, whose ways would show in the other plans.",
        ),
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Write the plans as JSON lines; without it, print them.")
    ] = None,
) -> None:
    """Correct plans at their risky places; what was changed is told on standard error.

    Examples:

    - `hvr verify correct verifier plans.jsonl --out corrected.jsonl`
    - `hvr verify correct verifier plans.jsonl --requests requests.jsonl`
    - `hvr verify correct verifier plans.jsonl --llm openai:gpt-4o-mini`
    """
    from hvr.extras import need_gnn

    need_gnn()
    from hvr.cli.output import check_writable, write_whole
    from hvr.tools.plan_files import read_plans, to_record
    from hvr.verifier.verifier import Verifier

    if out is not None:
        check_writable(out)
    verifier = Verifier.load(model)
    mend = (
        _by_model(verifier, llm, base_url)
        if llm is not None
        else _by_search(verifier, model, one_planner=not one_by_one)
    )
    drafts = _tool_plans(plans, None)
    if requests is not None:
        drafts = _asked(drafts, {p.id: p.request for p in read_plans(requests)})
    if unasked := sum(not p.request for p in drafts):
        typer.echo(f"{unasked} of {len(drafts)} plans have no request, and are corrected by their "
                   "steps alone: give --requests", err=True)  # fmt: skip
    found = []
    for corrected, told in mend(drafts):
        found.append(json.dumps(to_record(corrected), ensure_ascii=False))
        for change in told:
            typer.echo(f"{corrected.id}: {change}", err=True)
    if out is not None:
        write_whole(out, "".join(f"{line}\n" for line in found))
        typer.echo(f"wrote {out}")
    else:
        typer.echo("\n".join(found))


@app.command()
def evaluate(
    model: Annotated[Path, typer.Argument(help="What `hvr verify train` wrote.")],
    plans: Annotated[Path, typer.Argument(help="True plans that it has not seen, JSON lines.")],
    seed: Annotated[int, typer.Option(help="Of the wrong plans made of them.")] = 1,
    as_json: Json = False,
) -> None:
    """Measure how well a verifier tells true plans from wrong ones that are made of them.

    Examples:

    - `hvr verify evaluate verifier val.jsonl`
    - `hvr verify evaluate verifier val.jsonl --seed 7 --json`
    """
    from hvr.extras import need_gnn

    need_gnn()
    from dataclasses import asdict

    from hvr.tools.plan_files import read_plans
    from hvr.verifier.network.fit import evaluate as measure
    from hvr.verifier.verifier import Verifier

    found = measure(Verifier.load(model), [p for p in read_plans(plans) if p.tools], seed)
    if as_json:
        typer.echo(json.dumps(asdict(found)))
    else:
        typer.echo(f"ROC-AUC: plans {found.graph:.3f}, steps {found.node:.3f}, "
                   f"links {found.edge:.3f}")  # fmt: skip


def plan_first(arguments: Sequence[str]) -> list[str]:
    """`hvr verify PLAN` as `hvr verify plan PLAN`; other command lines as they are."""
    match list(arguments):
        case ["verify", first, *rest] if first not in (*_names(), "--help"):
            return ["verify", "plan", first, *rest]
        case found:
            return found


def _names() -> list[str]:
    return [c.name or str(getattr(c.callback, "__name__", "")) for c in app.registered_commands]


def lines(verdict: Verdict) -> list[str]:
    """Return a verdict for people."""
    graph, at = verdict.graph, verdict.thresholds
    found = "accepted" if verdict.accepted else "below the threshold: look at it again"
    title = f"{graph.id}: " if graph.id else ""
    told = [f"{title}score {verdict.score:.2f}, threshold {at.graph:.2f}, {found}"]
    if graph.request:
        told.append(f"  asked: {graph.request}")
    for number, (node, risk) in enumerate(zip(graph.nodes, verdict.node_risks, strict=True)):
        mark = "!!" if risk >= at.node else "  "
        text = "" if node.text == node.tool else f"  {node.text}"
        told.append(f"  {mark} {number + 1:>3} {node.tool:24} risk {risk:.2f}{text}")
    for finding in verdict.findings:
        where = (
            f"step {finding.where + 1}" if isinstance(finding.where, int)
            else _between(*finding.where)
        )  # fmt: skip
        told.append(f"  {where}: {finding.reason} (risk {finding.risk:.2f})")
    return told


def _between(source: int, target: int) -> str:
    first = "the start" if source < 0 else f"step {source + 1}"
    return f"between {first} and step {target + 1}"


def _is_json(plan: Path) -> bool:
    return plan.is_file() and plan.suffix in (".json", ".jsonl")


def _tool_plans(path: Path, request: str | None) -> Sequence[ToolPlan]:
    from dataclasses import replace

    from hvr.errors import DataFileError
    from hvr.tools.plan_files import read_plans

    plans = read_plans(path)
    if not plans:
        raise DataFileError(f"{path}: has no plan")
    return [p if request is None else replace(p, request=request) for p in plans]


def _tool_graph(tools: Path, graph: Path) -> ToolGraph:
    from hvr.tools.datasets import read_graph

    return read_graph(tools, graph)[0]


def _tool_verifier(model: Path | None, tools: Path | None, graph: Path | None) -> Verifier:
    from hvr.errors import UsageError
    from hvr.verifier.checkpoint import tools_fingerprint
    from hvr.verifier.verifier import Verifier

    if model is None:
        raise UsageError(
            "a tool plan needs --model: train a verifier on plans over your tools with "
            "hvr verify train"
        )
    if (tools is None) != (graph is None):
        raise UsageError("give both --tools and --graph, or neither: the verifier knows its tools")
    verifier = Verifier.load(model)
    if tools is not None and graph is not None:
        mine, given = (
            tools_fingerprint(verifier.tools),
            tools_fingerprint(_tool_graph(tools, graph)),
        )
        if mine != given:
            raise UsageError(
                f"{model} was trained for other tools than {tools} and {graph} have "
                f"({mine} and {given}): train one for these with hvr verify train"
            )
    return verifier


Mend = Callable[["Sequence[ToolPlan]"], "Iterable[tuple[ToolPlan, tuple[str, ...]]]"]
"""From plans to the corrected ones, each with what was changed, in words."""


def _by_search(verifier: Verifier, folder: Path, *, one_planner: bool) -> Mend:
    from rich.console import Console
    from rich.progress import track

    from hvr.verifier.correction.corrector_file import load_corrector

    corrector = load_corrector(folder, verifier)

    def mend(plans: Sequence[ToolPlan]) -> Iterable[tuple[ToolPlan, tuple[str, ...]]]:
        told = track(plans, "plans", console=Console(stderr=True), transient=True)
        found = corrector.correct_all(told, one_planner=one_planner)
        return [(f.plan, f.changes) for f in found]

    return mend


def _by_model(verifier: Verifier, llm: str, base_url: str | None) -> Mend:
    from hvr.llm.choice import ModelChoice
    from hvr.llm.connect import connect
    from hvr.verifier.correction.llm_correction import repair

    model = connect(ModelChoice(spec=llm, base_url=base_url))

    def mend(plans: Sequence[ToolPlan]) -> Iterable[tuple[ToolPlan, tuple[str, ...]]]:
        for plan in plans:
            if not plan.tools:
                yield plan, ("the plan is empty: nothing to edit",)
                continue
            found = repair(verifier, plan, model)
            told = tuple(str(edit) for edit in found.edits) or (found.outcome,)
            yield found.after.graph.plan(), told

    return mend


def _asked(plans: Sequence[ToolPlan], requests: Mapping[str, str]) -> tuple[ToolPlan, ...]:
    """Return plans with the requests that they lack, where these are known."""
    from dataclasses import replace

    return tuple(p if p.request else replace(p, request=requests.get(p.id, "")) for p in plans)


def _thresholds(verifier: Verifier) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(verifier.thresholds)


@contextmanager
def _progress(log: Path | None) -> Iterator[ProgressCallback]:
    """Report epochs by a progress bar, and in a file if one is named."""
    from hvr.verifier.network.progress import combined, csv_log, progress_bar

    with progress_bar() as shown:
        if log is None:
            yield shown
        else:
            with csv_log(log) as written:
                yield combined(shown, written)
