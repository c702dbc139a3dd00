"""The judge of plans over tools: its expectations, verdicts, and corrections."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.errors import DataFileError
from hvr.judging.verifier.features import ToolEmbeddings
from hvr.judging.verifier.graph import plan_graph
from hvr.judging.verifier.judgement.draft_reader import DraftReader
from hvr.judging.verifier.judgement.fit import Trial, change_rule, fit_judge
from hvr.judging.verifier.judgement.judge import (
    Judge,
    PosteriorCalibration,
    call_step,
    correct,
    load_judge,
    save_judge,
)
from hvr.judging.verifier.judgement.past_plans import PastPlans, PlanRegression
from hvr.judging.verifier.judgement.posterior import (
    Case,
    PlanOpinion,
    difference,
    expected_agreements,
    fit_weights,
    probabilities,
)
from hvr.tools.tool_plans import LoggedCall, Tool, ToolPlan
from tests.judging.verifier.small_world import HashEncoder, small_plans, small_tools, tiny_config

REQUEST = "please search and book and pay my train number 9"
SMALL = st.lists(st.integers(0, 4), min_size=1, max_size=5).map(tuple)


def embedded() -> ToolEmbeddings:
    return ToolEmbeddings(small_tools(), HashEncoder(), tiny_config())


@pytest.fixture(scope="module")
def judge() -> Judge:
    return fit_judge(embedded(), small_plans())


def plan(*tools: str, request: str = REQUEST, steps: tuple[str, ...] = ()) -> ToolPlan:
    return ToolPlan("p", request, steps, tools, tuple(itertools.pairwise(tools)))


GOOD = plan("search_train", "book_train", "pay_train")


def score(judge: Judge, draft: ToolPlan) -> float:
    return judge.judge([draft])[0].score


@given(st.integers(3, 12))
@settings(max_examples=10, deadline=None)
def test_a_request_left_out_is_predicted_as_by_a_fit_without_it(size: int) -> None:
    rng = np.random.default_rng(size)
    vectors = rng.standard_normal((size, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    alike = vectors @ vectors.T
    plans = [tuple(map(int, rng.integers(0, 3, rng.integers(1, 4)))) for _ in range(size)]
    moves = [list(itertools.pairwise((3, *p, 3))) for p in plans]
    left_out = size // 2
    rest = [i for i in range(size) if i != left_out]
    whole = PlanRegression(alike, plans, moves, 3)
    others = PlanRegression(
        alike[np.ix_(rest, rest)], [plans[i] for i in rest], [moves[i] for i in rest], 3
    )
    by_all = whole.predict(alike[left_out], left_out)
    by_rest = others.predict(alike[left_out][rest])
    assert by_all.moves == pytest.approx(by_rest.moves, abs=2e-2)
    assert by_all.tools == pytest.approx(by_rest.tools, abs=2e-2)


def test_plans_of_like_requests_by_hand() -> None:
    embeddings = embedded()
    asked = ["pay hotel", "pay hotel", "cancel flight", "book taxi", "search film"]
    past = PastPlans(embeddings, asked, [(0, 1), (2,), (0, 1), (3,), (4,)])
    expected = past.expect("pay hotel")
    assert expected.nearness == pytest.approx(1, abs=0.01)
    assert expected.plans[(0, 1)] + expected.plans[(2,)] == pytest.approx(1, abs=1e-3)
    assert expected.plans[(2,)] == pytest.approx(0.5, abs=1e-2)
    left_out = past.expect("pay hotel", left_out=1)
    assert left_out.times((2,)) == 0 and left_out.plans.get((2,), 0.0) == 0
    assert left_out.moved(past.end, 2) == 0 and past.expect("x").moved(past.end, 2) == 1


@given(SMALL, SMALL)
def test_an_alignment_accounts_for_every_step(
    draft: tuple[int, ...], made: tuple[int, ...]
) -> None:
    change = difference(draft, made)
    assert change.deleted == len(draft) - len(change.pairs)
    assert change.inserted == len(made) - len(change.pairs)
    assert change.replaced == sum(draft[i] != made[j] for i, j in change.pairs)
    assert (change.cost == 0) == (draft == made)


def test_weights_find_the_feature_that_tells() -> None:
    rng = np.random.default_rng(0)
    cases = []
    for _ in range(60):
        values = rng.standard_normal((5, 2)).astype(np.float32)
        cases.append(Case(values, int(values[:, 0].argmax())))
    weights = fit_weights(cases)
    assert weights[0] > 1 and abs(weights[1]) < 0.5
    before = fit_weights(cases, steps=1)
    assert _likelihood(cases, weights) >= _likelihood(cases, before) - 1e-6


def _likelihood(cases: list[Case], weights: np.ndarray) -> float:
    return sum(float(np.log(probabilities(c.features @ weights)[c.true])) for c in cases)


def test_the_plan_of_least_risk_shares_most_with_the_probable_ones() -> None:
    plans = [(9,), (1, 2, 3), (1, 2), (1, 2, 4)]
    values = expected_agreements(plans, np.array([0.1, 0.3, 0.3, 0.3], np.float32))
    assert int(values.argmax()) in (1, 2, 3) and values[0] < values.max()


@pytest.mark.slow
def test_right_plans_score_above_wrong_ones_of_every_kind(judge: Judge) -> None:
    right = score(judge, GOOD)
    wrong = {
        "another request": replace(GOOD, request="please search and cancel my hotel number 9"),
        "superfluous": plan("search_train", "book_train", "pay_train", "cancel_train"),
        "tail missing": plan("search_train", "book_train"),
        "order": plan("pay_train", "book_train", "search_train"),
        "replaced": plan("search_train", "cancel_train", "pay_train"),
        "dropped": plan("search_train", "pay_train"),
    }
    assert right > 0.5
    assert {kind for kind, draft in wrong.items() if score(judge, draft) > right - 0.2} == set()


def test_a_tool_that_does_not_exist_is_rejected_by_rule(judge: Judge) -> None:
    verdict = judge.judge([plan("search_train", "teleport", "pay_train")])[0]
    assert verdict.score == 0 and not verdict.accepted and not verdict.unknown
    assert (
        verdict.node_risks[1] == 1
        and "teleport is not among the tools" in verdict.findings[0].reason
    )
    misspelt = judge.judge([plan("search_train", "Book-Train", "pay_train")])[0]
    assert misspelt.score == 0 and "it is called book_train" in misspelt.findings[0].reason


def test_risks_are_probabilities_and_point_at_the_wrong_step(judge: Judge) -> None:
    verdict = judge.judge([plan("search_train", "cancel_train", "pay_train")])[0]
    assert all(0 <= r <= 1 for r in (*verdict.node_risks, *verdict.edge_risks))
    assert int(np.argmax(verdict.node_risks)) == 1
    assert any("book_train seems to be meant rather than cancel_train" in f.reason
               for f in verdict.findings)  # fmt: skip
    missing = judge.judge([plan("search_train", "pay_train")])[0]
    assert any("book_train seems to be missing" in f.reason for f in missing.findings)


def test_what_is_far_from_all_plans_is_not_known(judge: Judge) -> None:
    verdict = judge.judge([replace(GOOD, request="entropy zebra quartz")])[0]
    assert verdict.unknown and not verdict.accepted
    said = "\n".join(verdict.lines())
    assert "no verdict" in said and "risk" not in said and "score" not in said


def test_a_plan_without_a_verdict_is_not_changed(judge: Judge) -> None:
    draft = ToolPlan("p", REQUEST, (), ("pay_train", "search_train", "search_train"))
    willing = replace(judge, rule=replace(judge.rule, of_known=-1, to_known=-1, to_new=-1))
    assert correct(willing, [draft])[0].plan.tools != draft.tools
    (kept,) = correct(replace(willing, far=2.0), [draft])
    assert kept.plan.tools == draft.tools and kept.gain == 0


def test_calls_with_other_arguments_are_no_repeats(judge: Judge) -> None:
    tools = ("search_train", "search_train", "book_train", "pay_train")
    willing = replace(judge, rule=replace(judge.rule, of_known=-1, to_known=-1, to_new=-1))

    def corrected(first: dict[str, int], second: dict[str, int]) -> tuple[str, ...]:
        given = (first, second, {}, {})
        calls = tuple(LoggedCall(t, a) for t, a in zip(tools, given, strict=True))
        return correct(willing, [replace(plan(*tools), calls=calls)])[0].plan.tools

    assert corrected({"train": 9}, {"train": 9}).count("search_train") == 1
    assert corrected({"train": 9}, {"train": 8}).count("search_train") == 2


def test_a_plan_that_is_part_of_a_probable_plan_counts_as_incomplete(judge: Judge) -> None:
    reader = DraftReader(judge.embeddings)
    whole, part = (
        judge.opinion(reader.read(p)) for p in (GOOD, plan("search_train", "book_train"))
    )
    assert whole is not None and part is not None
    assert part.incomplete > whole.incomplete
    careful = PosteriorCalibration(incomplete=-1.0, usual=whole.incomplete)
    assert careful.logit(part) < PosteriorCalibration().logit(part)
    assert careful.logit(whole) == PosteriorCalibration().logit(whole)


def test_a_plan_shorter_than_all_others_gets_no_verdict(judge: Judge) -> None:
    assert judge.past.shortest > 1
    (verdict,) = judge.judge([ToolPlan("p", REQUEST, (), ("search_train",))])
    assert "at least 2 steps" in verdict.unknown and not verdict.accepted


def test_an_empty_plan_becomes_the_plan_of_the_nearest_request(judge: Judge) -> None:
    past = judge.past
    for request, plan in list(zip(past.requests, past.plans, strict=True))[:5]:
        (made,) = correct(judge, [ToolPlan("p", request, (), ())])
        assert made.plan.tools in {
            tuple(judge.embeddings.tools.tools[t].id for t in p)
            for r, p in zip(past.requests, past.plans, strict=True)
            if r == request
        }
        assert len(made.plan.steps) == len(plan)
    assert not correct(replace(judge, far=2.0), [ToolPlan("p", REQUEST, (), ())])[0].plan.tools


def test_with_few_plans_names_are_mended_and_nothing_else() -> None:
    few = fit_judge(embedded(), small_plans()[:10])
    assert few.weights is None
    verdict = few.judge([GOOD])[0]
    assert "too few" in verdict.unknown and not verdict.accepted
    spelt, kept = correct(
        few, [plan("SearchTrain", "book_train"), plan("cancel_train", "pay_hotel")]
    )
    assert spelt.plan.tools == ("search_train", "book_train")
    assert spelt.plan.links == (("search_train", "book_train"),)
    assert kept.plan.tools == ("cancel_train", "pay_hotel") and kept.changes == ()


def test_wrong_drafts_are_mended_and_right_ones_stay(judge: Judge) -> None:
    bad = plan("search_train", "cancel_train", "pay_train")
    found, same = correct(judge, [bad, GOOD])
    assert found.plan.tools == GOOD.tools and found.plan.links == GOOD.chain
    assert any("book_train in place of cancel_train" in c for c in found.changes)
    assert same.plan.tools == GOOD.tools and same.changes == ()


def test_a_graph_stays_a_graph(judge: Judge) -> None:
    tools = ("search_train", "cancel_train", "pay_train", "pay_hotel")
    links = (("search_train", "cancel_train"), ("cancel_train", "pay_train"),
             ("search_train", "pay_hotel"))  # fmt: skip
    draft = ToolPlan("p", REQUEST, (), tools, links)
    (found,) = correct(replace(judge, rule=replace(judge.rule, to_known=0, to_new=0)), [draft])
    made = plan_graph(found.plan, judge.embeddings.tools)
    assert found.changes and sorted(found.plan.tools) != sorted(tools)
    assert (
        made.edges != tuple((i, i + 1) for i in range(len(made.nodes) - 1)) or len(made.nodes) < 4
    )
    (kept,) = correct(replace(judge, rule=type(judge.rule)()), [draft])
    assert set(kept.plan.links) == set(links)


def test_what_is_asked_for_twice_is_called_twice(judge: Judge) -> None:
    request = "please pay my train at 7:00 and my train at 9:00"
    steps = ("Call pay_train at 7:00", "Call pay_train at 9:00")
    eager = replace(judge, rule=type(judge.rule)(0, 0, 0))
    (twice,) = correct(eager, [plan("pay_train", "pay_train", request=request, steps=steps)])
    assert twice.plan.tools.count("pay_train") == 2


def test_steps_that_are_put_in_are_sentences() -> None:
    assert call_step(Tool("t", "Search trains.")) == "Call t: search trains"
    assert call_step(Tool("t", "SMS sending tool")) == "Call t: SMS sending tool"
    assert call_step(Tool("t")) == "Call t"


def _trial(gain: float, *, right: bool, plan: int) -> Trial:
    past = PastPlans(embedded(), ["a", "b"], [(0, 1), (2, 3)])
    draft, other = (4,), (0, 1)
    shares = np.array([0.5 - gain / 2, 0.5 + gain / 2], np.float32)
    opinion = PlanOpinion(past.expect("a"), [draft, other], np.zeros((2, 1), np.float32), shares)
    return Trial(plan, draft if right else other, opinion, False)


@pytest.mark.slow
def test_changes_that_were_no_gain_are_not_made() -> None:
    helped = [_trial(0.1 + i / 100, right=False, plan=i) for i in range(60)]
    hurt = [_trial(0.1 + i / 100, right=True, plan=i) for i in range(60)]
    of_few = [_trial(0.1 + i / 100, right=False, plan=i % 20) for i in range(60)]
    assert change_rule(helped).to_known < math.inf
    assert change_rule(hurt).to_known == math.inf
    assert change_rule([*helped, *hurt]).to_known == math.inf
    assert change_rule(helped[:5]).to_known == math.inf, "five changes prove nothing"
    assert change_rule(of_few).to_known == math.inf, "nor do drafts of twenty plans"


def test_a_saved_judge_says_the_same(judge: Judge, tmp_path: Path) -> None:
    save_judge(judge, tmp_path)
    again = load_judge(tmp_path, HashEncoder())
    bad = plan("search_train", "cancel_train", "pay_train")
    (mine,), (its,) = correct(judge, [bad]), correct(again, [bad])
    assert (its.plan, its.changes) == (mine.plan, mine.changes)
    assert its.gain == pytest.approx(mine.gain, abs=1e-4)
    assert score(again, bad) == pytest.approx(score(judge, bad), abs=1e-4)
    (path,) = tmp_path.glob("judge-*.json")
    values = json.loads(path.read_text())
    values["plans"][0] = [999]
    path.write_text(json.dumps(values))
    with pytest.raises(DataFileError, match="a plan has an unknown tool"):
        load_judge(tmp_path, HashEncoder())
    path.write_text('{"kind": "x"}')
    with pytest.raises(DataFileError, match="is not part of a plan judge"):
        load_judge(tmp_path, HashEncoder())
