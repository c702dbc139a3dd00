"""Plans without their decomposition: the actions are read, and a decomposition is looked for."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

from hvr.errors import GroundingLimitError, NumberTooLargeError
from hvr.pddl import Misfit
from hvr.pddl.hierarchy.plan import START, HierarchicalPlan, PlanLine, read_hierarchical_plan
from hvr.pddl.hierarchy.tree import Tree
from hvr.pddl.lexer import SourceText
from hvr.validation.hierarchical.chart import Chart
from hvr.validation.hierarchical.progress import Progression
from hvr.validation.hierarchical.reasons import Reasons
from hvr.validation.hierarchical.verifier import DecompositionVerifier
from hvr.validation.report import (
    Failure,
    FailureKind,
    OnFailure,
    Outcome,
    ValidationReport,
)

_STEP = re.compile(r"\(([^()]*)\)")
_COMMENT = re.compile(r";[^\r\n]*")


class ActionsJudge:
    """Judges the actions of plans, whatever decomposition comes with them.

    Args:
        verifier: what judges plans with a decomposition; whatever is found is put to it.
    """

    def __init__(self, verifier: DecompositionVerifier) -> None:
        self._verifier = verifier

    def check_file(
        self,
        source: str | Path,
        *,
        file: str | None = None,
        on_failure: OnFailure = OnFailure.STOP,
        lenient: bool = False,
    ) -> ValidationReport:
        """Read the actions of a plan and say whether some decomposition leads to them.

        The arguments are those of `DecompositionVerifier.check_file`.

        Raises:
            DataFileError: the file cannot be read.
            PddlSyntaxError: it is not a plan.
        """
        del on_failure, lenient
        report, _ = self.decompose(read_actions(source, file=file))
        return report

    def decompose(self, plan: HierarchicalPlan) -> tuple[ValidationReport, HierarchicalPlan | None]:
        """Say whether some decomposition leads to the actions of a plan, and return it."""
        count = len(plan.actions)
        try:
            return self._decompose(plan)
        except (GroundingLimitError, NumberTooLargeError) as error:
            return ValidationReport(Outcome.UNKNOWN, count, 0, reason=str(error)), None

    def _decompose(
        self, plan: HierarchicalPlan
    ) -> tuple[ValidationReport, HierarchicalPlan | None]:
        verifier = self._verifier
        count = len(plan.actions)
        reasons = Reasons(verifier.domain, verifier.problem, verifier.task, Tree(plan))
        for node, line in enumerate(plan.actions):
            found = verifier.operator(line)
            if isinstance(found, Misfit):
                return _invalid(reasons.misfit(node, found), count, node), None
        states = verifier.states(plan.actions)
        done = len(states) - 1
        if done < count:
            return _invalid(reasons.step(done), count, done), None
        if not verifier.task.goal.holds(*states[-1]):
            return _invalid(reasons.goal(), count, count), None
        networks = (verifier.problem.root, *verifier.domain.methods.values())
        total = all(method.network.sequence is not None for method in networks)
        parser = (Chart if total else Progression)(
            verifier.domain,
            verifier.problem.root,
            verifier.task,
            verifier.preconditions,
            plan.actions,
            states,
        )
        found_plan = parser.parse()
        if found_plan is not None:
            report = verifier.check(found_plan)
            if report.valid:
                return report, found_plan
        if found_plan is not None or not parser.exhausted:
            reason = "no decomposition was found, and not all were tried"
            return ValidationReport(Outcome.UNKNOWN, count, count, reason=reason), None
        return _invalid(_no_decomposition(plan, parser.furthest), count, count), None


def read_actions(source: str | Path, *, file: str | None = None) -> HierarchicalPlan:
    """Read the actions of a plan: steps in parentheses, or those before the line 'root …'.

    Raises:
        DataFileError: the file cannot be read.
        PddlSyntaxError: it is not a plan.
    """
    text = SourceText.read(source, file=file, default="<plan>")
    if any(line.strip() == START for line in text.text.splitlines()):
        whole = read_hierarchical_plan(text.text, file=text.file)
        if not whole.closed and whole.root is None:
            # Actions come before the line with the initial tasks.
            end = len(text.text.rstrip())
            text.syntax_error(end, "the text ends within the plan", expected="'root …' and '<=='")
        return HierarchicalPlan(whole.actions, None, file=whole.file, end=whole.end)
    body = _COMMENT.sub(lambda match: " " * len(match.group()), text.text)
    actions: list[PlanLine] = []
    end = 0
    before = Fraction(0)
    for match in _STEP.finditer(body):
        _between(text, body, end, match.start())
        stamp = _STAMP.search(body, end, match.start())
        if stamp is not None:
            if (time := Fraction(stamp[1])) < before:
                text.syntax_error(
                    stamp.start(), "the steps are in another order than their numbers"
                )
            before = time
        end = match.end()
        words = match.group(1).split()
        if not words:
            text.syntax_error(match.start(), "an empty step", expected="(action object …)")
        number = text.location(match.start()).line
        actions.append(PlanLine(len(actions), words[0], tuple(words[1:]), "", (), number))
    _between(text, body, end, len(body))
    return HierarchicalPlan(tuple(actions), None, file=text.file, end=body.count("\n") + 1)


_NUMBER = re.compile(r"[\s\d.:,]*")
_STAMP = re.compile(r"([0-9]{1,300}(?:\.[0-9]{1,300})?)\s*[.:]?\s*\Z")


def _between(text: SourceText, body: str, start: int, end: int) -> None:
    """Refuse what stands between steps, but for their numbers."""
    match = _NUMBER.match(body, start, end)
    assert match is not None
    if match.end() < end:
        text.syntax_error(
            match.end(), "this is not part of a plan", expected="a step: (action object …)"
        )


def _no_decomposition(plan: HierarchicalPlan, furthest: int) -> Failure:
    count = len(plan.actions)
    message = "No decomposition of the initial network leads to these actions"
    if furthest >= count or not plan.actions:
        message += ": all of them begin one, and something is left to be done after them."
        return Failure(FailureKind.NO_DECOMPOSITION, message, location=plan.place(plan.end))
    line = plan.actions[furthest]
    message += f": those before {line} begin one, and with it there is none."
    step = plan.step(line)
    return Failure(
        FailureKind.NO_DECOMPOSITION, message, furthest + 1, step, location=step.location
    )


def _invalid(failure: Failure, count: int, executed: int) -> ValidationReport:
    return ValidationReport(Outcome.INVALID, count, executed, (failure,))
