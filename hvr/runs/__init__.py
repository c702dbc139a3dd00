"""A request from beginning to end: understand, plan, prove, execute, judge, save.

`plan` returns a `Run`: whether the goal was reached, the executed steps, and the folder with every
input needed to replay the run.

Begin with `plan` in `spine.py`, which follows the picture in docs/explanation/architecture.md.
`folder.py` manages the run folder, `tasks.py` reads the tasks T1 to T24, and `judging.py` judges
plans. `report/` draws pages and pictures of runs, and `simulated/` implements the simulated
language model `scripted`.
"""
