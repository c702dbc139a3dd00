"""One request from beginning to end: understand, plan, prove, execute, judge, save.

`plan` hands on a `Run`: whether the goal was reached, the steps, and the folder with every input,
so that the run can be replayed.

Begin with `plan` in `spine.py`, which reads like the picture in docs/architecture.md.
`composition.py` opens environment, world, policy and executor; `folder.py` is the run folder,
`tasks.py` the tasks T1 to T24. `report/` draws pages and pictures of a run, and `simulated/` is
the simulated language model `scripted`.
"""

from hvr.runs.request import Options
from hvr.runs.result import Run
from hvr.runs.spine import plan, resume

__all__ = ["Options", "Run", "plan", "resume"]
