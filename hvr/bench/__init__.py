"""The bench: plan many tasks with many policies and models, and measure the plans.

`run_bench` in `runner.py` plans and scores each cell (task, scene, setting, model, seed) and
returns a `CellResult`; `folder.py` keeps finished cells when a bench is killed.

Begin with `cells.py`: `Scores` holds the measures of a plan, and `COLUMNS` defines how reports name
and print them. `scoring.py` computes the scores with the functions of `metrics.py`, `summary.py`
averages them, and `tables.py` and `export.py` print them.
"""
