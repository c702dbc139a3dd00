"""Certificates: proofs of verdicts that another program can check (docs/reference/certificates.md).

This module writes them from the validator's states; `hvr.pddl.checker` checks them independently of
the validator.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from itertools import product
from typing import Any

from hvr import __version__
from hvr.errors import HvrError
from hvr.pddl import (
    And,
    Atom,
    Comparison,
    Equal,
    Exists,
    Expression,
    Forall,
    FunctionTerm,
    Imply,
    Not,
    NumericExpression,
    Or,
    Preference,
    State,
    Step,
    Trajectory,
)
from hvr.pddl.compiler import Binding, Compiler
from hvr.pddl.formulas import TypedName, functions_of, parts_of, walk
from hvr.pddl.state import Rational, set_bits
from hvr.validation.happenings import TimedEvent
from hvr.validation.report import Decomposed, Failure, FailureKind, Outcome, ValidationReport
from hvr.validation.temporal import TemporalRun
from hvr.validation.validator import Validator, with_times

FORMAT = "hvr certificate 2"

_MISFITS = (
    FailureKind.UNKNOWN_ACTION,
    FailureKind.UNKNOWN_OBJECT,
    FailureKind.WRONG_ARITY,
    FailureKind.WRONG_TYPE,
    FailureKind.START_TIME,
)
_MOST_INSTANCES = 200_000

Literals = dict[str, bool | str | None]
"""Atoms with their truth values, function terms with their values; None if undefined."""


Instance = tuple[Expression, Binding]
"""An expression, and the values of its variables."""


class NoCertificateError(HvrError):
    """No certificate can prove the verdict; the message says why."""


class CertifiedTask:
    """The digests and options of the task and plan that a certificate is about.

    `texts` are the contents of the domain, the problem and the plan.
    """

    def __init__(
        self,
        texts: Sequence[bytes],
        *,
        lenient: bool = False,
        language: str = "pddl",
        any_order: bool = False,
    ) -> None:
        self.digests = [sha256(text).hexdigest() for text in texts]
        self.lenient = lenient
        self.language = language
        self.any_order = any_order


def certificate_of(
    subject: CertifiedTask, validator: Validator, plan: Sequence[Step], report: ValidationReport
) -> dict[str, Any]:
    """Return the certificate of a verdict, as JSON values.

    Args:
        report: The verdict. For a valid hierarchical plan, it must contain the decomposition.

    Raises:
        NoCertificateError: The verdict is "unknown", or certificates cannot express its proof.
    """
    task = validator.task
    if report.outcome is Outcome.UNKNOWN:
        raise NoCertificateError("no certificate: the verdict is unknown")
    if task.domain.is_hybrid:
        raise NoCertificateError("no certificate: certificates do not support continuous change")
    constraints = And((task.domain.constraints, task.problem.constraints))
    if any(isinstance(part, Trajectory) for part in walk(constraints)):
        raise NoCertificateError(
            "no certificate: certificates do not support trajectory constraints"
        )
    if task.tolerance:
        raise NoCertificateError("no certificate: certificates require exact numeric conditions")
    run = TemporalRun(validator, with_times(plan))
    executed = run.evidence()
    valid = report.outcome is Outcome.VALID
    if valid and executed.failure is not None:
        raise NoCertificateError(f"no certificate: {executed.failure.message}")
    if not valid and executed.failure is None:
        raise NoCertificateError(
            "no certificate: no action fails and the goal is reached; certificates cannot prove "
            "that a decomposition is wrong"
        )
    fault = None if executed.failure is None else _Fault(run, executed.failure).to_json()
    return {
        "format": FORMAT,
        "tool": f"hvr {__version__}",
        "verdict": report.outcome.value,
        "language": subject.language,
        "digests": subject.digests,
        "options": {
            "epsilon": str(validator.epsilon),
            "tolerance": str(validator.tolerance),
            "lenient": subject.lenient,
            "any_order": subject.any_order,
        },
        "fault": fault,
        "decomposition": _decomposition(report.certificate) if valid else [],
        "happenings": list(_happenings(run)) if fault is None or fault["kind"] != "step" else [],
    }


def certificate_text(certificate: Mapping[str, Any]) -> str:
    """Return a certificate as JSON text, with each item of its lists on one line."""
    lines = []
    for key, value in certificate.items():
        if isinstance(value, list) and value:
            inside = ",\n".join(json.dumps(item, ensure_ascii=False) for item in value)
            lines.append(f"{json.dumps(key)}: [\n{inside}\n]")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _decomposition(parts: Iterable[Decomposed]) -> list[dict[str, Any]]:
    known = {part.identifier: part for part in parts}
    order: list[int | None] = [None] if known else []
    for identifier in order:  # grows during the loop
        order += [child for child in known[identifier].subtasks if child in known]
    ordered = [known[identifier].to_json() for identifier in reversed(order)]
    return [
        {key: one[key] for key in ("id", "parameters", "subtasks", "position")} for one in ordered
    ]


def _happenings(run: TemporalRun) -> Iterator[dict[str, Any]]:
    task = run.task
    literals = sorted(
        range(len(task.problem.timed_init)), key=lambda place: task.problem.timed_init[place].time
    )
    names = iter([f"literal {place + 1}" for place in literals])
    started: set[int] = set()
    bits, values = run.before.bits, run.before.values
    for happening in run.happenings:
        changes: Literals = {}
        for index in set_bits(bits ^ happening.bits):
            atom = task.fluent(index)
            if atom.predicate not in task.derived_predicates:
                changes[str(atom)] = bool(happening.bits >> index & 1)
        for index, value in enumerate(happening.values):
            before = values[index] if index < len(values) else None
            if value is not None and value != before:
                changes[str(task.term(index))] = str(Fraction(value))
        events = []
        for step in happening.steps:
            if step.number is None:
                events.append([next(names), "start"])
            else:
                events.append([str(step.number), "end" if step.number in started else "start"])
                started.add(step.number)
        yield {"time": str(happening.time), "events": events, "changes": changes}
        bits, values = happening.bits, happening.values


class _Fault:
    """The failure at which a run stopped, with literals that prove it."""

    def __init__(self, run: TemporalRun, failure: Failure) -> None:
        self.run = run
        self.failure = failure
        self.refuter = Refuter(State(run.task, run.bits, run.values))

    def to_json(self) -> dict[str, Any]:
        failure, kind = self.failure, self.failure.kind
        step = str(failure.step)
        if kind is FailureKind.GOAL:
            falsifier = self._false(self.run.task.problem.goal, {})
            return {"kind": "goal", "falsifier": falsifier}
        if kind in _MISFITS or (kind is FailureKind.DURATION and self._has_none()):
            return {"kind": "step", "step": step, "falsifier": {}}
        if kind is FailureKind.INVARIANT:
            running = self.run.operator_of(failure.step or 0)
            condition = running.template.conditions["over all"]
            falsifier = self._false(condition, running.binding, self._duration())
            return {"kind": "invariant", "step": step, "falsifier": falsifier}
        events = self.run.next_events()
        if kind is FailureKind.INTERFERENCE:
            for one, two, over in self.run.contentions(events):
                fault = {"kind": "interference", "step": self._name(one), "with": self._name(two)}
                return {**fault, "over": over, "falsifier": {}}
        for event in events:
            if event.number == failure.step:
                literals = self._event(event)
                if literals is not None:
                    fault = {"kind": "condition", "step": step}
                    return {**fault, "at": "end" if event.end else "start", "falsifier": literals}
        raise NoCertificateError(
            f"no certificate: found no literals that prove this failure ({failure.message})"
        )

    def _event(self, event: TimedEvent) -> Literals | None:
        if self.failure.kind not in (FailureKind.DURATION, FailureKind.UNDEFINED_VALUE):
            return self.refuter.refute(event.precondition, event.binding, True, event.duration)
        durative = event.start or event.end
        if durative is None:
            return None
        when = "at end" if event.end else "at start"
        bounds = [test.text.right for test in durative.tests if test.when == when]
        literals = self.refuter.values(bounds, event.binding)
        undefined = self.failure.kind is FailureKind.UNDEFINED_VALUE
        return None if undefined and None not in literals.values() else literals

    def _name(self, event: TimedEvent) -> str:
        if event.number is not None:
            return str(event.number)
        timed = self.run.task.problem.timed_init
        places = range(len(timed))
        same = (
            p for p in places if timed[p].time == event.time and timed[p].effect == event.effect
        )
        return f"literal {next(same) + 1}"

    def _has_none(self) -> bool:
        step = self.run.plan[(self.failure.step or 0) - 1]
        return step.duration is None or step.duration < 0

    def _duration(self) -> Rational | None:
        return self.run.plan[(self.failure.step or 0) - 1].duration

    def _false(
        self, condition: Expression, binding: Binding, duration: Rational | None = None
    ) -> Literals:
        falsifier = self.refuter.refute(condition, binding, True, duration)
        assert falsifier is not None
        return falsifier


class Refuter:
    """Finds literals that prove a formula false (or true) in a state."""

    def __init__(self, state: State) -> None:
        self._task = state.task
        self._state = state
        self._true = state.atoms(static=True)
        self._numbers: dict[FunctionTerm, Fraction] = {
            term: Fraction(value) for term, value in self._task.problem.numeric_init.items()
        }
        self._numbers |= state.numbers()
        self._instances = 0

    def values(self, numbers: Sequence[NumericExpression], binding: Binding) -> Literals:
        found: Literals = {}
        for number in numbers:
            for term in functions_of(number):
                ground = FunctionTerm(term.function, _row(term.args, binding))
                value = self._numbers.get(ground)
                found[str(ground)] = None if value is None else str(value)
        return found

    def refute(
        self, formula: Expression, binding: Binding, wanted: bool, duration: Rational | None = None
    ) -> Literals | None:
        """Return facts that prove that a formula is not `wanted` in the state, or None if it is.

        The result maps each literal and number that the first violated conjunct mentions to its
        value. `duration` is the value of `?duration`, if any.

        Raises:
            NoCertificateError: The formula is not supported, or the proof would be too large.
        """
        match formula:
            case Atom(predicate, args):
                atom = Atom(predicate, _row(args, binding))
                true = atom in self._true
                return None if true is wanted else {str(atom): true}
            case Equal():
                left, right = _row((formula.left, formula.right), binding)
                return None if (left == right) is wanted else {}
            case Comparison(_, one, two):
                tested: Expression = formula if wanted else Not(formula)
                compiled = Compiler(self._task, duration).condition(tested, binding)
                if compiled.holds(self._state.bits, self._state.values):
                    return None
                return self.values((one, two), binding)
            case Not(operand):
                return self.refute(operand, binding, not wanted, duration)
            case Imply(left_, right_):
                return self.refute(Or((Not(left_), right_)), binding, wanted, duration)
            case Preference():
                return None if wanted else {}
            case And(operands) | Or(operands):
                parts = ((operand, binding) for operand in operands)
                one_is_enough = isinstance(formula, And) is wanted
            case Forall(variables, body) | Exists(variables, body):
                parts = ((body, row) for row in self._rows(variables, binding))
                one_is_enough = isinstance(formula, Forall) is wanted
            case _:
                raise NoCertificateError(f"no certificate: certificates do not support {formula}")
        together: Literals = {}
        for part, own in self._counted(parts):
            found = self.refute(part, own, wanted, duration)
            if one_is_enough and found is not None:
                return found
            if not one_is_enough and found is None:
                return None
            if not one_is_enough:
                together |= self._mentioned(part, own)
        return None if one_is_enough else together

    def _counted(self, parts: Iterable[Instance]) -> Iterator[Instance]:
        for part in parts:
            self._instances += 1
            if self._instances > _MOST_INSTANCES:
                raise NoCertificateError(
                    f"no certificate: the proof would have more than {_MOST_INSTANCES} instances"
                )
            yield part

    def _mentioned(self, formula: Expression, binding: Binding) -> Literals:
        found: Literals = {}
        stack: list[Instance] = [(formula, binding)]
        for part, own in self._counted(_emptied(stack)):
            match part:
                case Atom(predicate, args):
                    atom = Atom(predicate, _row(args, own))
                    found[str(atom)] = atom in self._true
                case Comparison(_, left, right):
                    found |= self.values((left, right), own)
                case Forall(variables, body) | Exists(variables, body):
                    stack += [(body, row) for row in self._rows(variables, own)]
                case _:
                    stack += [(inner, own) for inner in parts_of(part)]
        return found

    def _rows(self, variables: Sequence[TypedName], binding: Binding) -> Iterator[Binding]:
        names = [v.name for v in variables]
        for row in product(*(self._task.members(v.types) for v in variables)):
            yield {**binding, **dict(zip(names, row, strict=True))}


def _emptied(stack: list[Instance]) -> Iterator[Instance]:
    while stack:
        yield stack.pop()


def _row(args: Sequence[str], binding: Binding) -> tuple[str, ...]:
    return tuple([binding.get(arg, arg) for arg in args])
