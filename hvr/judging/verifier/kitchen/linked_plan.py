"""Causal links of plans, found by execution, and descriptions of steps in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from hvr.errors import DataFileError, UsageError
from hvr.judging.verifier.kitchen.mentions import FAMILIES
from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.wording import load_wording
from hvr.pddl.formulas import Atom
from hvr.pddl.model import GroundAction, Problem
from hvr.pddl.state import Operator
from hvr.pddl.task import Task
from hvr.planning.plans import support
from hvr.planning.search.ground import bits
from hvr.planning.search.operators import Literals
from hvr.validation.report import StepReport
from hvr.validation.validator import Validator

# Linked plan --------------------------------------------------------------------------------------

INITIAL_STATE = -1
"""Stands for the initial state in place of a step number."""

NEGATIVE_STATES = frozenset({"opened", "toggled", "dirty", "filled"})
"""Predicates whose negation is also a state: closed, off, clean, empty."""

_WORD = re.compile(r"[^\s()]+")


@dataclass(frozen=True, order=True)
class Fact:
    predicate: str
    args: tuple[str, ...]
    positive: bool = True

    def __str__(self) -> str:
        atom = f"({' '.join((self.predicate, *self.args))})"
        return atom if self.positive else f"(not {atom})"

    @classmethod
    def parse(cls, text: str) -> Fact:
        """Parse a literal as `str(fact)` prints it, such as `(not (on mug-1 table-2))`."""
        words = _WORD.findall(text)
        positive = words[0] != "not"
        words = words[not positive :]
        return cls(words[0], tuple(words[1:]), positive)


@dataclass(frozen=True)
class Need:
    """A literal that must hold, and the index of the step that made it true, or `INITIAL_STATE`."""

    fact: Fact
    producer: int


@dataclass(frozen=True)
class LinkedStep:
    """A step with the literals that it needs and makes true.

    Args:
        needs: Literals of the precondition, and of the conditions of the effects that occur.
        makes: Literals that the step makes true.
    """

    action: GroundAction
    needs: tuple[Need, ...]
    makes: tuple[Fact, ...]


@dataclass(frozen=True)
class LinkedPlan:
    """An executable plan with its causal links.

    Args:
        ends: Literals of the final state that steps produced, and the positions of the objects in
            these literals, each with the step that produced it.
        types: PDDL type of each object in steps or ends; of all objects if there are no steps.
        start: Initial positions and states of the same objects.
    """

    steps: tuple[LinkedStep, ...]
    ends: tuple[Need, ...]
    types: Mapping[str, str]
    start: tuple[Fact, ...] = ()

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """Distinct pairs (producer, consumer) of step indexes."""
        links = {
            (need.producer, i): None
            for i, step in enumerate(self.steps)
            for need in step.needs
            if need.producer != INITIAL_STATE
        }
        return tuple(links)

    def to_json(self) -> dict[str, Any]:
        return {
            "steps": [
                [
                    str(s.action)[1:-1],
                    [[str(n.fact), n.producer] for n in s.needs],
                    [str(f) for f in s.makes],
                ]
                for s in self.steps
            ],
            "ends": [[str(n.fact), n.producer] for n in self.ends],
            "types": dict(self.types),
            "start": [str(f) for f in self.start],
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> LinkedPlan:
        try:
            steps = []
            for action, needs, makes in values["steps"]:
                name, *args = action.split()
                steps.append(
                    LinkedStep(
                        GroundAction(name, tuple(args)),
                        tuple(Need(Fact.parse(f), int(p)) for f, p in needs),
                        tuple(Fact.parse(f) for f in makes),
                    )
                )
            ends = tuple(Need(Fact.parse(f), int(p)) for f, p in values["ends"])
            start = tuple(map(Fact.parse, values.get("start", ())))
            return cls(tuple(steps), ends, dict(values["types"]), start)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise DataFileError(f"expected a plan with causal links: {error}") from error


# Links --------------------------------------------------------------------------------------------


def causal_links(*parts: tuple[Task, Sequence[GroundAction]]) -> LinkedPlan:
    """Return the literals that each step of a plan needs, with their producers.

    A step needs the literals that make its precondition true, and those that make the condition of
    a conditional effect true if the effect occurs: a microwave heats what is in it. In a
    disjunction, the first true part counts. The producer of a literal is the step that last made it
    true. Static literals are ignored. The final literals of a plan without steps are those that
    hold initially.

    Args:
        parts: Task and actions from its initial state. A request planned in stages has several
            parts, each beginning where the previous one ended.

    Raises:
        UsageError: A step is not executable.
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
            needs = [Need(fact, since.get(fact, INITIAL_STATE)) for fact in needed]
            # Any object can make a place not free, so this fact says something only if a step
            # caused it.
            needs = [n for n in needs if n.producer != INITIAL_STATE or not _is_absence(n.fact)]
            makes = _made(report)
            for fact in makes:
                atom = Atom(fact.predicate, fact.args)
                since[fact] = len(steps)
                # The opposite literal no longer holds.
                since.pop(Fact(fact.predicate, fact.args, not fact.positive), None)
                # The first change of an atom reveals its initial value.
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
        tuple(Need(fact, since.get(fact, INITIAL_STATE)) for fact in sorted(ends)),
        types,
        tuple(sorted(fact for name in types for fact in start.get(name, ()))),
    )


_ENABLED = {
    "openable": "opened",
    "toggleable": "toggled",
    "dirtyable": "dirty",
    "fillable": "filled",
}


def start_of(problem: Problem) -> dict[str, list[Fact]]:
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


def _made(report: StepReport) -> tuple[Fact, ...]:
    added = [_fact(atom, True) for atom in report.added]
    return tuple(sorted(added + [_fact(atom, False) for atom in report.deleted]))


def _applied(validator: Validator, action: GroundAction, number: int) -> StepReport:
    misfit = validator.task.misfit(action)
    report = None if misfit is not None else validator.apply(action)
    if report is not None and report.ok:
        return report
    why = f"{misfit.message}" if misfit is not None else ""
    if report is not None and report.failure is not None:
        why = " ".join(report.failure.explain().split())
    raise UsageError(
        f"step {number} {action} cannot be executed, so the plan has no causal links: {why}"
    )


_PLACED = frozenset({"on", "in"})


def _tells(atom: Atom, before: bool, now: bool) -> bool:
    if atom.predicate in {"near", "hand_empty", "present"}:
        return False
    return now or (before and atom.predicate in NEGATIVE_STATES)


def _is_absence(fact: Fact) -> bool:
    return not fact.positive and fact.predicate in _PLACED


def _needs(operator: Operator, state: int) -> Literals:
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


# Wording ------------------------------------------------------------------------------------------

Name = Callable[[str, Mapping[str, str]], str]
"""Function that returns the name of an object, given the PDDL types of all objects."""

FINISH = "finish"
"""Name of the node for the final state of a kitchen plan."""
FINISH_TEXT = "What is so at the end."

_LIQUID = "liquid"
_UNSAID = frozenset({"near", "hand_empty", "present", "filled", "fits"})
"""Omitted from the end of a plan: the robot's position, static facts, and `filled`, implied by the
liquid."""


def class_of(name: str, types: Mapping[str, str]) -> str:
    """Return the ontology class of an object; its PDDL type if it has none."""
    pddl_type = _type_of(name, types)
    if pddl_type == _LIQUID:
        return name
    return load_ontology().class_of_pddl_type(pddl_type) or pddl_type


def _type_of(name: str, types: Mapping[str, str]) -> str:
    return types.get(name, name.rpartition("-")[0] or name)


@lru_cache(maxsize=4096)
def class_label(object_class: str) -> str:
    ontology = load_ontology()
    return ontology.label(object_class) if ontology.has_class(object_class) else object_class


def say_action(action: GroundAction, types: Mapping[str, str], name: Name = class_of) -> str:
    """Return a step in words, such as `pick up the mug`."""
    names = [class_label(name(a, types)) for a in action.args]
    known = load_wording().actions.get(action.name)
    text = known.step.fill([f"the {n}" for n in names]) if known is not None else ""
    return text or " ".join((action.name.replace("_", " "), *names))


def say_ends(facts: Iterable[Fact], types: Mapping[str, str], name: Name = class_of) -> str:
    clauses: dict[str, int] = {}
    for fact in facts:
        clause = _clause(fact, types, name)
        if clause:
            clauses[clause] = clauses.get(clause, 0) + 1
    counted = [c if n == 1 else f"{n} times {c}" for c, n in clauses.items()]
    return "at the end " + (", ".join(counted) or "nothing is different")


def _clause(fact: Fact, types: Mapping[str, str], name: Name) -> str:
    known = load_wording().predicates.get(fact.predicate)
    silent = fact.predicate in _UNSAID if fact.positive else fact.predicate not in NEGATIVE_STATES
    if known is None or silent:
        return ""
    # Liquids take no article: the mug contains coffee.
    names = [
        ("" if _type_of(a, types) == _LIQUID else "the ") + class_label(name(a, types))
        for a in fact.args
    ]
    return (known.end if fact.positive else known.false).fill(names)


def lifted(fact: Fact, types: Mapping[str, str], name: Name = class_of) -> tuple[str, ...]:
    """Return a fact's types, each of which combines its predicate with the class of an argument.

    For `(on mug-1 table-2)`, they are `on Mug` and `on . DiningTable`.
    """
    sign = "" if fact.positive else "not "
    if not fact.args:
        return (f"{sign}{fact.predicate}",)
    return tuple(
        f"{sign}{fact.predicate} {'. ' * i}{name(a, types)}" for i, a in enumerate(fact.args)
    )


def all_lifted(
    facts: Sequence[Fact], types: Mapping[str, str], name: Name = class_of
) -> tuple[str, ...]:
    return tuple(dict.fromkeys(t for f in facts for t in lifted(f, types, name)))
