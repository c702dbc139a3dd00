"""Perturbed plans: invariants of all of them, and hand-computed costs."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.judging.verifier.features import ToolEmbeddings, count_paths
from hvr.judging.verifier.graph import START, PlanGraph, PlanGraphDraft, PlanNode, chain, plan_graph
from studies.plan_network.alignment_fit import AlignmentNetwork
from studies.plan_network.perturbations import (
    Perturber,
    compress_cost,
    connects,
    drop_cost,
    replace_cost,
)
from tests.judging.verifier.small_world import HashEncoder, small_plans, small_tools, tiny_config


def line(tools: str) -> PlanGraph:
    return PlanGraph("p", "r", tuple(PlanNode(t, t) for t in tools), chain(len(tools)))


def perturber(embeddings, plans, **changes) -> Perturber:
    config = tiny_config(**changes)
    torch.manual_seed(0)
    return Perturber(
        config, embeddings, count_paths(p.tools for p in plans), AlignmentNetwork(32, 8).trained()
    )


def test_costs_by_hand() -> None:
    assert replace_cost(0.75) == pytest.approx(0.25)
    assert drop_cost([0.5, -0.2, 0.25]) == pytest.approx(3 * 0.75)
    assert compress_cost(3, 0.75) == pytest.approx(0.5)


def test_drop_links_the_ends_and_marks_the_link() -> None:
    draft = PlanGraphDraft(line("abcd"))
    span = next(s for s in draft.spans(2) if s.keys == (1, 2))
    draft.cut(span)
    graph, nodes, edges = draft.finish()
    assert graph.tools == ("a", "d")
    assert graph.all_edges == ((START, 0), (0, 1))
    assert (nodes, edges) == ((0, 0), (0, 1))


def test_drop_of_the_first_marks_the_link_from_start() -> None:
    draft = PlanGraphDraft(line("abc"))
    draft.cut(draft.spans(1)[0])
    graph, _, edges = draft.finish()
    assert graph.tools == ("b", "c")
    assert edges == (1, 0)


def test_the_last_step_is_kept() -> None:
    assert [s.keys for s in PlanGraphDraft(line("abc")).spans(1)] == [(0,), (1,)]
    assert [s.keys for s in PlanGraphDraft(line("abc")).spans(3)] == []


def test_compress_marks_the_node_and_both_links() -> None:
    draft = PlanGraphDraft(line("abcd"))
    draft.merge(next(s for s in draft.spans(2) if s.keys == (1, 2)), PlanNode("x", "b c"))
    graph, nodes, edges = draft.finish()
    assert graph.tools == ("a", "x", "d")
    assert nodes == (0, 1, 0)
    assert edges == (0, 1, 1)


def test_spans_of_a_branching_plan_stay_on_their_branch() -> None:
    nodes = tuple(PlanNode(t, t) for t in "abcd")
    graph = PlanGraph("p", "r", nodes, ((0, 1), (0, 2), (1, 3), (2, 3)))
    assert [s.keys for s in PlanGraphDraft(graph).spans(1)] == [(0,), (1,), (2,)]
    assert PlanGraphDraft(graph).spans(2) == []
    draft = PlanGraphDraft(graph)
    draft.cut(draft.spans(1)[1])
    made, _, _ = draft.finish()
    assert made.tools == ("a", "c", "d")
    assert sorted(made.edges) == [(0, 1), (0, 2), (1, 2)]


@pytest.mark.slow
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000))
def test_wrong_plans_stay_executable_and_differ(seed: int) -> None:
    tools, plans = small_tools(), small_plans()
    embeddings = ToolEmbeddings(tools, HashEncoder(), tiny_config())
    maker = perturber(embeddings, plans, seed=seed)
    for plan in plans[seed % 40 :][:6]:
        group = maker.contrast_group(plan_graph(plan, tools))
        assert group[0].operations == ()
        assert len({f.graph.tools for f in group}) == len(group) <= 5
        for made in group[1:]:
            assert made.operations
            assert made.cost >= 0
            for a, b in made.graph.edges:
                assert connects(embeddings, made.graph.nodes[a].tool, made.graph.nodes[b].tool)
            assert len(made.node_labels) == len(made.graph.nodes)
            assert len(made.edge_labels) == len(made.graph.all_edges)
            kinds = {o.kind for o in made.operations}
            if kinds == {"REPLACE"}:
                assert sum(made.node_labels) == len(made.operations)
                assert not any(made.edge_labels)
            if kinds == {"DROP"}:
                assert not any(made.node_labels)
                assert any(made.edge_labels)


@pytest.mark.slow
def test_the_same_seed_makes_the_same_plans(embeddings, plans, tools) -> None:
    graph = plan_graph(plans[0], tools)
    assert perturber(embeddings, plans).contrast_group(graph) == perturber(
        embeddings, plans
    ).contrast_group(graph)
    many = [plan_graph(p, tools) for p in plans[:20]]
    one = [perturber(embeddings, plans, seed=1).contrast_group(g) for g in many]
    assert one != [perturber(embeddings, plans, seed=2).contrast_group(g) for g in many]
