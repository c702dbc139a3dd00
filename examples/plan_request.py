"""Plan a request in a kitchen, prove the plan, carry it out, and look at what happened."""

import hvr

run = hvr.plan("wash the plate and put it in a cabinet")
print("goal reached:", run.reached)
for step in run.steps:
    print(step.number, step.action)
print("everything about the run is in", run.folder)
