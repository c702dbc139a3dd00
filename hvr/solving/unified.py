"""The program behind `--planner up:ENGINE`: an engine of unified-planning on the whole problem."""

from __future__ import annotations

import sys
from pathlib import Path

from hvr.errors import HvrError
from hvr.files import write_whole
from hvr.interop.errors import InteropError
from hvr.interop.from_plans import in_order, steps_back
from hvr.interop.to_unified import Conversion, convert
from hvr.pddl import Domain, Problem, parse_domain, parse_problem, print_plan


def main(arguments: list[str]) -> int:
    """Write the plan that was found; return Fast Downward's exit code for the outcome."""
    from unified_planning.engines import PlanGenerationResultStatus as Status
    from unified_planning.environment import get_environment

    domain_file, problem_file, seconds, engine = arguments[:4]
    environment = get_environment()
    environment.credits_stream = None
    try:
        domain = parse_domain(Path(domain_file))
        conversion, measured = _converted(domain, parse_problem(Path(problem_file), domain))
        with environment.factory.OneshotPlanner(
            name=engine, problem_kind=conversion.unified.kind
        ) as planner:
            result = planner.solve(conversion.unified, timeout=float(seconds))
        if result.plan is None:
            proven = result.status == Status.UNSOLVABLE_PROVEN
            return 11 if proven else 34 if result.status == Status.UNSUPPORTED_PROBLEM else 23
        steps = steps_back(in_order(result.plan, conversion.unified), conversion.names)
    except HvrError as error:
        print(error)
        return 34
    except Exception as error:  # Engines raise what they like.
        print(f"{type(error).__name__}: {error}".replace("\n", " "))
        return 35
    write_whole(Path("plan.1"), print_plan(steps))
    return 0 if measured and result.status == Status.SOLVED_OPTIMALLY else 2


def _converted(domain: Domain, problem: Problem) -> tuple[Conversion, bool]:
    """Convert a problem; without its metric where unified-planning cannot say that."""
    try:
        return convert(domain, problem), True
    except InteropError:
        if problem.metric is None:
            raise
        return convert(domain, problem.replace(metric=None)), False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
