"""Networks that learn a small world, and retrievers on disk."""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

import numpy as np  # noqa: E402

from hvr.base.files import digest, file_set_name  # noqa: E402
from hvr.errors import DataFileError, UsageError  # noqa: E402
from hvr.knowledge.retrieval.embedders import TextVectors  # noqa: E402
from hvr.tools.retrieval.decoding import Decoder, Transitions  # noqa: E402
from hvr.tools.retrieval.retriever import (  # noqa: E402
    LAYERS,
    Layer,
    Retriever,
    RetrieverConfig,
    TextScores,
    aligned,
    fit_retriever,
    hold_out,
    own,
    paired,
    paper,
)
from hvr.tools.retrieval.scorer import (  # noqa: E402
    FORM,
    ToolEncoder,
    TrainedScores,
    data_fingerprint,
    links_of,
    load_retriever,
    save_retriever,
    train_scorer,
)
from hvr.tools.tool_plans import Tool, ToolGraph, ToolPlan, agreement  # noqa: E402
from studies.text_retrieval import SmoothedScores, choose_alpha, fit_text_decoder, propagate  # noqa: E402
from tests.killing import failures, kills  # noqa: E402
from tests.tools.travel import GRAPH, travel_plans  # noqa: E402

TRAIN, TEST = travel_plans(120, 1), travel_plans(30, 2)
ENCODER = TextVectors("lexical-hash")
SMALL = replace(own(), encoder="lexical-hash", hidden=32, epochs=12, batch=32, lr=5e-3)


@pytest.fixture(scope="module")
def fitted() -> Retriever:
    return fit_retriever(SMALL, GRAPH, TRAIN, ENCODER)


def _score(retriever: Retriever, *, names: bool = True) -> float:
    found = retriever.retrieve(TEST, names=names)
    return agreement({p.id: p for p in found}, TEST).node_f1


@pytest.mark.slow
def test_what_is_learnt_is_found_without_names(fitted: Retriever) -> None:
    untrained = Retriever(
        TextScores(GRAPH, ENCODER), Decoder(Transitions(GRAPH), rule="greedy")
    )  # fmt: skip
    assert _score(fitted) > 0.99
    assert _score(fitted, names=False) > 0.99
    assert _score(untrained, names=False) < 0.8


@pytest.mark.slow
@pytest.mark.parametrize("layer", LAYERS)
def test_every_layer_learns_by_ranking(layer: Layer) -> None:
    config = replace(paper(layer), encoder="lexical-hash", batch=32, epochs=6)
    fitted = fit_retriever(config, GRAPH, TRAIN, ENCODER)
    assert _score(fitted) > 0.9


def test_links_can_be_those_of_the_training_plans_alone() -> None:
    two = [p for p in TRAIN if p.tools == ("train_search", "train_book")]
    config = replace(paper("none"), encoder="lexical-hash", epochs=1)
    fitted = fit_retriever(config, GRAPH, two, ENCODER, seen_links=True)
    assert fitted.source.graph.links == (("train_search", "train_book"),)
    assert fitted.decoder.transitions.graph == fitted.source.graph


@pytest.mark.slow
def test_the_same_seed_gives_the_same_scores() -> None:
    config = replace(SMALL, epochs=2, refit=False)
    one, other = (
        fit_retriever(config, GRAPH, TRAIN[:40], ENCODER).source.scores(TEST) for _ in range(2)
    )
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_answers_do_not_depend_on_the_true_tools(fitted: Retriever) -> None:
    blind = [replace(p, tools=(), links=()) for p in TEST]
    assert fitted.retrieve(blind) == fitted.retrieve(TEST)


def test_requests_with_the_same_id_are_kept_apart(fitted: Retriever) -> None:
    twice = [replace(TEST[0], id="1"), replace(TEST[1], id="1"), ToolPlan("1", "", (), ())]
    found = fitted.retrieve(twice)
    assert [len(p.tools) for p in found] == [len(TEST[0].tools), len(TEST[1].tools), 0]
    assert fitted.retrieve([]) == []


@pytest.mark.slow
def test_early_stopping_keeps_the_best_epoch() -> None:
    inner, held = hold_out(TRAIN, 0.2, 0)
    config = replace(SMALL, epochs=30, patience=2)
    trained = train_scorer(config, GRAPH, inner, ENCODER, held=held)
    accuracies = [e.accuracy for e in trained.epochs]
    assert accuracies[trained.best - 1] == max(accuracies)
    assert len(trained.epochs) - trained.best <= 2


def test_plans_that_teach_nothing_are_refused() -> None:
    with pytest.raises(UsageError, match="no step of the training plans"):
        fit_retriever(SMALL, GRAPH, [], ENCODER)
    with pytest.raises(UsageError, match="no step of the training plans"):
        fit_retriever(SMALL, GRAPH, [ToolPlan("1", "", ("x",), ("unknown",))], ENCODER)


def test_settings_that_make_no_sense_are_refused() -> None:
    for wrong in ({"layer": "rnn"}, {"loss": "mse"}, {"epochs": 0}, {"dropout": 2}, {"scale": 0}):
        with pytest.raises(UsageError):
            RetrieverConfig(**wrong)  # type: ignore[arg-type]


def test_a_graph_layer_is_averaged_with_its_input() -> None:
    torch.manual_seed(0)
    encoder, vectors = ToolEncoder("sage", 4), torch.randn(len(GRAPH), 4)
    links = links_of(GRAPH)
    assert encoder.convolution is not None
    assert torch.allclose(
        encoder(vectors, links), (vectors + encoder.convolution(vectors, links)) / 2
    )
    assert torch.equal(ToolEncoder("none", 4)(vectors, links), vectors)


def test_messages_pass_from_a_tool_to_its_successors() -> None:
    torch.manual_seed(0)
    encoder, vectors = ToolEncoder("sage", 4), torch.randn(len(GRAPH), 4)
    before = encoder(vectors, links_of(GRAPH))
    vectors[GRAPH.index("train_search")] += 1
    changed = (encoder(vectors, links_of(GRAPH)) != before).any(dim=1)
    assert [t.id for t, c in zip(GRAPH.tools, changed, strict=True) if c] == [
        "train_search", "train_book",
    ]  # fmt: skip


def test_sgc_mixes_tools_with_their_successors() -> None:
    scores = SmoothedScores(GRAPH, ENCODER, 0.7)
    plain = TextScores(GRAPH, ENCODER).tools()
    assert np.allclose(scores.tools(), propagate(plain, GRAPH, 0.7))
    assert not np.allclose(scores.tools(), plain)
    (rows,) = scores.scores(TEST[:1])
    assert rows.shape == (len(TEST[0].steps), len(GRAPH))


def test_pairs_of_steps_and_tools() -> None:
    def plan(tools: str, steps: Sequence[str], links: Sequence[str]) -> ToolPlan:
        return ToolPlan("1", "", tuple(steps), tuple(tools), tuple((x[0], x[1]) for x in links))

    assert paired(plan("ab", ["x", "y"], ["ab"])) == ("a", "b")
    assert paired(plan("ba", ["x", "y"], ["ab"])) == ("a", "b")  # in the order of the links
    assert paired(plan("ab", ["x"], ["ab"])) is None
    assert paired(plan("aa", ["x", "y"], ["aa"])) is None
    assert paired(plan("abc", ["x", "y", "z"], ["ab", "ac"])) is None
    assert paired(plan("abcd", list("wxyz"), ["ab", "cd", "dc"])) is None
    assert paired(plan("a", ["x"], [])) == ("a",)
    assert aligned(plan("ab", ["Call a", "Call b", "b too", "so on"], [])) == ("a", "b", "b", None)
    assert aligned(plan("ab", ["first", "second"], [])) == ("a", "b")
    assert aligned(plan("ab", ["b", "second"], [])) == ("b", "b")


def test_a_part_is_held_out() -> None:
    inner, held = hold_out(TRAIN, 0.25, 3)
    assert len(held) == 30
    assert sorted(p.id for p in inner + held) == sorted(p.id for p in TRAIN)
    assert hold_out(TRAIN, 0.25, 3) == (inner, held)
    assert hold_out(TRAIN[:1], 0.9, 0) == (TRAIN[:1], ())


def test_settings_without_training_are_chosen_on_given_plans() -> None:
    assert 0.5 <= choose_alpha(GRAPH, ENCODER, TRAIN[:20], names=False) <= 1
    decoder = fit_text_decoder(TextScores(GRAPH, ENCODER), TRAIN, names=False)
    tuned = Retriever(TextScores(GRAPH, ENCODER), decoder)
    plain = Retriever(TextScores(GRAPH, ENCODER), Decoder(decoder.transitions, rule="nearest"))
    assert _score(tuned, names=False) > _score(plain, names=False)


def test_a_retriever_comes_back_from_disk(fitted: Retriever, tmp_path: Path) -> None:
    save_retriever(fitted, tmp_path / "model", data_fingerprint(TRAIN))
    again = load_retriever(tmp_path / "model")
    assert again.retrieve(TEST, names=False) == fitted.retrieve(TEST, names=False)
    stored = json.loads((tmp_path / "model" / "retriever.json").read_text(encoding="utf-8"))
    assert stored["data_fingerprint"] == data_fingerprint(TRAIN) != data_fingerprint(TEST)


def test_only_models_without_vectors_of_their_own_read_other_tools(
    fitted: Retriever, tmp_path: Path
) -> None:
    other = ToolGraph((*GRAPH.tools, Tool("bus_search", "Search a bus")), GRAPH.links)
    save_retriever(fitted, tmp_path / "free")
    with pytest.raises(UsageError, match="only the 5 tools it was trained on"):
        load_retriever(tmp_path / "free", other)
    config = replace(paper("sage"), encoder="lexical-hash", epochs=1)
    save_retriever(fit_retriever(config, GRAPH, TRAIN, ENCODER), tmp_path / "texts")
    source = load_retriever(tmp_path / "texts", other).source
    assert source.scores(TEST[:1])[0].shape[1] == 6


def _damage(folder: Path, **changes: Any) -> None:
    path = folder / "retriever.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | changes))


def test_corrupt_and_foreign_retrievers_are_refused(fitted: Retriever, tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="no such file"):
        load_retriever(tmp_path / "none")
    cases: dict[str, dict[str, Any]] = {
        "not a retriever": {"form": "something else"},
        "damaged": {"config": {"colour": "red"}},
        "does not contain this network's parameters": {"width": 7},
        "were changed after training": {"links": [["train_search", "train_book"]]},
    }
    for i, (message, changes) in enumerate(cases.items()):
        folder = tmp_path / str(i)
        save_retriever(fitted, folder)
        _damage(folder, **changes)
        with pytest.raises(DataFileError, match=message):
            load_retriever(folder)
    (parameters,) = (tmp_path / "0").glob("model-*.safetensors")
    parameters.write_bytes(b"rubbish")
    _damage(tmp_path / "0", form=FORM)
    with pytest.raises(DataFileError, match="does not belong to"):
        load_retriever(tmp_path / "0")
    content = digest(b"rubbish")
    parameters.rename(parameters.with_name(file_set_name("model", content, ".safetensors")))
    _damage(tmp_path / "0", parameters=content)
    with pytest.raises(DataFileError, match="does not contain this network's parameters"):
        load_retriever(tmp_path / "0")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")
def test_retrievers_are_saved_whole_or_not_at_all(fitted: Retriever, tmp_path: Path) -> None:
    assert isinstance(fitted.source, TrainedScores)
    trained = fitted.source

    def with_weights(weight: float) -> Retriever:
        scorer = copy.deepcopy(trained.scorer)
        for values in scorer.parameters():
            values.data.fill_(weight)
        source = TrainedScores(trained.graph, trained.config, scorer, ENCODER)
        return Retriever(source, fitted.decoder)

    def saved() -> set[float]:
        source = load_retriever(folder, encoder=ENCODER).source
        assert isinstance(source, TrainedScores)
        return {
            float(v) for values in source.scorer.parameters() for v in values.detach().flatten()
        }

    old, new = with_weights(0.25), with_weights(0.5)
    folder = tmp_path / "model"
    save_retriever(old, folder)
    seen = []
    for _ in kills(folder, lambda: save_retriever(new, folder)):
        seen.append(saved())
        save_retriever(old, folder)
    assert {0.25} in seen and seen[-1] == {0.5}
    assert all(weights in ({0.25}, {0.5}) for weights in seen)
    before = sorted(folder.rglob("*"))
    for error in failures(folder, lambda: save_retriever(new, folder)):
        if error is None:
            break
        assert isinstance(error, DataFileError)
        assert saved() == {0.25} and sorted(folder.rglob("*")) == before
    assert saved() == {0.5}


def test_only_trained_retrievers_are_saved(tmp_path: Path) -> None:
    plain = Retriever(TextScores(GRAPH, ENCODER), Decoder(Transitions(GRAPH)))
    with pytest.raises(UsageError, match="trained network"):
        save_retriever(plain, tmp_path)


def test_scores_have_a_row_for_each_step(fitted: Retriever) -> None:
    assert isinstance(fitted.source, TrainedScores)
    rows = fitted.source.scores(TEST)
    assert [r.shape for r in rows] == [(len(p.steps), 5) for p in TEST]
