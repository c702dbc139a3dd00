"""Verdicts on plans, and saving and loading, in a world that trains in seconds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hvr.errors import DataFileError, HvrError, UsageError
from hvr.judging.verifier.config import VerifierConfig
from hvr.judging.verifier.verdict import Thresholds
from hvr.judging.verifier.verifier import Verifier
from hvr.tools.tool_plans import ToolPlan
from studies.plan_network.fit import evaluate, train
from studies.plan_network.training import rate_factor
from tests.judging.verifier.small_world import HashEncoder, small_plans, small_tools, tiny_config


@pytest.fixture(scope="module")
def verifier() -> Verifier:
    return train(tiny_config(), small_plans(), small_tools(), encoder=HashEncoder())


def trip(*tools: str, request: str = "please search and book and pay my train") -> ToolPlan:
    steps = tuple(f"{t.split('_')[0]} the {t.split('_')[1]}" for t in tools)
    return ToolPlan("trip", request, steps, tools)


GOOD = trip("search_train", "book_train", "pay_train")
BAD = trip("search_train", "cancel_train", "pay_train")


@pytest.mark.slow
def test_training_tells_right_from_wrong(verifier: Verifier) -> None:
    found = evaluate(verifier, small_plans(), seed=5)
    assert found.graph > 0.85
    assert found.node > 0.7
    good, bad = verifier.score([GOOD, BAD])
    assert good.score > bad.score
    assert len(bad.node_risks) == 3
    assert len(bad.edge_risks) == 3


@pytest.mark.slow
def test_training_is_the_same_under_a_seed() -> None:
    config = tiny_config(epochs_graph=1, epochs_local=1)
    plans = small_plans()[:20]
    a, b = (train(config, plans, small_tools(), encoder=HashEncoder()) for _ in range(2))
    assert [v.score for v in a.score(plans)] == [v.score for v in b.score(plans)]


@pytest.mark.slow
def test_stage_two_need_not_spoil_the_score_of_the_whole_plan() -> None:
    # Steps so large that the last layer forgets the graph head's input.
    changes = {"lr_local": 1e-1, "schedule": "constant"}
    plans, tools = small_plans(), small_tools()
    without, kept = (
        train(tiny_config(keep_graph=weight, **changes), plans, tools, encoder=HashEncoder())
        for weight in (0.0, 1.0)
    )
    assert evaluate(kept, plans, seed=5).graph > 0.85
    assert evaluate(kept, plans, seed=5).graph > evaluate(without, plans, seed=5).graph


def test_rates_fall_as_the_schedule_says() -> None:
    assert [rate_factor(x, "constant") for x in (0.0, 0.5, 1.0)] == [1.0, 1.0, 1.0]
    assert [rate_factor(x, "cosine") for x in (0.0, 0.5, 1.0)] == pytest.approx([1.0, 0.5, 0.0])


def test_findings_have_reasons(verifier: Verifier) -> None:
    verifier.thresholds, kept = Thresholds(1.0, 0.0, 0.0), verifier.thresholds
    try:
        found = verifier.score([BAD])[0]
    finally:
        verifier.thresholds = kept
    assert not found.accepted
    assert len(found.findings) == 6
    assert all(f.reason for f in found.findings)
    assert json.dumps(found.to_dict())


def test_an_unknown_tool_is_scored_and_named(verifier: Verifier) -> None:
    found = verifier.score([trip("search_train", "teleport_train")])[0]
    assert 0 < found.score < 1


def test_empty_plans_and_circles_are_errors(verifier: Verifier) -> None:
    with pytest.raises(UsageError, match="empty"):
        verifier.score([ToolPlan("e", "r", (), ())])
    circle = ToolPlan("c", "r", ("a", "b"), ("a", "b"), (("a", "b"), ("b", "a")))
    with pytest.raises(UsageError, match="cycle"):
        verifier.score([circle])
    assert verifier.score([]) == []


@pytest.mark.slow
def test_ten_thousand_steps_are_scored(verifier: Verifier) -> None:
    tools = ("search_train", "book_train", "pay_train", "cancel_train") * 2500
    plan = ToolPlan("long", "r", tuple(f"{t.split('_')[0]} the train" for t in tools), tools)
    assert len(verifier.score([plan])[0].node_risks) == 10_000


def test_two_plans_are_needed() -> None:
    with pytest.raises(UsageError, match="at least two"):
        train(tiny_config(), small_plans()[:1], small_tools(), encoder=HashEncoder())


def test_a_checkpoint_gives_the_same_scores(verifier: Verifier, tmp_path: Path) -> None:
    verifier.save(tmp_path / "v")
    again = Verifier.load(tmp_path / "v", HashEncoder())
    assert again.config == verifier.config
    assert again.data == verifier.data
    assert [v.score for v in again.score([GOOD, BAD])] == [
        v.score for v in verifier.score([GOOD, BAD])
    ]


def test_damaged_and_foreign_checkpoints_are_told(verifier: Verifier, tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="not a verifier folder"):
        Verifier.load(tmp_path / "none", HashEncoder())
    folder = tmp_path / "v"
    verifier.save(folder)
    values = json.loads((folder / "verifier.json").read_text())

    def changed(**other: object) -> None:
        (folder / "verifier.json").write_text(json.dumps({**values, **other}))

    changed(kind="something")
    with pytest.raises(DataFileError, match="is not part of a plan verifier"):
        Verifier.load(folder, HashEncoder())
    changed(version=99)
    with pytest.raises(DataFileError, match="train the verifier again"):
        Verifier.load(folder, HashEncoder())
    changed(tools=dict(values["tools"], links=[]))
    with pytest.raises(DataFileError, match="damaged"):
        Verifier.load(folder, HashEncoder())
    changed(config={**values["config"], "hidden": "wide"})
    with pytest.raises(DataFileError, match="damaged"):
        Verifier.load(folder, HashEncoder())
    changed()
    (tensors,) = folder.glob("verifier-*.safetensors")
    tensors.write_bytes(tensors.read_bytes()[:-20])
    with pytest.raises(DataFileError, match="was changed"):
        Verifier.load(folder, HashEncoder())
    (folder / "verifier.json").write_text("{")
    with pytest.raises(DataFileError, match="not valid JSON"):
        Verifier.load(folder, HashEncoder())


@pytest.mark.parametrize("name", ["use_messages", "use_stage_one", "use_stage_two",
                                  "node_features", "edge_features"])  # fmt: skip
def test_parts_can_be_taken_away(name: str) -> None:
    config = tiny_config(epochs_graph=1, epochs_local=1, **{name: False})
    plans = small_plans()[:12]
    made = train(config, plans, small_tools(), encoder=HashEncoder())
    assert all(0 < v.score < 1 for v in made.score(plans))


def test_configurations_are_read_and_checked(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    VerifierConfig.small(seed=4).save(path)
    assert VerifierConfig.load(path) == VerifierConfig.small(seed=4)
    path.write_text("lr: 2e-5\nhidden: 64\n")
    assert VerifierConfig.load(path, VerifierConfig()).lr == 2e-5
    for text, said in (("speed: 1", "unknown field"), ("hidden: wide", "must have the form of"),
                       ("hidden: 0", "at least 1"), ("- 1", "table"),
                       ("epochs_graph: 0", "at least 1"), ("schedule: linear", "constant, cosine"),
                       ("keep_graph: -1", "0 or more"),
                       ("margin: .nan", "finite number"), ("lr: .inf", "finite number"),
                       ("lr: 0", "above 0"), ("dropout: 2", "from 0 to 1"),
                       ("spans: [0.5, many]", "must have the form of"),
                       ("spans: [-1]", "finite weights"),
                       ("compress_spans: []", "at least 2"),
                       ("compress_spans: [1.5]", "must have the form of")):  # fmt: skip
        path.write_text(text)
        with pytest.raises(HvrError, match=said):
            VerifierConfig.load(path)
