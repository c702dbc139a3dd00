"""Rewards for language models that write plans: a number for each completion, and why.

```python
from hvr import rewards

(score,) = rewards.PlanRewards().scores(["(pick-up a)"], domain=domain_text, problem=problem_text)
print(score.reward, score.says)
```

`trl_reward` and `verifiers_reward` are the same for trainers.
"""

from __future__ import annotations

from hvr.validation.rewards.rewards import Bounds, PlanRewards
from hvr.validation.rewards.score import PlanScore
from hvr.validation.rewards.shaping import StepScore
from hvr.validation.rewards.trainers import trl_reward, verifiers_reward

__all__ = ["Bounds", "PlanRewards", "PlanScore", "StepScore", "trl_reward", "verifiers_reward"]
