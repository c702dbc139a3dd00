"""Many plans of one problem, one result for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

from hvr.errors import DataFileError, HvrError, PddlSemanticError, PddlSyntaxError
from hvr.pddl import (
    Diagnostic,
    Domain,
    Location,
    Step,
    UnsupportedPddlError,
    parse_domain,
    parse_problem,
    read_plan,
)
from hvr.validation import rules
from hvr.validation.judged import HappeningText, Judged, ShownState
from hvr.validation.plan_files import STDIN
from hvr.validation.report import OnFailure, Outcome, PlanResult, Repair, ValidationReport
from hvr.validation.validator import EXACT, TOLERANCE, Validator
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.validation.findings import Finding

_STDIN_NAME = "<stdin>"


class BatchOptions(Value):
    """What to find out about each plan.

    Attributes:
        tolerance: how far a duration may be from what its action demands; None: VAL's default.
        epsilon: steps no further apart than this are simultaneous; None: a tenth of the tolerance.
        numeric_tolerance: how far numeric conditions may be missed.
        lenient: accept what VAL accepts.
        on_failure: whether to stop at the first failing step.
        advise: search for steps that mend an invalid plan.
        minimise: look for steps that a valid plan does not need.
        state_at: the number of a step, to show the state after it.
        happenings: show what changed when.
        any_order: of a hierarchical plan, let tasks be listed in any order.
        no_decomposition: of a hierarchical plan, read the actions only, and find how they come.
    """

    tolerance: Fraction | None = None
    numeric_tolerance: Fraction = EXACT
    epsilon: Fraction | None = None
    lenient: bool = False
    on_failure: OnFailure = OnFailure.STOP
    advise: bool = False
    minimise: bool = False
    state_at: int | None = None
    happenings: bool = False
    any_order: bool = False
    no_decomposition: bool = False

    @property
    def needs_steps(self) -> bool:
        """Whether the steps of a plan are needed besides the verdict about it."""
        return self.advise or self.minimise or self.happenings or self.state_at is not None


class PlanJudge(Protocol):
    """What judges plans of a problem."""

    def check_file(
        self,
        source: str | Path,
        *,
        file: str | None = None,
        on_failure: OnFailure = OnFailure.STOP,
        lenient: bool = False,
    ) -> ValidationReport:
        """Read a plan and say whether it is valid."""
        ...


class LoadedModel(Value):
    """A domain and a problem that were read.

    Attributes:
        domain: the name of the domain file.
        problem: the name of the problem file.
        validator: what judges plans of the problem.
        warnings: what was overlooked in the two files.
        options: what to find out.
        load: what read them, to be called again in another process; None: `load_model`.
    """

    domain: str
    problem: str
    validator: PlanJudge
    warnings: tuple[Finding, ...]
    options: BatchOptions
    load: Callable[[str, str, BatchOptions], LoadedModel] | None = None


class UnusableModelError(HvrError):
    """The domain or the problem cannot be used, so that no plan can be judged.

    Attributes:
        result: the one result that there is to report; its `plan` is "".
    """

    def __init__(self, error: Exception, result: Judged) -> None:
        self.result = result
        super().__init__(str(error) or result.report.reason)


def load_model(domain: str, problem: str, options: BatchOptions) -> LoadedModel:
    """Read a domain and a problem.

    Raises:
        UnusableModelError: one of the files cannot be read or used.
    """
    warnings: list[Diagnostic] = []
    lenient = options.lenient
    file = domain
    try:
        lifted = parse_domain(Path(domain), file=domain, lenient=lenient, warnings=warnings)
        file = problem
        task = parse_problem(
            Path(problem), lifted, file=problem, lenient=lenient, warnings=warnings
        )
        tolerance = TOLERANCE if options.tolerance is None else options.tolerance
        validator = Validator(
            lifted,
            task,
            tolerance=tolerance,
            epsilon=options.epsilon,
            numeric_tolerance=options.numeric_tolerance,
        )
    except (HvrError, RecursionError, MemoryError) as error:
        start = Location(file, 1, 1)
        raise UnusableModelError(
            error, unusable("", domain, problem, error, place=start)
        ) from error
    return LoadedModel(domain, problem, validator, _warnings(lifted, domain, warnings), options)


def _warnings(lifted: Domain, file: str, overlooked: Sequence[Diagnostic]) -> tuple[Finding, ...]:
    """Return warnings about a model that can be used all the same."""
    from hvr.validation.lint.requirements import missing_requirements

    missing = tuple(missing_requirements(lifted))
    if not (missing or overlooked):
        return ()
    from hvr.validation.findings import Finding, warning_finding

    return (
        *map(warning_finding, overlooked),
        *(
            Finding(
                rules.REQUIREMENT,
                one.level,
                one.message,
                one.location or Location(file, 1, 1),
                subject=one.name,
            )
            for one in missing
        ),
    )


def judge_all(model: LoadedModel, files: Sequence[str], *, jobs: int = 1) -> Iterator[Judged]:
    """Judge plans and give the results in the order of the plans.

    A plan that cannot be read has a result of its own and does not stop the others.

    Args:
        model: the domain and the problem.
        files: the plan files; `-` is standard input.
        jobs: how many processes to use.
    """
    if jobs <= 1 or len(files) <= 1:
        for file in files:
            yield judge(model, file)
        return
    from hvr.validation.processes import judge_in_processes

    yield from judge_in_processes(model, files, min(jobs, len(files)))


def judge(model: LoadedModel, file: str) -> Judged:
    """Judge one plan file; `-` is standard input."""
    start = perf_counter()
    options = model.options
    name = _STDIN_NAME if file == STDIN else file
    try:
        source = _read_stdin() if file == STDIN else Path(file)
        report = model.validator.check_file(
            source, file=name, on_failure=options.on_failure, lenient=options.lenient
        )
        if options.needs_steps and report.outcome is not Outcome.UNKNOWN:
            return _more(model, name, source, report, start)
    except (HvrError, RecursionError, MemoryError) as error:
        return unusable(name, model.domain, model.problem, error, perf_counter() - start)
    rule = rules.UNDECIDED.id if report.outcome is Outcome.UNKNOWN else ""
    result = PlanResult(name, model.domain, model.problem, report)
    return Judged(result, rule, perf_counter() - start)


def _more(
    model: LoadedModel, name: str, source: str | Path, report: ValidationReport, start: float
) -> Judged:
    """Find out what was asked for besides the verdict."""
    options, validator = model.options, model.validator
    assert isinstance(validator, Validator)
    plan = read_plan(source, file=name, lenient=options.lenient).steps
    repair: Repair | None = None
    note = ""
    if options.advise and report.outcome is Outcome.INVALID:
        from hvr.validation.repair import find_repair

        repair, note = find_repair(validator, plan, report)
    shorter: tuple[Step, ...] | None = None
    removed: tuple[int, ...] = ()
    if options.minimise and report.outcome is Outcome.VALID:
        from hvr.validation.minimise import minimise

        shorter, removed = minimise(validator, plan)
    happenings = _happenings(validator, plan) if options.happenings else None
    state = None
    if options.state_at is not None:
        state = _state(validator, plan, report, options.state_at)
    return Judged(
        PlanResult(
            name,
            model.domain,
            model.problem,
            report,
            repair=repair,
            repair_note="" if repair else note,
            minimised=shorter,
            removed=removed,
        ),
        seconds=perf_counter() - start,
        state=state,
        happenings=happenings,
    )


def _happenings(validator: Validator, plan: Sequence[Step]) -> tuple[HappeningText, ...]:
    return tuple(
        HappeningText(
            number or 0,
            "" if action is None else str(action),
            time,
            tuple(map(str, added)),
            tuple(map(str, deleted)),
        )
        for number, time, action, added, deleted in validator.trace(plan)
    )


def _state(
    validator: Validator, plan: Sequence[Step], report: ValidationReport, number: int
) -> ShownState:
    # A plan that fails has no state behind the failing step; the last one there is helps more
    # than none.
    reached = min(number, report.executed)
    state = validator.state_after(plan, reached)
    return ShownState(
        reached,
        number,
        tuple(sorted(map(str, state.atoms(static=True)))),
        tuple(sorted((str(term), value) for term, value in state.numbers().items())),
    )


def unusable(
    plan: str,
    domain: str,
    problem: str,
    error: Exception,
    seconds: float = 0.0,
    place: Location | None = None,
) -> Judged:
    """Return the result of a plan that could not be judged, or of a model that has no plans."""
    diagnostic: Diagnostic | None = getattr(error, "diagnostic", None)
    reason = diagnostic.message if diagnostic else str(error)
    if isinstance(error, RecursionError):
        reason = "it is nested too deeply"
    elif isinstance(error, MemoryError):
        reason = "there is not enough memory for it"
    if diagnostic is None and place is not None:
        diagnostic = Diagnostic(place, reason)
    report = ValidationReport(Outcome.UNKNOWN, 0, 0, reason=reason)
    result = PlanResult(plan, domain, problem, report, diagnostic)
    return Judged(result, _rule_of(error).id, seconds)


def _rule_of(error: Exception) -> rules.Rule:
    if isinstance(error, UnsupportedPddlError):
        return rules.UNSUPPORTED
    if isinstance(error, PddlSyntaxError):
        return rules.SYNTAX
    if isinstance(error, PddlSemanticError):
        return rules.SEMANTICS
    return rules.UNREADABLE if isinstance(error, DataFileError) else rules.UNDECIDED


def _read_stdin() -> str:
    """Read standard input in the encodings that plan files may have.

    Raises:
        DataFileError: it is closed or cannot be read.
        PddlSyntaxError: it is UTF-16 by its byte order mark, and is not.
    """
    from hvr.pddl.lexer import decode
    from hvr.texts import read_stdin

    return decode(read_stdin(), _STDIN_NAME)
