"""The bench: many tasks planned by many planners and models, and measured.

`run_bench` in `runner.py` plans and scores each cell (task, scene, setting, model, seed) and hands
on a `CellResult`; `folder.py` keeps the finished cells of a bench that is killed.

Begin with `scores.py`: `Scores` holds the measures of one plan, and `COLUMNS` says how reports
name and print them. `scoring.py` fills in the scores with the functions of `metrics.py`,
`summary.py` averages them, and `tables.py`, `page.py` and `export.py` print them.
"""
