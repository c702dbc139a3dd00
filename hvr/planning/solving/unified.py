"""The program behind `--planner up:ENGINE`: runs an engine of unified-planning."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hvr.base.files import write_whole
from hvr.errors import HvrError
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
from hvr.pddl.plan import in_order as actions_in_order
from hvr.planning.interop.engine import in_order, steps_from_unified
from hvr.planning.interop.names import InteropError
from hvr.planning.interop.portable import with_all_values, without_types
from hvr.planning.interop.to_unified import Conversion, convert
from hvr.planning.search.unified import installed_engines
from hvr.planning.solving.portfolio import UNABLE
from hvr.values import cached_property

_WITHOUT_PLAN = {
    "UNSOLVABLE_PROVEN": 11,
    "UNSOLVABLE_INCOMPLETELY": 12,
    "MEMOUT": 22,
    "TIMEOUT": 23,
    "UNSUPPORTED_PROBLEM": UNABLE,
}
"""Fast Downward's exit codes for unified-planning's statuses without a plan."""
_CRASHED = 35
PREFERRED = ("enhsp", "enhsp-any", "enhsp-opt", "lpg-anytime", "aries", "tamer")
"""Engines of unified-planning for features that Fast Downward lacks."""


def main(arguments: list[str]) -> int:
    from unified_planning.environment import get_environment

    environment = get_environment()
    environment.credits_stream = None
    if arguments[0] == "--support":
        domain, problem = _read(*arguments[1:3])
        engines = sorted(set(PREFERRED) & set(installed_engines()), key=PREFERRED.index)
        answers = support(domain, problem, engines)
        write_whole(Path("support.json"), json.dumps(answers))
        return 0
    domain_file, problem_file, seconds, name = arguments[:4]
    try:
        domain, problem = _read(domain_file, problem_file)
        engine = environment.factory.engine(name)
        forms = list(_forms(domain, problem))
    except HvrError as error:
        print(error)
        return UNABLE
    # If no form is supported, try anyway: the user may know better than the engine.
    able = [form for form in forms if engine.supports(form.kind)] or forms
    for form in able:
        code = _solved(form, name, float(seconds))
        # Types may cause a crash even in engines that claim to support them: try the form
        # without.
        if code != _CRASHED:
            break
    return code


def _read(domain_file: str, problem_file: str) -> tuple[Domain, Problem]:
    domain = parse_domain(Path(domain_file))
    return domain, parse_problem(Path(problem_file), domain)


@dataclass(frozen=True)
class _Form:
    """A form of a problem that an engine may support; if `measured`, it includes the metric."""

    conversion: Conversion
    measured: bool

    @cached_property
    def kind(self) -> Any:
        return self.conversion.unified.kind


def _solved(form: _Form, name: str, seconds: float) -> int:
    unified = form.conversion.unified
    optimal, number = False, 0
    try:
        for result in _results(unified, name, seconds):
            optimal = result.status.name == "SOLVED_OPTIMALLY"
            if result.plan is not None:
                steps = steps_from_unified(in_order(result.plan, unified), form.conversion.names)
                number += 1
                write_whole(Path(f"plan.{number}"), print_plan(steps))
    except Exception as error:  # Engines raise arbitrary exceptions.
        print(f"{type(error).__name__}: {error}".replace("\n", " "))
        return 2 if number else _CRASHED
    if number:
        return 0 if form.measured and optimal else 2
    if result.status.name not in _WITHOUT_PLAN:
        print(_reason(result))
    return _WITHOUT_PLAN.get(result.status.name, _CRASHED)


def _results(unified: Any, name: str, seconds: float) -> Iterator[Any]:
    from unified_planning.engines import PDDLPlanner
    from unified_planning.environment import get_environment

    factory = get_environment().factory
    anytime = factory.engine(name).is_anytime_planner()
    open_planner = factory.AnytimePlanner if anytime else factory.OneshotPlanner
    with open_planner(name=name) as planner:
        if isinstance(planner, PDDLPlanner):
            read_more_plans(planner)
        planner.skip_checks = True
        if anytime:
            yield from planner.get_solutions(unified, timeout=seconds)
        else:
            yield planner.solve(unified, timeout=seconds)


def read_more_plans(planner: Any) -> None:
    """Make an engine fall back to hvr's parser for plan files that its own parser rejects.

    For example, up-lpg 0.1.3 rejects the surplus `)` that LPG writes after durations. The method
    `_plan_from_file` of a `PDDLPlanner` is wrapped.
    """
    own = planner._plan_from_file

    def read(problem: Any, file: str, item_named: Callable[[str], Any]) -> Any:
        from unified_planning.plans import ActionInstance, SequentialPlan, TimeTriggeredPlan

        try:
            return own(problem, file, item_named)
        except Exception:  # Engines raise arbitrary exceptions.
            steps = read_plan(Path(file)).steps
        manager = problem.environment.expression_manager

        def instance(action: GroundAction) -> Any:
            objects = [manager.ObjectExp(item_named(name)) for name in action.args]
            return ActionInstance(item_named(action.name), tuple(objects))

        timed = [step for step in steps if isinstance(step, TimedAction)]
        if not problem.kind.has_continuous_time():
            return SequentialPlan([instance(action) for action in actions_in_order(steps)])
        return TimeTriggeredPlan(
            [(step.start, instance(step.action), step.duration) for step in timed]
        )

    planner._plan_from_file = read


def support(domain: Domain, problem: Problem, engines: Sequence[str]) -> dict[str, str]:
    """Return, for each engine, the reason why it does not support a problem, or "" if it does."""
    from unified_planning.environment import get_environment

    factory = get_environment().factory
    try:
        forms = list(_forms(domain, problem))
    except InteropError as error:
        return dict.fromkeys(engines, f"unified-planning cannot express the problem: {error}")
    answers = {}
    for name in engines:
        engine = factory.engine(name)
        able = any(engine.supports(form.kind) for form in forms)
        answers[name] = "" if able else _lacking(engine, forms[-1].kind)
    return answers


def _lacking(engine: Any, kind: Any) -> str:
    missing = sorted(set(kind.features) - set(engine.supported_kind().features))
    words = ", ".join(name.lower().replace("_", " ") for name in missing)
    return f"does not support {words}" if words else "does not support the problem"


def _forms(domain: Domain, problem: Problem) -> Iterator[_Form]:
    """Yield the problem with and without its metric, and both untyped as well if that may help."""
    posed = [(domain, problem)]
    if domain.types:
        posed.append(without_types(domain, problem))
    for number, (one, bare) in enumerate(posed):
        two = with_all_values(one, bare)
        form = _converted(one, two)
        # Only type hierarchies cause trouble, and converting a large problem twice takes seconds.
        if number == 0 and not form.kind.has_hierarchical_typing():
            posed.pop()
        yield form
        if form.measured and two.metric is not None:
            yield _Form(convert(one, two.replace(metric=None)), False)


def _reason(result: Any) -> str:
    messages = [message.message for message in result.log_messages or ()]
    lines = "\n".join(messages).strip().splitlines()
    return f"{result.status.name}: {lines[-1].strip()}" if lines else result.status.name


def _converted(domain: Domain, problem: Problem) -> _Form:
    try:
        return _Form(convert(domain, problem), True)
    except InteropError:
        if problem.metric is None:
            raise
        return _Form(convert(domain, problem.replace(metric=None)), False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
