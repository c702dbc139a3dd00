"""Plans without steps: right exactly if the goal of the request holds from the start.

There are no steps that a network could judge, and the initial state says it all. What hvr cannot
read it does not judge.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyoxigraph import Store

from hvr.errors import HvrError
from hvr.knowledge.facts import FactReader
from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.language.reader import Reader
from hvr.language.saying import in_order
from hvr.pddl import Atom, Domain, Problem, Task, TypedName, parse_domain, parse_formula
from hvr.retrieval.inventory import Inventory
from hvr.validation import Validator
from hvr.verifier.kitchen.linked_plan import LinkedPlan
from hvr.verifier.kitchen.words import class_of
from hvr.world_file import load_world


@dataclass(frozen=True)
class Standing:
    """What is said of a plan without steps.

    Args:
        lacking: what is asked for and not so from the start, in words; empty if all is.
        unread: why the request was not read; empty if it was.
    """

    lacking: str = ""
    unread: str = ""


def standing(plan: LinkedPlan, request: str) -> Standing:
    """Judge the plan without steps by the goal that hvr reads.

    A request that can mean several things is judged where they agree.

    Args:
        plan: without steps.
        request: the sentence.
    """
    named = {a for f in plan.start for a in f.args if "-" in a}
    types = {n: n.rpartition("-")[0] for n in sorted(named)} | dict(plan.types)
    plan = replace(plan, types=types)
    domain = parse_domain(load_world().agent.path)
    ontology = load_ontology()
    inventory = _inventory(plan, ontology)
    try:
        goals = Reader(ontology, domain).goals(request, inventory)
    except HvrError as error:
        return Standing(unread=" ".join(str(error).split()))
    so = [_holds([s.wanted for s in goal.stages], plan, inventory, domain) for goal in goals]
    if all(so):
        return Standing()
    if any(so):
        return Standing(unread="the request can mean several things")
    return Standing(lacking=in_order(goals[0].said))


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
    facts |= {Atom(f.predicate, f.args) for f in plan.start if f.positive}
    facts |= FactReader(ontology).read(Store(), classes)
    return Inventory("", ontology, classes, frozenset(facts), {})


def _holds(wanted: list[str], plan: LinkedPlan, inventory: Inventory, domain: Domain) -> bool:
    """Say whether all stages of a goal hold at the start."""
    objects = tuple(TypedName(n, (plan.types[n],)) for n in inventory.classes)
    goal = parse_formula(f"(and {' '.join(wanted)})", domain, objects, file="<goal>")
    problem = Problem("standing", domain.name, objects, inventory.facts, goal)
    return Validator(Task(domain, problem)).check([]).valid
