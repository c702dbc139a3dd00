"""`hvr solve --execute`: the plan carried out, watched and mended."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from hvr.base.files import write_whole
from hvr.base.printable import one_line
from hvr.doors.cli.display import display
from hvr.doors.cli.output import print_json
from hvr.doors.cli.posed import Posed, posed
from hvr.errors import SimulatorError, UsageError
from hvr.execution.facts.planning import PlanMaker, StatePlanner
from hvr.execution.facts.running import WorldRun, run_world, save_run
from hvr.execution.facts.sentences import say_goal
from hvr.pddl.plan import decimal_text
from hvr.validation.text import count
from hvr.worlds.facts.environment import FactEnvironment, check_timeless, closed
from hvr.worlds.facts.faults import FaultRule, FaultyWorld, read_faults
from hvr.worlds.facts.timed_environment import domain_environment


def execute(args: argparse.Namespace) -> int:
    """Run `hvr solve --execute` and return its exit code: 0 reached, 1 out of reach, 2 undecided.

    Raises:
        HvrError: files or options cannot be used.
    """
    if args.optimal:
        raise UsageError("plans are made anew while they run, not searched to the optimum; leave "
                         "it out with --execute", field="optimal")  # fmt: skip
    rules = read_faults(args.faults)
    from hvr.policies.llm.settings import is_goal

    by_goal = hasattr(args, "spec") and is_goal(getattr(args, "setting", ""))
    if by_goal:
        from hvr.doors.cli.written import with_goal

        _, asked, _ = with_goal(args)
    else:
        asked = posed(args)
        if hasattr(args, "spec"):
            check_timeless(asked.domain, asked.problem)
    with _opened(asked, args, rules) as env:
        return _carried_out(args, asked, env, by_goal=by_goal)


def _carried_out(
    args: argparse.Namespace, asked: Posed, env: FactEnvironment, *, by_goal: bool
) -> int:
    domain, problem = asked.domain, asked.problem
    live = sys.stdout.isatty() and not args.json
    kind = "none" if args.json or args.quiet else "live" if live else "lines"
    with display(kind) as listen:
        planner: PlanMaker = StatePlanner(args.planner, args.budget)
        if hasattr(args, "spec") and not by_goal:
            from hvr.doors.cli.written import model_planner

            planner = model_planner(args, asked, listen)
        try:
            run = run_world(
                env, domain, problem, asked.words.wording,
                planner=planner, max_replans=args.max_replans, listen=listen,
            )  # fmt: skip
        except SimulatorError as error:
            if asked.world is None or not asked.world.environment:
                raise
            place = f"{asked.world.file}: {asked.world.environment}"
            raise SimulatorError(f"{place}: {error}", exit_code=error.exit_code) from error
    if args.save is not None:
        _save(args, asked, run)
    if not isinstance(planner, StatePlanner):
        from hvr.doors.cli.written import end_written

        end_written(args, planner, run)
    if args.json:
        print_json(run.to_json())
    else:
        print(summary(run))
    return run.exit_code


def _save(args: argparse.Namespace, asked: Posed, run: WorldRun) -> None:
    """Write the folder of the run, with its page."""
    from hvr.runs.report.run_page.page import render
    from hvr.runs.report.run_page.reading import read_story

    own = asked.world.environment if asked.world is not None else ""
    about = {"env": own or "the domain itself", "seed": args.seed}
    goal = say_goal(asked.problem.goal, asked.words)
    save_run(args.save, asked.domain, asked.problem, run, request=goal, about=about)
    write_whole(args.save / "run.html", render(read_story(args.save)))


@contextmanager
def _opened(
    asked: Posed, args: argparse.Namespace, rules: Sequence[FaultRule]
) -> Iterator[FactEnvironment]:
    """Open the environment, and close it however the run ends.

    Raises:
        HvrError: see `_environment`.
    """
    env = _environment(asked, args, rules)
    try:
        yield env
    finally:
        if trouble := closed(env):
            print(f"note: {one_line(trouble)}", file=sys.stderr)


def _environment(
    asked: Posed, args: argparse.Namespace, rules: Sequence[FaultRule]
) -> FactEnvironment:
    """Open the world's own environment, or one that runs the domain, with its faults.

    Raises:
        HvrError: it cannot be opened, or faults are wanted where none can be made.
    """
    if asked.world is None or not asked.world.environment:
        own = domain_environment(asked.domain, asked.problem, args.hide)
        return FaultyWorld(own, rules, args.seed)
    for name in ("faults", "hide"):
        if getattr(args, name):
            raise UsageError(
                "hvr makes these in the PDDL environment only; this world has its own "
                f"({asked.world.environment})", field=name,
            )  # fmt: skip
    return asked.world.open(asked.problem, args.seed, args.env_timeout)


def summary(run: WorldRun) -> str:
    """Return one line: how a run ended."""
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
        return f"the goal is believed to hold, and {unseen} cannot be seen: {facts}"
    if done.reached:
        return f"goal reached: {facts}"
    if run.unreachable and not done.steps:
        return f"no plan reaches the goal, which is proven: {facts}"
    if run.unreachable:
        return f"no plan reaches the goal any more, which is proven: {facts}"
    return f"goal not reached, undecided: {facts}; {done.reason}"
