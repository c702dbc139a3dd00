"""The operations of `hvr.doors.schema`, carried out in this process.

Requests have been checked and their files read, so they contain texts and the names to show for
them. Each function imports the modules that it needs, since a worker answers only a few kinds of
requests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from hvr.doors import schema
from hvr.errors import DataFileError, HvrError, PddlError, UsageError
from hvr.values import JsonObject, answer_json

if TYPE_CHECKING:
    from hvr.judging.verdict import PlanVerdict
    from hvr.pddl import GroundAction, Step
    from hvr.pddl.formulas import Expression
    from hvr.planning.solving.solve import Solution
    from hvr.runs.result import Run
    from hvr.tools.catalogue.schema import Catalogue
    from hvr.validation.batch import BatchOptions, LoadedModel
    from hvr.validation.findings import Finding, Judged
    from hvr.validation.report import StepReport, ValidationReport
    from hvr.validation.stepper import Stepper
    from hvr.validation.streaming import ModelCache
    from hvr.validation.validator import Validator
    from hvr.worlds.faults import Schedule

SOURCES = ("domain", "problem", "plan", "tools")
"""Members of a request that can be given as a text or, with `_file` after the name, as a file."""


def answer(name: str, request: Any) -> dict[str, Any]:
    """Return the answer to a request as JSON."""
    return answer_json(_ANSWERS[name](request))


def error_answer(error: Exception) -> schema.ErrorAnswer:
    """Return the answer to a request that failed."""
    from hvr.validation.findings import error_rule

    if isinstance(error, schema.UnansweredError):
        return error.answer
    diagnostic = getattr(error, "diagnostic", None)
    place = diagnostic and diagnostic.location
    known = isinstance(error, PddlError | DataFileError)
    kind = type(error).__name__.removeprefix("_").replace("PddlText", "Pddl")
    message = str(error) or "the input does not fit into memory or nests too deeply"
    if not isinstance(error, HvrError | MemoryError | RecursionError):
        message = f"hvr failed: {message}"
    return schema.ErrorAnswer(
        kind,
        message,
        error_rule(error).id if known else "",
        place.file if place else "",
        place.line if place else None,
        place.column if place else None,
        diagnostic.suggestion if diagnostic else "",
        getattr(error, "exit_code", 3) == 4,
    )


def check_sources(request: Any) -> None:
    """Check that a request contains each needed text exactly once.

    Raises:
        UsageError: A text is missing, given both directly and as a file, or not PDDL.
    """
    for name in SOURCES:
        text, file = (getattr(request, key, None) for key in (name, f"{name}_file"))
        if text is None:
            continue
        if text and file:
            raise UsageError(f"give either {name} or {name}_file, not both")
        optional = name == "problem" and isinstance(request, schema.LintRequest)
        # An empty plan is a plan: it reaches a goal that holds initially.
        if not (text or file or optional or name == "plan"):
            raise UsageError(f"{name} is missing: give its text, or its path as {name}_file")
        if text and name in ("domain", "problem") and "(" not in text:
            hint = f"to name a file, use {name}_file"
            raise UsageError(f"{name} must be PDDL text, but has no parentheses; {hint}")


# Models -------------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def _models(options: BatchOptions) -> ModelCache:
    from hvr.validation.streaming import ModelCache

    return ModelCache(options)


def _shown(request: Any, part: str) -> str:
    return getattr(request, f"{part}_file") or f"<{part}>"


def _loaded(request: Any, **options: Any) -> LoadedModel:
    from hvr.validation.batch import BatchOptions, UnusableModelError

    cached = _models(BatchOptions(**options))
    names = _shown(request, "domain"), _shown(request, "problem")
    try:
        return cached.model(names, (request.domain, request.problem))
    except UnusableModelError as error:
        raise _unusable(error.result) from error


def _judged(request: Any, **options: Any) -> Judged:
    from hvr.validation.batch import judge_source

    model = _loaded(request, **options)
    found = judge_source(model, _shown(request, "plan"), lambda: request.plan)
    if found.rule and found.rule in _UNUSABLE:
        raise _unusable(found)
    return found


_UNUSABLE = ("HVR001", "HVR002", "HVR003", "HVR004")


def _unusable(found: Judged) -> schema.UnansweredError:
    diagnostic = found.result.diagnostic
    place = diagnostic and diagnostic.location
    message = str(diagnostic) if diagnostic else found.report.reason
    kind = {"HVR001": "PddlSyntaxError", "HVR004": "DataFileError"}.get(found.rule)
    return schema.UnansweredError(
        schema.ErrorAnswer(
            kind or "PddlSemanticError",
            message,
            found.rule,
            place.file if place else "",
            place.line if place else None,
            place.column if place else None,
            diagnostic.suggestion if diagnostic else "",
        )
    )


def _validator(request: Any) -> Validator:
    from hvr.validation.validator import Validator

    validator = _loaded(request).validator
    if not isinstance(validator, Validator):
        raise UsageError(
            "this operation needs a PDDL problem; for HDDL, use validate_decomposition"
        )
    return validator


def _steps(request: Any, validator: Validator) -> tuple[Step, ...]:
    from hvr.pddl import read_plan
    from hvr.pddl.reader import SourceText
    from hvr.validation.extraction import extract
    from hvr.validation.extraction.lines import KnownSymbols

    name = _shown(request, "plan")
    try:
        return tuple(read_plan(request.plan, file=name).steps)
    except PddlError:
        text = SourceText.read(request.plan, file=name, lenient=True).text
        known = KnownSymbols.of(validator.task.domain, validator.task.problem)
        if (found := extract(text, name, known, unmarked=True)) is None:
            raise
    return tuple(read_plan(found.text, file=name).steps)


def _checked(request: Any) -> tuple[Validator, tuple[Step, ...], ValidationReport]:
    validator = _validator(request)
    steps = _steps(request, validator)
    return validator, steps, validator.check(steps)


# Plans --------------------------------------------------------------------------------------------


def _validate(request: schema.ValidateRequest) -> Judged:
    options = {} if request.tolerance is None else {"tolerance": request.tolerance}
    return _judged(
        request,
        advise=request.advise,
        minimise=request.minimise,
        on_failure=request.on_failure,
        state_at=request.state_at,
        lenient=request.lenient,
        extract=True,
        **options,
    )


def _decomposition(request: schema.DecompositionRequest) -> Judged:
    from hvr.validation.suites import language_of

    if language_of(request.domain) is None:
        raise UsageError(
            "this operation needs an HDDL domain, with tasks and methods; use validate_plan"
        )
    return _judged(request, any_order=request.any_order, no_decomposition=request.no_decomposition)


def _repair(request: schema.PlanTextRequest) -> schema.RepairAnswer:
    from hvr.validation.repair import find_suggestions
    from hvr.validation.report import Outcome

    validator, steps, before = _checked(request)
    if before.outcome is not Outcome.INVALID:
        same = tuple(map(str, steps)) if before.valid else None
        return schema.RepairAnswer(str(before.outcome), None, before.reason, same, before, None)
    repair, note = find_suggestions(validator, steps, before)
    if repair is None:
        return schema.RepairAnswer("unrepaired", None, note, None, before, None)
    changed: Sequence[Step] = repair.plan
    if not changed:
        at = len(steps) if repair.step is None else repair.step - 1
        changed = (*steps[:at], *repair.actions, *steps[at:])
    after = validator.check(changed)
    valid = after.valid
    plan = tuple(map(str, changed)) if valid else None
    outcome = "repaired" if valid else "partial"
    return schema.RepairAnswer(outcome, repair, note, plan, before, after)


def _minimise(request: schema.PlanTextRequest) -> schema.MinimiseAnswer:
    from hvr.validation.minimise import minimise

    validator, steps, before = _checked(request)
    if not before.valid:
        return schema.MinimiseAnswer(str(before.outcome), None, (), before, None)
    kept, removed = minimise(validator, steps)
    texts = tuple(map(str, kept))
    return schema.MinimiseAnswer("valid", texts, removed, before, validator.check(kept))


def _judge(request: schema.PlanTextRequest) -> PlanVerdict:
    from hvr.judging.symbolic import judge

    validator = _validator(request)
    return judge(validator, _steps(request, validator))


def _find(request: schema.FindPlanRequest) -> Solution:
    from hvr.base.files import temporary_folder, write_whole
    from hvr.planning.solving.solve import SolveOptions, solve

    with temporary_folder("hvr-door-") as folder:
        files = [Path(folder) / f"{part}.pddl" for part in ("domain", "problem")]
        for file in files:
            write_whole(file, getattr(request, file.stem))
        # The entry point ends the worker when the time is up, so an answer must come before.
        options = SolveOptions(request.planner or None, 0.9 * request.seconds, request.optimal)
        return solve(files[0], files[1], options)


def _lint(request: schema.LintRequest) -> schema.LintAnswer:
    from hvr.base.files import temporary_folder, write_whole
    from hvr.validation.lint_files import find_models, lint_files, without_ignored

    with temporary_folder("hvr-door-") as folder:
        names = {}
        for part in ("domain", "problem"):
            if text := getattr(request, part):
                path = Path(folder) / f"{part}.pddl"
                write_whole(path, text)
                names[str(path)] = _shown(request, part)
        models = find_models(list(names), ())
        found = without_ignored(list(lint_files(models, lenient=request.lenient)))
    renamed = [_renamed(finding, names) for finding in found]
    for one in renamed:
        if one.rule.id in _UNUSABLE:
            place = one.location
            raise schema.UnansweredError(
                schema.ErrorAnswer(
                    "PddlSyntaxError" if one.rule.id == "HVR001" else "PddlSemanticError",
                    str(one),
                    one.rule.id,
                    one.file,
                    place.line if place else None,
                    place.column if place else None,
                )
            )
    return schema.LintAnswer(tuple(renamed))


def _renamed(finding: Finding, names: Mapping[str, str]) -> Finding:
    from hvr.pddl import Location

    place, message = finding.location, finding.message
    for path, name in names.items():
        message = message.replace(path, name)
    return finding.replace(
        message=message,
        location=place and Location(names.get(place.file, place.file), place.line, place.column),
        plan=names.get(finding.plan, finding.plan),
        problems=tuple(names.get(file, file) for file in finding.problems),
        related=(),
    )


# Steps --------------------------------------------------------------------------------------------


def _explain(request: schema.ExplainStepRequest) -> schema.StepExplanation:
    from hvr.validation.sequences import action_of
    from hvr.validation.stepper import Stepper

    validator = _validator(request)
    actions = [action_of(step) for step in _untimed(_steps(request, validator))]
    if request.step > len(actions):
        raise UsageError(f"step must be at most {len(actions)}, got {request.step}")
    stepper = Stepper(validator.task)
    reports = []
    makers: Makers = {}
    for number, action in enumerate(actions, 1):
        if number == request.step:
            before = stepper.fork()
            conditions = tuple(condition_states(before, action, makers))
        reports.append(stepper.apply(action))
        if number < request.step:
            keep_changes(makers, reports[-1])
        if number == request.step:
            after = stepper.fork()
    report = reports[request.step - 1]
    return schema.StepExplanation(
        request.step,
        str(report.action),
        report.ok,
        conditions,
        tuple(_links(before, reports, request.step)),
        facts_of(before),
        facts_of(after),
        report,
    )


def _trace(request: schema.PlanTextRequest) -> schema.PlanTrace:
    from hvr.doors.plan_traces import trace_hierarchy, trace_steps
    from hvr.validation.suites import language_of

    if language_of(request.domain) is None:
        return trace_steps(*_checked(request))
    from hvr.pddl.hierarchy.plan import START, read_hierarchical_plan
    from hvr.validation.hierarchical.conversion import ActionsJudge, read_actions
    from hvr.validation.hierarchical.verifier import DecompositionVerifier

    verifier = _loaded(request).validator
    assert isinstance(verifier, DecompositionVerifier)
    name = _shown(request, "plan")
    if START in request.plan:
        plan = read_hierarchical_plan(request.plan, file=name)
        return trace_hierarchy(verifier, plan, verifier.check(plan))
    actions = read_actions(request.plan, file=name)
    report, found = ActionsJudge(verifier).decompose(actions)
    return trace_hierarchy(verifier, found or actions, report)


def _untimed(steps: Sequence[Step]) -> Sequence[Step]:
    from hvr.pddl import GroundAction

    if not all(isinstance(step, GroundAction) for step in steps):
        raise UsageError("expected a plan without times; for plans with times, use validate_plan")
    return steps


def _parts(stepper: Stepper, action: GroundAction) -> Iterator[Expression]:
    from hvr.pddl.formulas import substitute
    from hvr.pddl.task import binding_of

    if stepper.task.misfit(action) is not None:
        return
    schema_of = stepper.task.domain.actions[action.name]
    yield from conjuncts(substitute(schema_of.precondition, binding_of(schema_of, action)))


def conjuncts(condition: Expression) -> Iterator[Expression]:
    """Yield the parts of a condition that must all hold."""
    from hvr.pddl.formulas import And

    waiting = [condition]
    while waiting:
        part = waiting.pop(0)
        if isinstance(part, And):
            waiting[:0] = part.operands
        else:
            yield part


Makers: TypeAlias = "dict[tuple[Expression, bool], int]"
"""For each fact and truth value: the step that last gave the fact this value."""


def keep_changes(makers: Makers, report: StepReport) -> None:
    """Record in `makers` that a step has made its changed facts true or false."""
    makers.update(dict.fromkeys(((fact, True) for fact in report.added), report.step))
    makers.update(dict.fromkeys(((fact, False) for fact in report.deleted), report.step))


def condition_states(
    stepper: Stepper, action: GroundAction, makers: Makers
) -> Iterator[schema.ConditionState]:
    """Yield the conjuncts of a step's precondition, and whether they hold before the step."""
    from hvr.pddl.formulas import Atom, Not

    for part in _parts(stepper, action):
        holds, maker = stepper.state.holds(part), None
        fact = part.operand if isinstance(part, Not) else part
        if holds and isinstance(fact, Atom):
            maker = makers.get((fact, fact is part), 0)
        yield schema.ConditionState(str(part), holds, maker)


def _links(
    before: Stepper, reports: Sequence[StepReport], number: int
) -> Iterator[schema.EffectLink]:
    from hvr.pddl.formulas import Not, signed_parts

    report = reports[number - 1]
    goal = set(signed_parts(before.task.problem.goal))
    for fact, wanted in [(f, True) for f in report.added] + [(f, False) for f in report.deleted]:
        needed, undone = [], None
        for later in reports[number:]:
            literal = fact if wanted else Not(fact)
            if literal in _parts(before, later.action):
                needed.append(later.step)
            if fact in (later.deleted if wanted else later.added):
                undone = later.step
                break
        if undone is None and (fact, wanted) in goal:
            needed.append(len(reports) + 1)
        yield schema.EffectLink(str(fact if wanted else Not(fact)), tuple(needed), undone)


def facts_of(stepper: Stepper) -> tuple[str, ...]:
    """Return the facts and numbers that hold now, as strings."""
    from hvr.pddl.plan import decimal_text

    state = stepper.state
    numbers = sorted(f"(= {term} {decimal_text(value)})" for term, value in state.numbers().items())
    return (*sorted(map(str, state.atoms())), *numbers)


# Sessions -----------------------------------------------------------------------------------------


class SessionState(schema.ModelRequest):
    """A session as the server stores it: the model, and the actions executed so far.

    Attributes:
        session: Id of the session.
        steps: The actions executed so far.
        action: The action to execute now.
        limit, mentions: See `ApplicableRequest`.
    """

    session: str = ""
    steps: tuple[str, ...] = ()
    action: str = ""
    limit: int = 100
    mentions: str = ""


def _stepper(state: SessionState) -> Stepper:
    from hvr.validation.stepper import Stepper

    validator = _validator(state)
    if validator.task.domain.durative_actions:
        raise UsageError("sessions execute actions without times; this domain has durative actions")
    stepper = Stepper(validator.task)
    for text in state.steps:
        stepper.apply(_action(text))
    return stepper


def _action(text: str) -> GroundAction:
    from hvr.pddl import GroundAction, read_plan

    steps = read_plan(text, file="<action>").steps
    if len(steps) != 1 or not isinstance(steps[0], GroundAction):
        raise UsageError("action must be one step, such as (move truck1 depot)")
    return steps[0]


def _session(state: SessionState) -> schema.SessionAnswer:
    stepper = _stepper(state)
    report = stepper.apply(_action(state.action)) if state.action else None
    failure = stepper.goal_failure()
    return schema.SessionAnswer(
        state.session,
        tuple(map(str, stepper.steps)),
        failure is None,
        facts_of(stepper),
        () if failure is None else tuple(map(str, failure.literals)),
        report,
    )


def _applicable(state: SessionState) -> schema.ApplicableAnswer:
    from itertools import islice

    from hvr.pddl.task import applicable_actions

    texts = map(str, applicable_actions(_stepper(state).state))
    wanted = (text for text in texts if state.mentions.lower() in text)
    found = list(islice(wanted, state.limit + 1))
    actions = tuple(found[: state.limit])
    return schema.ApplicableAnswer(state.session, actions, len(found) <= state.limit)


# Requests in words --------------------------------------------------------------------------------


def _plan_request(request: schema.PlanRequest) -> Run:
    from hvr.runs.request import Options
    from hvr.runs.spine import plan
    from hvr.worlds.scenes import scene_names

    if request.scene and request.scene not in scene_names():
        from hvr.base.printable import nearest

        near = nearest(request.scene, scene_names())
        hint = f"; did you mean {near!r}?" if near else "; `hvr scenes` lists them"
        raise UsageError(f"no scene named {request.scene!r}{hint}")
    seconds = min(10.0, 0.9 * request.seconds)
    if not re.fullmatch(r"[\w-]*", request.run, re.ASCII):
        raise UsageError(f"run must contain only letters, digits, '-' and '_', got {request.run!r}")
    save = Path("runs", request.run) if request.run else None
    scene = request.scene or None
    options = Options(
        scene=scene, execute=request.execute, budget=seconds, save=save, sight=request.sight or None
    )
    if not request.faults:
        return plan(request.request, options=options)
    from hvr.base.files import temporary_folder

    with temporary_folder("hvr-faults-") as folder:
        file = Path(folder) / "faults.json"
        _schedule(request.faults).save(file)
        options = replace(options, faults=file)
        return plan(request.request, options=options)


_NOISE = 0.05
"""Share of states that sensor noise misreports."""


def _schedule(names: Sequence[str]) -> Schedule:
    from hvr.worlds.faults import Fault, FaultKind, Schedule
    from hvr.worlds.faults.fault import noise

    known = {kind.value: kind for kind in FaultKind}
    for name in names:
        if name not in known:
            raise UsageError(f"no fault named {name!r} (faults: {', '.join(known)})")
    kinds = (known[name] for name in dict.fromkeys(names))
    faults = (noise(_NOISE) if kind is FaultKind.NOISE else Fault(kind) for kind in kinds)
    return Schedule(tuple(faults))


def _plan_tools(request: schema.PlanToolsRequest) -> schema.PlanToolsAnswer:
    from hvr.tools.navigation.tool_world import ToolPlanner

    catalogue = _catalogue(request)
    planner = ToolPlanner(catalogue)
    goals = request.goals or ((request.request,) if request.request else ())
    decision = planner.plan(goals, dict(request.given))
    chain = decision.chain
    calls = tuple(chain.calls) if chain is not None else ()
    return schema.PlanToolsAnswer(
        request.request or ", ".join(request.goals),
        decision.move.value,
        decision.why,
        tuple(decision.ask),
        calls,
        calls[0] if calls else None,
        chain.cost if chain is not None else None,
        tuple(catalogue.left_out),
    )


def _catalogue(request: schema.PlanToolsRequest) -> Catalogue:
    from hvr.base.files import temporary_folder, write_whole
    from hvr.tools.catalogue.reading import read_file

    suffix = Path(request.tools_file).suffix.lower()
    with temporary_folder("hvr-door-") as folder:
        known = suffix if suffix in (".yaml", ".yml") else ".json"
        path = Path(folder) / f"tools{known}"
        write_whole(path, request.tools)
        try:
            return read_file(path)
        except DataFileError as error:
            raise DataFileError(str(error).replace(str(path), _shown(request, "tools"))) from None


_ANSWERS: Mapping[str, Callable[[Any], JsonObject]] = {
    "validate_plan": _validate,
    "explain_step": _explain,
    "trace_plan": _trace,
    "lint_model": _lint,
    "find_plan": _find,
    "repair_plan": _repair,
    "minimise_plan": _minimise,
    "judge_plan": _judge,
    "validate_decomposition": _decomposition,
    "plan_request": _plan_request,
    "plan_tools": _plan_tools,
    "open_session": _session,
    "apply_action": _session,
    "fork_session": _session,
    "applicable_actions": _applicable,
}
