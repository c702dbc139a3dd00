"""`hvr plan`, from a sentence to an executed plan, and `hvr show` of saved runs."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.doors.cli.arguments import (
    add_json,
    add_model_options,
    add_path,
    given_model_options,
    model_choice,
    real,
    refuse_model_options,
    seconds,
    utf8_text,
    whole_number,
)
from hvr.errors import AmbiguousError, MissingExtraError, UsageError
from hvr.values import answer_json

if TYPE_CHECKING:
    from hvr.judging.verifier.verdict import Verdict
    from hvr.knowledge.world_file import WorldFile
    from hvr.runs.folder import Listener
    from hvr.runs.report.run_page import Story
    from hvr.runs.request import Options
    from hvr.runs.result import Run


# Runs ---------------------------------------------------------------------------------------------
# Saved runs: `hvr show` and `hvr plan --resume`.

# Show ---------------------------------------------------------------------------------------------

_EPILOG = """\
examples:
  hvr show runs/boil
  hvr show runs/boil --html boil.html
  hvr show runs/boil --svg boil.svg --gif boil.gif
"""


def add_show_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("run", metavar="RUN", type=Path, help="folder of a run, such as runs/boil")
    add_path(parser, "--html", "write one self-contained page instead of printing")
    add_path(parser, "--svg", "write an animation that also plays in a README")
    add_path(parser, "--gif", "write an animated GIF (extra pictures)")
    add_path(parser, "--apng", "write an animated PNG (extra pictures)")


def run_show(args: argparse.Namespace) -> int:
    files = [file for file in (args.html, args.svg, args.gif, args.apng) if file is not None]
    if files:
        _write_files(args)
        print("\n".join(f"wrote {file}" for file in files))
        return 0
    from hvr.base.printable import one_line
    from hvr.runs.report.run_page import read_story

    print("\n".join(map(one_line, _lines(read_story(args.run)))))
    return 0


def _write_files(args: argparse.Namespace) -> None:
    from hvr.doors.cli.output import check_page, check_writable, write_whole
    from hvr.runs.report.animation import animated_picture, animated_svg
    from hvr.runs.report.run_page import read_story

    if args.html is not None:
        check_page(args.html)
    for file in (args.svg, args.gif, args.apng):
        if file is not None:
            check_writable(file)
    if args.html is not None:
        write_page(args.run, args.html)
    story = read_story(args.run)
    if args.svg is not None:
        write_whole(args.svg, animated_svg(story))
    for file, form in ((args.gif, "GIF"), (args.apng, "PNG")):
        if file is not None:
            write_whole(file, animated_picture(story, form))


def write_page(run: Path, html: Path) -> None:
    from hvr.doors.cli.output import check_writable, write_whole
    from hvr.doors.studio.documents import shared_run

    check_writable(html)
    write_whole(html, shared_run(run))


def _lines(story: Story) -> list[str]:
    lines = [story.request, story.outcome]
    plan = block = -1
    for step in story.steps:
        if step.plan != plan:
            plan, block = step.plan, -1
            reason = story.plans[plan].reason if 0 <= plan < len(story.plans) else ""
            lines.append(f"plan {plan + 1}: {reason}" if reason else f"plan {plan + 1}")
        if step.block != block and 0 <= plan < len(story.plans):
            block = step.block
            blocks = story.plans[plan].blocks
            if 0 <= block < len(blocks):
                lines.append(f"- {blocks[block].name}")
        lines.append(f"  {'ok ' if step.as_expected else '!! '}{step.number:>3} {step.action}")
        remarks = [step.error] if step.error else []
        remarks += [f"does not hold: {fact}" for fact in step.missing]
        remarks += [f"holds instead: {fact}" for fact in step.unexpected]
        remarks += [f"{r.title}: {r.text}" if r.text else r.title for r in step.remarks]
        lines += [f"         {text}" for text in remarks]
    return lines


# Resuming -----------------------------------------------------------------------------------------

_ANEW = ("base_url", "timeout", "max_calls", "max_tokens", "max_dollars")
"""Model options that may change when a run is resumed."""


def check_resumable(args: argparse.Namespace, given: Mapping[str, Any]) -> None:
    """Raise UsageError if an option contradicts the options of the run to resume."""
    from hvr.runs.folder import RunState, read_status
    from hvr.runs.request import read_request, request_from_json

    about, state = read_status(args.resume)
    if "llm" not in about or state is RunState.FINISHED:
        return  # resuming reports that there is nothing to do
    began = request_from_json(about, args.resume, _named(given))
    if not began.policy.asks_model:
        refuse_model_options(args, "the run uses no model: omit the option")
    model = {name: v for name, v in given_model_options(args).items() if name not in _ANEW}
    own = {name: value for name, value in given.items() if name not in ("save", "env_options")}
    options = replace(began.options, **own, model=replace(began.options.model, **model))
    text = args.text if args.text or args.task else about["request"]
    task = args.task if args.text or args.task else about["task"]
    now = read_request(None if task and not args.text else text, task, options).to_json()
    _compare({"text": "request", "task": "task"}, args, now, about)
    _compare({name: name for name in own}, args, now, about)
    _compare({name: name for name in model}, args, now["llm"] or {}, about["llm"] or {})
    _check_places(args.resume, given, about)


def resume_run(args: argparse.Namespace, given: Mapping[str, Any], listen: Listener | None) -> Run:
    from hvr.runs.spine import resume
    from hvr.worlds.environment import names_executable

    return resume(
        args.resume,
        model=model_choice(args),
        env_options=tuple(filter(names_executable, given.get("env_options", ()))),
        named=_named(given),
        listen=listen,
    )


def _named(given: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(given[key] for key in ("policy", "planner", "env") if given.get(key) is not None)


def _compare(
    keys: Mapping[str, str],
    args: argparse.Namespace,
    now: Mapping[str, Any],
    then: Mapping[str, Any],
) -> None:
    for name, key in keys.items():
        given = vars(args).get("dry_run" if name == "execute" else name)
        if given is not None and now.get(key) != then.get(key):
            _refuse("dry_run" if name == "execute" else name, now.get(key), then.get(key))


def _check_places(folder: Path, given: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    from hvr.worlds.environment import names_executable

    save = given.get("save")
    if save is not None and save.resolve() != folder.resolve():
        _refuse("save", str(save), str(folder))
    for text in given.get("env_options", ()):
        if not names_executable(text) and text not in about["env_options"]:
            _refuse("env_options", text, " ".join(about["env_options"]) or None)


def _refuse(name: str, now: object, then: object) -> None:
    if name == "dry_run":
        now, then = not now, not then
    raise UsageError(
        f"{name} is {now!r} but was {then!r} when the run began: omit it, or begin a new run",
        field=name,
    )


# Plan ---------------------------------------------------------------------------------------------
# `hvr plan`: from a sentence to an executed plan.

_PLAN_EPILOG = """\
examples:
  hvr plan "make coffee"
  hvr plan "put two slices of tomato on a plate" --scene FloorPlan1
  hvr plan "look at the book under the desk lamp" --scene FloorPlan301
  hvr plan --task T5 --json
  hvr plan "boil water in a pot" --dry-run --save runs/boil
  hvr plan "make coffee" --html coffee.html
  hvr plan "make coffee" --env thor     (AI2-THOR; `hvr doctor thor` shows what it needs)
  hvr plan "make coffee" --llm openai:MODEL --base-url http://localhost:8000/v1
  hvr plan --task T7 --llm scripted:error=0.3 --save runs/t7     (a simulated model)
  hvr plan --llm replay:runs/t7     (the same answers again, no model needed)
  hvr plan --world babyai --scene BabyAI-BossLevel-v0 --seed 7     (the level's own request)
  hvr plan --resume FOLDER     (resumes an aborted run; no prompt is sent twice)

exit codes:
  0  the goal is reached (with --dry-run: in the plan's final state), or hvr cannot judge the plan
  1  the goal is not reached, or the request is impossible in this scene
  2  the request, an option, or the model's key or name is invalid; an ambiguous request leads to
     a question on a terminal, and elsewhere to an error that lists its readings
  4  no answer, and trying again may help: the model or the simulator failed, the budget is spent,
     or the planner ran out of time
"""

_FIELDS = (
    "world",
    "scene",
    "policy",
    "planner",
    "budget",
    "seed",
    "max_replans",
    "save",
    "env",
    "sight",
    "error_rate",
    "faults",
    "reader",
    "reading",
    "store",
)
_SWITCHES = {
    **dict.fromkeys(("1", "true", "t", "yes", "y", "on"), True),
    **dict.fromkeys(("0", "false", "f", "no", "n", "off"), False),
}


def add_plan_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _PLAN_EPILOG
    parser.add_argument(
        "text", metavar="TEXT", nargs="?", type=utf8_text, help="request in English"
    )
    parser.add_argument(
        "--task",
        help="task to plan instead of a request: an id such as T2, or a file such as mine.toml",
    )
    parser.add_argument(
        "--policy",
        help=(
            "the planning policy: symbolic, llm (a model plans), goal (a model writes the goal, "
            "hvr plans), or agent (a model plans by calling tools) (default: llm with --llm, else "
            "symbolic)"
        ),
    )
    add_path(
        parser,
        "--resume",
        "resume an aborted run with its own request and options; limits, time-out and address "
        "may be changed",
        metavar="FOLDER",
    )
    _add_environment_options(parser)
    _add_planner_options(parser)
    add_model_options(parser)
    _add_output_options(parser)


def run_plan(args: argparse.Namespace) -> int:
    from hvr.doors.cli.display import display
    from hvr.doors.cli.output import check_page, print_json
    from hvr.runs.spine import plan

    if (posing := _posing_world(args)) is not None:
        from hvr.doors.cli.solve_execution import run_posed_plan

        return run_posed_plan(args, posing, given_options(args))
    options = _options(args) if args.resume is None else None
    if options is None:
        check_resumable(args, given_options(args))
    scored = _score_wanted(args.verify)
    if args.html is not None:
        check_page(args.html)
    quiet = args.json or args.quiet
    if options is not None and not args.quiet:
        _tell_estimates(options)
    shown = "none" if quiet else "live" if sys.stdout.isatty() else "lines"

    def done(options: Options | None) -> Run:
        with display(shown) as listen, _notices(options, quiet=args.quiet):
            if options is None:
                return resume_run(args, given_options(args), listen)
            return plan(args.text, task=args.task, options=options, listen=listen)

    try:
        result = done(options)
    except AmbiguousError as error:
        reading = None if options is None or quiet else _chosen_reading(error)
        if options is None or reading is None:
            raise
        result = done(replace(options, reading=reading))
    if args.html is not None:
        write_page(result.folder, args.html)
    verdict = _verdict(result) if scored else None
    if args.json:
        more = {} if verdict is None else {"verifier": verdict.summary()}
        print_json({**answer_json(result), **more})
    else:
        print("\n".join(_lines_plan(result) + ([] if verdict is None else verdict.brief())))
    return 1 if False in (result.reached, result.would_reach) else 0


def _posing_world(args: argparse.Namespace) -> WorldFile | None:
    if getattr(args, "world", None) is None or args.resume is not None:
        return None
    from hvr.knowledge.world_file import load_world

    world = load_world(args.world)
    return world if world.poses_problems else None


def _tell_estimates(options: Options) -> None:
    from hvr.worlds.scenes import is_recorded, load_scene

    if options.scene is not None and is_recorded(options.scene):
        for note in load_scene(options.scene).notes:
            print(f"note: {note}", file=sys.stderr)


def _chosen_reading(error: AmbiguousError) -> int | None:
    from hvr.doors.cli.output import ask_reading, on_terminal

    return ask_reading(error.readings) if on_terminal() else None


def _add_environment_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("environment", argument_default=argparse.SUPPRESS)
    group.add_argument(
        "--scene",
        help=(
            "a scene, such as FloorPlan1 (`hvr scenes` lists them), or FILE.json with the "
            "metadata of an AI2-THOR event or a ProcTHOR house (default: the task's own, or the "
            "first of the world)"
        ),
    )
    group.add_argument(
        "--world",
        help=(
            "a world with scenes, by name or folder, such as kitchen, home or babyai (default: the "
            "scene's world)"
        ),
    )
    group.add_argument(
        "--env",
        help=(
            "the environment: kitchen (hvr's own), thor (AI2-THOR, docs/how-to/thor.md), an "
            "installed environment, or module:attribute (default: the world's first)"
        ),
    )
    group.add_argument(
        "--env-option",
        dest="env_options",
        metavar="NAME=VALUE",
        action="append",
        help="an option of the environment",
    )
    group.add_argument(
        "--thor-executable",
        metavar="COMMAND",
        help=(
            "with --env thor: command line of a process that speaks AI2-THOR's protocol "
            "(default: $HVR_THOR_EXECUTABLE)"
        ),
    )
    group.add_argument(
        "--thor",
        metavar="NAME=VALUE",
        action="append",
        help="an option of AI2-THOR, such as platform=CloudRendering",
    )
    _add_observation_options(group)


def _add_observation_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--seed", type=whole_number, help="seed of the environment (default: 0)")
    group.add_argument(
        "--sight",
        help=(
            "what the robot sees: omniscient (everything), doors (nothing behind closed doors), or "
            "visible (only objects in view) (default: omniscient; doors if a task hides objects)"
        ),
    )
    group.add_argument(
        "--error-rate",
        metavar="RATE",
        type=real,
        help="assumed error rate of the robot's sensor, 0 to 0.5 (default: 0)",
    )
    add_path(group, "--faults", "faults to inject, a JSON file (docs/how-to/faults.md)")


def _add_planner_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("planning", argument_default=argparse.SUPPRESS)
    group.add_argument(
        "--reader",
        help=(
            "the reader of the request: grammar, learnt (the extra language), or both "
            "(default: both if the extra is installed, else grammar)"
        ),
    )
    group.add_argument(
        "--planner",
        help=(
            "fast-downward, up:NAME for an engine of unified-planning, an installed one or "
            "module:attribute (default: fast-downward)"
        ),
    )
    group.add_argument(
        "--reading",
        metavar="NUMBER",
        type=whole_number,
        help="the intended reading of an ambiguous request, counted from 1",
    )
    group.add_argument(
        "--budget",
        metavar="SECONDS",
        type=seconds,
        help="maximum time of one planner call (default: 10)",
    )
    group.add_argument(
        "--max-replans",
        metavar="N",
        type=whole_number,
        help="maximum number of times to replan (default: 3)",
    )
    group.add_argument(
        "--dry-run",
        action=argparse.BooleanOptionalAction,
        help="plan and prove whether the plan reaches the goal, but do not execute it",
    )


def _add_output_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    add_path(
        group, "--save", "run folder, new or empty (default: one under ./runs)", metavar="FOLDER"
    )
    group.add_argument(
        "--store",
        metavar="URL",
        default=argparse.SUPPRESS,
        help="a SPARQL server that also gets the graph of the run (docs/explanation/knowledge.md)",
    )
    add_path(group, "--html", "write the run as one self-contained page")
    group.add_argument(
        "--verify",
        action=argparse.BooleanOptionalAction,
        help=(
            "also show the plan verifier's score if the extra gnn is installed; takes less than a "
            "second (default: $HVR_VERIFY, or yes)"
        ),
    )
    add_json(group, "print one JSON document")
    group.add_argument("--quiet", "-q", action="store_true", help="print only the result")


def _options(args: argparse.Namespace) -> Options:
    from hvr.runs.request import Options

    options = Options(**given_options(args), model=model_choice(args))
    if not _asks_model(options):
        refuse_model_options(
            args,
            f"the policy {options.policy_name} uses no model: add --llm MODEL (or --policy llm for "
            "the model in $HVR_LLM), or omit the option",
        )
    return options


def _asks_model(options: Options) -> bool:
    from hvr.policies import policy_class

    return policy_class(options.policy_name).asks_model


def _notices(options: Options | None, *, quiet: bool) -> AbstractContextManager[None]:
    if options is not None and not _asks_model(options):
        return nullcontext()
    from hvr.models.layers import notices

    return notices(quiet=quiet)


def given_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options given on the command line, by field of `Options`, except model options."""
    given = vars(args)
    options = {name: given[name] for name in _FIELDS if given.get(name) is not None}
    if "dry_run" in given:
        options["execute"] = not args.dry_run
    texts = [*given.get("env_options", ()), *_thor_options(given)]
    return {**options, "env_options": tuple(texts)} if texts else options


def _thor_options(given: Mapping[str, Any]) -> list[str]:
    if "thor" not in given and "thor_executable" not in given:
        return []
    from hvr.worlds.thor.installation import option_texts

    return option_texts(given.get("thor_executable"), given.get("thor"))


def _score_wanted(given: bool | None) -> bool:
    text = os.environ.get("HVR_VERIFY", "")
    if given is not None or not text:
        return given is not False
    if text.strip().lower() not in _SWITCHES:
        raise UsageError(f"HVR_VERIFY must be 1 or 0, yes or no, got {text!r}")
    return _SWITCHES[text.strip().lower()]


def _verdict(run: Run) -> Verdict | None:
    # None if the extra `gnn` is missing or there is no valid plan.
    if not run.plans or not all(ready.report.valid for ready in run.plans):
        return None
    if run.goal is not None and run.goal.contingency is not None:
        return None  # the request covers both branches, but the plan only one
    if run.finished is None and run.goal is not None and len(run.goal.stages) > 1:
        return None  # the plan covers only the first stage of the request
    from hvr.knowledge.world_file import load_world

    if run.world != load_world().name:
        return None  # hvr's verifier is trained only for the default world
    try:
        from hvr.runs.verifying import verify

        return verify(run)
    except (MissingExtraError, UsageError):  # not installed, or an empty plan
        return None


def _predicted_outcome(run: Run, steps: int) -> str:
    if run.would_reach is None:
        return f"valid; goal not judged: {run.verdict}"
    if run.would_reach:
        end = "valid, goal reached" if steps else "the goal already holds"
    else:
        end = "goal not reached"
    return f"{end}: {run.verdict}" if run.verdict else end


def _lines_plan(run: Run) -> list[str]:
    from hvr.validation.report import count

    steps = sum(len(p.plan.actions) for p in run.plans)
    if run.finished is None:
        outcome = f"planned, not executed: {count(steps, 'step')}, {_predicted_outcome(run, steps)}"
    elif run.reached is None:
        outcome = f"executed in {count(run.finished.steps, 'step')}: {run.verdict}"
    elif run.reached:
        outcome = f"goal reached in {count(run.finished.steps, 'step')}"
        outcome += f" ({run.verdict})" if run.verdict else ""
    else:
        outcome = f"goal not reached: {run.verdict or run.finished.reason}"
    lines = [f"{outcome} · saved in {run.folder}"]
    if run.spent is not None:
        known = [("in", run.spent.input), ("out", run.spent.output)]
        tokens = ", ".join(f"{'unknown' if n is None else n} {word}" for word, n in known)
        cost = "unknown" if run.spent.cost is None else f"${run.spent.cost:.4f}"
        kind = " (simulated, no language model)" if run.simulated else ""
        lines.append(
            f"{run.model}{kind}: {count(run.spent.calls, 'call')}, tokens {tokens}, cost {cost}"
        )
    return lines
