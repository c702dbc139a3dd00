"""The paper's equations on graphs small enough to compute by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from hvr.judging.verifier.config import VerifierConfig
from hvr.judging.verifier.features import Alignment, ToolEmbeddings, count_paths, plan_arrays
from hvr.judging.verifier.graph import PlanNode, plan_graph
from hvr.judging.verifier.wrong_plans import roc_auc
from hvr.tools.tool_plans import Tool, ToolGraph, ToolPlan
from studies.plan_network.alignment_fit import AlignmentNetwork, FoldedAlignment
from studies.plan_network.network import PlanLayer, PlanNetwork, select
from studies.plan_network.perturbations import connects
from studies.plan_network.training import balance, graph_loss, local_loss, ranking_loss
from tests.judging.verifier.small_world import HashEncoder, tiny_config


def random_scorer() -> Alignment:
    return AlignmentNetwork(32, 8).trained()


def identity(linear: torch.nn.Linear, columns: list[int]) -> None:
    """Make a layer return the sum of some input columns."""
    torch.nn.init.zeros_(linear.weight)
    torch.nn.init.zeros_(linear.bias)
    with torch.no_grad():
        linear.weight[0, columns] = 1.0


def test_messages_of_equations_6_and_7_by_hand() -> None:
    layer = PlanLayer(hidden=1, text=1, dropout=0.0).eval()
    # φ_in adds h_u and x_uv; φ_out adds h_w and e(r); the update passes its sum on.
    for linear, columns in ((layer.into.phi[0], [0, 1]), (layer.out.phi[0], [0, 2])):
        identity(linear, columns)
    for linear in (layer.into.phi[3], layer.out.phi[3], layer.update[0], layer.update[3]):
        identity(linear, [0])
    with torch.no_grad():
        layer.epsilon.fill_(0.5)
    h = torch.tensor([[1.0], [2.0], [4.0]])
    edges = torch.tensor([[0, 1], [1, 2]])  # 0 -> 1 -> 2
    x = torch.tensor([[10.0], [20.0]])
    request = torch.tensor([[100.0]])
    of = torch.zeros(3, dtype=torch.long)
    found = layer(h, edges, x, request, of, of[:2])
    # 0: 1.5 * 1 + out (2 + 100); 1: 3 + in (1 + 10) + out (4 + 100); 2: 6 + in (2 + 20)
    assert found.flatten().tolist() == [103.5, 118.0, 28.0]


def test_ranking_loss_by_hand() -> None:
    # Group 0: c = 0, 1; z = 0.5, 0.6: max(0, 0.2 - 0.5 + 0.6) = 0.3
    # Group 1: c = 0, 2, 2; z = 1, 0, 0.9: 0.4 - 1 + 0 < 0; 0.4 - 1 + 0.9 = 0.3; equal costs: none
    logits = torch.tensor([0.5, 0.6, 1.0, 0.0, 0.9])
    costs = torch.tensor([0.0, 1.0, 0.0, 2.0, 2.0])
    group = torch.tensor([7, 7, 9, 9, 9])
    assert ranking_loss(logits, costs, group).item() == pytest.approx(0.6 / 2, abs=1e-6)


def test_ranking_loss_has_a_gradient_without_nans() -> None:
    logits = torch.zeros(3, requires_grad=True)
    ranking_loss(logits, torch.tensor([0.0, 1.0, 0.0]), torch.tensor([0, 0, 1])).backward()
    assert torch.isfinite(logits.grad).all()
    assert logits.grad.tolist() == [-0.5, 0.5, 0.0]


def test_cross_entropies_by_hand() -> None:
    zero = torch.zeros(1)
    assert graph_loss(zero, torch.tensor([0.3])).item() == pytest.approx(math.log(2))
    loss = local_loss(torch.zeros(2), torch.tensor([1.0, 0.0]), weight=3.0, graphs=2)
    assert loss.item() == pytest.approx((3 + 1) * math.log(2) / 2)
    assert balance(torch.tensor([1.0, 0, 0, 0])) == 3
    assert balance(torch.tensor([1.0, 1, 0])) == 1
    assert balance(torch.zeros(3)) == 1


def test_the_margin_of_equation_3(embeddings: ToolEmbeddings) -> None:
    torch.manual_seed(0)
    scorer = AlignmentNetwork(32, 8).trained()
    rows = embeddings.texts.rows(["book the train", "pay the taxi"])
    tools = np.array([embeddings.tools.index("book_train"), -1])
    table = scorer.table(embeddings.texts.matrix[rows], embeddings.vectors)
    own = tools[0]
    expected = table[0, own] - table[0, embeddings.neighbours[own]].max()
    found = scorer.margins(embeddings, rows, tools)
    assert found[0] == pytest.approx(expected, abs=1e-5)
    assert found[1] == 0  # an unknown tool


def test_compatibility_by_types_is_equation_4() -> None:
    tools = ToolGraph(
        (
            Tool("a", "a", (), ("text", "image")),
            Tool("b", "b", ("text", "audio"), ()),
            Tool("c", "c", ("video",), ()),
        )
    )
    embeddings = ToolEmbeddings(tools, HashEncoder(), VerifierConfig(neighbours=2))
    nodes = [PlanNode(t.id, "", t.inputs, t.outputs) for t in tools.tools]
    assert embeddings.compat(nodes[0], nodes[1]) == 0.5
    assert embeddings.compat(nodes[0], nodes[2]) == 0
    assert embeddings.compat(nodes[1], nodes[0]) == 0  # a needs nothing: 0 / max(0, 1)
    assert connects(embeddings, "a", "b")
    assert not connects(embeddings, "b", "a")


def test_compatibility_by_links_without_types(embeddings: ToolEmbeddings) -> None:
    assert embeddings.compat(PlanNode("search_train", ""), PlanNode("book_train", "")) == 1
    assert embeddings.compat(PlanNode("search_train", ""), PlanNode("book_taxi", "")) == 0


def test_arrays_hold_the_attributes_and_batches_number_through(embeddings, plans, tools) -> None:
    graphs = [plan_graph(p, tools) for p in plans[:3]]
    counts = count_paths(p.tools for p in plans)
    arrays = plan_arrays(graphs, embeddings, counts, random_scorer())
    assert np.diff(arrays.node_ptr).tolist() == [len(g.nodes) + 1 for g in graphs]
    first = arrays.edge_values[1]  # search -> book of a place, after the edge from Start
    assert first[0] == 1
    assert first[1] == pytest.approx(math.log1p(counts.of(("search_train", "book_train"))))
    batch = select(arrays, np.array([2, 0]))
    assert batch.graphs == 2
    assert batch.node_graph.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert batch.edges.tolist() == [[0, 1, 3, 4, 5], [1, 2, 4, 5, 6]]
    assert batch.start.tolist() == [True, False, False, True, False, False, False]


def test_a_plan_scores_the_same_alone_and_among_others(embeddings, plans, tools) -> None:
    graphs = [plan_graph(p, tools) for p in plans[:8]]
    counts, scorer = count_paths(p.tools for p in plans), random_scorer()
    network = PlanNetwork(tiny_config(), 32, 0).trained()
    together = network.logits(
        plan_arrays(graphs, embeddings, counts, scorer), embeddings.texts.matrix
    )
    alone = [
        network.logits(plan_arrays([g], embeddings, counts, scorer), embeddings.texts.matrix).graph[
            0
        ]
        for g in graphs
    ]
    assert together.graph == pytest.approx(alone, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"readout": "mean"},
        {"use_messages": False},
        {"node_features": False},
        {"edge_features": False},
        {"layers": 1, "hidden": 7},
    ],
)
def test_the_network_says_the_same_trained_and_in_use(embeddings, plans, tools, changes) -> None:
    torch.manual_seed(1)
    config = tiny_config(**changes)
    network = PlanNetwork(config, 32, 0).eval()
    with torch.no_grad():
        for layer in network.layers:
            layer.epsilon.fill_(0.3)
    names = ("search_taxi", "book_taxi", "pay_unknown")
    branched = ToolPlan(
        "branched", "book and pay", ("search", "book", "pay"), names,
        ((names[0], names[2]), (names[1], names[2])),
    )  # fmt: skip
    graphs = [plan_graph(p, tools) for p in (*plans[:20], branched)]
    scorer = AlignmentNetwork(32, 8)
    arrays = plan_arrays(graphs, embeddings, count_paths(p.tools for p in plans), scorer.trained())
    trained = network.trained()
    assert {k: v.shape for k, v in trained.tensors.items()} == trained.shapes(config, 32, 0)
    found = trained.logits(arrays, embeddings.texts.matrix)
    with torch.no_grad():
        said = network(
            select(arrays, np.arange(len(arrays))), torch.from_numpy(embeddings.texts.matrix)
        )
    for mine, theirs in (
        (found.graph, said.graph),
        (found.node, said.node),
        (found.edge, said.edge),
    ):
        assert mine == pytest.approx(theirs.numpy(), abs=1e-4)
    steps, own = embeddings.texts.matrix[:5], embeddings.vectors[:4]
    with torch.no_grad():
        logits = scorer(torch.from_numpy(steps)[:, None], torch.from_numpy(own)[None])
    assert scorer.trained().table(steps, own) == pytest.approx(logits.numpy(), abs=1e-4)
    assert {k: v.shape for k, v in scorer.trained().tensors.items()} == Alignment.shapes(32, 8)


def test_roc_auc_by_hand() -> None:
    assert roc_auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1]) == 0.75
    assert roc_auc([1, 1], [0, 1]) == 0.5
    assert math.isnan(roc_auc([1, 2], [1, 1]))


@pytest.mark.slow
@given(st.lists(st.tuples(st.floats(-5, 5), st.integers(0, 1)), min_size=2, max_size=30))
def test_roc_auc_turns_round_with_the_scores(pairs: list[tuple[float, int]]) -> None:
    scores, labels = [s for s, _ in pairs], [x for _, x in pairs]
    found = roc_auc(scores, labels)
    if not math.isnan(found):
        assert 0 <= found <= 1
        assert roc_auc([-s for s in scores], labels) == pytest.approx(1 - found)


def test_each_step_gets_the_margin_of_its_fold(embeddings: ToolEmbeddings) -> None:
    models = [random_scorer() for _ in range(2)]
    steps = embeddings.texts.rows(["take the bus", "buy bread", "sing"])
    tools = np.array([0, 1, 2])
    whole = [m.margins(embeddings, steps, tools) for m in models]
    found = FoldedAlignment(models, np.array([0, 1, 0])).margins(embeddings, steps, tools)
    assert found == pytest.approx([whole[0][0], whole[1][1], whole[0][2]], abs=1e-6)
