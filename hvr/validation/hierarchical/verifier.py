"""Verification of plans with their decomposition.

The checks proceed from syntax to meaning: identifiers, names, the tree, the subtasks of each
method, their order, the execution of the actions, the preconditions of methods, the goal. The first
failing check gives the reason. A valid verdict comes with a certificate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NoReturn

from hvr.errors import GroundingLimitError, NumberTooLargeError, UsageError
from hvr.pddl import Diagnostic, GroundAction, Misfit, Task
from hvr.pddl.hierarchy.model import HierarchicalDomain, HierarchicalProblem, Method
from hvr.pddl.hierarchy.parser import parse_hddl_domain as parse_domain
from hvr.pddl.hierarchy.parser import parse_hddl_problem as parse_problem
from hvr.pddl.hierarchy.plan import (
    DecompositionTree,
    HierarchicalPlan,
    PlanLine,
    read_hierarchical_plan,
)
from hvr.pddl.reader import PddlTextSyntaxError
from hvr.pddl.state import Operator
from hvr.validation.batch import BatchOptions
from hvr.validation.findings import LintFinding
from hvr.validation.hierarchical.matching import (
    FoundMatches,
    PlanStates,
    Preconditions,
    State,
    SubtaskMatch,
    SubtaskMatcher,
    holds,
)
from hvr.validation.hierarchical.reasons import Reasons
from hvr.validation.hierarchical.schedule import Certificate, Placement, Scheduler
from hvr.validation.report import Failure, OnFailure, Outcome, ValidationReport
from hvr.validation.suites import PlanJudge


class DecompositionVerifier:
    """Judges plans of one hierarchical problem.

    Unless `any_order` is set, a plan must list subtasks in an order that the method allows, as in
    the competitions.
    """

    def __init__(
        self,
        domain: HierarchicalDomain,
        problem: HierarchicalProblem,
        *,
        any_order: bool = False,
        numeric_tolerance: Fraction = Fraction(0),
    ) -> None:
        self.domain = domain
        self.problem = problem
        self.task = Task(domain.domain, problem.problem, tolerance=numeric_tolerance)
        self.any_order = any_order
        self.preconditions = Preconditions(self.task)
        self._operators: dict[tuple[str, tuple[str, ...]], Operator | Misfit] = {}

    def check_file(
        self,
        source: str | Path,
        *,
        file: str | None = None,
        on_failure: OnFailure = OnFailure.STOP,
        lenient: bool = False,
    ) -> ValidationReport:
        """Read a plan and check whether it is a solution.

        `on_failure` and `lenient` have no effect.

        Raises:
            DataFileError: The file cannot be read.
            PddlSyntaxError: The text is not a complete plan with a decomposition.
        """
        del on_failure, lenient
        return self.check(read_hierarchical_plan(source, file=file))

    def check(self, plan: HierarchicalPlan) -> ValidationReport:
        """Check whether a plan is a solution; an incomplete text raises a PddlSyntaxError."""
        try:
            report = _Check(self, plan).run()
            return report.replace(notes=(*plan.notes, *report.notes))
        except (GroundingLimitError, NumberTooLargeError) as error:
            return ValidationReport(Outcome.UNKNOWN, len(plan.actions), 0, reason=str(error))

    def operator(self, line: PlanLine) -> Operator | Misfit:
        """Return the operator of the action on a plan line, or the reason why it is invalid."""
        key = line.name, line.args
        found = self._operators.get(key)
        if found is None:
            found = self._operators[key] = self.task.try_ground(GroundAction(*key))
        return found

    def states(self, actions: Sequence[PlanLine]) -> PlanStates:
        return PlanStates(self.task, lambda index: self.operator(actions[index]), len(actions))

    def method(self, line: PlanLine) -> Method | None:
        """Return the method of a plan line, if declared, or the initial network for the root."""
        return self.domain.methods.get(line.method) if line.name else self.problem.root


def _refuse_cut(plan: HierarchicalPlan, failure: Failure) -> NoReturn:
    message = f"the text ends without '<==', so the plan may be truncated. {failure.message}"
    raise PddlTextSyntaxError(Diagnostic(plan.place(plan.end), message, "", "'<=='"))


class _Check:
    def __init__(self, verifier: DecompositionVerifier, plan: HierarchicalPlan) -> None:
        self.verifier = verifier
        self.plan = plan
        self.tree = DecompositionTree(plan)
        self.reasons = Reasons(verifier.domain, verifier.problem, verifier.task, self.tree)
        self.method_of: dict[int, Method] = {}
        self.states: Sequence[State] = ()
        self.complete = True

    def run(self) -> ValidationReport:
        failure = next(self._structure(), None)
        if failure is not None:
            if not self.plan.closed:
                _refuse_cut(self.plan, failure)
            return self._invalid(failure, 0)
        self.tree.measure()
        matches, failure = self._matches(self.verifier.any_order)
        if failure is not None:
            if not self.plan.closed and self._at_the_end(failure):
                _refuse_cut(self.plan, failure)
            return self._invalid(failure, 0) if self.complete else self._undecided()
        self.states = self.verifier.states(self.plan.actions)
        placed, failure = self._schedule(matches, len(self.states) - 1)
        if failure is not None:
            executed = len(self.states) - 1
            return self._invalid(failure, executed) if self.complete else self._undecided()
        assert placed is not None
        bits, values = self.states[-1]
        count = len(self.plan.actions)
        task = self.verifier.task
        if not task.goal.holds(bits, values):
            return self._invalid(self.reasons.goal(), count)
        cost = task.metric_value(values, Fraction(count), {})
        certificate = Certificate(self.tree, self.method_of, placed)
        return ValidationReport(Outcome.VALID, count, count, cost=cost, certificate=certificate)

    def _at_the_end(self, failure: Failure) -> bool:
        last = self.plan.tasks[-1].number if self.plan.tasks else self.plan.root_line
        return failure.location is not None and failure.location.line == last

    def _invalid(self, failure: Failure, executed: int) -> ValidationReport:
        count = len(self.plan.actions)
        return ValidationReport(Outcome.INVALID, count, executed, (failure,))

    def _undecided(self) -> ValidationReport:
        reason = "there are too many ways to match the subtasks of a method"
        return ValidationReport(Outcome.UNKNOWN, len(self.plan.actions), 0, reason=reason)

    # Syntax and structure -------------------------------------------------------------------

    def _structure(self) -> Iterator[Failure]:
        plan, tree, reasons = self.plan, self.tree, self.reasons
        if plan.root is None:
            yield reasons.no_decomposition()
            return
        for identifier, node in tree.missing:
            yield reasons.unknown_reference(identifier, node)
        for node in range(tree.actions):
            found = self.verifier.operator(tree.line(node))
            if isinstance(found, Misfit):
                yield reasons.misfit(node, found)
        for node in range(tree.actions, len(tree)):
            failure = reasons.undeclared(node)
            if failure is not None:
                yield failure
                return
            method = self.verifier.method(tree.line(node))
            assert method is not None
            self.method_of[node] = method
        yield from reasons.no_tree(self.method_of)

    # Matching and order ---------------------------------------------------------------------

    def _matches(self, any_order: bool) -> tuple[FoundMatches, Failure | None]:
        tree = self.tree
        matcher = SubtaskMatcher(self.verifier.task, tree, strict=not any_order)
        result = FoundMatches(matcher, tree, self.method_of)
        for node in tree.order:
            if node < tree.actions:
                continue
            matches = matcher.matches(node, self.method_of[node])
            self.complete &= matches.complete
            if not matches.found:
                return result, self._no_match(node)
            result.add(node, matches)
        return result, None

    def _no_match(self, node: int) -> Failure:
        loose = SubtaskMatcher(self.verifier.task, self.tree, strict=False)
        if not self.verifier.any_order:
            again = loose.matches(node, self.method_of[node])
            if again.found:
                return self.reasons.listing(node, self.method_of[node], again.found[0])
        return self.reasons.no_match(node, self.method_of[node], loose)

    def _schedule(
        self, matches: FoundMatches, executed: int
    ) -> tuple[Placement | None, Failure | None]:
        tree, reasons = self.tree, self.reasons
        full = Scheduler(tree, self.method_of, matches, self._holds)
        placed = full.run()
        if placed is not None:
            return (placed, None) if executed == tree.actions else (None, reasons.step(executed))
        loose = Scheduler(tree, self.method_of, matches, None)
        if loose.run() is None:
            assert loose.misplaced is not None
            return None, reasons.order(loose.misplaced, self.method_of, matches)
        assert full.misplaced is not None
        return None, reasons.precondition(full.misplaced, self.method_of)

    def _holds(self, node: int, match: SubtaskMatch, position: int) -> dict[str, str] | None:
        if position >= len(self.states):
            return {}  # after an inapplicable action, which is then the reason
        method = self.method_of[node]
        cases = self.verifier.preconditions.cases(method, match.binding)
        return holds(cases, *self.states[position])


# Language -----------------------------------------------------------------------------------------
# The interface that `hvr.validation.suites` expects of a language.

__all__ = ["DecompositionVerifier", "judge_of", "lint", "parse_domain", "parse_problem"]


def judge_of(
    domain: HierarchicalDomain, problem: HierarchicalProblem, options: BatchOptions
) -> PlanJudge:
    """Return the judge of plans for a problem, or raise a UsageError for an unsupported option."""
    if options.needs_steps:
        raise UsageError(
            "advice, minimised plans, states, happenings and values are not available for "
            "hierarchical plans"
        )
    tolerance: Fraction = options.numeric_tolerance
    verifier = DecompositionVerifier(
        domain, problem, any_order=options.any_order, numeric_tolerance=tolerance
    )
    if not options.no_decomposition:
        return verifier
    from hvr.validation.hierarchical.conversion import ActionsJudge

    return ActionsJudge(verifier)


def lint(domain: HierarchicalDomain, problem: HierarchicalProblem | None) -> list[LintFinding]:
    """Return the lint findings for a domain and, if given, a problem."""
    from hvr.validation.hierarchical.lint import lint_hddl

    return lint_hddl(domain, problem)
