"""The rewards in the forms that trainers call.

TRL's GRPO trainer: https://huggingface.co/docs/trl/grpo_trainer, "Using a custom reward function".
The package verifiers: https://verifiers.readthedocs.io, "Rubrics".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hvr.errors import UsageError
from hvr.validation.rewards.rewards import Bounds, PlanRewards

Completion = str | Sequence[Mapping[str, Any]]
"""What a model wrote: a text, or the messages of a conversation."""


def trl_reward(limits: Bounds | None = None) -> Callable[..., list[float]]:
    """Return a reward function for TRL's trainers.

    The data set has columns `domain` and `problem` with PDDL texts, and may have `best`, the length
    of the best known plan.

    Args:
        limits: what a completion may cost.
    """
    rewards = PlanRewards(limits)

    def plan_reward(
        *,
        completions: Sequence[Completion],
        domain: Sequence[str],
        problem: Sequence[str],
        best: Sequence[int | None] | None = None,
        **_: Any,
    ) -> list[float]:
        texts = [text_of(completion) for completion in completions]
        scores = rewards.scores(texts, domain=domain, problem=problem, best=best)
        return [score.reward for score in scores]

    return plan_reward


def verifiers_reward(limits: Bounds | None = None) -> Callable[..., float]:
    """Return a reward function for a `Rubric` of the package verifiers.

    The data set has in `info` the PDDL texts `domain` and `problem`, and may have `best`.

    Args:
        limits: what a completion may cost.
    """
    rewards = PlanRewards(limits)

    def plan_reward(completion: Completion, info: Mapping[str, Any], **_: Any) -> float:
        if missing := [name for name in ("domain", "problem") if name not in info]:
            raise UsageError(f"the data set's info has no {missing[0]!r}")
        (score,) = rewards.scores(
            [text_of(completion)], domain=info["domain"], problem=info["problem"],
            best=info.get("best"),
        )  # fmt: skip
        return score.reward

    return plan_reward


def text_of(completion: Completion) -> str:
    """Return what a model wrote: of a conversation, what its last message says."""
    if isinstance(completion, str):
        return completion
    for message in reversed(completion):
        content = message.get("content") if isinstance(message, Mapping) else None
        parts = content if isinstance(content, list) else [content]
        texts = [part.get("text") if isinstance(part, Mapping) else part for part in parts]
        return "\n".join(text for text in texts if isinstance(text, str))
    return ""
