"""Wrong plans by kind: each has its fault, and generation is reproducible."""

from __future__ import annotations

import pytest

from hvr.judging.verifier.features import ToolEmbeddings
from hvr.judging.verifier.wrong_plans import WRONG_PLAN_KINDS, WrongPlans
from tests.judging.verifier.small_world import HashEncoder, small_plans, small_tools, tiny_config


@pytest.fixture(scope="module")
def maker() -> WrongPlans:
    embeddings = ToolEmbeddings(small_tools(), HashEncoder(), tiny_config())
    return WrongPlans(embeddings, small_plans(), 3)


@pytest.mark.parametrize("plan", small_plans()[::7], ids=lambda p: p.id)
def test_each_kind_is_wrong_in_its_way(maker: WrongPlans, plan: object) -> None:
    from hvr.tools.tool_plans import ToolPlan

    assert isinstance(plan, ToolPlan)
    made = maker.of(plan)
    # Two halves of names may happen to form an existing tool.
    assert made == maker.of(plan) and set(WRONG_PLAN_KINDS) - set(made) <= {"hallucinated"}
    for kind, wrong in made.items():
        if "request" in kind:
            assert wrong.tools == plan.tools and wrong.request != plan.request
        else:
            assert wrong.request == plan.request and wrong.links == wrong.chain
            assert len(wrong.steps) == len(wrong.tools)
    assert made["tail missing"].tools == plan.tools[:-1]
    assert sorted(made["order"].tools) == sorted(plan.tools)
    assert set(made["superfluous, related"].tools) > set(plan.tools)
    assert len(made["dropped"].tools) == len(plan.tools) - 1
    for kind in {"hallucinated", "misspelt"} & set(made):
        assert any(t not in maker.embeddings.tools for t in made[kind].tools)
