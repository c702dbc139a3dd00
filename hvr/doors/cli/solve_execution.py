"""`hvr solve --execute` and `--llm`: execute the plan, or let a language model write it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from hvr.base.files import write_whole
from hvr.base.printable import one_line
from hvr.doors.cli.arguments import given_model_options, model_choice
from hvr.doors.cli.display import display
from hvr.doors.cli.output import check_page, print_json
from hvr.doors.cli.solve import PosedProblem, posed_problem
from hvr.errors import PlannerError, SimulatorError, UsageError
from hvr.execution.events import PlanReady, Understood
from hvr.execution.facts.planning import AutomaticPlanner, FactPlanner, StatePlanner
from hvr.execution.facts.revealing import MAX_REPLANS, PosedRun
from hvr.execution.facts.running import WorldRun, run_world, save_run
from hvr.execution.facts.sentences import goal_text
from hvr.knowledge.world_file import WorldFile
from hvr.models.layers import Meter
from hvr.pddl import Task, print_plan
from hvr.pddl.formulas import TRUE
from hvr.pddl.model import print_domain, print_problem
from hvr.pddl.plan import decimal_text
from hvr.planning.plans import Planned
from hvr.planning.solving.solve import Solution
from hvr.policies.facts import DescribedWorld, ModelPlanner, open_model
from hvr.runs.folder import RunFolder
from hvr.validation.report import count
from hvr.validation.validator import Validator
from hvr.worlds.facts.environment import (
    FactEnvironment,
    FaultRule,
    FaultyWorld,
    close_environment,
    read_faults,
    require_untimed,
)
from hvr.worlds.facts.folder import WorldFolder
from hvr.worlds.facts.timed_environment import domain_environment

# Execution ----------------------------------------------------------------------------------------


def execute_solution(args: argparse.Namespace) -> int:
    """Run `hvr solve --execute`; return 0 if the goal is reached, 1 if no plan exists, else 2."""
    if args.optimal:
        raise UsageError(
            "execution replans instead of searching for the best plan; omit this option",
            field="optimal",
        )
    rules = read_faults(args.faults)
    from hvr.policies.llm.settings import is_goal

    by_goal = hasattr(args, "spec") and is_goal(getattr(args, "setting", ""))
    if by_goal:
        _, posed, _ = posed_with_model_goal(args)
    else:
        posed = posed_problem(args)
        if hasattr(args, "spec"):
            require_untimed(posed.domain, posed.problem)
    with _opened(posed, args, rules) as env:
        return _carried_out(args, posed, env, by_goal=by_goal)


def _carried_out(
    args: argparse.Namespace, posed: PosedProblem, env: FactEnvironment, *, by_goal: bool
) -> int:
    domain, problem = posed.domain, posed.problem
    live = sys.stdout.isatty() and not args.json
    kind = "none" if args.json or args.quiet else "live" if live else "lines"
    with display(kind) as listen:
        planner: FactPlanner = StatePlanner(args.planner, args.budget)
        if hasattr(args, "spec") and not by_goal:
            planner = model_planner(args, posed, listen)
        try:
            run = run_world(
                env,
                domain,
                problem,
                posed.words.wording,
                planner=planner,
                max_replans=args.max_replans,
                listen=listen,
            )
        except SimulatorError as error:
            if posed.world is None or not posed.world.environment:
                raise
            place = f"{posed.world.file}: {posed.world.environment}"
            raise SimulatorError(f"{place}: {error}", exit_code=error.exit_code) from error
    if args.save is not None:
        _save(args, posed, run)
    if not isinstance(planner, StatePlanner):
        save_model_run(args, planner, run)
    if args.json:
        print_json(run.to_json())
    else:
        print(summary(run))
        if not isinstance(planner, StatePlanner):
            for line in authors(planner):
                print(f"note: {line}")
    return run.exit_code


def _save(args: argparse.Namespace, posed: PosedProblem, run: WorldRun) -> None:
    from hvr.doors.studio.documents import shared_run

    own = posed.world.environment if posed.world is not None else ""
    about = {"env": own or "the domain itself", "seed": args.seed}
    goal = goal_text(posed.problem.goal, posed.words)
    save_run(args.save, posed.domain, posed.problem, run, request=goal, about=about)
    write_whole(args.save / "run.html", shared_run(args.save))


@contextmanager
def _opened(
    posed: PosedProblem, args: argparse.Namespace, rules: Sequence[FaultRule]
) -> Iterator[FactEnvironment]:
    env = _environment(posed, args, rules)
    try:
        yield env
    finally:
        if trouble := close_environment(env):
            print(f"note: {one_line(trouble)}", file=sys.stderr)


def _environment(
    posed: PosedProblem, args: argparse.Namespace, rules: Sequence[FaultRule]
) -> FactEnvironment:
    if posed.world is None or not posed.world.environment:
        own = domain_environment(posed.domain, posed.problem, args.hide)
        return FaultyWorld(own, rules, args.seed)
    for name in ("faults", "hide"):
        if getattr(args, name):
            raise UsageError(
                "this option requires the PDDL environment, but the world has its own "
                f"({posed.world.environment})",
                field=name,
            )
    return posed.world.open(posed.problem, args.seed, args.env_timeout)


def summary(run: WorldRun) -> str:
    """Return the outcome of a run on one line."""
    done = run.finished
    parts = [count(done.steps, "step"), count(done.replans, "new plan")]
    if run.faults:
        parts.append(count(len(run.faults), "fault") + " injected")
    parts += [f"{number} {kind}" for kind, number in done.failures]
    if run.timed is not None:
        whose = "a simulated clock" if run.timed.simulated else "the world's clock"
        parts.append(f"{decimal_text(run.timed.now)} by {whose}")
    facts = ", ".join(parts)
    if done.reached and run.unseen:
        unseen = " and ".join(run.unseen)
        return f"the goal is believed to hold, but {unseen} cannot be observed: {facts}"
    if done.reached:
        return f"goal reached: {facts}"
    if run.unreachable and not done.steps:
        return f"proven that no plan reaches the goal: {facts}"
    if run.unreachable:
        return f"proven that no plan reaches the goal any more: {facts}"
    return f"goal not reached, undecided: {facts}; {done.reason}"


# Plans by a language model ------------------------------------------------------------------------

SIMULATED = "scripted"
"""Provider of the simulated models, which know the solution."""

PLANNING = "planning.json"
"""File in a saved run that records how the model wrote its plans."""


def model_planner(
    args: argparse.Namespace, posed: PosedProblem, listen: Callable[[Any], None] | None
) -> ModelPlanner:
    """Return the language model that the arguments name, which plans for the goal in words.

    Raises:
        UsageError: `--planner` or `--optimal` is also given.
    """
    for name in ("planner", "optimal"):
        if getattr(args, name):
            raise UsageError("this option cannot be combined with --llm", field=name)
    return open_model(
        model_choice(args),
        _described(posed),
        goal_text(posed.problem.goal, posed.words),
        planner=AutomaticPlanner(min(args.budget, 10.0)),
        seed=args.seed,
        folder=args.save,
        listen=listen,
    )


def _described(posed: PosedProblem) -> DescribedWorld:
    world = posed.world
    ontology, prompts = (world.ontology, world.prompts) if world is not None else (None, None)
    return DescribedWorld(posed.domain, posed.problem, posed.words, ontology, prompts)


def posed_with_model_goal(args: argparse.Namespace) -> tuple[PosedProblem, PosedProblem, Meter]:
    """Return the given problem, the problem with the model's goal, and the model's usage meter.

    Raises:
        UsageError: The model is simulated, and hvr does not understand the goal in words.
    """
    posed = posed_problem(args, by_model=True)
    choice = model_choice(args)
    if not posed.known and str(choice.spec).partition(":")[0] == SIMULATED:
        raise UsageError(
            "a simulated model cannot read free text: give the goal in PDDL, or in words that hvr "
            "understands in this world",
            field="goal",
        )
    known = posed if posed.known else replace(posed, problem=posed.problem.replace(goal=TRUE))
    with display("none") as listen:
        model = open_model(
            choice,
            _described(known),
            posed.request or goal_text(posed.problem.goal, posed.words),
            planner=AutomaticPlanner(min(args.budget, 10.0)),
            seed=args.seed,
            folder=args.save,
            listen=listen,
        )
        goal = model.goal(posed.problem)
    if not args.quiet:
        said = f"goal, as {model.meter.name} reads it: {goal_text(goal, posed.words)}"
        print(said, file=sys.stderr if args.json else sys.stdout)
    return posed, replace(posed, problem=posed.problem.replace(goal=goal)), model.meter


def judged_by_own_goal(posed: PosedProblem, solution: Solution, meter: Meter) -> Solution:
    """Check a solution for the model's goal against the given goal, if known, and add notes.

    Raises:
        PlannerError: The plan does not reach the given goal.
    """
    notes = [f"the goal was written by {meter.name} ({count(meter.totals.calls, 'question')})"]
    if meter.simulated:
        notes.append("this model is SIMULATED: it knows the goal and makes errors at given rates")
    if solution.steps is not None and posed.known:
        report = Validator(Task(posed.domain, posed.problem)).check(solution.steps)
        if not report.valid:
            raise PlannerError(
                f"the plan reaches the goal that {meter.name} wrote, but not the given goal: "
                f"{report.explain(1)}"
            )
        notes.append("the plan also reaches the given goal")
    return replace(solution, notes=(*solution.notes, *notes))


def run_name(args: argparse.Namespace) -> str:
    return args.save.name if args.save is not None else "solve"


def authors(planner: FactPlanner) -> list[str]:
    """Return sentences that name the authors of the parts of plans that the model did not write."""
    assert isinstance(planner, ModelPlanner)
    return list(dict.fromkeys(line for record in planner.records for line in record.authors))


def save_planning(args: argparse.Namespace, planner: ModelPlanner) -> None:
    records = [record.to_json() for record in planner.records]
    text = json.dumps(records, indent=2, ensure_ascii=False)
    write_whole(args.save / PLANNING, f"{text}\n")


def save_model_run(args: argparse.Namespace, planner: FactPlanner, run: WorldRun) -> None:
    """Save the planning records and, if the goal was reached, the macro actions."""
    assert isinstance(planner, ModelPlanner)
    if args.save is not None:
        save_planning(args, planner)
    if run.exit_code == 0 and run.plans:
        planner.keep(run.plans[0], run_name(args))


def solve_by_model(args: argparse.Namespace, posed: PosedProblem) -> Solution:
    show = "lines" if sys.stderr.isatty() and not (args.json or args.quiet) else "none"
    with display(show) as listen:
        planner = model_planner(args, posed, listen)
        task = Task(posed.domain, posed.problem)
        planned = planner.plan(task)
    steps = planned.plan.actions
    report = Validator(task).check(steps)
    if args.save is not None:
        write_whole(args.save / "domain.pddl", print_domain(posed.domain))
        write_whole(args.save / "problem.pddl", print_problem(posed.problem))
        name = "plan.pddl" if report.valid else "draft.pddl"
        write_whole(args.save / name, print_plan(steps))
        save_planning(args, planner)
    model = planner.meter
    if not report.valid:
        raise PlannerError(f"the plan from {model.name} was rejected: {report.explain(1)}")
    planner.keep(planned, run_name(args))
    used = model.totals
    notes = [f"{count(used.calls, 'question')} to {model.name}"]
    if model.simulated:
        notes.append("this model is SIMULATED: it knows hvr's plan and makes errors at given rates")
    notes += authors(planner)
    blocks = planned.plan.blocks
    return Solution(
        steps, report, blocks, model.name, False, planned.plan.seconds or 0.0, tuple(notes)
    )


# Posed requests -----------------------------------------------------------------------------------


_OPTIONS = frozenset(
    {"world", "scene", "seed", "budget", "max_replans", "save", "execute", "reading"}
)


def run_posed_plan(args: argparse.Namespace, world: WorldFile, options: Mapping[str, Any]) -> int:
    """Run `hvr plan` in a world whose environment poses the requests; return the exit code."""
    _refuse_others(args, world, options)
    if args.html is not None:
        check_page(args.html)
    scene, seed = options.get("scene", world.first_scene), options.get("seed", 0)
    folder = WorldFolder(world.folder, trusted=world.trusted)
    run_folder = RunFolder.create(options.get("save"), args.text or scene, datetime.now())
    try:
        with _opened_posed(folder, scene, seed) as env:
            posed = PosedRun(folder, env, scene, args.text, options.get("reading"))
            about = {"world": world.name, "scene": scene, "seed": seed, "env": folder.environment}
            if options.get("execute", True):
                return _executed(args, posed, options, run_folder.path, about)
            return _planned(args, posed, options, run_folder.path, about)
    except BaseException:
        run_folder.discard()
        raise
    finally:
        run_folder.close()


def _refuse_others(args: argparse.Namespace, world: WorldFile, options: Mapping[str, Any]) -> None:
    others = {name for name in options if name not in _OPTIONS}
    others |= {"task"} if args.task is not None else set()
    others |= {name for name in given_model_options(args) if name != "spec" or args.spec}
    if others:
        raise UsageError(
            f"the world {world.name} generates its own requests, which hvr plans without a model:"
            " omit this option",
            field=min(others),
        )


@contextmanager
def _opened_posed(folder: WorldFolder, scene: str, seed: int) -> Iterator[Any]:
    env = folder.open(folder.posed_problem(scene), seed, scene=scene)
    try:
        yield env
    except SimulatorError as error:
        place = f"{folder.file}: {folder.environment}"
        raise SimulatorError(f"{place}: {error}", exit_code=error.exit_code) from error
    finally:
        if trouble := close_environment(env):
            print(f"note: {one_line(trouble)}", file=sys.stderr)


def _executed(
    args: argparse.Namespace,
    posed: PosedRun,
    options: Mapping[str, Any],
    path: Path,
    about: Mapping[str, Any],
) -> int:
    live = sys.stdout.isatty() and not args.json
    with display("none" if args.json or args.quiet else "live" if live else "lines") as listen:
        if listen is not None:
            listen(_understood(posed))
        run = posed.run(
            seconds=options.get("budget", 10.0),
            max_replans=options.get("max_replans", MAX_REPLANS),
            listen=listen,
        )
    _save_posed(args, posed, run, path, about)
    reached = run.finished.reached and (not run.unseen or args.text is not None)
    if args.json:
        print_json(
            {
                "request": posed.request,
                **about,
                "reading": [stage.said for stage in posed.stages],
                "folder": str(path),
                **run.to_json(),
                "reached": reached,
            }
        )
    else:
        print(f"{_verdict(run, own=args.text is not None)} · saved in {path}")
    return 0 if reached else 1


def _verdict(run: WorldRun, *, own: bool) -> str:
    if not run.finished.reached:
        return summary(run)
    facts = f"{count(run.finished.steps, 'step')}, {count(run.finished.replans, 'new plan')}"
    if not run.unseen:
        return f"goal reached, by the environment's own judgement: {facts}"
    if own:
        return f"done as far as hvr knows; the environment does not judge this request: {facts}"
    return f"done as hvr reads the request, but the environment does not count it: {facts}"


def _planned(
    args: argparse.Namespace,
    posed: PosedRun,
    options: Mapping[str, Any],
    path: Path,
    about: Mapping[str, Any],
) -> int:
    plans: list[Planned] = []
    with display("none" if args.json or args.quiet else "lines") as listen:
        if listen is not None:
            listen(_understood(posed))
        first = 1
        for planned in posed.plans(options.get("budget", 10.0)):
            report = Validator(planned.task).check(planned.plan.actions)
            plans.append(planned)
            if listen is not None:
                names = planned.relevant.names
                listen(PlanReady(planned.plan, report, names, first, planned.plan.seconds or 0.0))
            first += len(planned.plan.actions)
    run = posed.unexecuted(plans)
    _save_posed(args, posed, run, path, about)
    assumed = posed.assumed(plans)
    steps = [str(action) for planned in plans for action in planned.plan.actions]
    if args.json:
        stages = [[str(action) for action in planned.plan.actions] for planned in plans]
        print_json(
            {
                "request": posed.request,
                **about,
                "reading": [stage.said for stage in posed.stages],
                "folder": str(path),
                "reached": None,
                "plans": stages,
                "assumes": list(assumed),
            }
        )
        return 0
    if not args.quiet:
        print("\n".join(f"  {number:>3} {step}" for number, step in enumerate(steps, 1)))
    counts = f"; the plan relies on unseen objects: {', '.join(assumed)}" if assumed else ""
    print(
        f"planned, not executed: {count(len(steps), 'step')}, valid, goal reached{counts} · "
        f"saved in {path}"
    )
    return 0


def _understood(posed: PosedRun) -> Understood:
    stages = tuple(stage.text for stage in posed.stages)
    said = tuple(stage.said for stage in posed.stages)
    return Understood(stages, (), (f"the request is {posed.request!r}",), said)


def _save_posed(
    args: argparse.Namespace, posed: PosedRun, run: WorldRun, path: Path, about: Mapping[str, Any]
) -> None:
    from hvr.doors.studio.documents import shared_run

    problem = run.plans[0].task.problem if run.plans else posed.problem
    save_run(path, posed.domain, problem, run, request=posed.request, about=about)
    page = shared_run(path)
    write_whole(path / "run.html", page)
    if args.html is not None:
        write_whole(args.html, page)
