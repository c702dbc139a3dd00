"""The causal links of a plan, as the validator carries it out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hvr.errors import UsageError
from hvr.judging.verifier.kitchen.linked_plan import (
    NEGATIVE_STATES,
    START,
    Fact,
    LinkedPlan,
    LinkedStep,
    Need,
)
from hvr.judging.verifier.kitchen.mentions import FAMILIES
from hvr.pddl.conditions import Operator
from hvr.pddl.model import Atom, GroundAction, Problem
from hvr.pddl.task import Task
from hvr.planning.macro_actions import support
from hvr.planning.search.ground import bits
from hvr.planning.search.operators import Literals
from hvr.validation import StepReport, Validator


def causal_links(*parts: tuple[Task, Sequence[GroundAction]]) -> LinkedPlan:
    """Return what each step needs, and the step that brought it about.

    A step needs the literals that make its precondition true, and those that make the
    conditions of its conditional effects true where they come about: a microwave heats what was
    put in. Of a disjunction the first part that holds counts. The producer of a literal is the
    step that last made it true. What can never change is left out. A plan without steps has ends
    all the same: what is so from the start.

    Args:
        parts: a task with actions that begin in its initial state. A request that is planned
            in stages has several, each task beginning where the actions before it ended.

    Raises:
        UsageError: a step cannot be executed.
    """
    since: dict[Fact, int] = {}
    steps: list[LinkedStep] = []
    types: dict[str, str] = {}
    first: dict[Atom, bool] = {}
    last: dict[Atom, bool] = {}
    still: set[Fact] = set()
    start: dict[str, list[Fact]] = {}
    for task, actions in parts:
        validator = Validator(task)
        for name, facts in start_of(task.problem).items():
            start.setdefault(name, facts)
        for action in actions:
            before = validator.state.bits
            report = _applied(validator, action, len(steps) + 1)
            needed = _facts(task, _needs(task.ground(action), before))
            needs = [Need(fact, since.get(fact, START)) for fact in needed]
            # That a place is free is a fact about each thing that there is; only who freed it
            # tells something of the plan.
            needs = [n for n in needs if n.producer != START or not _is_absence(n.fact)]
            makes = tuple(
                sorted(
                    [_fact(a, True) for a in report.added]
                    + [_fact(a, False) for a in report.deleted]
                )
            )
            for fact in makes:
                atom = Atom(fact.predicate, fact.args)
                since[fact] = len(steps)
                since.pop(Fact(fact.predicate, fact.args, not fact.positive), None)
                first.setdefault(atom, not fact.positive)
                last[atom] = fact.positive
            steps.append(LinkedStep(action, tuple(needs), makes))
        names = {n for s in steps for n in s.action.args}
        names |= {n for s in steps for f in s.makes for n in f.args}
        names |= set() if steps else set(task.objects)
        types |= {n: task.objects[n][0] for n in sorted(names) if n in task.objects}
        final = validator.state.bits
        still = {_fact(a, True) for a in task.atoms_in(final) if a.predicate in _PLACED}
    ends = {_fact(atom, now) for atom, now in last.items() if _tells(atom, first[atom], now)}
    ends |= {f for f in still if f.args[0] in types and f.args[1] in types}
    return LinkedPlan(
        tuple(steps),
        tuple(Need(fact, since.get(fact, START)) for fact in sorted(ends)),
        types,
        tuple(sorted(fact for name in types for fact in start.get(name, ()))),
    )


_ENABLED = {
    "openable": "opened", "toggleable": "toggled", "dirtyable": "dirty", "fillable": "filled",
}  # fmt: skip


def start_of(problem: Problem) -> dict[str, list[Fact]]:
    """Return, for each thing, where it lies and in which states it is in the initial state."""
    true = {a for a in problem.init if a.args}
    facts = [_fact(a, True) for a in true if a.predicate in FAMILIES or a.predicate in _PLACED]
    for atom in true:
        state = _ENABLED.get(atom.predicate)
        if state is not None and Atom(state, atom.args) not in true:
            facts.append(Fact(state, atom.args, False))
    found: dict[str, list[Fact]] = {}
    for fact in sorted(facts):
        found.setdefault(fact.args[0], []).append(fact)
    return found


def _applied(validator: Validator, action: GroundAction, number: int) -> StepReport:
    """Apply a step of a plan, which has to be applicable.

    Raises:
        UsageError: it is not.
    """
    misfit = validator.task.misfit(action)
    report = None if misfit is not None else validator.apply(action)
    if report is not None and report.ok:
        return report
    why = f"{misfit.message}" if misfit is not None else ""
    if report is not None and report.failure is not None:
        why = " ".join(report.failure.explain().split())
    raise UsageError(
        f"step {number} {action} cannot be executed, so that the plan has no causal links: {why}"
    )


_PLACED = frozenset({"on", "in"})


def _tells(atom: Atom, before: bool, now: bool) -> bool:
    """Say whether an atom tells something of the end of a plan."""
    if atom.predicate in {"near", "hand_empty", "present"}:
        return False
    return now or (before and atom.predicate in NEGATIVE_STATES)


def _is_absence(fact: Fact) -> bool:
    return not fact.positive and fact.predicate in _PLACED


def _needs(operator: Operator, state: int) -> Literals:
    """Return the literals of the precondition, and of the effects that come about."""
    used = support(operator.precondition, state)
    true, false = used.true, used.false
    for condition, add, delete in operator.conditional:
        # An effect that changes nothing needs nothing.
        if (add & ~state or delete & state) and condition.holds(state):
            used = support(condition, state)
            true, false = true | used.true, false | used.false
    return Literals(true, false)


def _facts(task: Task, literals: Literals) -> Iterator[Fact]:
    facts: Iterable[Fact] = (
        *(_fact(task.fluent(b), True) for b in bits(literals.true)),
        *(_fact(task.fluent(b), False) for b in bits(literals.false)),
    )
    yield from sorted(facts)


def _fact(atom: Atom, positive: bool) -> Fact:
    return Fact(atom.predicate, tuple(map(str, atom.args)), positive)
