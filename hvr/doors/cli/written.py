"""`hvr solve --llm`: the plan that a language model writes, judged by hvr's validator."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hvr.base.files import write_whole
from hvr.doors.cli.display import display
from hvr.doors.cli.model_options import model_choice
from hvr.doors.cli.posed import Posed, posed
from hvr.errors import PlannerError, UsageError
from hvr.execution.facts.planning import AnyPlanner, PlanMaker
from hvr.execution.facts.running import WorldRun
from hvr.execution.facts.sentences import say_goal
from hvr.models.meter import Meter
from hvr.pddl import Task, print_domain, print_plan, print_problem
from hvr.pddl.model import TRUE
from hvr.planning.solving.solve import Solution
from hvr.policies.facts.written import ModelPlanner, open_model
from hvr.validation import Validator
from hvr.validation.text import count

SIMULATED = "scripted"
"""The provider whose models write what is known already."""

PLANNING = "planning.json"
"""File of a saved run with how each of the model's plans came about."""


def model_planner(
    args: argparse.Namespace, asked: Posed, listen: Callable[[Any], None] | None
) -> ModelPlanner:
    """Return the language model that the arguments name, told of the goal in words.

    Raises:
        HvrError: an option cannot be used, or the model cannot be reached.
    """
    for name in ("planner", "optimal"):
        if getattr(args, name):
            raise UsageError("a language model plans here; leave it out with --llm", field=name)
    world = asked.world
    return open_model(
        model_choice(args), asked.domain, asked.problem, asked.words,
        say_goal(asked.problem.goal, asked.words),
        planner=AnyPlanner(min(args.budget, 10.0)),
        ontology=world.ontology if world is not None else None,
        prompts=world.prompts if world is not None else None,
        seed=args.seed, folder=args.save, listen=listen,
    )  # fmt: skip


def with_goal(args: argparse.Namespace) -> tuple[Posed, Posed, Meter]:
    """Return the problem as it was posed, with the goal that a model reads, and the model's meter.

    Raises:
        HvrError: an option cannot be used, or the model writes no goal that can be.
    """
    asked = posed(args, by_model=True)
    choice, world = model_choice(args), asked.world
    if not asked.known and str(choice.spec).partition(":")[0] == SIMULATED:
        raise UsageError(
            "a simulated model reads no sentences; it needs a goal in PDDL or in the world's words",
            field="goal",
        )
    known = asked if asked.known else replace(asked, problem=asked.problem.replace(goal=TRUE))
    with display("none") as listen:
        model = open_model(
            choice, known.domain, known.problem, known.words,
            asked.request or say_goal(asked.problem.goal, asked.words),
            planner=AnyPlanner(min(args.budget, 10.0)),
            ontology=world.ontology if world is not None else None,
            prompts=world.prompts if world is not None else None,
            seed=args.seed, folder=args.save, listen=listen,
        )  # fmt: skip
        goal = model.goal(asked.problem)
    if not args.quiet:
        said = f"goal, as {model.meter.name} reads it: {say_goal(goal, asked.words)}"
        print(said, file=sys.stderr if args.json else sys.stdout)
    return asked, replace(asked, problem=asked.problem.replace(goal=goal)), model.meter


def judged_by_own_goal(asked: Posed, solution: Solution, meter: Meter) -> Solution:
    """Return a solution for a model's goal with a note, and hold it against the goal as known.

    Raises:
        PlannerError: the plan does not reach the goal that was given.
    """
    notes = [f"the goal is that of {meter.name} ({count(meter.totals.calls, 'question')})"]
    if meter.simulated:
        notes.append("this model is SIMULATED: it knows the goal, and errs at rates")
    if solution.steps is not None and asked.known:
        report = Validator(Task(asked.domain, asked.problem)).check(solution.steps)
        if not report.valid:
            raise PlannerError(
                f"the goal that {meter.name} wrote is reached, and the one that was given is not: "
                f"{report.explain(1)}"
            )
        notes.append("the goal that was given is reached")
    return replace(solution, notes=(*solution.notes, *notes))


def run_name(args: argparse.Namespace) -> str:
    """Return how the library names the run: by its folder, if it has one."""
    return args.save.name if args.save is not None else "solve"


def save_planning(args: argparse.Namespace, planner: ModelPlanner) -> None:
    """Write how the model's plans came about."""
    records = [record.to_json() for record in planner.records]
    text = json.dumps(records, indent=2, ensure_ascii=False)
    write_whole(args.save / PLANNING, f"{text}\n")


def end_written(args: argparse.Namespace, planner: PlanMaker, run: WorldRun) -> None:
    """Keep what a run with a language model's plans leaves: their record, and macro actions."""
    assert isinstance(planner, ModelPlanner)
    if args.save is not None:
        save_planning(args, planner)
    if run.exit_code == 0 and run.plans:
        planner.keep(run.plans[0], run_name(args))


def solve_written(args: argparse.Namespace, asked: Posed) -> Solution:
    """Return the plan of a language model with hvr's judgement.

    Raises:
        HvrError: an option cannot be used, or the model does not answer.
        PlannerError: the plan is not valid.
    """
    show = "lines" if sys.stderr.isatty() and not (args.json or args.quiet) else "none"
    with display(show) as listen:
        planner = model_planner(args, asked, listen)
        task = Task(asked.domain, asked.problem)
        planned = planner.plan(task)
    steps = planned.plan.actions
    report = Validator(task).check(steps)
    if args.save is not None:
        write_whole(args.save / "domain.pddl", print_domain(asked.domain))
        write_whole(args.save / "problem.pddl", print_problem(asked.problem))
        name = "plan.pddl" if report.valid else "draft.pddl"
        write_whole(args.save / name, print_plan(steps))
        save_planning(args, planner)
    model = planner.meter
    if not report.valid:
        raise PlannerError(f"the plan of {model.name} is not valid: {report.explain(1)}")
    planner.keep(planned, run_name(args))
    used = model.totals
    notes = [f"{count(used.calls, 'question')} to {model.name}"]
    if model.simulated:
        notes.append("this model is SIMULATED: it knows a plan of hvr's planner, and errs at rates")
    blocks = planned.plan.blocks
    return Solution(
        steps, report, blocks, model.name, False, planned.plan.seconds or 0.0, tuple(notes)
    )
