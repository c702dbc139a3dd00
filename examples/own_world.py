"""Load a world from a folder, and solve its problem."""

from pathlib import Path

import hvr

world = hvr.load_world(str(Path(__file__).parent / "http_robot"))
problem = world.problem_files[0]
print(f"world {world.name}, problem {problem.name}")
solution = hvr.solve(world.domain_file, problem)
print(*solution.steps, sep="\n")
