"""`hvr tools` from end to end on a folder that the test writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hvr.tools.tool_plans import ToolPlan
from tests.command_line import Hvr
from tests.doors.cli.broken_streams import check_broken_streams
from tests.tools.travel import GRAPH, travel_plans


def _lines(plans: tuple[ToolPlan, ...]) -> str:
    return "".join(
        json.dumps({
            "id": p.id, "user_request": p.request, "task_steps": p.steps,
            "task_nodes": [{"task": t} for t in p.tools],
            "task_links": [{"source": s, "target": t} for s, t in p.links],
        }) + "\n"
        for p in plans
    )  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("travel")
    tools = [{"id": t.id, "desc": t.description} for t in GRAPH.tools]
    links = [{"source": s, "target": t} for s, t in GRAPH.links]
    (folder / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
    (folder / "graph.json").write_text(json.dumps({"links": links}), encoding="utf-8")
    (folder / "train.jsonl").write_text(_lines(travel_plans(80, 1)), encoding="utf-8")
    (folder / "val.jsonl").write_text(_lines(travel_plans(20, 2)), encoding="utf-8")
    return folder


def test_tools_of_a_file_are_found_without_training(hvr_: Hvr, data: Path) -> None:
    pytest.importorskip("torch_geometric")
    file = ("tools", "retrieve", data / "tools.json", "--graph", data / "graph.json")
    steps = ("search trains between the towns", "of them, those on a train", "book a seat")
    found = hvr_(*file, "--encoder", "lexical-hash", *steps)
    assert found.out == "train_search -> train_book\n"
    trained = hvr_("tools", "retrieve", data, "--encoder", "lexical-hash", "book a seat")
    assert trained.code == 2 and "require a file of tools" in trained.err


@pytest.mark.slow
def test_train_retrieve_evaluate(hvr_: Hvr, data: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch_geometric")
    model = str(tmp_path / "model")
    options = ["--out", model, "--encoder", "lexical-hash", "--seen-links", "--epochs", "4"]
    trained = hvr_("tools", "train", str(data), *options)
    assert "trained on 80 plans over 5 tools" in trained.out
    steps = ["look which railway connections go to Rome", "reserve a place on the railway to Rome"]
    found = hvr_("tools", "retrieve", model, *steps)
    assert found.out == "train_search -> train_book\n"
    plans = ["retrieve", model, "--plans", str(data / "val.jsonl"), "--json", "--no-names"]
    lines = hvr_("tools", *plans).out
    predicted = tmp_path / "found.jsonl"
    predicted.write_text(lines, encoding="utf-8")
    for source in (["--model", model], ["--plans", str(predicted)]):
        scores = hvr_("tools", "evaluate", str(data), *source, "--json")
        assert json.loads(scores.out)["node_f1"] > 0.95
    table = hvr_("tools", "evaluate", str(data), "--plans", str(predicted)).out
    assert table.startswith("20 requests\nnode F1")


@pytest.mark.slow
def test_output_that_cannot_be_delivered(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch_geometric")
    model = str(tmp_path / "model")
    train = ["train", str(data), "--out", model, "--encoder", "lexical-hash", "--epochs", "1"]
    retrieve = ["retrieve", model, "--plans", str(data / "val.jsonl"), "--json"]
    for words in (train, retrieve, ["evaluate", str(data), "--model", model]):
        check_broken_streams(["tools", *words], monkeypatch, capsys)


def test_unusable_questions_are_refused(hvr_: Hvr, data: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch_geometric")
    for arguments in (
        ["retrieve", str(tmp_path)],
        ["evaluate", str(data)],
        ["evaluate", str(data), "--plans", "x", "--split", "test"],
        ["train", str(data), "--out", str(tmp_path), "--settings", "other"],
        ["train", str(data), "--out", str(tmp_path), "--layer", "rnn"],
        ["train", str(data), "--out", str(tmp_path), "--epochs", "0"],
    ):
        assert hvr_("tools", *arguments).code == 2, arguments
