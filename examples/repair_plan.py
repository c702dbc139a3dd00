"""Validate a PDDL plan, print why it fails, and repair it."""

from pathlib import Path

import hvr

blocks = Path(__file__).parent / "blocks"
domain, problem = blocks / "domain.pddl", blocks / "problem.pddl"
report = hvr.validate(domain, problem, blocks / "plan.txt")
print(report.explain())

judgement = hvr.judge(domain, problem, blocks / "plan.txt")
print("repaired:", *judgement.repaired)
assert hvr.validate(domain, problem, judgement.repaired).valid
