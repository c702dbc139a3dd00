"""Reward a language model's answers by how far their plans get: for GRPO, DPO or best-of-n."""

from pathlib import Path

from hvr import rewards

blocks = Path(__file__).parent / "blocks"
answers = [
    "(pick-up a)\n(stack a b)\n(pick-up c)\n(stack c a)",
    "Sure! First (pick-up a), then (stack a b).",
    "I cannot do that.",
]
scores = rewards.PlanRewards().scores(
    answers,
    domain=(blocks / "domain.pddl").read_text(encoding="utf-8"),
    problem=(blocks / "problem.pddl").read_text(encoding="utf-8"),
)
for answer, score in zip(answers, scores, strict=True):
    print(f"{score.reward:.2f}  {answer.splitlines()[0]}")
