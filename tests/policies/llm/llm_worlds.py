"""Scenes, scripted models, and policies that use them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from hvr.base.files import data_path
from hvr.errors import LLMError, PlannerError
from hvr.execution.world import World
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.retrieval.embedders import LexicalEmbedder
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.models.model import Answer, Model, Request
from hvr.pddl import Domain, GroundAction, Task, parse_domain
from hvr.planning.library import Library
from hvr.planning.plans import MacroAction
from hvr.planning.search.fast_downward import SearchResult
from hvr.planning.search.planners import FastDownward, Planner
from hvr.policies.llm.policy import LLMPolicy
from hvr.policies.llm.prompts import load_prompts
from hvr.policies.llm.record import PlanningRecord, PolicyEvent
from hvr.policies.llm.scene_prediction import PredictedScene
from hvr.policies.llm.settings import settings_named
from hvr.policies.llm.writing import Equipment
from hvr.worlds.kitchen import Kitchen
from hvr.worlds.scenes import load_scene

SCENE = "FloorPlan16"
"""The mug is in the sink basin, the egg in the closed fridge, knives lie on countertop-1."""


@dataclass(frozen=True)
class Hasty:
    """The classical planner; it gives up on problems that take long to ground."""

    inner: Planner

    def solve(self, task: Task) -> SearchResult:
        if len(task.problem.objects) > 30:
            raise PlannerError("the problem has too many objects")
        return self.inner.solve(task)


PLANNER = Hasty(FastDownward(seconds=600, patience=0.3))

Answers = Callable[[Request], str] | Sequence[str] | str


@dataclass
class Fake:
    """A model that answers by the purpose of a request: a text, texts in turn, or a function.

    The last text is repeated. A purpose without answers is a failure.
    """

    answers: Mapping[str, Answers]
    requests: list[Request] = field(default_factory=list)
    name = "fake"
    simulated = True

    def answer(self, request: Request) -> Answer:
        place = self.asked(request.purpose)
        self.requests.append(request)
        found = self.answers.get(request.purpose)
        if found is None:
            raise LLMError(f"nothing to say about {request.purpose}")
        if isinstance(found, str):
            return Answer(text=found)
        if callable(found):
            return Answer(text=found(request))
        return Answer(text=found[min(place, len(found) - 1)])

    def asked(self, purpose: str) -> int:
        """Return the number of requests with a purpose."""
        return sum(r.purpose == purpose for r in self.requests)

    def prompts(self, purpose: str) -> list[str]:
        """Return the user's last turn in each request with a purpose."""
        return [r.messages[-1].text for r in self.requests if r.purpose == purpose]


@cache
def domain() -> Domain:
    return parse_domain(data_path("domains") / "kitchen" / "domain.pddl")


@cache
def scene(name: str = SCENE) -> tuple[KnowledgeGraph, Inventory]:
    """Return the read-only graph and inventory of a scene."""
    world = World(Kitchen(load_scene(name), 0), KnowledgeGraph.create(None, load_ontology()))
    return world.graph, world.inventory()


def predicted_scene(name: str = SCENE) -> PredictedScene:
    """Return the predicted world before the first step."""
    graph, inventory = scene(name)
    return PredictedScene(graph, domain(), inventory)


def policy(
    model: Model,
    setting: str,
    *,
    listen: Callable[[PolicyEvent], None] | None = None,
    library: Library | None = None,
    planner: Planner = PLANNER,
) -> LLMPolicy:
    """Return the language model's policy with a named setting."""
    return LLMPolicy(
        Equipment(
            ontology=load_ontology(),
            domain=domain(),
            model=model,
            settings=settings_named(setting),
            embedder=LexicalEmbedder(),
            planner=planner,
            prompts=load_prompts(),
            library=library,
            listen=listen or (lambda _: None),
        )
    )


def write(
    model: Model,
    setting: str,
    request: str = "Do it",
    place: str = SCENE,
    listen: Callable[[PolicyEvent], None] | None = None,
) -> PlanningRecord:
    """Return the record of a plan in a scene."""
    return policy(model, setting, listen=listen).write(request, *scene(place))


def steps(*texts: str) -> tuple[GroundAction, ...]:
    """Parse actions such as `pick_up mug-1`."""
    return tuple(GroundAction(t.split()[0], tuple(t.split()[1:])) for t in texts)


def answer_of(*texts: str) -> str:
    """Return a model's answer with these actions."""
    lines = [f"{i}. ({', '.join(t.split())})" for i, t in enumerate(texts, start=1)]
    return "\n".join(["Description: what has to be done.", "Actions:", *lines])


def macro(name: str, before: str = "", after: str = "") -> MacroAction:
    """Return a macro action with comma-separated literals."""
    return MacroAction(name, _literals(before), _literals(after))


def _literals(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def listed(prompt: str) -> set[str]:
    """Return the objects listed in a prompt."""
    lines = prompt.rpartition("Objects:\n")[2].split("\n\n")[0]
    return set(re.findall(r"^([a-z]+-\d+) \(", lines, re.MULTILINE))
