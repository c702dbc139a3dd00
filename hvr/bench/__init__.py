"""The bench: plans many tasks with many policies and models, and measures the plans.

`run_bench` in `runner.py` plans and scores each cell (a combination of task, scene, setting, model
and seed) and returns one `CellResult` per cell. `folder.py` preserves finished cells if a bench is
killed.

Begin with `cells.py`: `Scores` contains the measures of a plan, and `COLUMNS` defines how reports
name and print them. `scoring.py` computes the scores with the functions in `metrics.py`,
`tables.py` averages and prints them, and `export.py` exports them.
"""
