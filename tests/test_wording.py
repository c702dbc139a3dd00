"""The exact wording of prompts, explanations and the kitchen verifier's texts.

Recorded runs and the trained verifier depend on these words. `wording.json` records them; an
intended change of a wording also changes that file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from hvr.base.files import data_path
from hvr.execution.deviations import literal_clause
from hvr.execution.world import open_world
from hvr.judging.verifier.kitchen.kitchen_verifier import kitchen_tools
from hvr.judging.verifier.kitchen.linked_plan import Fact, say_action, say_ends
from hvr.judging.verifier.kitchen.mentions import RequestMentions, mentions_of
from hvr.judging.verifier.kitchen.step_features import NameMatch, name_match
from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.retrieval.context import class_context, object_context
from hvr.pddl import Atom, Domain, GroundAction, Not, parse_domain
from hvr.planning.plans import block_name
from hvr.policies.llm.prompts import load_prompts
from hvr.runs.simulated.answers import steps_sentence
from hvr.worlds.kitchen import Kitchen
from hvr.worlds.scenes import load_scene
from tests.judging.verifier.kitchen_worlds import kitchen

RECORDED = json.loads(Path(__file__).with_name("wording.json").read_text(encoding="utf-8"))
TYPES = {"mug-1": "mug", "bread-1": "bread", "fridge-1": "fridge", "coffee": "liquid"}


@pytest.fixture(scope="module")
def domain() -> Domain:
    return parse_domain(data_path("domains") / "kitchen" / "domain.pddl")


def names(count: int, liquid: bool = False) -> tuple[str, ...]:
    return ("mug-1", "coffee" if liquid else "fridge-1")[:count]


def digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def reading(asked: RequestMentions) -> str:
    things = "; ".join(
        f"{'|'.join(sorted(t.classes))} {t.count} {t.optional} {t.role} {sorted(t.states)}"
        for t in asked.things
    )
    return f"{things} / {sorted(asked.states)} / {sorted(asked.liquids)} / {asked.frame}"


def facts(domain: Domain) -> dict[str, tuple[str, ...]]:
    """Return sample arguments for each predicate."""
    return {
        name: names(len(predicate.parameters), name == "contains")
        for name, predicate in domain.predicates.items()
    }


def explanations(domain: Domain) -> dict[str, list[str]]:
    atoms = [Atom(name, args) for name, args in facts(domain).items()]
    return {a.predicate: [literal_clause(a), literal_clause(Not(a))] for a in atoms}


def steps(domain: Domain) -> dict[str, list[str]]:
    actions = [GroundAction(n, names(len(a.parameters))) for n, a in domain.actions.items()]
    purposes = {t.id: t.description for t in kitchen_tools(()).tools}
    said = {a.name: [say_action(a, TYPES), purposes[a.name], steps_sentence([a])] for a in actions}
    return {**said, "finish": [purposes["finish"]]}


def ends(domain: Domain) -> dict[str, list[str]]:
    return {
        name: [say_ends([Fact(name, args, positive)], TYPES) for positive in (True, False)]
        for name, args in facts(domain).items()
    }


def titles(domain: Domain) -> dict[str, str]:
    actions = [GroundAction(n, names(len(a.parameters))) for n, a in domain.actions.items()]
    return {a.name: block_name(kitchen(), [a], 0, 0) for a in actions}


def prompts() -> dict[str, str]:
    with open_world(Kitchen(load_scene("FloorPlan16"), 0)).graph as graph:
        shown = {
            "objects": digest([object_context(graph, graph.objects())]),
            "classes": digest([class_context(graph, graph.objects())]),
        }
    return {**load_prompts().digests, **shown}


def alike() -> list[str]:
    types = load_ontology().object_types
    return [f"{a} {b}" for a in types for b in types if name_match(a, b) is NameMatch.LIKE]


def test_explanations_keep_their_words(domain: Domain) -> None:
    assert explanations(domain) == RECORDED["explanations"]


def test_steps_keep_their_words(domain: Domain) -> None:
    assert steps(domain) == RECORDED["steps"]
    assert [t.id for t in kitchen_tools(()).tools] == RECORDED["tools"]


def test_ends_of_plans_keep_their_words(domain: Domain) -> None:
    assert ends(domain) == RECORDED["ends"]


def test_names_of_blocks_keep_their_words(domain: Domain) -> None:
    assert titles(domain) == RECORDED["titles"]


def test_prompts_keep_their_words() -> None:
    assert prompts() == RECORDED["prompts"]


@pytest.mark.parametrize("sentence", RECORDED["read"])
def test_requests_are_read_as_before(sentence: str) -> None:
    assert reading(mentions_of(sentence)) == RECORDED["read"][sentence]


def test_the_same_classes_are_called_by_each_others_names() -> None:
    assert alike() == RECORDED["alike"]
