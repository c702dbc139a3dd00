"""`hvr solve --execute`: the plan carried out, watched and mended."""

from __future__ import annotations

import argparse
import sys

from hvr.cli.display import display
from hvr.cli.output import print_json
from hvr.errors import UsageError
from hvr.pddl import parse_domain, parse_problem
from hvr.validation.text import count
from hvr.worlds.environment import PddlEnvironment
from hvr.worlds.faults import FaultyWorld, read_faults
from hvr.worlds.planning import StatePlanner
from hvr.worlds.running import WorldRun, run_world, save_run
from hvr.worlds.words import words_for


def execute(args: argparse.Namespace) -> int:
    """Run `hvr solve --execute` and return its exit code: 0 reached, 1 out of reach, 2 undecided.

    Raises:
        HvrError: files or options cannot be used.
    """
    if args.optimal:
        raise UsageError("plans are made anew while they run, not searched to the optimum; leave "
                         "it out with --execute", field="optimal")  # fmt: skip
    rules = read_faults(args.faults)
    domain = parse_domain(args.domain)
    problem = parse_problem(args.problem, domain)
    env = FaultyWorld(PddlEnvironment(domain, problem, args.hide), rules, args.seed)
    live = sys.stdout.isatty() and not args.json
    kind = "none" if args.json or args.quiet else "live" if live else "lines"
    with display(kind) as listen:
        run = run_world(
            env, domain, problem, words_for(domain).wording,
            planner=StatePlanner(args.planner, args.budget),
            max_replans=args.max_replans, listen=listen,
        )  # fmt: skip
    if args.save is not None:
        save_run(args.save, domain, problem, run)
    if args.json:
        print_json(run.to_json())
    else:
        print(summary(run))
    return run.exit_code


def summary(run: WorldRun) -> str:
    """Return one line: how a run ended."""
    done = run.finished
    parts = [count(done.steps, "step"), count(done.replans, "new plan")]
    if run.faults:
        parts.append(count(len(run.faults), "fault") + " injected")
    parts += [f"{number} {kind}" for kind, number in done.failures]
    facts = ", ".join(parts)
    if done.reached:
        return f"goal reached: {facts}"
    if run.unreachable:
        return f"no plan reaches the goal any more, which is proven: {facts}"
    return f"goal not reached, undecided: {facts}; {done.reason}"
