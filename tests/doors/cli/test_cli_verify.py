"""`hvr verify` as a user calls it: train, score, draw, correct, evaluate, and bad input."""

from __future__ import annotations

import itertools
import json
import random
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hvr.doors.cli.main import resolve
from tests import warm
from tests.command_line import Hvr
from tests.doors.cli.broken_streams import check_broken_streams
from tests.extras import needs

needs("torch_geometric")

ABOUT = {
    "find_train": "search for trains between two cities",
    "book_seat": "book a seat in a train",
    "pay": "pay a bill with a card",
    "find_hotel": "search for hotels in a city",
    "book_room": "book a room in a hotel",
    "weather": "tell the weather in a city",
}
WAYS = (
    ("go to {} by train", ("find_train", "book_seat", "pay")),
    ("a night in {}", ("find_hotel", "book_room", "pay")),
    ("is it sunny in {} and is there a train", ("weather", "find_train")),
    ("a dry night in {}", ("weather", "find_hotel", "book_room")),
)
CITIES = ("Rome", "Oslo", "Bonn", "Lyon", "Graz", "Bern", "Kyiv", "Riga", "Turin", "Malmo")


def record(number: int, request: str, tools: Sequence[str]) -> dict[str, Any]:
    return {
        "id": f"p{number}",
        "user_request": request,
        "task_steps": [f"Call {t} to {ABOUT.get(t, t)}" for t in tools],
        "task_nodes": [{"task": t} for t in tools],
        "task_links": [{"source": a, "target": b} for a, b in itertools.pairwise(tools)],
    }


def write(path: Path, records: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tools, plans and a verifier trained on them by the command."""
    folder = tmp_path_factory.mktemp("trained")
    draw = random.Random(0)
    records = []
    for number in range(60):
        asked, tools = WAYS[number % len(WAYS)]
        records.append(record(number, asked.format(draw.choice(CITIES)), tools))
    write(folder / "train.jsonl", records)
    links = {pair for _, tools in WAYS for pair in itertools.pairwise(tools)}
    links |= {("pay", "weather"), ("find_train", "book_room"), ("find_hotel", "book_seat")}
    links |= {("weather", "book_seat"), ("weather", "pay"), ("find_hotel", "pay")}
    tools = [{"id": name, "desc": text} for name, text in ABOUT.items()]
    (folder / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
    graph = {"links": [{"source": a, "target": b} for a, b in sorted(links)]}
    (folder / "graph.json").write_text(json.dumps(graph), encoding="utf-8")
    ended = warm.run(
        [sys.executable, "-m", "hvr", "verify", "train", folder / "train.jsonl",
         "--tools", folder / "tools.json", "--graph", folder / "graph.json",
         "--out", folder / "verifier", "--encoder", "lexical-hash",
         "--json"],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    (folder / "told.txt").write_text(ended.stderr, encoding="utf-8")
    assert json.loads(ended.stdout)["tools"] == len(ABOUT)
    return folder


GOOD = record(1, "go to Rome by train", ("find_train", "book_seat", "pay"))
BAD = record(2, "go to Rome by train", ("find_hotel", "book_seat", "pay"))


@pytest.mark.slow
def test_training_reports_its_progress(trained: Path) -> None:
    # Standard error is not a terminal.
    lines = (trained / "told.txt").read_text(encoding="utf-8").splitlines()
    assert {line.partition(":")[0] for line in lines} >= {"judge"}


@pytest.mark.slow
def test_a_good_plan_scores_above_a_bad_one(trained: Path, hvr_: Hvr, tmp_path: Path) -> None:
    plans = write(tmp_path / "plans.jsonl", [GOOD, BAD])
    ended = hvr_("verify", plans, "--model", trained / "verifier", "--json")
    good, bad = json.loads(ended.out)
    assert good["score"] > bad["score"]
    assert [n["tool"] for n in bad["nodes"]] == ["find_hotel", "book_seat", "pay"]
    assert max(bad["nodes"], key=lambda n: n["risk"])["tool"] == "find_hotel"
    assert ended.code == (0 if good["accepted"] and bad["accepted"] else 1)


@pytest.mark.slow
def test_a_request_that_no_plan_is_like_gets_no_verdict(
    trained: Path, hvr_: Hvr, tmp_path: Path
) -> None:
    plans = write(tmp_path / "plan.jsonl", [{**GOOD, "user_request": "quux xyzzy plugh"}])
    ended = hvr_("verify", plans, "--model", trained / "verifier", "--json")
    assert ended.code == 4 and json.loads(ended.out)["unknown"]


@pytest.mark.slow
def test_a_tool_that_does_not_exist_is_refused_and_renamed(
    trained: Path, hvr_: Hvr, tmp_path: Path
) -> None:
    wrong = record(3, "go to Rome by train", ("find_train", "Book-Seat", "pay"))
    plans = write(tmp_path / "plan.jsonl", [wrong])
    ended = hvr_("verify", plans, "--model", trained / "verifier")
    assert ended.code == 1 and "it is called book_seat" in ended.out
    ended = hvr_("verify", "correct", trained / "verifier", plans)
    assert [n["task"] for n in json.loads(ended.out)["task_nodes"]][1] == "book_seat"


@pytest.mark.slow
def test_few_plans_are_told_and_their_links_are_taken(
    trained: Path, hvr_: Hvr, tmp_path: Path
) -> None:
    few = write(tmp_path / "few.jsonl", [GOOD, {**GOOD, "id": "p9"}])
    out = tmp_path / "verifier"
    ended = hvr_("verify", "train", few, "--tools", trained / "tools.json", "--seen-links",
                 "--encoder", "lexical-hash", "--out", out)  # fmt: skip
    assert ended.code == 0 and "too few plans to learn from" in ended.err
    head = json.loads((out / "verifier.json").read_text(encoding="utf-8"))
    assert head["config"]["step_names"] == "remove" and head["tensors"] is None
    assert head["tools"]["links"] == [["find_train", "book_seat"], ["book_seat", "pay"]]
    plans = write(tmp_path / "plan.jsonl", [BAD])
    assert hvr_("verify", plans, "--model", out).code == 4
    kept = hvr_("verify", "correct", out, plans)
    assert "only names of tools and links" in kept.err
    assert json.loads(kept.out)["task_nodes"] == BAD["task_nodes"]


@pytest.mark.slow
def test_the_text_says_score_threshold_risks_and_reasons(
    trained: Path, hvr_: Hvr, tmp_path: Path
) -> None:
    plans = write(tmp_path / "plan.jsonl", [BAD])
    ended = hvr_("verify", plans, "--model", trained / "verifier")
    assert "p2: score 0." in ended.out and "asked: go to Rome by train" in ended.out
    assert "find_hotel" in ended.out and "risk" in ended.out


@pytest.mark.slow
def test_the_picture_has_every_step_and_its_risk(trained: Path, hvr_: Hvr, tmp_path: Path) -> None:
    plans = write(tmp_path / "plan.jsonl", [BAD])
    hvr_("verify", plans, "--model", trained / "verifier", "--svg", tmp_path / "plan.svg")
    drawn = ElementTree.parse(tmp_path / "plan.svg").getroot()
    titles = [e.text or "" for e in drawn.iter("{http://www.w3.org/2000/svg}title")]
    for tool in ("find_hotel", "book_seat", "pay"):
        assert any(tool in title and "risk" in title for title in titles)
    many = write(tmp_path / "many.jsonl", [GOOD, BAD])
    ended = hvr_("verify", many, "--model", trained / "verifier", "--svg", tmp_path / "m.svg")
    assert ended.code == 2 and "--svg requires a single plan" in ended.err


@pytest.mark.slow
def test_a_corrected_plan_scores_higher(trained: Path, hvr_: Hvr, tmp_path: Path) -> None:
    plans = write(tmp_path / "plan.jsonl", [BAD])
    out = tmp_path / "corrected.jsonl"
    ended = hvr_("verify", "correct", trained / "verifier", plans, "--out", out)
    assert ended.code == 0
    corrected = json.loads(out.read_text(encoding="utf-8"))
    assert [n["task"] for n in corrected["task_nodes"]] == ["find_train", "book_seat", "pay"]
    assert "p2: step 1: find_train in place of find_hotel" in ended.err


@pytest.mark.slow
def test_plans_without_requests_are_given_them_by_id(
    trained: Path, hvr_: Hvr, tmp_path: Path
) -> None:
    bare = {k: v for k, v in BAD.items() if k != "user_request"}
    plans = write(tmp_path / "plan.jsonl", [bare])
    out = tmp_path / "corrected.jsonl"
    ended = hvr_("verify", "correct", trained / "verifier", plans, "--out", out)
    assert ended.code == 0 and "1 of 1 plans have no request" in ended.err
    asked = write(
        tmp_path / "asked.jsonl", [{"id": BAD["id"], "user_request": BAD["user_request"]}]
    )
    ended = hvr_(
        "verify", "correct", trained / "verifier", plans, "--requests", asked, "--out", out
    )
    assert ended.code == 0 and "no request" not in ended.err
    assert json.loads(out.read_text(encoding="utf-8"))["user_request"] == BAD["user_request"]


@pytest.mark.slow
def test_a_file_without_plans_is_refused(trained: Path, hvr_: Hvr, tmp_path: Path) -> None:
    ended = hvr_("verify", "correct", trained / "verifier", write(tmp_path / "none.jsonl", []))
    assert ended.code == 2 and "has no plan" in ended.err and not ended.out


@pytest.mark.slow
def test_evaluation_gives_a_figure_for_each_kind(trained: Path, hvr_: Hvr) -> None:
    ended = hvr_("verify", "evaluate", trained / "verifier", trained / "train.jsonl", "--json")
    found = json.loads(ended.out)
    assert found["kinds"]["other request, far"] > 0.7 and found["kinds"]["misspelt"] == 1


@pytest.mark.slow
def test_the_tools_given_must_be_the_verifiers(trained: Path, hvr_: Hvr, tmp_path: Path) -> None:
    plans = write(tmp_path / "plan.jsonl", [GOOD])
    model = ("--model", trained / "verifier")
    same = ("--tools", trained / "tools.json", "--graph", trained / "graph.json")
    assert hvr_("verify", plans, *model, *same).code in (0, 1)
    (tmp_path / "other.json").write_text('{"links": []}', encoding="utf-8")
    other = ("--tools", trained / "tools.json", "--graph", tmp_path / "other.json")
    ended = hvr_("verify", plans, *model, *other)
    assert ended.code == 2 and "tools other than" in ended.err and ended.err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "has no plan"),
        ("nonsense", "not valid JSON"),
        ('{"colour": "red"}', "supported formats: OpenAI messages"),
    ],
)
def test_files_without_plans_are_refused_in_one_line(
    trained: Path, hvr_: Hvr, tmp_path: Path, content: str, says: str
) -> None:
    path = tmp_path / "plan.jsonl"
    path.write_text(content, encoding="utf-8")
    ended = hvr_("verify", path, "--model", trained / "verifier")
    assert ended.code == 2 and says in ended.err and ended.err.count("\n") == 1


@pytest.mark.slow
def test_a_plan_that_cannot_be_judged_leaves_its_neighbours_a_verdict(
    trained: Path, hvr_: Hvr, tmp_path: Path
) -> None:
    links = [{"source": a, "target": b} for a, b in (("pay", "weather"), ("weather", "pay"))]
    circle = {"id": 2, "task_nodes": ["pay", "weather"], "task_links": links}
    plans = write(tmp_path / "plan.jsonl", [{"id": 1, "task_nodes": []}, circle, GOOD])
    ended = hvr_("verify", plans, "--model", trained / "verifier", "--json")
    empty, round_, good = json.loads(ended.out)
    assert "is empty" in empty["unknown"] and "cycle" in round_["unknown"]
    assert good["score"] is not None and "TaskBench" in good["read"]
    assert ended.code == (4 if good["accepted"] or good["unknown"] else 1)
    ended = hvr_("verify", plans, "--model", trained / "verifier")
    assert "1: no verdict: plan '1' is empty" in ended.out


@pytest.mark.slow
def test_unknown_tools_are_risky_and_do_not_break_anything(
    trained: Path, hvr_: Hvr, tmp_path: Path
) -> None:
    odd = write(tmp_path / "plan.jsonl", [record(3, "go to Rome", ("teleport", "pay"))])
    ended = hvr_("verify", odd, "--model", trained / "verifier", "--json")
    assert ended.code in (0, 1)
    assert json.loads(ended.out)["nodes"][0]["tool"] == "teleport"


def test_damaged_and_foreign_verifiers_are_named(hvr_: Hvr, tmp_path: Path) -> None:
    plans = write(tmp_path / "plan.jsonl", [GOOD])
    for content in ("{}", "not json", '{"kind": "hvr plan verifier", "version": 2}'):
        folder = tmp_path / f"verifier{len(content)}"
        folder.mkdir()
        (folder / "verifier.json").write_text(content, encoding="utf-8")
        ended = hvr_("verify", plans, "--model", folder)
        assert ended.code == 2 and ended.err.startswith("error: ") and ended.err.count("\n") == 1
    ended = hvr_("verify", plans, "--model", tmp_path / "nowhere")
    assert ended.code == 2 and "nowhere" in ended.err


def test_tool_plans_need_a_model(hvr_: Hvr, tmp_path: Path) -> None:
    ended = hvr_("verify", write(tmp_path / "plan.jsonl", [GOOD]))
    assert ended.code == 2 and "hvr verify train" in ended.err


def test_a_missing_extra_is_said_in_one_line(
    hvr_: Hvr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import hvr.base.registry as extra

    monkeypatch.setattr(extra, "find_spec", lambda _name: None)
    ended = hvr_("verify", write(tmp_path / "plan.jsonl", [GOOD]))
    assert ended.code == 2 and ".[gnn]" in ended.err and ended.err.count("\n") == 1


def test_a_plan_may_stand_right_after_the_command() -> None:
    for rest in (("runs/x", "--json"), ("--json", "p"), ("--help",)):
        short, whole = resolve(("verify", *rest)), resolve(("verify", "plan", *rest))
        assert (short.called, short.rest) == (whole.called, whole.rest)
    assert resolve(("verify", "train", "x")).words == ("hvr", "verify", "train")
    assert resolve(("plan", "verify", "x")).words == ("hvr", "plan")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["correct", "evaluate"])
def test_output_that_cannot_be_delivered(
    command: str, trained: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    plans = write(tmp_path / "plans.jsonl", [GOOD, BAD])
    words = ["verify", command, str(trained / "verifier"), str(plans)]
    check_broken_streams(words, monkeypatch, capsys)


@pytest.mark.slow
def test_a_verifier_is_not_evaluated_on_nothing(hvr_: Hvr, trained: Path, tmp_path: Path) -> None:
    write(tmp_path / "none.jsonl", [record(1, "nothing", ())])
    ended = hvr_("verify", "evaluate", trained / "verifier", tmp_path / "none.jsonl", "--json")
    assert ended.code == 2 and "no plan with tools" in ended.err
    # Kinds that need longer plans have no measure, and JSON has no NaN.
    write(tmp_path / "short.jsonl", [record(1, "pay", ("pay",)), record(2, "go", ("weather",))])
    ended = hvr_("verify", "evaluate", trained / "verifier", tmp_path / "short.jsonl", "--json")
    assert ended.code == 0 and "NaN" not in ended.out
    assert "order" not in json.loads(ended.out)["kinds"]


@pytest.mark.slow
def test_hvr_plan_shows_the_score_beside_the_verdict(
    hvr_: Hvr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = hvr_("plan", "boil water in a pot", "--scene", "FloorPlan1", "--dry-run", "--verify",
                 "--save", "run")  # fmt: skip
    assert ended.code == 0 and "validator: valid" in ended.out
    assert ", at least 0." in ended.out and "plausibly what was asked" in ended.out
    shown = hvr_("plan", "boil water in a pot", "--scene", "FloorPlan1", "--dry-run", "--verify",
                 "--json")  # fmt: skip
    scored = json.loads(shown.out)["verifier"]
    assert scored["accepted"] and scored["score"] >= scored["threshold"]
    asked = hvr_("verify", "run", "--json")
    assert asked.code == 0
    assert json.loads(asked.out)["score"] == pytest.approx(scored["score"], abs=1e-3)


@pytest.mark.slow
def test_the_plan_of_another_request_is_refused(
    hvr_: Hvr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hvr_("plan", "boil water in a pot", "--scene", "FloorPlan1", "--dry-run", "--save", "run")
    ended = hvr_("verify", "run", "--request", "put a clean plate in the cabinet")
    assert ended.code == 1 and "below the threshold" in ended.out


def test_what_is_no_run_and_no_plan_is_refused(hvr_: Hvr, tmp_path: Path) -> None:
    ended = hvr_("verify", tmp_path)
    assert ended.code == 2 and "is not a run folder" in ended.err
    ended = hvr_("verify", tmp_path / "gone.jsonl")
    assert ended.code == 2 and "no such file or folder: " in ended.err
    plan = tmp_path / "plan.pddl"
    plan.write_text("(pick_up mug-1)\n", encoding="utf-8")
    ended = hvr_("verify", plan)
    assert ended.code == 2 and "--problem" in ended.err
