"""`hvr validate`: is a plan valid, and if not, why."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer


def validate(
    domain: Annotated[Path, typer.Argument(help="PDDL domain file.")],
    problem: Annotated[Path, typer.Argument(help="PDDL problem file.")],
    plans: Annotated[list[str], typer.Argument(help="Plan files; - reads standard input.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False,
) -> None:
    """Validate plans; say at which step and why a plan fails.

    Exit code 0: every plan is valid. 1: some plan is invalid. 2: a file cannot be read, or
    uses a part of PDDL that is not supported.

    Examples:

    - `hvr validate domain.pddl problem.pddl plan.txt`
    - `hvr validate domain.pddl problem.pddl plan-*.txt --json`
    - `cat plan.txt | hvr validate domain.pddl problem.pddl -`
    """
    from hvr.pddl import Task, parse_domain, parse_plan, parse_problem
    from hvr.validation import Outcome, Validator, render_report

    model = parse_domain(domain)
    validator = Validator(Task(model, parse_problem(problem, model)))
    reports = []
    for name in plans:
        source = sys.stdin.read() if name == "-" else Path(name)
        file = "<stdin>" if name == "-" else name
        report = validator.check(parse_plan(source, file=file))
        reports.append((file, report))
        if not quiet and not as_json:
            print(render_report(report, name=file))
    if as_json:
        print(json.dumps([{"plan": file, **report.to_json()} for file, report in reports]))
    if any(report.outcome is Outcome.UNKNOWN for _, report in reports):
        raise typer.Exit(2)
    raise typer.Exit(0 if all(report.valid for _, report in reports) else 1)
