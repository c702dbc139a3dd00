"""Rewards for language models that write plans: a number for each completion, and why.

```python
from hvr.rewards import PlanRewards

rewards = PlanRewards()
(score,) = rewards.scores(["(pick-up a)"], domain=domain_text, problem=problem_text)
print(score.reward, score.says)
```

`trl_reward` and `verifiers_reward` in `hvr.rewards.trainers` are the same for trainers.
"""

from __future__ import annotations

from hvr.rewards.rewards import Bounds, PlanRewards
from hvr.rewards.score import PlanScore
from hvr.rewards.shaping import StepScore

__all__ = ["Bounds", "PlanRewards", "PlanScore", "StepScore"]
