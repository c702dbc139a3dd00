from __future__ import annotations

from collections.abc import Callable

import pytest

from hvr.base.files import data_path
from hvr.knowledge.ontology import load_ontology
from hvr.language.goal_builder import Goal
from hvr.pddl import TypedName, parse_domain
from hvr.planning.search.planners import FastDownward
from hvr.policies.symbolic import SymbolicPolicy
from tests.language.goal_sets import Wanted, wanted_of, world_of

Understand = Callable[[str, str], Goal]
Read = Callable[[str, str], Wanted]


@pytest.fixture(scope="session")
def policy() -> SymbolicPolicy:
    domain = parse_domain(data_path("domains") / "kitchen" / "domain.pddl")
    return SymbolicPolicy(load_ontology(), domain, FastDownward(seconds=600, patience=1))


@pytest.fixture(scope="session")
def understand(policy: SymbolicPolicy) -> Understand:
    """Returns the goal of a sentence in a numbered kitchen."""

    def goal(scene: str, text: str) -> Goal:
        return policy.reader.goal(text, world_of(f"FloorPlan{scene}").inventory())

    return goal


@pytest.fixture(scope="session")
def read(policy: SymbolicPolicy, understand: Understand) -> Read:
    """Returns the goal of a sentence as sets of literals over types."""

    def wanted(scene: str, text: str) -> Wanted:
        world = world_of(f"FloorPlan{scene}")
        objects = [TypedName(n, (world.graph.pddl_type(n),)) for n in world.inventory().classes]
        return wanted_of(understand(scene, text), policy.domain, objects)

    return wanted
