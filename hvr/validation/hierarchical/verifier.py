"""Verification of plans with their decomposition.

The checks proceed from syntax to meaning: identifiers, names, the tree, the subtasks of each
method, their order, the execution of the actions, the preconditions of methods, the goal. The first
failing check gives the reason. A valid verdict comes with a certificate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import NoReturn

from hvr.base.printable import nearest, short_names
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
from hvr.pddl.lists import arguments_text
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
    open_formula,
)
from hvr.validation.hierarchical.schedule import Certificate, NoOrder, Placement, Scheduler
from hvr.validation.report import (
    Failure,
    FailureKind,
    OnFailure,
    Outcome,
    ValidationReport,
    place_of,
)
from hvr.validation.stepper import KINDS, Stepper
from hvr.validation.suites import PlanJudge

# Verification -------------------------------------------------------------------------------------


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


# Reasons ------------------------------------------------------------------------------------------


_MOST_STATES = 50
_MOST_ACTIONS = 2_000


class Reasons:
    """Explains why one plan is not a solution."""

    def __init__(
        self,
        domain: HierarchicalDomain,
        problem: HierarchicalProblem,
        task: Task,
        tree: DecompositionTree,
    ) -> None:
        self.domain = domain
        self.problem = problem
        self.task = task
        self.tree = tree

    # Syntax and structure -------------------------------------------------------------------

    def no_decomposition(self) -> Failure:
        plan = self.tree.plan
        message = "The plan has no line 'root …' that lists its tasks."
        return Failure(FailureKind.NO_DECOMPOSITION, message, location=plan.place(plan.end))

    def unknown_reference(self, identifier: int, node: int) -> Failure:
        return self._about(
            node,
            FailureKind.UNKNOWN_REFERENCE,
            f"{_upper(self._name(node))} refers to {identifier}, but no line has this identifier.",
        )

    def misfit(self, node: int, misfit: Misfit) -> Failure:
        line = self.tree.line(node)
        message = misfit.message
        if line.name in self.domain.tasks:
            message = f"{line.name!r} is a task, but the line does not say how it is decomposed"
        return self._about(
            node,
            KINDS[misfit.kind],
            f"{_upper(self._name(node))} is not a step: {message}.",
            misfit.suggestion,
        )

    def undeclared(self, node: int) -> Failure | None:
        """Return the failure of a task whose name, arguments or method is invalid, or None."""
        line = self.tree.line(node)
        if node == self.tree.root:
            return None
        declared = self.domain.tasks.get(line.name)
        if declared is None:
            message = f"the domain has no task {line.name!r}"
            if line.name in self.domain.domain.actions:
                message = f"{line.name!r} is an action and has no decomposition"
            near = nearest(line.name, self.domain.tasks)
            return self._about(node, FailureKind.UNKNOWN_TASK, self._says(node, message), near)
        if len(line.args) != len(declared.parameters):
            expected = arguments_text(len(declared.parameters))
            message = f"{declared} takes {expected}, not {len(line.args)}"
            return self._about(node, FailureKind.WRONG_ARITY, self._says(node, message))
        for value, parameter in zip(line.args, declared.parameters, strict=True):
            if value not in self.task.objects:
                message = f"the problem has no object {value!r}"
                near = nearest(value, self.task.objects)
                return self._about(
                    node, FailureKind.UNKNOWN_OBJECT, self._says(node, message), near
                )
            if value not in self.task.members(parameter.types):
                message = (
                    f"{value!r} is of type {' or '.join(self.task.objects[value])}, but the "
                    f"parameter {parameter.name} must be of type {' or '.join(parameter.types)}"
                )
                return self._about(node, FailureKind.WRONG_TYPE, self._says(node, message))
        if line.method not in self.domain.methods:
            own = [method.name for method in self.domain.methods_of[line.name]]
            near = nearest(line.method, own) or nearest(line.method, self.domain.methods)
            message = f"the domain has no method {line.method!r}"
            return self._about(node, FailureKind.UNKNOWN_METHOD, self._says(node, message), near)
        return None

    def no_tree(self, method_of: Mapping[int, Method]) -> Iterator[Failure]:
        """Yield failures for tasks that have no parent or several parents, or lie on a cycle."""
        tree, kind = self.tree, FailureKind.NO_TREE
        for node in range(len(tree)):
            parents = tree.parents(node)
            if len(parents) == 1 and parents[0] != node:
                continue
            if node in parents:
                yield self._about(node, kind, f"{_upper(self._name(node))} is its own subtask.")
            for parent, times in Counter(parents).items():
                if times > 1:
                    message = (
                        f"{_upper(self._name(parent))} lists {self._name(node)} {times} times."
                    )
                    yield self._about(parent, kind, message)
        for node in range(len(tree)):
            parents = tree.parents(node)
            if len(parents) > 1:
                wrong = [
                    p
                    for p in parents
                    if len(tree.children[p]) != len(method_of[p].network.subtasks)
                ]
                both = " and of ".join(self._name(parent) for parent in parents[:2])
                message = f"{_upper(self._name(node))} is a subtask of {both}."
                yield self._about((wrong or parents)[-1], kind, message)
        for node in range(len(tree)):
            parents = tree.parents(node)
            if not parents and node != tree.root:
                yield self._orphan(node, method_of)
        for node in tree.unreached():
            message = f"{_upper(self._name(node))} is part of a cycle of tasks."
            yield self._about(node, kind, message)

    def _orphan(self, node: int, method_of: Mapping[int, Method]) -> Failure:
        tree = self.tree
        name = tree.line(node).name
        for parent, method in method_of.items():
            expected = Counter(subtask.name for subtask in method.network.subtasks)
            expected.subtract(tree.line(child).name for child in tree.children[parent])
            if expected[name] > 0:
                message = (
                    f"{self._under(parent, method)} lacks a subtask {name!r}; nothing refers to "
                    f"{self._name(node)}, which could be this subtask."
                )
                return self._about(parent, FailureKind.SUBTASKS, message)
        message = f"{_upper(self._name(node))} has no parent: no line refers to it."
        return self._about(node, FailureKind.NO_TREE, message)

    # Subtasks -------------------------------------------------------------------------------

    def listing(self, node: int, method: Method, match: SubtaskMatch) -> Failure:
        """Return the failure of a task that lists its subtasks in an order its method forbids."""
        before, children = method.network.before, self.tree.children[node]
        index_of = {child: index for index, child in enumerate(match.children)}
        message = (
            f"{self._under(node, method)} lists its subtasks in an order that the method forbids."
        )
        behind = 0
        for place in range(len(children) - 1, -1, -1):
            child = children[place]
            if before[index_of[child]] & behind:
                later = next(
                    c for c in children[place:] if before[index_of[child]] >> index_of[c] & 1
                )
                message = (
                    f"{self._under(node, method)} lists {self._name(child)} before "
                    f"{self._name(later)}, but the method orders them the other way round."
                )
            behind |= 1 << index_of[child]
        return self._about(node, FailureKind.LISTING_ORDER, message)

    def no_match(self, node: int, method: Method, matcher: SubtaskMatcher) -> Failure:
        """Return the failure of a task whose children do not match the subtasks of its method."""
        line = self.tree.line(node)
        why = self._difference(node, method, matcher)
        fitting = [
            other.name
            for other in self.domain.methods_of.get(line.name, ())
            if other is not method and matcher.matches(node, other).found
        ]
        message = f"{self._under(node, method)}: {why}."
        if fitting:
            noun = "method" if len(fitting) == 1 else "methods"
            message += f" The {noun} {' and '.join(fitting[:3])} would match."
        return self._about(node, FailureKind.SUBTASKS, message)

    def _difference(self, node: int, method: Method, matcher: SubtaskMatcher) -> str:
        tree = self.tree
        line, children = tree.line(node), tree.children[node]
        if node != tree.root and method.task != line.name:
            return f"the method decomposes {method.task!r}, not {line.name!r}"
        expected = Counter(subtask.name for subtask in method.network.subtasks)
        given = Counter(tree.line(child).name for child in children)
        lacking, surplus = expected - given, given - expected
        if lacking or surplus:
            parts = [f"{_some(lacking)} missing"] if lacking else []
            parts += [f"{_some(surplus)} unexpected"] if surplus else []
            return f"of its subtasks, {' and '.join(parts)}"
        binding = matcher.bind(method, {}, method.args, line.args)
        if binding is None:
            return self._conflict(method, {}, method.args, line.args, matcher, "the task itself")
        left = list(children)
        for index in method.network.topological:
            subtask = method.network.subtasks[index]
            alike = [child for child in left if tree.line(child).name == subtask.name]
            for child in alike:
                found = matcher.bind(method, binding, subtask.args, tree.line(child).args)
                if found is not None:
                    left.remove(child)
                    binding = found
                    break
            else:
                args = tree.line(alike[0]).args if alike else ()
                what = self._name(alike[0]) if alike else str(subtask)
                return self._conflict(method, binding, subtask.args, args, matcher, what)
        return "no assignment of the listed tasks to the subtasks of the method keeps their order"

    def _conflict(
        self,
        method: Method,
        binding: dict[str, str],
        terms: Sequence[str],
        args: Sequence[str],
        matcher: SubtaskMatcher,
        what: str,
    ) -> str:
        for term, value in zip(terms, args, strict=True):
            found = matcher.bind(method, binding, (term,), (value,))
            if found is None:
                known = binding.get(term, term)
                if known.startswith("?"):
                    types = next(p for p in method.parameters if p.name == term).types
                    return f"{what} has {value!r} for {term}, which is of type {' or '.join(types)}"
                named = f"{term} = {known}" if known != term else known
                return f"{what} has {value!r} where the method has {named}"
            binding = found
        return f"{what} does not match the method"

    # Order and states -----------------------------------------------------------------------

    def order(
        self, misplaced: NoOrder, method_of: Mapping[int, Method], matches: FoundMatches
    ) -> Failure:
        """Return the failure of an action that comes too early or too late."""
        early, late = misplaced.node, misplaced.after
        places = _Places(self.tree, method_of, matches)
        others = range(min(self.tree.actions, _MOST_ACTIONS))
        too_early = sum(1 for one in others if one > early and places.comes_first(one, early))
        too_late = sum(1 for one in others if one < late and places.comes_first(late, one))
        culprit = late if too_late > too_early else early
        above = places.common(early, late)
        message = (
            f"Step {early + 1} {self.tree.line(early)} comes before step {late + 1} "
            f"{self.tree.line(late)}, but {self._under(above, method_of[above], '')} orders them "
            "the other way round."
        )
        return self._about(culprit, FailureKind.SUBTASK_ORDER, message).replace(step=culprit + 1)

    def step(self, node: int) -> Failure:
        failure = self._stepper(node).advance(self.tree.plan.step(self.tree.line(node)))
        assert failure is not None
        return failure

    def goal(self) -> Failure:
        failure = self._stepper(self.tree.actions).goal_failure()
        assert failure is not None
        return failure

    def precondition(self, misplaced: NoOrder, method_of: Mapping[int, Method]) -> Failure:
        """Return the failure of a method's precondition, in the state nearest to satisfying it."""
        node, match = misplaced.node, misplaced.match
        assert match is not None
        method = method_of[node]
        formula = open_formula(method, match)
        stepper = self._stepper(misplaced.low)
        best = stepper.unmet(formula, match.binding)
        position = misplaced.low
        for later in range(misplaced.low, min(misplaced.high, misplaced.low + _MOST_STATES)):
            stepper.advance(self.tree.plan.step(self.tree.line(later)))
            literals = stepper.unmet(formula, match.binding)
            if len(literals) < len(best):
                best, position = literals, later + 1
        when = "in the initial state" if position == 0 else f"after step {position}"
        if misplaced.high > misplaced.low:
            span = f"step {misplaced.low} to step {misplaced.high}"
            when = f"at any point from {span}; it comes closest {when}"
        message = f"{self._under(node, method)}: its precondition does not hold {when}."
        failure = self._about(node, FailureKind.METHOD_PRECONDITION, message)
        return failure.replace(literals=best, condition=place_of(method.precondition))

    def _stepper(self, count: int) -> Stepper:
        stepper = Stepper(self.task)
        for line in islice(self.tree.plan.actions, count):
            stepper.advance(self.tree.plan.step(line))
        return stepper

    # Words ----------------------------------------------------------------------------------

    def _about(self, node: int, kind: FailureKind, message: str, near: str = "") -> Failure:
        tree = self.tree
        line = tree.line(node)
        step = GroundAction("root") if node == tree.root else tree.plan.step(line)
        place = tree.plan.place(line.number)
        number = node + 1 if node < tree.actions else None
        return Failure(kind, short_names(message), number, step, suggestion=near, location=place)

    def _name(self, node: int) -> str:
        line: PlanLine = self.tree.line(node)
        if node == self.tree.root:
            return "the root"
        return f"{'action' if node < self.tree.actions else 'task'} {line.identifier} {line}"

    def _under(self, node: int, method: Method, first: str = "T") -> str:
        if node == self.tree.root:
            return f"{first or 't'}he initial network"
        line = self.tree.line(node)
        return f"{first or 't'}ask {line.identifier} {line} by {method.name}"

    def _says(self, node: int, message: str) -> str:
        return f"{_upper(self._name(node))} is not a task of this problem: {message}."


class _Places:
    def __init__(
        self, tree: DecompositionTree, method_of: Mapping[int, Method], matches: FoundMatches
    ) -> None:
        self._tree = tree
        self._method_of = method_of
        self._index: dict[int, int] = {}
        self._depth = {tree.root: 0}
        for node in tree.order:
            if node >= tree.actions:
                for index, child in enumerate(matches[node][0].children):
                    self._index[child] = index
                    self._depth[child] = self._depth[node] + 1

    def common(self, one: int, two: int) -> int:
        return self._climb(one, two)[0]

    def comes_first(self, one: int, two: int) -> bool:
        above, left, right = self._climb(one, two)
        before = self._method_of[above].network.before
        return bool(before[self._index[right]] >> self._index[left] & 1)

    def _climb(self, one: int, two: int) -> tuple[int, int, int]:
        parent, depth = self._tree.parent, self._depth
        left, right = one, two
        while parent[left] != parent[right]:
            if depth[left] >= depth[right]:
                left = parent[left]
            else:
                right = parent[right]
        return parent[left], left, right


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _some(names: Counter[str]) -> str:
    listed = [
        f"{name!r}" + (f" ({times} times)" if times > 1 else "") for name, times in names.items()
    ]
    return f"{', '.join(listed)} {'is' if len(listed) == 1 else 'are'}"
