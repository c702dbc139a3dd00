"""Validation of many plans for one problem, with one result per plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import hvr.validation.findings as rules
from hvr.errors import HvrError, PddlSyntaxError, UsageError
from hvr.pddl import Diagnostic, Domain, Location, Step, parse_domain, parse_problem, read_plan
from hvr.pddl.plan import decimal_text
from hvr.validation.findings import (
    STDIN,
    Finding,
    HappeningText,
    Judged,
    ShownState,
    warning_finding,
)
from hvr.validation.report import OnFailure, Outcome, PlanResult, Repair, ValidationReport
from hvr.validation.suites import Language, PlanJudge, language_of
from hvr.validation.validator import EXACT, TOLERANCE, Validator
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.validation.extraction.lines import KnownSymbols

_STDIN_NAME = "<stdin>"
_MOST_DOMAINS = 200


class BatchOptions(Value):
    """The analyses to run for each plan.

    Attributes:
        tolerance: The tolerance of durations, by default VAL's.
        numeric_tolerance: The tolerance of numeric conditions, by default 0.
        epsilon: The largest time difference between simultaneous steps, by default a tenth of the
            tolerance.
        until: The time at which processes and events stop, by default the end of the plan.
        lenient: Whether to accept non-standard PDDL that VAL accepts.
        advise: Whether to search for a repair of an invalid plan.
        minimise: Whether to remove redundant steps from a valid plan.
        state_at: The number of the step after which to report the state.
        happenings: Whether to report every change of the state.
        timeline: Whether to report the plan over time, for a picture.
        values: Whether to report the numeric fluents over time. None reports them only if they
            change continuously.
        extract: Whether to search text for plans that are not marked as plans.
        plan_number: 1-based number of the plan to use if a text contains several, or 0 for the
            last. None rejects a text with several different plans.
        any_order: Whether a hierarchical plan may list its tasks in any order.
        no_decomposition: Whether to ignore the decomposition of a hierarchical plan and search for
            a decomposition.
    """

    tolerance: Fraction | None = None
    numeric_tolerance: Fraction = EXACT
    epsilon: Fraction | None = None
    until: Fraction | None = None
    lenient: bool = False
    on_failure: OnFailure = OnFailure.STOP
    advise: bool = False
    minimise: bool = False
    state_at: int | None = None
    happenings: bool = False
    timeline: bool = False
    values: bool | None = False
    extract: bool = False
    plan_number: int | None = None
    any_order: bool = False
    no_decomposition: bool = False

    @property
    def needs_steps(self) -> bool:
        """Whether an enabled option needs the steps of the plan, not only the verdict."""
        requested = self.advise or self.minimise or self.happenings or self.values or self.timeline
        return bool(requested) or self.state_at is not None


class LoadedModel(Value):
    domain: str
    problem: str
    validator: PlanJudge
    warnings: tuple[Finding, ...]
    options: BatchOptions


class UnusableModelError(HvrError):
    """The domain or the problem is unusable, so no plan can be judged; `result` says why."""

    def __init__(self, error: Exception, result: Judged) -> None:
        self.result = result
        super().__init__(str(error) or result.report.reason)


class ModelReader:
    """Reads problems and caches their domains."""

    def __init__(self, options: BatchOptions) -> None:
        self.options = options
        self._domains: dict[tuple[str, str], tuple[Any, Language | None]] = {}

    def read(
        self, domain: str, problem: str, *, texts: tuple[str, str] | None = None
    ) -> LoadedModel:
        """Read a problem, and its domain unless it is cached.

        Warnings about a domain are reported with its first problem.

        Args:
            texts: The contents of the domain and the problem, if the files are not to be opened.

        Raises:
            UnusableModelError: A file cannot be read or used.
            UsageError: An option is not supported for hierarchical plans.
        """
        options, warnings = self.options, list[Diagnostic]()
        one, two = texts or (Path(domain), Path(problem))
        key = domain, texts[0] if texts else ""
        file = domain
        known = self._domains.get(key)
        try:
            lifted, language = known or self._domain(domain, one, warnings)
            file = problem
            read = parse_problem if language is None else language.parse_problem
            task = read(two, lifted, file=problem, lenient=options.lenient, warnings=warnings)
            validator = _judge_of(lifted, task, options, language)
        except UsageError:
            raise
        except (HvrError, RecursionError, MemoryError) as error:
            start = Location(file, 1, 1)
            raise UnusableModelError(
                error, _unusable("", domain, problem, error, place=start)
            ) from error
        if len(self._domains) >= _MOST_DOMAINS:
            self._domains.clear()
        self._domains[key] = lifted, language
        flags = lifted if known is None and language is None else None
        findings = _warnings(flags, domain, warnings)
        return LoadedModel(domain, problem, validator, findings, options)

    def read_domain(self, domain: str) -> None:
        """Read a domain without a problem; raise an UnusableModelError if it cannot be used."""
        try:
            self._domain(domain, Path(domain), [])
        except (HvrError, RecursionError, MemoryError) as error:
            start = Location(domain, 1, 1)
            raise UnusableModelError(
                error, _unusable("", domain, "", error, place=start)
            ) from error

    def _domain(
        self, file: str, source: str | Path, warnings: list[Diagnostic]
    ) -> tuple[Any, Language | None]:
        language = language_of(source, file)
        read = parse_domain if language is None else language.parse_domain
        lenient = self.options.lenient
        return read(source, file=file, lenient=lenient, warnings=warnings), language


def _judge_of(
    domain: Any, problem: Any, options: BatchOptions, language: Language | None
) -> PlanJudge:
    if language is not None:
        return language.judge_of(domain, problem, options)
    return Validator(
        domain,
        problem,
        tolerance=TOLERANCE if options.tolerance is None else options.tolerance,
        epsilon=options.epsilon,
        numeric_tolerance=options.numeric_tolerance,
        until=options.until,
    )


def _warnings(
    lifted: Domain | None, file: str, overlooked: Sequence[Diagnostic]
) -> tuple[Finding, ...]:
    from hvr.validation.occurrences import missing_requirements

    missing = () if lifted is None else tuple(missing_requirements(lifted))
    if not (missing or overlooked):
        return ()
    from hvr.validation.lint_files import without_ignored

    findings = [
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
    ]
    return tuple(without_ignored(findings))


def judge_all(model: LoadedModel, files: Sequence[str]) -> Iterator[Judged]:
    """Judge plan files in this process and yield the results in the same order.

    A file may be `-` for standard input. An unreadable plan has its own result and does not affect
    other plans.
    """
    for file in files:
        yield judge(model, file)


def judge(model: LoadedModel, file: str) -> Judged:
    """Judge one plan file; `-` is standard input."""
    if file == STDIN:
        return judge_source(model, _STDIN_NAME, _read_stdin)
    return judge_source(model, file, lambda: _plan_source(file))


def judge_source(model: LoadedModel, name: str, read: Callable[[], str | Path]) -> Judged:
    """Judge one plan.

    Args:
        name: The name of the plan in the result.
        read: A function that returns the plan's text or the path of its file. If it raises an
            HvrError, the result reports the error.
    """
    start = perf_counter()
    options = model.options
    try:
        report, source, model = _checked(model, name, read())
        report = _with_smaller_epsilon(model, name, source, report)
        more = options.needs_steps or _wants_values(model)
        if more and report.outcome is not Outcome.UNKNOWN:
            return _more(model, name, source, report, start)
    except (HvrError, RecursionError, MemoryError) as error:
        return _unusable(name, model.domain, model.problem, error, perf_counter() - start)
    rule = rules.UNDECIDED.id if report.outcome is Outcome.UNKNOWN else ""
    result = PlanResult(name, model.domain, model.problem, report)
    return Judged(result, rule, perf_counter() - start)


def _plan_source(file: str) -> str | Path:
    # A pipe can be read only once.
    path = Path(file)
    if path.is_file() or not path.exists():
        return path
    from hvr.base.texts import read_bytes
    from hvr.pddl.reader import decode

    return decode(read_bytes(path), file)


def _checked(
    model: LoadedModel, name: str, source: str | Path
) -> tuple[ValidationReport, str | Path, LoadedModel]:
    options = model.options

    def check(text: str | Path, by: PlanJudge) -> ValidationReport:
        return by.check_file(
            text, file=name, on_failure=options.on_failure, lenient=options.lenient
        )

    refused: PddlSyntaxError | None = None
    validator = model.validator
    if not isinstance(validator, Validator):
        try:
            return check(source, validator), source, model
        except PddlSyntaxError as error:
            raise _with_hint_of_actions(error, source, options) from error
    if options.plan_number is None:
        try:
            return check(source, validator), source, model
        except PddlSyntaxError as error:
            refused = error
    from hvr.pddl.reader import SourceText
    from hvr.validation.extraction import extract
    from hvr.validation.extraction.lines import KnownSymbols

    read = SourceText.read(source, file=name, lenient=True)
    if refused is not None and read.warnings and not options.lenient:  # NUL characters
        raise refused
    text = read.text
    unmarked = options.extract or name == _STDIN_NAME
    known = KnownSymbols.of(validator.task.domain, validator.task.problem)
    plan = extract(text, name, known, unmarked=unmarked, number=options.plan_number)
    if plan is None:
        if refused is not None:
            raise refused if unmarked else _with_hint(refused, text, known)
        return check(source, validator), source, model
    if plan.until is not None and options.until is None:
        validator = validator.lasting(plan.until)
        model = model.replace(validator=validator)
    report = check(plan.text, validator)
    return report.replace(notes=(plan.note, *report.notes)), plan.text, model


def _with_smaller_epsilon(
    model: LoadedModel, name: str, source: str | Path, report: ValidationReport
) -> ValidationReport:
    validator, options = model.validator, model.options
    if report.outcome is not Outcome.INVALID or not isinstance(validator, Validator):
        return report
    if isinstance(source, Path) and not source.is_file():
        return report  # the file could be read only once
    from hvr.pddl.plan import lazy_timed_plan
    from hvr.pddl.reader import SourceText

    text = SourceText.read(source, file=name, lenient=options.lenient)
    if ":" not in text.text:
        return report  # no step has a time
    plan = lazy_timed_plan(text) or read_plan(text.text, lenient=options.lenient).steps
    epsilon = validator.smaller_epsilon(plan)
    if epsilon is None:
        return report
    note = (
        f"with --epsilon {decimal_text(epsilon)} the plan is valid: some of its happenings are no "
        f"further apart than {decimal_text(validator.epsilon)}"
    )
    return report.replace(notes=(*report.notes, note))


def _with_hint(refused: PddlSyntaxError, text: str, known: KnownSymbols) -> PddlSyntaxError:
    from hvr.pddl.reader import PddlTextSyntaxError
    from hvr.validation.extraction import SeveralPlansError, extract

    if not isinstance(refused, PddlTextSyntaxError):
        return refused
    try:
        plan = extract(text, "", known, unmarked=True)
    except SeveralPlansError:
        found = "the text contains several plans; --extract shows where"
    except PddlSyntaxError:
        return refused
    else:
        if plan is None:
            return refused
        found = f"there is a plan in {plan.place}; --extract reads it"
    diagnostic = refused.diagnostic
    expected = f"{diagnostic.expected}; {found}" if diagnostic.expected else found
    return PddlTextSyntaxError(diagnostic.replace(expected=expected))


def _with_hint_of_actions(
    refused: PddlSyntaxError, source: str | Path, options: BatchOptions
) -> PddlSyntaxError:
    from hvr.pddl.reader import PddlTextSyntaxError

    if not isinstance(refused, PddlTextSyntaxError):
        return refused
    try:
        if options.no_decomposition or not read_plan(source).steps:
            return refused
    except HvrError:
        return refused
    diagnostic = refused.diagnostic
    expected = f"{diagnostic.expected}; the text has actions only: --no-decomposition reads it"
    return PddlTextSyntaxError(diagnostic.replace(expected=expected))


def _more(
    model: LoadedModel, name: str, source: str | Path, report: ValidationReport, start: float
) -> Judged:
    options, validator = model.options, model.validator
    assert isinstance(validator, Validator)
    plan = read_plan(source, file=name, lenient=options.lenient).steps
    repair: Repair | None = None
    note = ""
    if options.advise and report.outcome is Outcome.INVALID:
        from hvr.validation.repair import find_suggestions

        repair, note = find_suggestions(validator, plan, report)
    shorter: tuple[Step, ...] | None = None
    removed: tuple[int, ...] = ()
    if options.minimise and report.outcome is Outcome.VALID:
        from hvr.validation.minimise import minimise

        shorter, removed = minimise(validator, plan)
    happenings = timeline = None
    if options.happenings or options.timeline:
        happenings = _happenings(validator, plan)
    if options.timeline:
        assert happenings is not None
        from hvr.validation.timeline import timeline_of

        continued = options.on_failure is not OnFailure.STOP
        spans = validator.process_spans(plan)
        timeline = timeline_of(plan, happenings, spans, report, continued=continued)
    values = validator.curves(plan) if _wants_values(model) else None
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
        happenings=happenings if options.happenings else None,
        values=values,
        timeline=timeline,
    )


def _wants_values(model: LoadedModel) -> bool:
    requested, validator = model.options.values, model.validator
    if requested is None:
        return isinstance(validator, Validator) and validator.task.domain.is_hybrid
    return requested


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
    # A failing plan has no state after its failing step: report the last state before it.
    reached = min(number, report.executed)
    state = validator.state_after(plan, reached)
    return ShownState(
        reached,
        number,
        tuple(sorted(map(str, state.atoms(static=True)))),
        tuple(sorted((str(term), value) for term, value in state.numbers().items())),
    )


def _unusable(
    plan: str,
    domain: str,
    problem: str,
    error: Exception,
    seconds: float = 0.0,
    place: Location | None = None,
) -> Judged:
    diagnostic: Diagnostic | None = getattr(error, "diagnostic", None)
    reason = rules.error_reason(error)
    if diagnostic is None and place is not None:
        diagnostic = Diagnostic(place, reason)
    report = ValidationReport(Outcome.UNKNOWN, 0, 0, reason=reason)
    result = PlanResult(plan, domain, problem, report, diagnostic)
    return Judged(result, rules.error_rule(error).id, seconds)


def _read_stdin() -> str:
    from hvr.base.texts import read_stdin
    from hvr.pddl.reader import decode

    return decode(read_stdin(), _STDIN_NAME)
