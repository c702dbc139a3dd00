"""What a corrector knows besides the verifier: plans of the past, and a planner's ways."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.verifier.correction.corrector_fit import examples_from
from hvr.verifier.correction.nearest_plans import PlanMemory, commonest, log_shares
from hvr.verifier.correction.planner_bias import Weighed, allowed_for
from hvr.verifier.correction.prior_models import HabitsConfig
from hvr.verifier.correction.sequence_prior import Habits, learn_habits
from hvr.verifier.tool_embeddings import ToolSpace
from tests.verifier.small_world import HashEncoder, small_plans, small_tools, tiny_config

SEARCH, BOOK, PAY, CANCEL = range(4)


@pytest.fixture(scope="module")
def space() -> ToolSpace:
    return ToolSpace(small_tools(), HashEncoder(), tiny_config())


def test_shares_of_plans_by_hand() -> None:
    vectors = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32)
    memory = PlanMemory(vectors, [(0, 1), (2,), (0, 1)])
    shares = memory.shares(np.array([1, 0], dtype=np.float32))
    # Cosines 1, 1 and 0 at temperature 1/20: the third request counts e^-20.
    assert shares[(2,)] == pytest.approx(0.5, abs=1e-6)
    assert shares[(0, 1)] == pytest.approx(0.5, abs=1e-6)
    assert commonest(shares, 1) == [(0, 1)]
    logs = log_shares(shares, [(2,), (9, 9)])
    assert logs == pytest.approx([np.log(0.51), np.log(0.01)], abs=1e-4)


def test_an_empty_memory_knows_nothing() -> None:
    memory = PlanMemory(np.zeros((0, 2), dtype=np.float32), [])
    assert memory.shares(np.ones(2, dtype=np.float32)) == {}


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20))
def test_shares_are_one_together(plans: list[tuple[int, int]]) -> None:
    vectors = np.random.default_rng(len(plans)).standard_normal((len(plans), 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    shares = PlanMemory(vectors, plans).shares(vectors[0])
    assert sum(shares.values()) == pytest.approx(1.0)
    assert set(shares) == set(plans)


@pytest.fixture(scope="module")
def habits(space: ToolSpace) -> Habits:
    examples = examples_from(space, small_plans())
    return learn_habits(space, examples, HabitsConfig(hidden=16, epochs=3, epochs_steps=3))


REQUESTS = ("please book my train", "please pay my hotel", "please cancel my flight")
SOME_PLANS = st.lists(st.tuples(st.integers(0, 23), st.integers(0, 23)), min_size=1, max_size=4)


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from(REQUESTS), SOME_PLANS), min_size=1, max_size=6))
def test_habits_do_not_depend_on_what_was_asked_before(
    habits: Habits, asked: list[tuple[str, list[tuple[int, int]]]]
) -> None:
    said = [habits.plans(request, plans) for request, plans in asked]
    for (request, plans), logs in zip(asked, said, strict=True):
        for plan, log in zip(plans, logs, strict=True):
            rows = habits.likely(request, [plan[:i] for i in range(len(plan) + 1)])
            after = [*plan, rows.shape[1] - 1]  # the last is "no more"
            assert log == pytest.approx(rows[range(len(after)), after].sum(), abs=1e-4)
            assert np.exp(rows).sum(1) == pytest.approx(1.0, abs=1e-4)


def test_the_commonest_plan_of_requests_alike(habits: Habits, space: ToolSpace) -> None:
    ids = ("search_train", "book_train", "pay_train")
    plan = tuple(space.tools.index(t) for t in ids)
    assert habits.alike("please search and book and pay my train number 0", 1) == [plan]
    other = tuple(space.tools.index(t) for t in ("book_taxi", "pay_taxi"))
    assert habits.alike("please book and pay my taxi number 1", 1) == [other]


def drafted(odds: float) -> Weighed:
    """Search and pay; that the booking was forgotten has some logarithm of odds."""
    return Weighed((SEARCH, PAY), [(SEARCH, PAY), (SEARCH, BOOK, PAY)], np.array([0.0, odds]))


def test_one_draft_says_nothing_of_its_planner(space: ToolSpace) -> None:
    draft = drafted(0.3)
    assert allowed_for(space, [draft])[0] == pytest.approx(draft.sums)


def test_what_a_planner_forgets_again_and_again_is_believed_sooner(space: ToolSpace) -> None:
    # It forgets the booking in most drafts, and nothing else; one draft is in doubt.
    forgets = [drafted(4.0) for _ in range(30)]
    fine = [
        Weighed((CANCEL, PAY), [(CANCEL, PAY), (CANCEL, SEARCH, PAY)], np.array([0.0, -9.0]))
        for _ in range(30)
    ]
    before = drafted(-0.2)
    after = allowed_for(space, [*forgets, *fine, before])[-1]
    assert after[1] - after[0] > before.sums[1] - before.sums[0]
    # Another tool, that is never forgotten, is not believed to be missing.
    other = Weighed((SEARCH, PAY), [(SEARCH, PAY), (SEARCH, CANCEL, PAY)], np.array([0.0, -0.2]))
    found = allowed_for(space, [*forgets, *fine, other])[-1]
    assert found[1] - found[0] < 0


def test_a_tool_that_is_always_mistaken_for_another(space: ToolSpace) -> None:
    mistaken = [
        Weighed((SEARCH, PAY), [(SEARCH, PAY), (BOOK, PAY)], np.array([0.0, 3.0]))
        for _ in range(30)
    ]
    doubt = Weighed((SEARCH,), [(SEARCH,), (BOOK,), (CANCEL,)], np.array([0.0, -0.5, -0.5]))
    found = allowed_for(space, [*mistaken, doubt])[-1]
    assert found[1] > found[2]
    assert found[1] - found[0] > -0.5


def test_the_order_of_drafts_does_not_matter(space: ToolSpace) -> None:
    drafts = [drafted(x) for x in (4.0, 2.0, -1.0, 0.5)]
    there = allowed_for(space, drafts)
    back = allowed_for(space, drafts[::-1])[::-1]
    for a, b in zip(there, back, strict=True):
        assert a == pytest.approx(b, abs=1e-5)
