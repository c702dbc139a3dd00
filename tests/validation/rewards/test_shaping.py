"""Rewards of single steps: bounded, with a sum that preserves the optimal policy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.errors import UsageError
from hvr.validation.rewards import PlanRewards, shaped
from tests.validation.rewards.test_forms import BLOCKS, PLAN, TASK

share = st.floats(0, 1)


@given(st.lists(share, min_size=1, max_size=30), share, st.floats(0.01, 1))
def test_the_discounted_sum_depends_on_the_end_only(
    potentials: list[float], final: float, discount: float
) -> None:
    rewards = shaped(potentials, final, discount)
    total = sum(reward * discount**number for number, reward in enumerate(rewards))
    last = discount ** (len(potentials) - 1)
    assert total == pytest.approx(final * last - potentials[0], abs=1e-9)
    assert all(-1 <= reward <= 1 for reward in rewards)


@pytest.mark.parametrize(
    ("potentials", "final", "discount"), [([1.1], 0, 1), ([0], -1, 1), ([0], 0, 0), ([0], 0, 1.5)]
)
def test_what_is_out_of_range_is_refused(
    potentials: list[float], final: float, discount: float
) -> None:
    with pytest.raises(UsageError):
        shaped(potentials, final, discount)


def steps_of(answer: str) -> tuple[float, ...]:
    (score,) = PlanRewards().step_scores([answer], domain=BLOCKS, problem=TASK)
    return score.rewards


def test_steps_towards_the_goal_are_worth_more() -> None:
    # The goal has two conditions: the second step makes one true, the last ends the plan.
    assert steps_of("\n".join(PLAN)) == (0.0, 0.5, 0.0, 0.5)
    assert steps_of("(pick-up a)\n(stack a c)") == (0.0, 0.0)
    assert steps_of("(pick-up a)\n(stack c a)\n(pick-up c)") == (0.0, 0.0, 0.0)
    # Lost progress is subtracted.
    assert steps_of("(pick-up a)\n(stack a b)\n(pick-up b)") == (0.0, 0.5, -0.5)


def test_without_steps_there_are_no_rewards() -> None:
    assert steps_of("I cannot do this.") == ()
    (score,) = PlanRewards().step_scores(["(stack c a))"], domain=BLOCKS, problem=TASK)
    assert score.rewards == () and score.score.reward == 0
