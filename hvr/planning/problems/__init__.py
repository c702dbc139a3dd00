"""Problems to train on: generated from a seed, graded, each with what is proven of it.

```python
from hvr import graded

problem = graded("blocksworld", level=2, seed=7)
print(problem.best, problem.proof)
```
"""

from __future__ import annotations

from hvr.planning.problems.families import GradedProblem
from hvr.planning.problems.generator import FAMILIES, LEVELS, graded, series

__all__ = ["FAMILIES", "LEVELS", "GradedProblem", "graded", "series"]
