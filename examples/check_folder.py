"""Validate every plan of a folder as a CI job does, and exit with the number that CI expects."""

import sys
from pathlib import Path

import hvr

blocks = Path(__file__).parent / "blocks"
domain, problem = (blocks / name for name in ("domain.pddl", "problem.pddl"))
worst = 0
for plan in sorted((blocks / "plans").iterdir()):
    report = hvr.validate(domain, problem, plan)
    print(f"{plan.name}: {report.outcome}")
    worst = max(worst, {"valid": 0, "invalid": 1, "unknown": 2}[report.outcome])
sys.exit(worst)
