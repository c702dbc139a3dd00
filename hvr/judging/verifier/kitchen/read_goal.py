"""Whether the end of a plan is what hvr reads in the request: a judgement without a network.

The goal that hvr's grammar reads is held against the state at the end. What hvr cannot read it
does not judge.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyoxigraph import Store

from hvr.errors import HvrError
from hvr.judging.verifier.kitchen.linked_plan import START, Fact, LinkedPlan, LinkedStep
from hvr.judging.verifier.kitchen.words import class_of
from hvr.knowledge.facts import FactReader
from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.world_file import load_world
from hvr.language.reader import Reader
from hvr.language.saying import in_order
from hvr.pddl import Atom, Domain, Problem, Task, TypedName, parse_domain, parse_formula
from hvr.validation import Validator

_State = Mapping[Atom, bool]
_WHERE = frozenset({"on", "in", "holding"})
_NAME = re.compile(r"[\w-]+")


@dataclass(frozen=True)
class EndCheck:
    """What is said of the end of a plan.

    Args:
        lacking: what is asked for and not so, in words; empty if all is.
        unread: why there is no answer; empty if there is one.
        bare: the goal is reached, and nothing is changed that need not be for it.
    """

    lacking: str = ""
    unread: str = ""
    bare: bool = False


def check_end(plan: LinkedPlan, request: str) -> EndCheck:
    """Judge a plan by the goal that hvr reads.

    A request that can mean several things is judged where they agree.

    Args:
        plan: can be carried out; may be without steps.
        request: the sentence.
    """
    named = {a for f in plan.start for a in f.args if "-" in a}
    types = {n: n.rpartition("-")[0] for n in sorted(named)} | dict(plan.types)
    plan = replace(plan, types=types)
    domain = parse_domain(load_world().agent.path)
    ontology = load_ontology()
    inventory = _inventory(plan, ontology)
    try:
        readings = Reader(ontology, domain).goals(request, inventory)
    except HvrError as error:
        return EndCheck(unread=" ".join(str(error).split()))
    if readings[0].unread and not plan.steps:
        words = ", ".join(map(repr, readings[0].unread))
        return EndCheck(unread=f"{words} was not read in the request")
    goals = [_Goal([s.wanted for s in r.stages], plan, inventory, domain) for r in readings]
    so = [goal.reached(plan.steps) for goal in goals]
    if all(so):
        return EndCheck(bare=all(_is_bare(plan, goal) for goal in goals))
    if any(so):
        return EndCheck(unread="the request can mean several things")
    return EndCheck(lacking=in_order(readings[0].said))


def _inventory(plan: LinkedPlan, ontology: Ontology) -> Inventory:
    """Return the things of a plan, with what is so of their classes and at the start."""
    classes = {n: class_of(n, plan.types) for n in plan.types}
    classes = {n: c for n, c in classes.items() if ontology.has_class(c)}
    facts = {
        Atom(predicate, (name,))
        for name, object_class in classes.items()
        for kind in ontology.superclasses(object_class, reflexive=True)
        for predicate in ontology.predicates(kind)
    }
    facts |= {Atom("present", (name,)) for name in classes}
    facts |= {_atom(f) for f in plan.start if f.positive}
    facts |= FactReader(ontology).read(Store(), classes)
    return Inventory("", ontology, classes, frozenset(facts), {})


@dataclass(frozen=True)
class _Goal:
    """A goal in the things of a plan: all stages of a reading."""

    wanted: list[str]
    plan: LinkedPlan
    inventory: Inventory
    domain: Domain

    def reached(self, steps: tuple[LinkedStep, ...]) -> bool:
        """Return whether steps reach each stage in order, and the last one at their end."""
        states = _states(self.plan, steps)
        if states is None:
            return False
        place = 0
        for stage in self.wanted[:-1]:
            found = (i for i in range(place, len(states)) if self._holds(stage, states[i]))
            place = next(found, len(states))
        return place < len(states) and self._holds(self.wanted[-1], states[-1])

    def _holds(self, stage: str, state: _State) -> bool:
        """Return whether a stage holds where some facts are not as at the start."""
        objects = tuple(TypedName(n, (self.plan.types[n],)) for n in self.inventory.classes)
        goal = parse_formula(stage, self.domain, objects, file="<goal>")
        facts = {a for a in self.inventory.facts if state.get(a, True)}
        facts |= {a for a, now in state.items() if now}
        facts |= _carried_along(facts, stage, self.plan.types)
        problem = Problem("end", self.domain.name, objects, frozenset(facts), goal)
        return Validator(Task(self.domain, problem)).check([]).valid


def _start(plan: LinkedPlan) -> dict[Atom, bool]:
    """Return what is known of the start: what is told of it, and what steps need of it."""
    needs = (n.fact for s in plan.steps for n in s.needs if n.producer == START)
    return {_atom(f): f.positive for f in (*needs, *plan.start)}


def _end(plan: LinkedPlan, steps: tuple[LinkedStep, ...]) -> _State | None:
    """Return the state after some steps of a plan; None if a step cannot be executed."""
    states = _states(plan, steps)
    return states[-1] if states is not None else None


def _states(plan: LinkedPlan, steps: tuple[LinkedStep, ...]) -> list[_State] | None:
    """Return the states before and after each step; None if a step cannot be executed."""
    states: list[_State] = [_start(plan)]
    for step in steps:
        state = states[-1]
        needed = (n.fact for n in step.needs)
        unmet = [f for f in needed if state.get(_atom(f), False) != f.positive]
        # What a step does to things that it is not given is done by conditional effects.
        others = {f.args[0] for f in step.makes if f.args} - set(step.action.args)
        if not all(f.args and f.args[0] in others for f in unmet):
            return None
        spared = {f.args[0] for f in unmet}
        made = {_atom(f): f.positive for f in step.makes if spared.isdisjoint(f.args[:1])}
        states.append({**state, **made})
    return states


def _carried_along(facts: set[Atom], stage: str, types: Mapping[str, str]) -> set[Atom]:
    """Return where the contents of the goal's vessels lie: where the vessel stands.

    "The bowl with the sponge to the shelf" asks for the sponge in the bowl on the shelf.
    """
    words = set(_NAME.findall(stage))
    named = {name for name, kind in types.items() if name in words or kind in words}
    lies = {a.args[0]: a for a in facts if a.predicate in ("in", "on") and len(a.args) == 2}
    found = set()
    for thing, below in lies.items():
        carrier, seen = below.args[1], {thing}
        while carrier in named and carrier in lies and carrier not in seen:
            seen.add(carrier)
            where = lies[carrier]
            found.add(Atom(where.predicate, (thing, where.args[1])))
            carrier = where.args[1]
    return found


def _atom(fact: Fact) -> Atom:
    return Atom(fact.predicate, fact.args)


def _is_bare(plan: LinkedPlan, goal: _Goal) -> bool:
    """Say whether the steps that a goal can do without change nothing that the others do not.

    Doors are closed, taps turned off and knives put down, and nobody asks for it. What can be left
    out is found by action elimination (Nakhost and Müller 2010): a step goes with those that cannot
    do without it.
    """
    kept = plan.steps
    for step in plan.steps:
        fewer = _without(plan, kept, step)
        if len(fewer) < len(kept) and goal.reached(fewer):
            kept = fewer
    return _changed(plan, plan.steps) <= _changed(plan, kept)


def _changed(plan: LinkedPlan, steps: tuple[LinkedStep, ...]) -> set[tuple[str, ...]]:
    """Return which things lie elsewhere than at the start, and which other facts differ."""
    start, end = _start(plan), _end(plan, steps) or {}
    differ = [a for a in end if a.args and end[a] != start.get(a, False)]
    return {
        ("where", str(a.args[0])) if a.predicate in _WHERE else (a.predicate, *map(str, a.args))
        for a in differ
        if a.predicate != "near"
    }


def _without(
    plan: LinkedPlan, steps: tuple[LinkedStep, ...], step: LinkedStep
) -> tuple[LinkedStep, ...]:
    """Return steps without one of them, and without those that can then not be carried out."""
    kept: tuple[LinkedStep, ...] = ()
    for other in steps:
        if other is not step and _end(plan, (*kept, other)) is not None:
            kept = (*kept, other)
    return kept
