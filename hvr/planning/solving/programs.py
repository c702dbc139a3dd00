"""hvr's own planners as programs: `fast-downward` (on hvr's grounding), `forward` and `temporal`.

python -m hvr.planning.solving.programs DOMAIN PROBLEM SECONDS PLANNER [--yield] [--optimal]
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from hvr.base.files import write_whole
from hvr.errors import HvrError
from hvr.pddl import Domain, Problem, Task, parse_domain, parse_problem, print_plan
from hvr.pddl.plan import Step
from hvr.planning.solving.portfolio import UNABLE

_PATIENCE = 1.5
_NICENESS = 10
"""Priority of Fast Downward's two searches, so that they do not slow down other planners."""

_Ended = tuple[Iterable[Step] | None, int, str]
"""The plan, if any; Fast Downward's exit code for the outcome; why no plan was found, or ""."""


def main(arguments: list[str]) -> int:
    domain_file, problem_file, seconds, planner = arguments[:4]
    search = {"fast-downward": _fast_downward, "forward": _forward, "temporal": _temporal}[planner]
    try:
        domain = parse_domain(Path(domain_file))
        problem = parse_problem(Path(problem_file), domain)
        plan, code, reason = search(domain, problem, float(seconds), arguments[4:])
    except HvrError as error:
        print(error)
        return 23 if error.exit_code == 4 else UNABLE
    if plan is not None:
        write_whole(Path("plan.1"), print_plan(plan))
    elif reason:
        print(reason)
    return code


# Each planner imports only what it needs. Code 2: a plan was found, but not proven optimal.


def _fast_downward(
    domain: Domain, problem: Problem, seconds: float, options: Sequence[str]
) -> _Ended:
    from hvr.planning.search.fast_downward import solve

    if "--yield" in options and hasattr(os, "nice"):
        os.nice(_NICENESS)
    patience = 0.0 if "--optimal" in options else _PATIENCE
    result = solve(Task(domain, problem), seconds, patience=patience)
    if result.plan is None:
        return None, 11, ""
    return result.plan, 0 if result.optimal else 2, ""


def _forward(domain: Domain, problem: Problem, seconds: float, _options: Sequence[str]) -> _Ended:
    from hvr.planning.solving.forward import forward

    outcome = forward(Task(domain, problem), seconds)
    if outcome.plan is None:
        return None, 11 if outcome.proven else 23, outcome.reason
    return outcome.plan, 2, ""


def _temporal(domain: Domain, problem: Problem, seconds: float, _options: Sequence[str]) -> _Ended:
    from hvr.planning.solving.forward import temporal

    outcome = temporal(domain, problem, seconds)
    if outcome.plan is not None:
        return outcome.plan, 2, ""
    if outcome.reason:
        return None, 23, outcome.reason
    return None, 12, "starts between two happenings were not considered"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
