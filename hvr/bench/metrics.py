"""The paper's metrics as functions (section 4.1). All ratios are shares: 1.0 is 100 %."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from hvr.bench.conditions import goal_condition_success
from hvr.bench.correctness import best_correctness, plan_correctness, truth_variants
from hvr.policies.llm.record import BlockRecord, MacroCheck

__all__ = [
    "BlockVerification",
    "LengthSummary",
    "best_correctness",
    "block_verification",
    "execution_success",
    "expanded_plan_verification",
    "goal_condition_success",
    "length_discrepancy",
    "length_summary",
    "macro_plan_verification",
    "plan_correctness",
    "truth_variants",
]


def execution_success(correctness: float, executed: int, truth_length: int) -> float | None:
    """Return ES: how far a correct plan can be executed (paper, section 4.1).

    Steps executed before the first failure, divided by the steps of the ground truth. Plans
    may be longer than the ground truth, so the ratio is capped at 1; a longer plan that fails
    late can therefore have an ES of 1.

    Args:
        correctness: PC of the plan; ES is for correct plans only.
        executed: steps before the first failure.
        truth_length: steps of the ground truth; positive.

    Returns:
        0 to 1; None when the plan is not correct.
    """
    return None if correctness < 1 else min(1.0, executed / truth_length)


def length_discrepancy(plan_length: int, truth_length: int) -> float:
    """Return LD: how much longer a plan is than the ground truth (paper, section 4.1 and table 7).

    The difference in steps, divided by the steps of the ground truth: 1.0 is twice as long,
    negative is shorter, and an empty plan has -1.

    Args:
        plan_length: steps of the plan.
        truth_length: steps of the ground truth; positive.
    """
    return (plan_length - truth_length) / truth_length


@dataclass(frozen=True)
class LengthSummary:
    """Length discrepancies of several plans, as in tables 2, 7 and 13 of the paper.

    Args:
        minimum: the least.
        maximum: the greatest.
        mean: with signs; too long and too short cancel out.
        absolute: mean of the absolute values.
    """

    minimum: float
    maximum: float
    mean: float
    absolute: float


def length_summary(values: Sequence[float]) -> LengthSummary | None:
    """Summarise length discrepancies; None when there are none."""
    if not values:
        return None
    return LengthSummary(min(values), max(values), fmean(values), fmean(map(abs, values)))


def expanded_plan_verification(verified: int, total: int) -> float:
    """Return EPV: the share of a plan's steps that are verified (paper, section 4.1).

    Steps up to the first that is not applicable, divided by all steps of the plan, after all
    corrections.

    Args:
        verified: applicable steps from the first on.
        total: steps of the plan. An empty plan has an EPV of 0: no answer is no success.
    """
    return verified / total if total else 0.0


def macro_plan_verification(check: MacroCheck | None) -> float | None:
    """Return MPV: the share of the macro plan that is verified (paper, section 4.1).

    Macro actions from the first on whose preconditions hold, divided by all. Computed before
    and after correction.

    Returns:
        0 to 1; 0 for an empty macro plan, None when there is none (without H).
    """
    if check is None:
        return None
    return check.verified / check.total if check.total else 0.0


@dataclass(frozen=True)
class BlockVerification:
    """AABV before and after correction.

    Args:
        before: share of blocks verified as written.
        after: the same in the plan; None without verification.
    """

    before: float
    after: float | None


def block_verification(blocks: Sequence[BlockRecord], macro_actions: int) -> BlockVerification:
    """Return AABV: the share of macro actions whose block is verified (paper, section 4.1).

    A block is verified when each of its actions was applicable, one after the other. Macro
    actions that never got a block count as not verified.

    Args:
        blocks: how each block came about.
        macro_actions: macro actions of the plan; without any, AABV is 0.
    """
    total = max(macro_actions, len(blocks))
    if total == 0:
        return BlockVerification(0.0, None)
    before = sum(block.verified_before for block in blocks) / total
    checked = [block.verified_after for block in blocks if block.verified_after is not None]
    return BlockVerification(before, sum(checked) / total if checked else None)
