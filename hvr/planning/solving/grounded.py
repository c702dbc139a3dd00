"""The program behind `--planner fast-downward`: Fast Downward's search on hvr's grounding."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hvr.base.files import write_whole
from hvr.errors import HvrError
from hvr.pddl import Task, parse_domain, parse_problem, print_plan
from hvr.planning.search.fast_downward import solve

_PATIENCE = 1.5
_NICENESS = 10
"""Priority of its two searches, so that they do not slow down the planner beside them."""


def main(arguments: list[str]) -> int:
    optimal = arguments[-1] == "--optimal"
    if "--yield" in arguments and hasattr(os, "nice"):
        os.nice(_NICENESS)
    domain_file, problem_file, seconds = arguments[:3]
    try:
        domain = parse_domain(Path(domain_file))
        task = Task(domain, parse_problem(Path(problem_file), domain))
        result = solve(task, float(seconds), patience=0.0 if optimal else _PATIENCE)
    except HvrError as error:
        print(error)
        return 23 if error.exit_code == 4 else 34
    if result.plan is None:
        return 11
    write_whole(Path("plan.1"), print_plan(result.plan))
    # Code 2: plans were found, but the search was not exhaustive.
    return 0 if result.optimal else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
