"""Rewards for language models that write plans: a number for each completion, and why.

```python
from hvr.validation.rewards import PlanRewards

rewards = PlanRewards()
(score,) = rewards.scores(["(pick-up a)"], domain=domain_text, problem=problem_text)
print(score.reward, score.says)
```

`trl_reward` and `verifiers_reward` in `hvr.validation.rewards.trainers` are the same for trainers.
"""

from __future__ import annotations

from hvr.validation.rewards.rewards import Bounds, PlanRewards
from hvr.validation.rewards.score import PlanScore
from hvr.validation.rewards.shaping import StepScore

__all__ = ["Bounds", "PlanRewards", "PlanScore", "StepScore"]
