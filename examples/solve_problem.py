"""Generate a graded problem, solve it, and compare the plan with the known best length."""

import hvr

puzzle = hvr.graded("blocksworld", level=2, seed=7)
solution = hvr.solve(puzzle.domain, puzzle.problem)
print(*solution.steps, sep="\n")
print(f"{len(solution.steps)} steps; the shortest plan has {puzzle.best}")
