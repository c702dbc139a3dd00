"""The program behind `--planner up:ENGINE`: an engine of unified-planning on the whole problem."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hvr.errors import HvrError
from hvr.files import write_whole
from hvr.interop.errors import InteropError
from hvr.interop.from_plans import in_order, steps_back
from hvr.interop.to_unified import Conversion, convert
from hvr.interop.untyped import without_types
from hvr.pddl import (
    Domain,
    GroundAction,
    Problem,
    TimedAction,
    parse_domain,
    parse_problem,
    print_plan,
    read_plan,
)
from hvr.pddl.plan import in_order as in_sequence

_WITHOUT_PLAN = {
    "UNSOLVABLE_PROVEN": 11,
    "UNSOLVABLE_INCOMPLETELY": 12,
    "MEMOUT": 22,
    "TIMEOUT": 23,
    "UNSUPPORTED_PROBLEM": 34,
}
"""Fast Downward's exit codes for what unified-planning says of a search without a plan."""
_FAILED = 35


def main(arguments: list[str]) -> int:
    """Write the plan that was found; return Fast Downward's exit code for the outcome."""
    from unified_planning.engines import PDDLPlanner
    from unified_planning.engines import PlanGenerationResultStatus as Status
    from unified_planning.environment import get_environment

    domain_file, problem_file, seconds, engine = arguments[:4]
    environment = get_environment()
    environment.credits_stream = None
    try:
        domain = parse_domain(Path(domain_file))
        problem = parse_problem(Path(problem_file), domain)
        conversion, measured = _fitting(domain, problem, environment.factory.engine(engine))
        with environment.factory.OneshotPlanner(
            name=engine, problem_kind=conversion.unified.kind
        ) as planner:
            if isinstance(planner, PDDLPlanner):
                read_more_plans(planner)
            result = planner.solve(conversion.unified, timeout=float(seconds))
        if result.plan is None:
            if result.status.name not in _WITHOUT_PLAN:
                print(_reason(result))
            return _WITHOUT_PLAN.get(result.status.name, _FAILED)
        steps = steps_back(in_order(result.plan, conversion.unified), conversion.names)
    except HvrError as error:
        print(error)
        return 34
    except Exception as error:  # Engines raise what they like.
        print(f"{type(error).__name__}: {error}".replace("\n", " "))
        return _FAILED
    write_whole(Path("plan.1"), print_plan(steps))
    return 0 if measured and result.status == Status.SOLVED_OPTIMALLY else 2


def read_more_plans(planner: Any) -> None:
    """Let an engine read with hvr's reader the plan files that its own reader refuses.

    up-lpg 0.1.3, for one, refuses the surplus `)` that LPG writes after durations.

    Args:
        planner: A `PDDLPlanner`; its method `_plan_from_file` is wrapped.
    """
    own = planner._plan_from_file

    def read(problem: Any, file: str, item_named: Callable[[str], Any]) -> Any:
        from unified_planning.plans import ActionInstance, SequentialPlan, TimeTriggeredPlan

        try:
            return own(problem, file, item_named)
        except Exception:  # Engines raise what they like.
            steps = read_plan(Path(file)).steps
        manager = problem.environment.expression_manager

        def instance(action: GroundAction) -> Any:
            objects = [manager.ObjectExp(item_named(name)) for name in action.args]
            return ActionInstance(item_named(action.name), tuple(objects))

        timed = [step for step in steps if isinstance(step, TimedAction)]
        if not problem.kind.has_continuous_time():
            return SequentialPlan([instance(action) for action in in_sequence(steps)])
        return TimeTriggeredPlan(
            [(step.start, instance(step.action), step.duration) for step in timed]
        )

    planner._plan_from_file = read


def able_engines(domain: Domain, problem: Problem, engines: Sequence[str]) -> list[str]:
    """Return the engines that declare support for a problem.

    Raises:
        InteropError: unified-planning cannot express the problem.
    """
    from unified_planning.environment import get_environment

    factory = get_environment().factory
    known = {name: factory.engine(name) for name in engines}
    typed = _converted(domain, problem)[0].unified.kind
    able = {name for name, engine in known.items() if engine.supports(typed)}
    # Only a type hierarchy can be removed; converting a large problem twice takes seconds.
    if typed.has_hierarchical_typing() and len(able) < len(known):
        untyped = _converted(*without_types(domain, problem))[0].unified.kind
        able |= {name for name, engine in known.items() if engine.supports(untyped)}
    return [name for name in engines if name in able]


def _fitting(domain: Domain, problem: Problem, engine: Any) -> tuple[Conversion, bool]:
    """Convert a problem, without its types where the engine knows no type hierarchies."""
    conversion, measured = _converted(domain, problem)
    kind = conversion.unified.kind
    if engine.supports(kind) or not kind.has_hierarchical_typing():
        return conversion, measured
    untyped, also_measured = _converted(*without_types(domain, problem))
    if engine.supports(untyped.unified.kind):
        return untyped, also_measured
    return conversion, measured


def _reason(result: Any) -> str:
    """Return the status and the last line that the engine printed."""
    messages = [message.message for message in result.log_messages or ()]
    lines = "\n".join(messages).strip().splitlines()
    return f"{result.status.name}: {lines[-1].strip()}" if lines else result.status.name


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
