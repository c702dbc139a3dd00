"""Parts of a corrector besides the verifier: sequence prior, nearest plans, planner bias."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.verifier.correction.corrector_fit import examples_from
from hvr.verifier.correction.nearest_plans import NearestPlanIndex, log_probabilities, most_probable
from hvr.verifier.correction.planner_bias import ScoredCandidates, adjust_for_planner
from hvr.verifier.correction.prior_models import PriorConfig
from hvr.verifier.correction.sequence_prior import SequencePrior, train_prior
from hvr.verifier.tool_embeddings import ToolEmbeddings
from tests.verifier.small_world import HashEncoder, small_plans, small_tools, tiny_config

SEARCH, BOOK, PAY, CANCEL = range(4)


@pytest.fixture(scope="module")
def embeddings() -> ToolEmbeddings:
    return ToolEmbeddings(small_tools(), HashEncoder(), tiny_config())


def test_probabilities_of_plans_by_hand() -> None:
    vectors = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32)
    nearest_plans = NearestPlanIndex(vectors, [(0, 1), (2,), (0, 1)])
    probabilities = nearest_plans.probabilities(np.array([1, 0], dtype=np.float32))
    # Cosines 1, 1 and 0 at temperature 1/20: the third request counts e^-20.
    assert probabilities[(2,)] == pytest.approx(0.5, abs=1e-6)
    assert probabilities[(0, 1)] == pytest.approx(0.5, abs=1e-6)
    assert most_probable(probabilities, 1) == [(0, 1)]
    logs = log_probabilities(probabilities, [(2,), (9, 9)])
    assert logs == pytest.approx([np.log(0.51), np.log(0.01)], abs=1e-4)


def test_an_empty_index_knows_nothing() -> None:
    nearest_plans = NearestPlanIndex(np.zeros((0, 2), dtype=np.float32), [])
    assert nearest_plans.probabilities(np.ones(2, dtype=np.float32)) == {}


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20))
def test_probabilities_sum_to_one(plans: list[tuple[int, int]]) -> None:
    vectors = np.random.default_rng(len(plans)).standard_normal((len(plans), 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    probabilities = NearestPlanIndex(vectors, plans).probabilities(vectors[0])
    assert sum(probabilities.values()) == pytest.approx(1.0)
    assert set(probabilities) == set(plans)


@pytest.fixture(scope="module")
def prior(embeddings: ToolEmbeddings) -> SequencePrior:
    examples = examples_from(embeddings, small_plans())
    return train_prior(embeddings, examples, PriorConfig(hidden=16, epochs=3, epochs_steps=3))


REQUESTS = ("please book my train", "please pay my hotel", "please cancel my flight")
SOME_PLANS = st.lists(st.tuples(st.integers(0, 23), st.integers(0, 23)), min_size=1, max_size=4)


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from(REQUESTS), SOME_PLANS), min_size=1, max_size=6))
def test_the_prior_does_not_depend_on_earlier_requests(
    prior: SequencePrior, asked: list[tuple[str, list[tuple[int, int]]]]
) -> None:
    log_probs = [prior.log_prob(request, plans) for request, plans in asked]
    for (request, plans), logs in zip(asked, log_probs, strict=True):
        for plan, log in zip(plans, logs, strict=True):
            rows = prior.next_log_probs(request, [plan[:i] for i in range(len(plan) + 1)])
            after = [*plan, rows.shape[1] - 1]  # the last is "no more"
            assert log == pytest.approx(rows[range(len(after)), after].sum(), abs=1e-4)
            assert np.exp(rows).sum(1) == pytest.approx(1.0, abs=1e-4)


def test_the_commonest_plan_of_requests_alike(
    prior: SequencePrior, embeddings: ToolEmbeddings
) -> None:
    ids = ("search_train", "book_train", "pay_train")
    plan = tuple(embeddings.tools.index(t) for t in ids)
    assert prior.neighbour_plans("please search and book and pay my train number 0", 1) == [plan]
    other = tuple(embeddings.tools.index(t) for t in ("book_taxi", "pay_taxi"))
    assert prior.neighbour_plans("please book and pay my taxi number 1", 1) == [other]


def drafted(odds: float) -> ScoredCandidates:
    """Search and pay; that the booking was forgotten has some logarithm of odds."""
    return ScoredCandidates(
        (SEARCH, PAY), [(SEARCH, PAY), (SEARCH, BOOK, PAY)], np.array([0.0, odds])
    )


def test_one_draft_says_nothing_of_its_planner(embeddings: ToolEmbeddings) -> None:
    draft = drafted(0.3)
    assert adjust_for_planner(embeddings, [draft])[0] == pytest.approx(draft.scores)


def test_what_a_planner_forgets_again_and_again_is_believed_sooner(
    embeddings: ToolEmbeddings,
) -> None:
    # It forgets the booking in most drafts, and nothing else; one draft is in doubt.
    forgets = [drafted(4.0) for _ in range(30)]
    fine = [
        ScoredCandidates(
            (CANCEL, PAY), [(CANCEL, PAY), (CANCEL, SEARCH, PAY)], np.array([0.0, -9.0])
        )
        for _ in range(30)
    ]
    before = drafted(-0.2)
    after = adjust_for_planner(embeddings, [*forgets, *fine, before])[-1]
    assert after[1] - after[0] > before.scores[1] - before.scores[0]
    # Another tool, that is never forgotten, is not believed to be missing.
    other = ScoredCandidates(
        (SEARCH, PAY), [(SEARCH, PAY), (SEARCH, CANCEL, PAY)], np.array([0.0, -0.2])
    )
    found = adjust_for_planner(embeddings, [*forgets, *fine, other])[-1]
    assert found[1] - found[0] < 0


def test_a_tool_that_is_always_mistaken_for_another(embeddings: ToolEmbeddings) -> None:
    mistaken = [
        ScoredCandidates((SEARCH, PAY), [(SEARCH, PAY), (BOOK, PAY)], np.array([0.0, 3.0]))
        for _ in range(30)
    ]
    doubt = ScoredCandidates(
        (SEARCH,), [(SEARCH,), (BOOK,), (CANCEL,)], np.array([0.0, -0.5, -0.5])
    )
    found = adjust_for_planner(embeddings, [*mistaken, doubt])[-1]
    assert found[1] > found[2]
    assert found[1] - found[0] > -0.5


def test_the_order_of_drafts_does_not_matter(embeddings: ToolEmbeddings) -> None:
    drafts = [drafted(x) for x in (4.0, 2.0, -1.0, 0.5)]
    there = adjust_for_planner(embeddings, drafts)
    back = adjust_for_planner(embeddings, drafts[::-1])[::-1]
    for a, b in zip(there, back, strict=True):
        assert a == pytest.approx(b, abs=1e-5)
