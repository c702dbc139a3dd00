"""The judgement of a language model's plan, and the end of a run without a valid plan."""

from pathlib import Path

import pytest

from hvr.base.files import data_path
from hvr.execution.world import open_world
from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.retrieval.embedders import LexicalEmbedder
from hvr.models.choice import ModelChoice
from hvr.pddl import parse_domain
from hvr.planning.search.planners import FastDownward
from hvr.policies.llm.policy import LLMPolicy
from hvr.policies.llm.prompts import load_prompts
from hvr.policies.llm.settings import settings_named
from hvr.policies.llm.writing import Equipment
from hvr.runs.request import Options
from hvr.runs.spine import plan
from hvr.worlds.kitchen import Kitchen
from hvr.worlds.scenes import load_scene
from tests.models.llm_fakes import Fake


@pytest.mark.slow
@pytest.mark.parametrize(
    ("request_text", "readable", "impossible"),
    [
        ("make coffee", True, False),
        ("sing me a song", False, False),
        ("put the laptop in the fridge", False, None),
    ],
)
def test_what_cannot_be_read_is_not_what_is_impossible(
    request_text: str, readable: bool, impossible: bool | None
) -> None:
    domain = parse_domain(data_path("domains") / "kitchen" / "domain.pddl")
    equipment = Equipment(
        ontology=load_ontology(),
        domain=domain,
        model=Fake([]),
        settings=settings_named("HVR"),
        embedder=LexicalEmbedder(),
        planner=FastDownward(),
        prompts=load_prompts(),
    )
    world = open_world(Kitchen(load_scene("FloorPlan1"), 0))
    read = LLMPolicy(equipment).understand(request_text, world.graph, world.inventory())
    assert read.stages == (request_text,) and read.judged_only
    assert (read.goal is not None) == readable
    if impossible is not None:
        assert bool(read.impossible) == impossible


@pytest.mark.slow
def test_a_plan_that_is_not_valid_is_the_end_of_a_run_and_no_failure_of_hvr(tmp_path: Path) -> None:
    """Without verification a model's plan is used as written."""
    choice = ModelChoice(spec="scripted:error=0.5", setting="HR")
    options = Options(scene="FloorPlan1", policy="llm", model=choice, save=tmp_path / "run")
    run = plan(task="T7", options=options)
    assert run.reached is False
    assert "the plan was rejected" in run.verdict
    assert not run.steps
    assert run.spent is not None and run.spent.calls > 0
    for name in ("task.json", "planning.json", "llm.jsonl", "plan.pddl"):
        assert (tmp_path / "run" / name).exists()
