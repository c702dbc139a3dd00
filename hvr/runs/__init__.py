"""A request from beginning to end: understand, plan, prove, execute, judge, save.

`plan` returns a `Run`: whether the goal was reached, the steps, and the folder with every input
needed to replay the run.

Begin with `plan` in `spine.py`, which reads like the picture in docs/explanation/architecture.md.
`folder.py` is the run folder, `tasks.py` the tasks T1 to T24, `judging.py` judges plans. `report/`
draws pages and pictures of runs, and `simulated/` is the simulated language model `scripted`.
"""
