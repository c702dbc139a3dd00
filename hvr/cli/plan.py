"""`hvr plan`: from a sentence to an executed plan."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hvr.run import Run
    from hvr.verifier.verdict import Verdict


def plan(
    text: Annotated[
        str | None, typer.Argument(help="What to do, in English.", show_default=False)
    ] = None,
    scene: Annotated[
        str | None,
        typer.Option(help="The kitchen, FloorPlan1 to FloorPlan30.", show_default="FloorPlan16"),
    ] = None,
    env: Annotated[
        str, typer.Option(help="Where: kitchen (hvr's own), or thor (AI2-THOR, docs/thor.md).")
    ] = "kitchen",
    thor_executable: Annotated[
        str | None,
        typer.Option(
            help="With --env thor: command line of a process that speaks AI2-THOR's protocol.",
            show_default="HVR_THOR_EXECUTABLE",
        ),
    ] = None,
    thor: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="An option of AI2-THOR, such as platform=CloudRendering."
        ),
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="Do one of the paper's tasks instead, such as T2.")
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(help="Who plans: symbolic, or llm (with --llm).", show_default="symbolic"),
    ] = None,
    llm: Annotated[
        str | None,
        typer.Option(
            help="Language model: openai:MODEL, gemini:MODEL, hf:NAME, replay:RUN or scripted:…",
            show_default="HVR_LLM",
        ),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Address of the model's server.", show_default=False)
    ] = None,
    setting: Annotated[
        str,
        typer.Option(help="HVR+, HVR, HV, HR, VR, R or LLM, and switches: HVR+planner_repair."),
    ] = "HVR+",
    library: Annotated[
        Path | None,
        typer.Option(help="Macro actions to use and to add to.", envvar="HVR_LIBRARY"),
    ] = None,
    embedder: Annotated[
        str, typer.Option(help="lexical, minilm, st:NAME, openai:MODEL or gemini:MODEL.")
    ] = "lexical",
    prompts: Annotated[
        Path | None, typer.Option(help="Folder of your own prompts.", show_default=False)
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(help="File of answers, so that none is paid for twice.")
    ] = None,
    temperature: Annotated[float, typer.Option(help="Of the model's sampling.")] = 0.0,
    max_calls: Annotated[int | None, typer.Option(help="Requests to the model at most.")] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="Tokens at most, prompts and answers.")
    ] = None,
    max_dollars: Annotated[float | None, typer.Option(help="US dollars at most.")] = None,
    planner: Annotated[
        str, typer.Option(help="fast-downward, or up:NAME for an engine of unified-planning.")
    ] = "fast-downward",
    budget: Annotated[float, typer.Option(help="Seconds for one planner call at most.")] = 10.0,
    seed: Annotated[int, typer.Option(help="Seed of the environment.")] = 0,
    sight: Annotated[
        str, typer.Option(help="What the robot sees: omniscient (all metadata), or visible.")
    ] = "omniscient",
    error_rate: Annotated[
        float, typer.Option(help="Wrong readings that its sensor is taken to have, 0 to 0.5.")
    ] = 0.0,
    faults: Annotated[
        Path | None,
        typer.Option(help="Faults to play, a JSON file (docs/faults.md).", show_default=False),
    ] = None,
    max_replans: Annotated[int, typer.Option(help="New plans at most when the world differs.")] = 3,
    save: Annotated[
        Path | None, typer.Option(help="Run folder, new or empty. Default: one under ./runs.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write the run as one self-contained page.")
    ] = None,
    dry_run: Annotated[bool, typer.Option(help="Plan and validate, do not execute.")] = False,
    verify: Annotated[
        bool,
        typer.Option(
            help="Show the plan verifier's score, too, where the extra gnn is installed; it takes "
            "less than a second.",
            envvar="HVR_VERIFY",
        ),
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the result.")] = False,
) -> None:
    """Plan a request, prove the plan, execute it step by step, and save the run.

    Exit code 0: the goal is reached, or hvr cannot judge a model's plan. 1: it is not, or the
    request is impossible here. 2: the request or an option cannot be used.

    Examples:

    - `hvr plan "make coffee"`
    - `hvr plan "put two slices of tomato on a plate" --scene FloorPlan1`
    - `hvr plan --task T5 --json`
    - `hvr plan "boil water in a pot" --dry-run --save runs/boil`
    - `hvr plan "make coffee" --html coffee.html`
    - `hvr plan "make coffee" --env thor` (AI2-THOR; `hvr doctor thor` tells what it needs)
    - `hvr plan "make coffee" --llm openai:MODEL --base-url http://localhost:8000/v1`
    - `hvr plan --task T7 --llm scripted:error=0.3` (a simulated model)
    - `hvr plan --llm replay:runs/boil` (the same answers again, no model needed)
    """
    from hvr.cli.display import display
    from hvr.cli.output import check_writable
    from hvr.cli.show import write_page
    from hvr.errors import UsageError
    from hvr.llm.budget import Limits
    from hvr.llm.choice import ModelChoice
    from hvr.run import Options
    from hvr.run import plan as run_plan

    if llm is not None and policy == "symbolic":
        raise UsageError("--llm names a model and --policy symbolic asks none: leave out one")
    if env != "thor" and (thor or thor_executable):
        raise UsageError("--thor and --thor-executable go with --env thor")
    from hvr.envs.thor.options import option_texts

    options = Options(
        env=env, env_options=tuple(option_texts(thor_executable, thor)),
        sight=sight, error_rate=error_rate, faults=faults,
        model=ModelChoice(
            spec=llm, base_url=base_url, setting=setting, embedder=embedder, prompts=prompts,
            library=library, cache=cache, temperature=temperature,
            limits=Limits(calls=max_calls, tokens=max_tokens, dollars=max_dollars),
        ),
        scene=scene, policy=policy, planner=planner, budget=budget, seed=seed,
        max_replans=max_replans, execute=not dry_run, save=save,
    )  # fmt: skip
    if html is not None:
        check_writable(html)
    shown = "none" if as_json or quiet else "live" if sys.stdout.isatty() else "lines"
    with display(shown) as listen:
        run = run_plan(text, task=task, options=options, listen=listen)
    if html is not None:
        write_page(run.folder, html)
    verdict = _verdict(run) if verify else None
    if as_json:
        scored = {} if verdict is None else {"verifier": verdict.summary()}
        print(json.dumps({**run.to_json(), **scored}, ensure_ascii=False))
    else:
        print(_result(run))
        if verdict is not None:
            at = verdict.thresholds.graph
            said = "what was asked" if verdict.accepted else "perhaps not what was asked"
            print(f"verifier: {verdict.score:.2f}, accepted from {at:.2f} on: {said}")
            for finding in verdict.findings[: 0 if verdict.accepted else 3]:
                print(f"  {finding.reason}")
    raise typer.Exit(0 if run.reached is not False else 1)


def _verdict(run: Run) -> Verdict | None:
    """Return what the plan verifier says; None without the extra `gnn`, or of a plan that is not
    valid.
    """
    from hvr.errors import MissingExtraError, UsageError

    if not run.plans or not all(ready.report.valid for ready in run.plans):
        return None
    try:
        from hvr.run.verification import verify

        return verify(run)
    except (MissingExtraError, UsageError):  # not installed; or an empty plan
        return None


def _result(run: Run) -> str:
    steps = sum(len(p.plan.actions) for p in run.plans)
    if run.finished is None:
        said = f"planned: {steps} steps, valid, not executed"
    elif run.reached is None:
        said = f"carried out in {run.finished.steps} steps: {run.verdict}"
    elif run.reached:
        said = f"goal reached in {run.finished.steps} steps"
        said += f" ({run.verdict})" if run.verdict else ""
    else:
        said = f"goal not reached: {run.verdict or run.finished.reason}"
    lines = [f"{said} · saved in {run.folder}"]
    if run.spent is not None:
        known = [("in", run.spent.input), ("out", run.spent.output)]
        tokens = ", ".join(f"{'unknown' if n is None else n} {word}" for word, n in known)
        cost = "unknown" if run.spent.cost is None else f"${run.spent.cost:.4f}"
        kind = " (simulated, no language model)" if run.simulated else ""
        lines.append(f"{run.model}{kind}: {run.spent.calls} calls, tokens {tokens}, cost {cost}")
    return "\n".join(lines)
