"""Detection of deviations in PDDL worlds: compare expected and observed states.

A refused step should have changed nothing, so the observation is compared with the state before it.
After a completed step, it is compared with the predicted state. Each difference gets one
explanation: an effect that did not occur, or a change unrelated to the action. Derived facts are
ignored because they follow from other facts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from hvr.execution.deviations import (
    Deviation,
    DeviationKind,
    Difference,
    Side,
    literal_clauses,
    negated,
    subjects,
)
from hvr.knowledge.wording import Wording
from hvr.pddl import Arithmetic, Atom, Comparison, Expression, FunctionTerm, GroundAction, Not
from hvr.pddl import Number as PddlNumber
from hvr.pddl.plan import decimal_text
from hvr.pddl.state import State
from hvr.pddl.task import TOTAL_COST
from hvr.worlds.facts.environment import base_atoms


@dataclass(frozen=True)
class FactOutcome:
    """The outcome of one step.

    Args:
        before: State before the step.
        expected: Predicted state after the step.
        observed: Observed state; hidden facts have their expected values.
        error: Reason for a refusal; empty if the action was executed.
        unmet: Precondition literals of a refused action that do not hold in `observed`.
    """

    before: State
    expected: State
    observed: State
    error: str = ""
    unmet: tuple[Expression, ...] = ()


def numeric_values(state: State) -> dict[FunctionTerm, Fraction]:
    return {term: value for term, value in state.numbers().items() if term != TOTAL_COST}


def difference_of(expected: State, observed: State) -> Difference:
    should, are = base_atoms(expected), base_atoms(observed)
    should_have, values = numeric_values(expected), numeric_values(observed)
    return Difference(
        tuple(sorted(should - are, key=str)),
        tuple(sorted(are - should, key=str)),
        tuple(
            comparison_of(t, v)
            for t, v in sorted(should_have.items(), key=str)
            if values.get(t) != v
        ),
    )


def missing_literals(expected: State, observed: State) -> dict[Expression, None]:
    """Return the literals that should hold but do not, in a repeatable order."""
    different = difference_of(expected, observed)
    unexpected = (Not(a) for a in different.unexpected)
    return dict.fromkeys([*different.missing, *unexpected, *different.numbers])


def predicate_of(literal: Expression) -> str:
    """Return the predicate of a literal, or the function of a numeric comparison."""
    match literal:
        case Not(Atom(predicate)) | Atom(predicate):
            return predicate
        case Comparison(_, FunctionTerm(function)):
            return function
    return ""


def detect_facts(
    step: int, action: GroundAction, outcome: FactOutcome, wording: Wording
) -> tuple[Deviation, ...]:
    """Return every deviation from the expected outcome of one step."""
    should = outcome.before if outcome.error else outcome.expected
    literals = list(missing_literals(should, outcome.observed))
    search = _Explanations(step, action, wording, [])
    if outcome.error:
        search.refused(outcome, literals)
    else:
        effects = effects_of(outcome.before, outcome.expected)
        wrong = [e for e in literals if e in effects]
        if wrong:
            search.effects(wrong, nothing=len(wrong) == len(effects))
        literals = [e for e in literals if e not in effects]
    search.others(literals, outcome)
    return tuple(search.deviations)


def explain_state(literals: Iterable[Expression], wording: Wording) -> str:
    """Return a clause that describes the opposite of the given literals."""
    return literal_clauses([negated(literal) for literal in literals], wording=wording)


@dataclass
class _Explanations:
    step: int
    action: GroundAction
    wording: Wording
    deviations: list[Deviation]

    def refused(self, outcome: FactOutcome, differences: Iterable[Expression]) -> None:
        if set(outcome.unmet) & set(differences):
            return
        message = outcome.error.rstrip(".")
        if outcome.unmet:
            why = self._describe(outcome.unmet)
            text = f"{self.action} is not possible, because {why}."
            self._add(DeviationKind.MISSING_PRECONDITION, Side.PRE, outcome.unmet, text, message)
        else:
            text = f"{self.action} was refused: {message}."
            self._add(DeviationKind.ACTION_FAILED, Side.PRE, (), text, message)

    def effects(self, wrong: list[Expression], *, nothing: bool) -> None:
        so = self._describe(wrong)
        if nothing:
            text = f"{self.action} was reported as done but changed nothing:  {so}."
            self._add(DeviationKind.NO_EFFECT, Side.POST, wrong, text)
        else:
            text = f"{self.action} did not have the expected effect:  {so}."
            self._add(DeviationKind.WRONG_EFFECT, Side.POST, wrong, text)

    def others(self, literals: Iterable[Expression], outcome: FactOutcome) -> None:
        for group in _groups(literals):
            needed = any(e in outcome.unmet for e in group)
            text = (
                f"Something other than {self.action} changed the world:  {self._describe(group)}."
            )
            side = Side.PRE if needed else Side.POST
            message = outcome.error if needed else ""
            self._add(DeviationKind.CHANGED_BY_OTHERS, side, group, text, message)

    def _describe(self, literals: Iterable[Expression]) -> str:
        return explain_state(literals, self.wording)

    def _add(
        self,
        kind: DeviationKind,
        side: Side,
        literals: Iterable[Expression],
        text: str,
        message: str = "",
    ) -> None:
        literals = tuple(literals)
        objects = _objects(literals) or self.action.args
        evidence = (message,) if message else ()
        self.deviations.append(
            Deviation(kind, side, literals, self.step, self.action, text, objects, evidence)
        )


def effects_of(before: State, after: State) -> frozenset[Expression]:
    """Return the literals that became true between two states."""
    was, then = base_atoms(before), base_atoms(after)
    old = numeric_values(before)
    changed = [comparison_of(t, v) for t, v in numeric_values(after).items() if old.get(t) != v]
    return frozenset([*(then - was), *(Not(a) for a in was - then), *changed])


def _groups(literals: Iterable[Expression]) -> list[list[Expression]]:
    groups: list[tuple[set[str], list[Expression]]] = []
    for literal in literals:
        names = set(_objects((literal,)))
        joined = [group for group in groups if group[0] & names]
        rest = [group for group in groups if group not in joined]
        every = names.union(*(group[0] for group in joined))
        groups = [*rest, (every, [*(e for group in joined for e in group[1]), literal])]
    return [group for _, group in groups]


def _objects(literals: Iterable[Expression]) -> tuple[str, ...]:
    names: list[str] = []
    for literal in literals:
        if isinstance(literal, Comparison):
            left = literal.left
            names += left.args if isinstance(left, FunctionTerm) else ()
        else:
            names += subjects((literal,)) if not _is_bare(literal) else ()
    return tuple(dict.fromkeys(names))


def _is_bare(literal: Expression) -> bool:
    atom = literal.operand if isinstance(literal, Not) else literal
    return not isinstance(atom, Atom) or not atom.args


def comparison_of(term: FunctionTerm, value: Fraction) -> Comparison:
    if "/" not in (text := decimal_text(value)):
        return Comparison("=", term, PddlNumber(Decimal(text)))
    parts = (PddlNumber(Decimal(value.numerator)), PddlNumber(Decimal(value.denominator)))
    return Comparison("=", term, Arithmetic("/", parts))
