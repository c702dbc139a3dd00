"""Training problems: generated from a seed, graded, with proven properties.

```python
from hvr import graded

problem = graded("blocksworld", level=2, seed=7)
print(problem.best, problem.proof)
```
"""

from __future__ import annotations

from hvr.planning.problems.generator import FAMILIES, LEVELS, GradedProblem, graded, series

__all__ = ["FAMILIES", "LEVELS", "GradedProblem", "graded", "series"]
